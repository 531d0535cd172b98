#include "train/run_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_type {
    FIELD_INT,
    FIELD_INT64,
    FIELD_FLOAT,
    FIELD_DOUBLE,
    FIELD_BOOL,
    FIELD_SEED,
    FIELD_ENUM
} field_type;
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
static const char *const vocab_type_names[] = {"word", "bpe", "unigram", NULL};

/* clang-format off */
#define FIELD(type, name) {#name, FIELD_##type, offsetof(sa_train_options, name), NULL}
#define NAMED(name, names) {#name, FIELD_ENUM, offsetof(sa_train_options, name), names}
/* What the numbers that are learned follow from: kept by a resume. */
static const field fields[] = {
    FIELD(FLOAT, dropout),
    FIELD(FLOAT, dropout_emb),
    FIELD(FLOAT, dropout_src),
    FIELD(FLOAT, dropout_trg),
    FIELD(FLOAT, label_smoothing),
    FIELD(FLOAT, r_drop),
    FIELD(FLOAT, guided_alignment_weight),
    FIELD(FLOAT, doubly_stochastic),
    FIELD(INT, picture_shift),
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
    NAMED(vocab_type, vocab_type_names),
    FIELD(BOOL, joint_vocab),
    FIELD(FLOAT, subword_sampling),
    FIELD(FLOAT, adversary_lambda),
};
/* When a run is looked at and when it ends: a resume may change it. */
static const field limits[] = {
    FIELD(INT64, after_updates),
    FIELD(DOUBLE, after_epochs),
    FIELD(DOUBLE, after_minutes),
    FIELD(INT64, valid_freq),
    FIELD(INT, early_stopping),
    FIELD(INT, keep),
};
/* clang-format on */
enum { N_FIELDS = sizeof fields / sizeof *fields, N_LIMITS = sizeof limits / sizeof *limits };

static json_t *to_json(const sa_train_options *o, const field *f) {
    const char *at = (const char *)o + f->offset;
    char digits[32];
    switch (f->type) {
    case FIELD_INT:
        return json_integer(*(const int *)at);
    case FIELD_INT64:
        return json_integer(*(const int64_t *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_FLOAT:
        return json_real((double)*(const float *)at);
    case FIELD_DOUBLE:
        return json_real(*(const double *)at);
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

static bool put_fields(json_t *object, const sa_train_options *o, const field *f, int n) {
    for (int i = 0; i < n; i++)
        if (json_object_set_new(object, f[i].name, to_json(o, &f[i])))
            return false;
    return true;
}

/* Where minibatches were made to fit, or the processor leaves no choice, what is given for these is not looked at.
 */
static bool was_found(const sa_train_options *o, const field *f, sa_precision fastest) {
    if (f->offset == offsetof(sa_train_options, precision))
        return fastest == SA_F32 && o->precision == SA_F32;
    bool limit = f->offset == offsetof(sa_train_options, mini_batch) ||
                 f->offset == offsetof(sa_train_options, mini_batch_words);
    return limit && o->mini_batch_fit;
}

json_t *run_options_object(const sa_train_options *o, bool with_limits) {
    json_t *object = json_object();
    if (put_fields(object, o, fields, N_FIELDS) && (!with_limits || put_fields(object, o, limits, N_LIMITS)))
        return object;
    json_decref(object);
    return NULL;
}

/* Reports that the run was told `before` and now `now`, and which of them counts. Without memory nothing is said.
 */
static void report_difference(run *r, const char *name, const json_t *before, const json_t *now, bool kept) {
    char *old = json_dumps(before, JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
    char *new = json_dumps(now, JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
    char option[64];
    bool after = !strncmp(name, "after_", 6);
    snprintf(option, sizeof option, after ? "--after (%s)" : "--%s", after ? name + 6 : name);
    for (char *c = option; *c; c++)
        *c = *c == '_' ? '-' : *c;
    if (old && new &&kept)
        run_message(r, "resume: %s stays %s, as the run began (now given or by default: %s)", option, old, new);
    else if (old && new)
        run_message(r, "resume: %s is now %s; so far it was %s", option, new, old);
    free(old);
    free(new);
}

sa_status run_restore_options(run *r, const char *json, const char *path, sa_error *error) {
    sa_precision fastest;
    SA_TRY(run_fastest_precision(&fastest, error));
    json_t *stored = json_loads(json, 0, NULL), *given = run_options_object(&r->options, true);
    bool ok = stored && given;
    for (int i = 0; ok && i < N_FIELDS + N_LIMITS; i++) {
        const field *f = i < N_FIELDS ? &fields[i] : &limits[i - N_FIELDS];
        json_t *value = json_object_get(stored, f->name), *now = json_object_get(given, f->name);
        if (value && !json_equal(value, now) && !was_found(&r->options, f, fastest))
            report_difference(r, f->name, value, now, i < N_FIELDS);
        ok = i >= N_FIELDS || (value && from_json(&r->options, f, value));
    }
    json_decref(stored);
    json_decref(given);
    if (ok && r->options.precision > fastest) {
        run_message(r, "resume: --precision is now f32: this processor has no instructions for bf16");
        r->options.precision = fastest;
    }
    return ok ? run_check_options(&r->options, error)
              : sa_fail(error, SA_FORMAT, "%s: the options of the run are damaged", path);
}

static json_t *config_object(const sa_model_config *config) {
    char *text = model_config_json(config);
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return object;
}

void run_restore_model(run *r, const sa_model_config *kept) {
    const sa_model_config *given = &r->options.model;
    json_t *before = config_object(kept), *now = config_object(given);
    for (void *i = json_object_iter(before); i && now; i = json_object_iter_next(before, i)) {
        const char *name = json_object_iter_key(i);
        const json_t *old = json_object_iter_value(i), *new = json_object_get(now, name);
        if (strncmp(name, "vocab_", 6) != 0 && !json_equal(old, new))
            report_difference(r, name, old, new, true);
    }
    json_decref(before);
    json_decref(now);
    /* A text may hold fewer symbols than are allowed. */
    if (given->vocab_source < kept->vocab_source || given->vocab_target < kept->vocab_target)
        run_message(r, "resume: the vocabularies stay %d and %d symbols, as the run began", kept->vocab_source,
                    kept->vocab_target);
    r->options.model = *kept;
}
