#include "train/schedule.h"

#include <math.h>

static double stays(const sa_train_options *o, const schedule_place *at) {
    (void)o, (void)at;
    return 1;
}

static double falls_to_zero(const sa_train_options *o, const schedule_place *at) {
    (void)o;
    return 1 - at->used;
}

/* Vaswani et al. 2017, 5.3, scaled so that the warm-up ends at the base rate. */
static double inverse_root(const sa_train_options *o, const schedule_place *at) {
    return at->update > o->warmup ? sqrt((double)o->warmup / (double)at->update) : 1;
}

static double lowered(const sa_train_options *o, const schedule_place *at) {
    return pow((double)o->plateau_factor, (double)at->cuts);
}

static sa_status needs_nothing(const sa_train_options *o, sa_error *error) {
    (void)o, (void)error;
    return SA_OK;
}

static sa_status needs_an_end(const sa_train_options *o, sa_error *error) {
    if (o->after_updates > 0 || o->after_epochs > 0 || o->after_minutes > 0)
        return SA_OK;
    return sa_fail(error, SA_USAGE, "a linear schedule needs an end: say --after 20e, 30m or 10000u");
}

static sa_status needs_a_warmup(const sa_train_options *o, sa_error *error) {
    if (o->warmup > 0)
        return SA_OK;
    return sa_fail(error, SA_USAGE, "an inv-sqrt schedule falls from the end of the warm-up: say --warmup 4000");
}

static sa_status needs_time_to_act(const sa_train_options *o, sa_error *error) {
    if (o->early_stopping == 0 || o->early_stopping > o->plateau_patience)
        return SA_OK;
    return sa_fail(
        error, SA_USAGE,
        "early stopping after %d validations would end the run before a plateau of %d lowers the learning "
        "rate: say a larger --early-stopping or a smaller --plateau-patience",
        o->early_stopping, o->plateau_patience);
}

static const struct schedule {
    double (*factor)(const sa_train_options *o, const schedule_place *at);
    sa_status (*check)(const sa_train_options *o, sa_error *error);
    bool cuts; /* counts validations that bring nothing better */
} schedules[] = {
    [SA_SCHEDULE_CONSTANT] = {stays, needs_nothing, false},
    [SA_SCHEDULE_LINEAR] = {falls_to_zero, needs_an_end, false},
    [SA_SCHEDULE_INV_SQRT] = {inverse_root, needs_a_warmup, false},
    [SA_SCHEDULE_PLATEAU] = {lowered, needs_time_to_act, true},
};

sa_status schedule_check(const sa_train_options *o, sa_error *error) {
    return schedules[o->schedule].check(o, error);
}

double schedule_rate(const sa_train_options *o, double base, const schedule_place *at) {
    double warm = o->warmup > 0 ? fmin(1, (double)at->update / (double)o->warmup) : 1;
    return base * warm * schedules[o->schedule].factor(o, at);
}

bool schedule_cuts(const sa_train_options *o, int64_t stalled) {
    return schedules[o->schedule].cuts && stalled > 0 && stalled % o->plateau_patience == 0;
}
