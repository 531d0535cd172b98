/* A training run: its data, model, counters and files. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "model/model_file.h"
#include "text/corpus.h"
#include "text/pair_text.h"
#include "train/epoch.h"
#include "train/sampling.h"
#include "train/update.h"

#include <dirent.h>
#include <stdio.h>

/* Where a run stands; part of state.safetensors. */
typedef struct run_counters {
    int64_t update;   /* done */
    int64_t epoch;    /* finished ones */
    int64_t position; /* pairs of the current epoch that were trained on */
    double seconds;   /* of training */
    bool has_best;
    double best;               /* value of the early-stopping metric */
    double best_cross_entropy; /* decides among equal ones */
    int64_t best_update;
    int64_t stalled;            /* validations since */
    int64_t rate_cuts;          /* times that a plateau lowered the learning rate */
    double cross_entropy, bleu; /* of the last validation */
    int64_t validated;          /* update of the last validation */
    int64_t skipped;            /* updates in a row whose loss or gradient was not finite */
    int64_t ranks;              /* how many trained last */
    double baseline;            /* the updater's */
    /* since the last progress report */
    double shown_loss;
    int64_t shown_words, shown_ends;
} run_counters;

/* What the training text was when the run began: a resume needs the same. Part of state.safetensors. */
typedef struct text_record {
    bool known;
    uint64_t lines[2], hash[2]; /* of its files' contents; [1] zero for TSV */
    uint64_t pairs, symbols;    /* that are trained on */
    uint64_t links;             /* hash of the file of links that guide attention; 0: none */
    uint64_t key;               /* names the file of ids in a folder that runs share */
} text_record;

/* The file of ids in the run's own folder. */
#define RUN_CORPUS_FILE "train.corpus"

/* The minibatches of the update that is made: minibatch i is pair[start[i] ... start[i + 1]). */
typedef struct update_batches {
    size_t *pair, *start;
    size_t capacity;
    int n;
} update_batches;

/* A model that stays in the folder; value: of the early-stopping metric, larger is better. */
typedef struct kept_model {
    int64_t update;
    double value, cross_entropy;
} kept_model;
enum { KEEP_MOST = 100 };

typedef struct run {
    sa_train_options options; /* after a resume: with the stored values of what defines the run */
    ranks ranks;              /* of them rank 0 alone speaks, validates and writes */
    sa_train_callback *callback;
    void *user;
    sa_model *model;
    text_record text;
    pair_text valid_text;
    corpus train, valid;
    link_table links; /* of the training text */
    sampling sampling;
    teacher teacher;
    updater updater;
    run_counters counters;
    kept_model
        kept[KEEP_MOST + 1]; /* best first, n_kept; part of the state. One more while one is put among them */
    int n_kept;
    update_batches batches;
    double started; /* clock when this process began, less earlier seconds */
    FILE *metrics, *log;
    strbuf early;       /* lines for the log from before it was opened */
    sa_error log_error; /* the first failure to write to them, which stops the run */
    bool made_folder;   /* the output folder is of this process' making */
    DIR *folder;        /* locked against other processes that train in it; NULL where folders cannot be read */
    bool stop;          /* asked by the callback */
    double shown_at;    /* seconds at the last progress report */
} run;

static inline bool run_leads(const run *r) {
    return r->ranks.rank == 0;
}
/* Frees whatever the run holds, closes its logs and parts with the other ranks. */
void run_clear(run *r);

/* trainer.c: one run, from its options to a trained model; sa_train without self-distillation. */
sa_status run_whole(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error);

sa_status run_check_options(const sa_train_options *o, sa_error *error);
/* SA_BF16 where the processor has it, else SA_F32. */
sa_status run_fastest_precision(sa_precision *out, sa_error *error);

/* data.c: reads and encodes texts, learns vocabularies unless the model has them. Reports what was dropped. A
 * resumed run is refused another text than it began with. */
sa_status run_load_data(run *r, sa_error *error);
/* Makes the corpus anew whose file was found damaged (corpus_check). */
sa_status run_load_training_text_again(run *r, sa_error *error);

/* checkpoint.c */
/* The folder is made, locked, and tried for writing; an existing run in it is refused or looked for as the options
 * say, and stays as it is. */
sa_status run_prepare_folder(run *r, sa_error *error);
/* Saves the state of a run that begins, in place of one that is there, whose other files are deleted then. Whenever
 * this ends, there is a run to resume, or, in a new folder, nothing. */
sa_status run_replace_run(run *r, sa_error *error);
/* Deletes the folder that was made for a run which then could not begin. */
void run_remove_folder(const run *r);
sa_status run_save_model(run *r, const char *name, sa_error *error);
/* Whether the file is there, whole, and of the run's update. */
sa_status run_has_model(const run *r, const char *name, bool *has, sa_error *error);
sa_status run_save_state(run *r, sa_error *error);
/* Model (declared, with vocabularies) and options from state.safetensors; *file stays open for run_load_state. */
sa_status run_open_state(run *r, st_file **file, sa_error *error);
/* Values, optimiser, average and counters. */
sa_status run_load_state(run *r, const st_file *file, sa_error *error);

/* report.c: to the callback, train.log and metrics.jsonl. What is reported before the logs are opened gets into
 * them then: a run that cannot begin leaves no files. */
sa_status run_open_logs(run *r, sa_error *error);
void run_close_logs(run *r);
void run_message(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_report_update(run *r, const update_result *result, double rate, bool last);
void run_log_validation(run *r);  /* the last one, to the files */
void run_tell_validation(run *r); /* to the callback, which may look at its models */
void run_report_done(run *r, const char *why);
double run_seconds(const run *r);  /* of training so far */
double run_fraction(const run *r); /* of the nearest limit used, 0 ... 1; 0 without limits */
double run_epochs(const run *r);   /* with a fraction */

/* kept.c: counts the model that was just validated among the best so far, if it is one. */
void run_keep(run *r, double value);
/* The file of the model that was just validated; false: it is not among the best. */
enum { RUN_KEPT_NAME_SIZE = 48 };
bool run_kept_name(const run *r, char name[RUN_KEPT_NAME_SIZE]);
/* Removes the files of models that are not among the best, be they of a run that was in the folder. */
sa_status run_remove_kept(const run *r, sa_error *error);
/* For the state: the caller frees; NULL without memory. False when it is damaged. */
char *run_kept_json(const run *r);
bool run_kept_parse(run *r, const char *json);

/* validate.c: measures, counts patience, saves the state and then the models that it says are there. *end: a reason
 * to stop, or NULL. All ranks call it; rank 0 does it. */
sa_status run_validate(run *r, const char **end, sa_error *error);
/* Saves those that a kill kept a validation from saving after its state; what is there stays as it is. */
sa_status run_complete_models(run *r, sa_error *error);
/* Whether a validation is better than another: by its value, of which larger is better. BLEU may stay 0 for long,
 * with short sentences for ever: among equal values the cross-entropy decides. */
bool run_is_better(double value, double cross_entropy, double than_value, double than_cross_entropy);

/* together.c: what several ranks need beyond what one does. */
/* When the run's options are known: whether that many can share it. A resume says what another number means. */
sa_status run_accept_ranks(run *r, sa_error *error);
/* With everything loaded: checks that all have the same, and gives them rank 0's parameters. All return the same.
 */
sa_status run_compare_ranks(run *r, sa_error *error);

#endif
