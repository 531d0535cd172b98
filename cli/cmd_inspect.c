#include "cli.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct inspect_arguments {
    sa_model_config config;
    bool json;
} inspect_arguments;

static const option inspect_options[] = {
    OPT_SECTION("Output"),
    OPT_FLAG("json", 0, inspect_arguments, json, "write one JSON object instead of text"),
    OPT_SECTION("A planned model instead of a file"),
    OPT_NAME("preset", 0, "NAME", inspect_arguments, config.preset, NULL, sa_model_presets,
             "describe the model that training with this preset would make; the options below change it, and their "
             "defaults here are those of the first preset"),
    MODEL_OPTIONS(inspect_arguments, config),
    OPT_END,
};

enum { SAMPLE_PIECES = 16 };

static const char *const side_names[] = {[SA_SOURCE] = "source", [SA_TARGET] = "target"};

static int64_t total_count(const sa_model *model) {
    int64_t total = 0;
    for (int i = 0; i < sa_model_parameter_count(model); i++)
        total += sa_model_parameter(model, i).count;
    return total;
}

/* Bytes of the file, or -1. */
static int64_t file_bytes(const char *path) {
    struct stat s;
    return path != NULL && stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

/* ---- for people -------------------------------------------------------------------------------------- */

/* Texts of a file may hold what a terminal would obey: C0, DEL and C1 are written as \xNN. */
static void print_text(const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0'; s++) {
        if (*s < 0x20 || *s == 0x7F)
            printf("\\x%02X", *s);
        else if (*s == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0)
            printf("\\x%02X", *++s);
        else
            putchar(*s);
    }
}

/* The next option at or behind o that is about the model and that its preset has; NULL: no more. */
static const option *next_of_model(const option *o, const sa_model_config *c) {
    while (o->kind != OPTION_END && !(o->name != NULL && sa_model_config_has(c, o->name)))
        o++;
    return o->kind != OPTION_END ? o : NULL;
}

static void print_config(const sa_model_config *c) {
    const inspect_arguments a = {.config = *c};
    printf("preset             ");
    print_text(c->preset);
    printf("\nvocab-size         %d source, %d target\n", c->vocab_source, c->vocab_target);
    for (const option *o = next_of_model(inspect_options, c); o != NULL; o = next_of_model(o + 1, c)) {
        char value[64];
        option_show(o, &a, value, sizeof value);
        if (o->kind == OPTION_FLAG)
            strcpy(value, *(const bool *)((const char *)&a + o->offset) ? "yes" : "no");
        printf("%-18s ", o->name);
        print_text(value);
        putchar('\n');
    }
}

static void format_shape(const sa_parameter *p, char *text, size_t size) {
    if (p->rank == 1)
        snprintf(text, size, "%" PRId64, p->dim[0]);
    else
        snprintf(text, size, "%" PRId64 " x %" PRId64, p->dim[0], p->dim[1]);
}

static void print_parameters(const sa_model *model, int64_t total) {
    int n = sa_model_parameter_count(model), width = 9;
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(sa_model_parameter(model, i).name);
        width = length > width ? length : width;
    }
    printf("\n%-*s  %15s  %12s  %6s\n", width, "parameter", "shape", "count", "share");
    for (int i = 0; i < n; i++) {
        sa_parameter p = sa_model_parameter(model, i);
        char shape[48];
        format_shape(&p, shape, sizeof shape);
        print_text(p.name);
        printf("%*s  %15s  %12" PRId64 "  %5.1f%%\n", width - (int)strlen(p.name), "", shape, p.count,
               100.0 * (double)p.count / (double)(total > 0 ? total : 1));
    }
    printf("\n%.1f M parameters (%" PRId64 ")\n", (double)total / 1e6, total);
}

static void print_vocabulary(const sa_model *model, sa_side side) {
    int size = sa_model_vocab_size(model, side);
    printf("\n%s vocabulary: %s, %d symbols\n ", side_names[side],
           vocab_kind_names[sa_model_vocab_type(model, side)], size);
    for (int i = 0; i < size && i < SAMPLE_PIECES; i++) {
        putchar(' ');
        print_text(sa_model_vocab_piece(model, side, i));
    }
    puts(size > SAMPLE_PIECES ? " ..." : "");
}

