#include "train/run_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_type { FIELD_INT, FIELD_FLOAT, FIELD_BOOL, FIELD_SEED, FIELD_ENUM } field_type;
typedef struct field {
    const char *name;
    field_type type;
    size_t offset;
    const char *const *names; /* of an enum's values, NULL-terminated */
} field;

static const char *const optimizer_names[] = {"adadelta", "adam", "sgd", NULL};
static const char *const schedule_names[] = {"constant", "linear", "inv-sqrt", "plateau", NULL};
static const char *const metric_names[] = {"cross-entropy", "perplexity", "bleu", NULL};
static const char *const precision_names[] = {"f32", "bf16", NULL};

/* clang-format off */
#define FIELD(type, name) {#name, FIELD_##type, offsetof(sa_train_options, name), NULL}
#define NAMED(name, names) {#name, FIELD_ENUM, offsetof(sa_train_options, name), names}
static const field fields[] = {
    FIELD(FLOAT, dropout),
    FIELD(FLOAT, dropout_emb),
    FIELD(FLOAT, label_smoothing),
    NAMED(optimizer, optimizer_names),
    FIELD(FLOAT, learning_rate),
    FIELD(FLOAT, adadelta_rho),
    FIELD(FLOAT, adadelta_epsilon),
    FIELD(FLOAT, adam_beta1),
    FIELD(FLOAT, adam_beta2),
    FIELD(FLOAT, adam_epsilon),
    FIELD(INT, warmup),
    NAMED(schedule, schedule_names),
    FIELD(FLOAT, plateau_factor),
    FIELD(INT, plateau_patience),
    FIELD(FLOAT, clip_norm),
    FIELD(BOOL, loss_per_word),
    FIELD(FLOAT, average),
    FIELD(BOOL, mini_batch_fit), /* before what it finds */
    FIELD(INT, workspace),
    FIELD(INT, mini_batch),
    FIELD(INT, mini_batch_words),
    FIELD(INT, optimizer_delay),
    FIELD(INT, window),
    FIELD(INT, max_length),
    NAMED(early_stopping_metric, metric_names),
    FIELD(INT, valid_beam),
    NAMED(precision, precision_names),
    FIELD(SEED, seed),
    FIELD(INT, shards),
    FIELD(INT, held_out),
};
/* clang-format on */
enum { N_FIELDS = sizeof fields / sizeof *fields };

static json_t *to_json(const sa_train_options *o, const field *f) {
    const char *at = (const char *)o + f->offset;
    char digits[32];
    switch (f->type) {
    case FIELD_INT:
        return json_integer(*(const int *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_FLOAT:
        return json_real((double)*(const float *)at);
    case FIELD_ENUM:
        return json_string(f->names[*(const unsigned *)at]);
    default: /* all 64 bits, which a JSON number does not hold */
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)*(const uint64_t *)at);
        return json_string(digits);
    }
}

static bool enum_from_json(unsigned *out, const char *const *names, const char *text) {
    for (unsigned i = 0; text && names[i]; i++)
        if (!strcmp(names[i], text)) {
            *out = i;
            return true;
        }
    return false;
}

static bool from_json(sa_train_options *o, const field *f, const json_t *value) {
    char *at = (char *)o + f->offset;
    switch (f->type) {
    case FIELD_INT:
        *(int *)at = (int)json_integer_value(value);
        return json_is_integer(value);
    case FIELD_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    case FIELD_FLOAT:
        *(float *)at = (float)json_number_value(value);
        return json_is_number(value);
    case FIELD_ENUM:
        return enum_from_json((unsigned *)at, f->names, json_string_value(value));
    default:
        *(uint64_t *)at = json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : 0;
        return json_is_string(value);
    }
}

json_t *run_options_object(const sa_train_options *o) {
    json_t *object = json_object();
    for (int i = 0; object && i < N_FIELDS; i++)
        if (json_object_set_new(object, fields[i].name, to_json(o, &fields[i]))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

/* Where minibatches were made to fit, what is given for these is not looked at. */
static bool was_found(const sa_train_options *o, const field *f) {
    bool limit = f->offset == offsetof(sa_train_options, mini_batch) ||
                 f->offset == offsetof(sa_train_options, mini_batch_words);
    return limit && o->mini_batch_fit;
}

static void report_difference(run *r, const char *name, const json_t *stored, const json_t *given) {
    char *kept = json_dumps(stored, JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
    char *refused = json_dumps(given, JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
    if (kept && refused)
        run_message(r, "resume: %s stays %s, as the run began (now given or by default: %s)", name, kept, refused);
    free(kept);
    free(refused);
}

sa_status run_restore_options(run *r, const char *json, const char *path, sa_error *error) {
    json_t *stored = json_loads(json, 0, NULL), *given = run_options_object(&r->options);
    bool ok = stored && given;
    for (int i = 0; ok && i < N_FIELDS; i++) {
        json_t *value = json_object_get(stored, fields[i].name), *now = json_object_get(given, fields[i].name);
        if (value && !json_equal(value, now) && !was_found(&r->options, &fields[i]))
            report_difference(r, fields[i].name, value, now);
        ok = value && from_json(&r->options, &fields[i], value);
    }
    json_decref(stored);
    json_decref(given);
    return ok ? run_check_options(&r->options, error)
              : sa_fail(error, SA_FORMAT, "%s: the options of the run are damaged", path);
}
