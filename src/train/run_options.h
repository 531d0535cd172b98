/* The options of a run, as JSON: kept in its state and, but for its limits, in its models. */
#ifndef TRAIN_RUN_OPTIONS_H
#define TRAIN_RUN_OPTIONS_H

#include "train/run.h"

#include <jansson.h>

/* A new object, one key per option; NULL without memory. Limits: when the run is validated and when it ends, which
 * may change while it is under way and make no difference to what was learned so far. */
json_t *run_options_object(const sa_train_options *o, bool with_limits);
/* Puts the stored values in place of those given, limits excepted, and reports each that differs and which of the
 * two counts. path names the file in messages. */
sa_status run_restore_options(run *r, const char *json, const char *path, sa_error *error);
/* The same for the model that the run began with. */
void run_restore_model(run *r, const sa_model_config *kept);

#endif
