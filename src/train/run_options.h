/* The options that define a run, as JSON: kept in its state and in its models. */
#ifndef TRAIN_RUN_OPTIONS_H
#define TRAIN_RUN_OPTIONS_H

#include "train/run.h"

#include <jansson.h>

/* A new object, one key per option; NULL without memory. */
json_t *run_options_object(const sa_train_options *o);
/* Puts the stored values in place of those given, and reports each that differs. path names the file in messages.
 */
sa_status run_restore_options(run *r, const char *json, const char *path, sa_error *error);

#endif
