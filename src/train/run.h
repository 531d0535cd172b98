/* A training run: its data, model, counters and files. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "model/model_file.h"
#include "text/corpus.h"
#include "train/epoch.h"
#include "train/update.h"

#include <stdio.h>

/* Where a run stands; part of state.safetensors. */
typedef struct run_counters {
    int64_t update;   /* done */
    int64_t epoch;    /* finished ones */
    int64_t position; /* pairs of the current epoch that were trained on */
    double seconds;   /* of training */
    bool has_best;
    double best; /* value of the early-stopping metric */
    int64_t best_update;
    int64_t stalled;            /* validations since */
    int64_t rate_cuts;          /* times that a plateau lowered the learning rate */
    double cross_entropy, bleu; /* of the last validation */
    int64_t validated;          /* update of the last validation */
    int64_t pairs, symbols;     /* of the training text: a resume needs the same; 0: not known */
    /* since the last progress report */
    double shown_loss;
    int64_t shown_words, shown_ends;
} run_counters;

typedef struct run {
    sa_train_options options; /* after a resume: with the stored values of what defines the run */
    sa_train_callback *callback;
    void *user;
    sa_model *model;
    pair_text valid_text;
    corpus train, valid;
    updater updater;
    run_counters counters;
    double started; /* clock when this process began, less earlier seconds */
    FILE *metrics, *log;
    strbuf early;     /* lines for the log from before it was opened */
    bool made_folder; /* the output folder is of this process' making */
    int skipped;      /* updates in a row whose loss or gradient was not finite */
    bool stop;        /* asked by the callback */
    double shown_at;  /* seconds at the last progress report */
} run;

/* Frees whatever the run holds and closes its logs. */
void run_clear(run *r);

sa_status run_check_options(const sa_train_options *o, sa_error *error);

/* data.c: reads and encodes texts, learns vocabularies unless the model has them. Reports what was dropped. */
sa_status run_load_data(run *r, sa_error *error);

/* checkpoint.c */
/* The folder is made; an existing run in it is refused or looked for as the options say, and stays as it is. */
sa_status run_prepare_folder(run *r, sa_error *error);
/* Deletes the files of the run that --overwrite replaces. */
sa_status run_clear_folder(const run *r, sa_error *error);
sa_status run_save_model(run *r, const char *name, sa_error *error);
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
void run_report_validation(run *r, bool improved, double bleu);
void run_report_done(run *r, const char *why);
double run_seconds(const run *r);  /* of training so far */
double run_fraction(const run *r); /* of the nearest limit used, 0 ... 1; 0 without limits */
double run_epochs(const run *r);   /* with a fraction */

/* validate.c: measures, saves best, counts patience. *end: a reason to stop, or NULL. */
sa_status run_validate(run *r, const char **end, sa_error *error);

#endif
