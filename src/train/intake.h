/* The training text on its way into a run. It is read three times, in little memory: to count and hash it, for the
 * sample that vocabularies are learnt from, and to make ids of it. The ids lie in a file that is mapped, and that
 * spares later runs and resumes all of this. */
#ifndef TRAIN_INTAKE_H
#define TRAIN_INTAKE_H

#include "base/thread.h"
#include "text/corpus_encoder.h"
#include "text/corpus_file.h"
#include "train/run.h"

typedef struct intake {
    run *r;
    pair_files files;
    pool *threads;
    corpus_origin origin; /* what the run asks for at first; then what was found */
    char path[4096];      /* of the file of ids; "": they stay in memory */
    bool surveyed;        /* the next two are known, and of the origin lines, hash and replacements */
    size_t pairs, bytes[2];
} intake;

/* intake.c */
/* Reads the text through, once in the intake's life. */
sa_status intake_survey(intake *t, sa_error *error);
/* Pairs that are trained on, dropped ones included: all but those held out, which are half of them at most. */
size_t intake_training_pairs(const intake *t);
bool intake_same_contents(const uint64_t lines[2], const uint64_t hash[2], const corpus_origin *o);
/* SA_DATA, naming the file and what differs, when a run that is resumed began with another text. */
sa_status intake_check_same_text(const intake *t, sa_error *error);
/* Fills r->train, the model's vocabularies unless it has them, and the validation text unless there is one. */
sa_status intake_load(intake *t, corpus_counts *counts, sa_error *error);

/* data.c: SA_DATA of a text none of whose pairs is kept. */
sa_status intake_fail_empty(const char *what, const corpus_counts *counts, int max_length, sa_error *error);

/* intake_vocab.c */
/* Hash of all that the vocabularies of a new run follow from, but for the text. */
uint64_t intake_recipe(const sa_train_options *o);
sa_status intake_learn(intake *t, sa_error *error);
/* Bytes of both vocabularies as a model's file holds them; the target's none when both are one. */
sa_status intake_save_vocabularies(const run *r, strbuf bytes[2], sa_error *error);
sa_status intake_load_vocabularies(run *r, const file_chunk bytes[2], sa_error *error);
void intake_drop_vocabularies(run *r);

/* intake_file.c */
/* The path of the file of ids, and r->text.key unless the run began with one. */
sa_status intake_name_file(intake *t, sa_error *error);
/* Takes the run's text out of the file when it is there and of the same text and options. A file that is not is
 * reported, and *found false. */
sa_status intake_use_file(intake *t, bool *found, sa_error *error);

#endif
