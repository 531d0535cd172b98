/* A model's configuration as JSON, the form in which its file keeps it. */
#include "model/model_file.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct int_field {
    const char *name;
    size_t offset;
} int_field;

static const int_field int_fields[] = {
    {"vocab_source", offsetof(sa_model_config, vocab_source)},
    {"vocab_target", offsetof(sa_model_config, vocab_target)},
    {"dim_emb", offsetof(sa_model_config, dim_emb)},
    {"dim_rnn", offsetof(sa_model_config, dim_rnn)},
    {"dim_dec", offsetof(sa_model_config, dim_dec)},
    {"dim_att", offsetof(sa_model_config, dim_att)},
    {"dim_maxout", offsetof(sa_model_config, dim_maxout)},
    {"output_rank", offsetof(sa_model_config, output_rank)},
};
enum { N_INT_FIELDS = sizeof int_fields / sizeof *int_fields };

char *model_config_json(const sa_model_config *config) {
    json_t *object = json_object();
    bool ok = object != NULL;
    ok = ok && !json_object_set_new(object, "preset", json_string(config->preset));
    ok = ok && !json_object_set_new(object, "init", json_string(config->init));
    ok = ok && !json_object_set_new(object, "decoder_order",
                                    json_string(config->order == SA_LOOK_FIRST ? "look-first" : "update-first"));
    ok = ok &&
         !json_object_set_new(object, "reset", json_string(config->reset == SA_RESET_BEFORE ? "before" : "after"));
    ok = ok && !json_object_set_new(object, "tied_target", json_boolean(config->tied_target));
    for (int i = 0; ok && i < N_INT_FIELDS; i++) {
        int value = *(const int *)((const char *)config + int_fields[i].offset);
        ok = !json_object_set_new(object, int_fields[i].name, json_integer(value));
    }
    char *text = ok ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* The position of the string under key in two choices; -1: another string. Absent: `missing`. */
static int choice(const json_t *object, const char *key, const char *first, const char *second, int missing) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return missing;
    const char *text = json_string_value(value);
    return !text ? -1 : !strcmp(text, first) ? 0 : !strcmp(text, second) ? 1 : -1;
}

static sa_status read_fields(sa_model_config *config, const json_t *object, const char *source, sa_error *error) {
    for (int i = 0; i < N_INT_FIELDS; i++) {
        const json_t *value = json_object_get(object, int_fields[i].name);
        if (!value)
            continue;
        json_int_t number = json_integer_value(value);
        if (!json_is_integer(value) || number < 0 || number > 1 << 24)
            return sa_fail(error, SA_FORMAT, "%s: configuration: bad value of %s", source, int_fields[i].name);
        *(int *)((char *)config + int_fields[i].offset) = (int)number;
    }
    int order = choice(object, "decoder_order", "look-first", "update-first", (int)config->order);
    int reset = choice(object, "reset", "before", "after", (int)config->reset);
    if (order < 0 || reset < 0)
        return sa_fail(error, SA_FORMAT, "%s: configuration: unknown decoder_order or reset", source);
    config->order = order == 0 ? SA_LOOK_FIRST : SA_UPDATE_FIRST;
    config->reset = reset == 0 ? SA_RESET_BEFORE : SA_RESET_AFTER;
    config->tied_target = json_is_true(json_object_get(object, "tied_target"));
    const char *init = json_string_value(json_object_get(object, "init"));
    if (init)
        snprintf(config->init, sizeof config->init, "%s", init);
    return SA_OK;
}

sa_status model_config_parse(sa_model_config *config, const char *json, const char *source, sa_error *error) {
    json_error_t problem;
    json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_object(object)) {
        json_decref(object);
        return sa_fail(error, SA_FORMAT, "%s: configuration is not a JSON object", source);
    }
    const char *name = json_string_value(json_object_get(object, "preset"));
    sa_status status = SA_OK;
    if (!name || !preset_find(name))
        status = sa_fail(error, SA_FORMAT, "%s: this version knows no preset \"%s\"", source, name ? name : "");
    if (status == SA_OK)
        status = sa_model_config_preset(config, name, error);
    if (status == SA_OK)
        status = read_fields(config, object, source, error);
    json_decref(object);
    return status;
}
