/* Schedules of the learning rate. A new one is a line in the table of schedule.c. */
#ifndef TRAIN_SCHEDULE_H
#define TRAIN_SCHEDULE_H

#include "base/error.h"

/* Where a run stands when it asks for the rate of its next update. */
typedef struct schedule_place {
    int64_t update; /* the next one, from 1 */
    double used;    /* share of the run's nearest limit, 0 ... 1 */
    int64_t cuts;   /* how often a plateau has lowered the rate */
} schedule_place;

/* SA_USAGE when the options lack something that their schedule needs. Ranges have been checked. */
sa_status schedule_check(const sa_train_options *o, sa_error *error);
/* base * min(1, update / warmup) * the schedule's factor (enum sa_schedule in softalign.h). */
double schedule_rate(const sa_train_options *o, double base, const schedule_place *at);
/* Whether the rate is lowered after a validation that was the stalled-th in a row without a new best. */
bool schedule_cuts(const sa_train_options *o, int64_t stalled);

#endif