/* key: value, members of inner objects as outer.inner. */
static void print_json(const char *key, json_t *value) {
    if (json_is_object(value)) {
        const char *name;
        json_t *inner;
        json_object_foreach(value, name, inner) {
            char path[256];
            snprintf(path, sizeof path, "%s%s%s", key, key[0] != '\0' ? "." : "", name);
            print_json(path, inner);
        }
        return;
    }
    fputs("  ", stdout);
    print_text(key);
    fputs(": ", stdout);
    if (json_is_string(value)) {
        print_text(json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        print_text(text != NULL ? text : "?");
        free(text);
    }
    putchar('\n');
}

static void print_training(const sa_model *model) {
    const char *text = sa_model_metadata(model, "training");
    if (text == NULL)
        return;
    json_t *training = json_loads(text, 0, NULL);
    puts("\ntraining");
    if (json_is_object(training)) {
        print_json("", training);
    } else {
        fputs("  ", stdout);
        print_text(text);
        putchar('\n');
    }
    json_decref(training);
}

static int print_model(const sa_model *model, const char *path) {
    int64_t total = total_count(model), bytes = file_bytes(path);
    if (path != NULL)
        printf("file               %s\n", path);
    const char *format = sa_model_metadata(model, "format");
    if (format != NULL) {
        printf("format             ");
        print_text(format);
        putchar('\n');
    }
    if (sa_model_metadata(model, "precision") != NULL) {
        printf("precision          ");
        print_text(sa_model_metadata(model, "precision"));
        putchar('\n');
    }
    if (sa_model_normalization(model) != NULL) {
        printf("normalization      ");
        print_text(sa_model_normalization(model));
        printf("\nprotect            %s\n", sa_model_protects(model) ? "yes" : "no");
    }
    print_config(sa_model_get_config(model));
    print_parameters(model, total);
    printf("%.1f MB as 32-bit numbers", (double)total * 4 / 1e6);
    if (bytes >= 0)
        printf(", %.1f MB in the file", (double)bytes / 1e6);
    putchar('\n');
    for (sa_side side = SA_SOURCE; side <= SA_TARGET; side++)
        if (sa_model_vocab_size(model, side) > 0)
            print_vocabulary(model, side);
    print_training(model);
    return CLI_OK;
}

/* ---- for machines ------------------------------------------------------------------------------------ */

static json_t *value_json(const option *o, const inspect_arguments *a) {
    const void *at = (const char *)a + o->offset;
    char text[64];
    if (o->kind == OPTION_INT)
        return json_integer(*(const int *)at);
    if (o->kind == OPTION_FLAG || o->kind == OPTION_BOOL)
        return json_boolean(*(const bool *)at);
    option_show(o, a, text, sizeof text);
    return json_string(text);
}

static json_t *config_json(const sa_model_config *c) {
    const inspect_arguments a = {.config = *c};
    json_t *object = json_pack("{s:s, s:i, s:i}", "preset", c->preset, "vocab-source", c->vocab_source,
                               "vocab-target", c->vocab_target);
    for (const option *o = next_of_model(inspect_options, c); o != NULL; o = next_of_model(o + 1, c))
        if (json_object_set_new(object, o->name, value_json(o, &a)) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

/* Failures stick: appending NULL fails, and a failed list is freed and becomes NULL. */
static json_t *append(json_t *list, json_t *item) {
    if (json_array_append_new(list, item) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *parameters_json(const sa_model *model) {
    json_t *list = json_array();
    for (int i = 0; i < sa_model_parameter_count(model); i++) {
        sa_parameter p = sa_model_parameter(model, i);
        json_t *shape = append(json_array(), json_integer(p.dim[0]));
        if (p.rank == 2)
            shape = append(shape, json_integer(p.dim[1]));
        list = append(list,
                      json_pack("{s:s, s:o, s:I}", "name", p.name, "shape", shape, "count", (json_int_t)p.count));
    }
    return list;
}

static json_t *vocabulary_json(const sa_model *model, sa_side side) {
    int size = sa_model_vocab_size(model, side);
    if (size == 0)
        return json_null();
    json_t *sample = json_array();
    for (int i = 0; i < size && i < SAMPLE_PIECES; i++)
        sample = append(sample, json_string(sa_model_vocab_piece(model, side, i)));
    return json_pack("{s:s, s:i, s:o}", "type", vocab_kind_names[sa_model_vocab_type(model, side)], "size", size,
                     "sample", sample);
}

/* null where there is none, the text as it stands where it is not JSON. */
static json_t *training_json(const sa_model *model) {
    const char *text = sa_model_metadata(model, "training");
    json_t *training = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
    return training != NULL ? training : json_string(text);
}

static int print_model_json(const sa_model *model, const char *path) {
    int64_t total = total_count(model), bytes = file_bytes(path);
    json_t *root =
        json_pack("{s:s?, s:s?, s:s?, s:s?, s:b, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "file", path, "format",
                  sa_model_metadata(model, "format"), "precision", sa_model_metadata(model, "precision"),
                  "normalization", sa_model_normalization(model), "protect", sa_model_protects(model), "config",
                  config_json(sa_model_get_config(model)), "parameters", parameters_json(model), "count",
                  (json_int_t)total, "bytes", (json_int_t)total * 4, "file-bytes",
                  bytes >= 0 ? json_integer(bytes) : json_null(), "source", vocabulary_json(model, SA_SOURCE),
                  "target", vocabulary_json(model, SA_TARGET), "training", training_json(model));
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (text == NULL) {
        cli_message("cannot write this model as JSON: a text in it is not UTF-8, or memory ran out");
        return CLI_FAILED;
    }
    puts(text);
    free(text);
    return CLI_OK;
}

/* ---- the subcommand ---------------------------------------------------------------------------------- */

/* The preset gives the defaults that the other options change. *path is NULL for a planned model. */
static int read_arguments(inspect_arguments *a, int argc, char **argv, const char **path) {
    sa_error error;
    inspect_arguments start;
    *path = NULL;
    *a = (inspect_arguments){0};
    if (sa_model_config_preset(&a->config, sa_model_presets()[0], &error) != SA_OK)
        return cli_library_error(&error);
    memset(a->config.preset, 0, sizeof a->config.preset);
    memcpy(&start, a, sizeof start);
    int status = options_preview(&command_inspect, a, argc, argv);
    if (status != CLI_GO_ON)
        return status;
    /* Copied whole, so that padding is equal too. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    bool changed = memcmp(&start.config, &a->config, sizeof start.config) != 0;
    char preset[sizeof a->config.preset];
    memcpy(preset, a->config.preset, sizeof preset);
    bool planned = preset[0] != '\0';
    *a = (inspect_arguments){0};
    if (planned && sa_model_config_preset(&a->config, preset, &error) != SA_OK)
        return cli_library_error(&error);
    int n;
    status = options_parse(&command_inspect, a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (planned == (n == 1))
        return cli_usage_error(&command_inspect, planned ? "a model file and --preset exclude each other"
                                                         : "which model? a file, or --preset NAME, is missing");
    if (!planned && changed)
        return cli_usage_error(&command_inspect,
                               "a model file has its own dimensions; options that set them go with --preset");
    *path = planned ? NULL : argv[0];
    return CLI_GO_ON;
}

static int inspect_run(int argc, char **argv) {
    inspect_arguments a;
    const char *path = NULL;
    int status = read_arguments(&a, argc, argv, &path);
    if (status != CLI_GO_ON)
        return status;
    sa_error error;
    sa_model *model;
    sa_status opened =
        path != NULL ? sa_model_open(&model, path, &error) : sa_model_plan(&model, &a.config, &error);
    if (opened != SA_OK)
        return cli_library_error(&error);
    status = a.json ? print_model_json(model, path) : print_model(model, path);
    sa_model_free(model);
    return status;
}

const command command_inspect = {
    .name = "inspect",
    .summary = "show what is in a model file, or how large a model would be",
    .synopsis = "MODEL | --preset NAME [OPTION]...",
    .about = "Shows a model's configuration, its parameters with their shapes and shares, its size, its "
             "vocabularies and "
             "how it was trained. With --preset it shows the model that training would make, without data. MB are "
             "millions of bytes.",
    .examples = "  softalign inspect run/best.safetensors\n"
                "  softalign inspect --preset rnnsearch --vocab-size 30000 --dim-emb 512\n",
    .options = inspect_options,
    .most_arguments = 1,
    .run = inspect_run,
};
