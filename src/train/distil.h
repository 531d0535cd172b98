/* Self-distillation: models teach one that is like them (Kim and Rush 2016, "Sequence-Level Knowledge
 * Distillation"). */
#ifndef TRAIN_DISTIL_H
#define TRAIN_DISTIL_H

#include <softalign.h>

/* What sa_train does with self_distillation above 0. In the output folder: teacher-1 ... teacher-N, a run each,
 * begun with seeds of their own; distilled.source and distilled.target, the text with the teachers' translations
 * before it; and the run that learns from that. Each is made when it is missing, so a resume goes on wherever the
 * last one ended. Errors are those of sa_train, and SA_USAGE for options that speak of the text's own lines or of
 * other models, for a text that can be read only once, and under mpirun. */
sa_status distil_train(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error);

/* Whether there are teachers in the folder. */
bool distil_began(const char *output);

#endif
