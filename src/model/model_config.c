/* A model's configuration as JSON, the form in which its file keeps it. */
#include "model/config.h"
#include "model/model_file.h"

#include <jansson.h>
#include <string.h>

static json_t *to_json(const sa_model_config *config, const config_field *f) {
    const void *at = (const char *)config + f->offset;
    switch (f->type) {
    case CONFIG_INT:
        return json_integer(*(const int *)at);
    case CONFIG_FLOAT:
        return json_real((double)*(const float *)at);
    case CONFIG_BOOL:
        return json_boolean(*(const bool *)at);
    case CONFIG_ENUM:
        return json_string(f->names[*(const unsigned *)at]);
    default:
        return json_string(at);
    }
}

/* Fields that the preset reads; others say nothing about the model. */
char *model_config_json(const sa_model_config *config) {
    const preset *p = preset_find(config->preset);
    json_t *object = json_object();
    bool ok = p && object && !json_object_set_new(object, "preset", json_string(config->preset));
    for (int i = 0; ok && i < CONFIG_FIELDS; i++)
        if (preset_reads(p, config) >> i & 1)
            ok = !json_object_set_new(object, config_fields[i].name, to_json(config, &config_fields[i]));
    char *text = ok ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

static bool name_from_json(unsigned *out, const char *const *names, const char *text) {
    for (unsigned i = 0; text && names[i]; i++)
        if (!strcmp(names[i], text)) {
            *out = i;
            return true;
        }
    return false;
}

static bool from_json(sa_model_config *config, const config_field *f, const json_t *value) {
    void *at = (char *)config + f->offset;
    unsigned which;
    json_int_t number = json_integer_value(value);
    switch (f->type) {
    case CONFIG_INT:
        *(int *)at = number >= 0 && (double)number <= f->most ? (int)number : -1;
        return json_is_integer(value) && *(int *)at >= 0;
    case CONFIG_FLOAT:
        *(float *)at = (float)json_number_value(value);
        return json_is_number(value);
    case CONFIG_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    case CONFIG_ENUM:
        return name_from_json(at, f->names, json_string_value(value));
    default:
        return name_from_json(&which, f->names, json_string_value(value)) && strcpy(at, f->names[which]);
    }
}

static sa_status read_fields(sa_model_config *config, uint64_t reads, const json_t *object, const char *source,
                             sa_error *error) {
    for (int i = 0; i < CONFIG_FIELDS; i++) {
        const json_t *value = json_object_get(object, config_fields[i].name);
        if (value && reads >> i & 1 && !from_json(config, &config_fields[i], value))
            return sa_fail(error, SA_FORMAT, "%s: configuration: bad value of %s", source, config_fields[i].name);
    }
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
        status = read_fields(config, preset_find(name)->fields, object, source, error);
    json_decref(object);
    return status;
}
