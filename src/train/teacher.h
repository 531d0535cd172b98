/* A model that another one is trained with: to look where it looks, or to write what it writes and look elsewhere
 * (docs/ explain.md). */
#ifndef TRAIN_TEACHER_H
#define TRAIN_TEACHER_H

#include "model/loss.h"
#include "model/model_file.h"
#include "text/corpus.h"

typedef struct teacher {
    sa_model *model; /* NULL: there is none */
    double lambda;   /* 0: its weights are the pupil's; above: the pupil's loss is TVD(p, teacher's p) - lambda
                        KL(pupil's   weights || teacher's), of each target symbol */
    tape **tapes;    /* one per worker */
    int n_tapes;
} teacher;

/* Opens the teacher that the options name, if any, for a pupil with configuration and vocabularies. SA_USAGE where
 * they do not go together. */
sa_status teacher_open(teacher *w, const sa_train_options *o, const sa_model *pupil, int threads, sa_error *error);
void teacher_close(teacher *w);

/* As batch_pass (train/update.h) with what the teacher says of the same pairs; with a lambda result->sums have the
 * loss above in both places when the tape records, and cross-entropy elsewhere. The teacher's numbers stay in its
 * worker's tape until the next call. */
bool teacher_pass(const teacher *w, int worker, const model *pupil, tape *t, const corpus *c, const size_t *pairs,
                  int n, const regularisation *r, double scale, pass_result *result);

/* Gives a model that begins the parameters of another of the same configuration and vocabularies. */
sa_status teacher_hand_over(sa_model *beginner, const char *path, sa_error *error);

#endif
