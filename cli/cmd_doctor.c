#include "status_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct doctor_arguments {
    const char *source, *target; /* text to reckon with; NULL: words made up */
    const char *preset;          /* NULL: all */
    int threads;
    double epochs;
    bool json;
} doctor_arguments;

static const option doctor_options[] = {
    OPT_PAIR("train", 't', "SRC TGT", doctor_arguments, source, target,
             "a corpus: how long would training on it take here?"),
    OPT_STRING("preset", 0, "NAME", doctor_arguments, preset, "measure this preset only"),
    OPT_NUMBER("threads", 0, "N", doctor_arguments, threads, AT_LEAST(0),
               "threads that work; 0: one for each core"),
    OPT_NUMBER("epochs", 0, "X", doctor_arguments, epochs, POSITIVE, "times that training goes through the corpus"),
    OPT_FLAG("json", 0, doctor_arguments, json, "write one JSON object instead of text"),
    OPT_END,
};

/* ---- a text to measure with --------------------------------------------------------------------------- */

enum { SAMPLE = 8000 }; /* pairs: more than the largest window of minibatches */

/* Pairs in memory, as files that the library can open. */
typedef struct sample {
    int file[2];
    char path[2][64];
    FILE *out[2];
    size_t pairs; /* of the corpus that it stands for */
} sample;

static int sample_failed(const char *what) {
    cli_message("no memory for a text to measure with: %s", what);
    return CLI_FAILED;
}

static int sample_begin(sample *s) {
    *s = (sample){.file = {-1, -1}};
    for (int k = 0; k < 2; k++) {
        s->file[k] = memfd_create("sample", MFD_CLOEXEC);
        s->out[k] = s->file[k] >= 0 ? fdopen(dup(s->file[k]), "w") : NULL;
        if (s->out[k] == NULL)
            return sample_failed("memfd_create");
        snprintf(s->path[k], sizeof s->path[k], "/proc/self/fd/%d", s->file[k]);
    }
    return CLI_OK;
}

static int sample_end(sample *s) {
    bool written = true;
    for (int k = 0; k < 2; k++)
        written = fclose(s->out[k]) == 0 && written;
    s->out[0] = s->out[1] = NULL;
    return written ? CLI_OK : sample_failed("writing it");
}

static void sample_free(sample *s) {
    for (int k = 0; k < 2; k++) {
        if (s->out[k] != NULL)
            fclose(s->out[k]);
        if (s->file[k] >= 0)
            close(s->file[k]);
    }
}

/* Sentences of 4 to 44 words, 24 on the average, as news has them; the words do not matter to the speed. */
static void make_up(sample *s) {
    uint32_t random = 1;
    for (int i = 0; i < SAMPLE; i++) {
        for (int k = 0; k < 2; k++) {
            random = random * 1664525u + 1013904223u;
            int words = 4 + (int)(random >> 16) % 21 + (int)(random >> 8) % 21;
            for (int j = 0; j < words; j++) {
                random = random * 1664525u + 1013904223u;
                fprintf(s->out[k], "%sw%u", j > 0 ? " " : "", (random >> 16) % 20000);
            }
            fputc('\n', s->out[k]);
        }
    }
    s->pairs = SAMPLE;
}

/* Every so manieth pair of the corpus, evenly. The reader's lines are copied only where they are taken. */
static int take_pairs(sample *s, sa_reader *const reader[2], size_t every) {
    sa_error error;
    for (size_t i = 0;; i++) {
        char *line[2];
        size_t length[2];
        for (int k = 0; k < 2; k++)
            if (sa_reader_next(reader[k], &line[k], &length[k], &error) != SA_OK)
                return cli_library_error(&error);
        if (line[0] == NULL || line[1] == NULL) {
            if (line[0] == NULL && line[1] == NULL)
                return CLI_OK;
            cli_message("the two files have not the same number of lines: one ends after line %zu", i);
            return CLI_FAILED;
        }
        s->pairs = i + 1;
        for (int k = 0; k < 2 && i % every == 0; k++) {
            fwrite(line[k], 1, length[k], s->out[k]);
            fputc('\n', s->out[k]);
        }
    }
}

static int read_corpus(sample *s, const doctor_arguments *a, size_t every) {
    sa_error error;
    const char *const path[2] = {a->source, a->target};
    sa_reader *reader[2] = {NULL, NULL};
    int status = CLI_OK;
    for (int k = 0; k < 2 && status == CLI_OK; k++)
        if (sa_reader_open(&reader[k], path[k], false, &error) != SA_OK)
            status = cli_library_error(&error);
    if (status == CLI_OK)
        status = take_pairs(s, reader, every);
    for (int k = 0; k < 2; k++)
        if (reader[k] != NULL)
            sa_reader_free(reader[k]);
    return status;
}

/* Lines of a file. */
static int count_lines(const char *path, size_t *n) {
    sa_error error;
    sa_reader *reader;
    char *line;
    size_t length;
    if (sa_reader_open(&reader, path, false, &error) != SA_OK)
        return cli_library_error(&error);
    sa_status status;
    do
        status = sa_reader_next(reader, &line, &length, &error);
    while (status == SA_OK && line != NULL);
    *n = sa_reader_line(reader);
    sa_reader_free(reader);
    return status == SA_OK ? CLI_OK : cli_library_error(&error);
}

static int sample_fill(sample *s, const doctor_arguments *a) {
    size_t lines = 0;
    int status = sample_begin(s);
    if (status == CLI_OK && a->source == NULL)
        make_up(s);
    else if (status == CLI_OK && (status = count_lines(a->source, &lines)) == CLI_OK)
        status = read_corpus(s, a, lines / SAMPLE + 1);
    return status == CLI_OK ? sample_end(s) : status;
}

/* ---- measuring --------------------------------------------------------------------------------------- */

typedef struct measurement {
    const char *preset;
    bool fits; /* in memory; else nothing was measured */
    sa_train_bench speed;
    double words; /* target symbols of the corpus; 0 without one */
} measurement;

/* One minibatch of the sorted window's middle, after one to warm up. Made-up words are taken as they are. That one
 * of many presets needs more memory than there is, is a result too. */
static int measure(const doctor_arguments *a, const sample *s, const char *preset, measurement *out) {
    sa_error error;
    sa_train_options o;
    if (sa_train_options_init(&o, preset, &error) != SA_OK)
        return cli_library_error(&error);
    o.train_source = o.valid_source = s->path[0];
    o.train_target = o.valid_target = s->path[1];
    o.threads = a->threads;
    if (a->source == NULL)
        o.vocab_type = SA_VOCAB_WORD;
    *out = (measurement){.preset = preset};
    sa_status status = sa_bench_train(&o, 1, 1, &out->speed, &error);
    if (status == SA_MEMORY && a->preset == NULL)
        return CLI_OK;
    if (status != SA_OK)
        return cli_library_error(&error);
    out->fits = true;
    /* Pairs that training would drop are not in the words; the sample has every so manieth pair. */
    size_t every = a->source != NULL ? s->pairs / SAMPLE + 1 : 1;
    out->words = a->source != NULL ? out->speed.words * (double)every : 0;
    return CLI_OK;
}

static double hours(const measurement *m) {
    return m->words / m->speed.words_per_second / 3600;
}

/* ---- telling ----------------------------------------------------------------------------------------- */

static void print_machine(const sa_machine *m) {
    const double giga = 1024.0 * 1024 * 1024;
    printf("softalign         %s\n", sa_version());
    printf("processor         %s, %d core%s for this process\n", m->processor, m->cores, m->cores == 1 ? "" : "s");
    printf("instruction sets  %s\n", m->instruction_sets);
    printf("matrix products   %s: %s\n", m->product_set, m->precisions);
    printf("memory            %.1f GB, %.1f GB free", (double)m->memory / giga, (double)m->memory_available / giga);
    if (m->memory_limit > 0)
        printf(", limited to %.1f GB", (double)m->memory_limit / giga);
    printf("\nlibraries         %s\n", m->libraries);
}

static void print_hours(double h) {
    if (h < 1)
        printf("  %10.0f min", h * 60);
    else
        printf("  %12.1f h", h);
}

static void print_head(const doctor_arguments *a, const sample *s) {
    if (a->source != NULL)
        printf("\ntraining on %zu pairs of %s and %s\n", s->pairs, a->source, a->target);
    else
        printf("\ntraining on sentences of 24 words\n");
    printf("preset       parameters  target words/s");
    if (a->source != NULL)
        printf("  %14s  %10g epochs", "an epoch", a->epochs);
    putchar('\n');
}

static void print_measurement(const doctor_arguments *a, const measurement *m) {
    if (m->fits)
        printf("%-12s %8.1f M  %14.0f", m->preset, m->speed.parameters / 1e6, m->speed.words_per_second);
    else
        printf("%-12s needs more memory than is left", m->preset);
    if (m->fits && a->source != NULL) {
        print_hours(hours(m));
        print_hours(hours(m) * a->epochs);
    }
    putchar('\n');
    fflush(stdout);
}

/* What has no special characters is written as it is; a processor may call itself what it likes. */
static void print_json_text(const char *name, const char *text) {
    printf("\"%s\":\"", name);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= ' ' && *text != '"' && *text != '\\')
            putchar(*text);
    fputs("\",", stdout);
}

static void print_json_machine(const sa_machine *m) {
    putchar('{');
    print_json_text("version", sa_version());
    print_json_text("processor", m->processor);
    print_json_text("instruction_sets", m->instruction_sets);
    print_json_text("product_set", m->product_set);
    print_json_text("precisions", m->precisions);
    print_json_text("libraries", m->libraries);
    printf("\"cores\":%d,\"memory\":%" PRIu64 ",\"memory_available\":%" PRIu64 ",\"memory_limit\":%" PRIu64
           ",\"presets\":[",
           m->cores, m->memory, m->memory_available, m->memory_limit);
}

static void print_json(const doctor_arguments *a, const sa_machine *machine, const measurement *m, int n) {
    print_json_machine(machine);
    for (int i = 0; i < n; i++, m++) {
        printf("%s{\"preset\":\"%s\",\"fits\":%s", i > 0 ? "," : "", m->preset, m->fits ? "true" : "false");
        if (m->fits)
            printf(",\"parameters\":%.0f,\"words_per_second\":%.1f", m->speed.parameters,
                   m->speed.words_per_second);
        if (m->fits && a->source != NULL)
            printf(",\"words\":%.0f,\"hours_per_epoch\":%.4f,\"hours\":%.4f", m->words, hours(m),
                   hours(m) * a->epochs);
        putchar('}');
    }
    puts("]}");
}

/* ---- the subcommand ---------------------------------------------------------------------------------- */

enum { PRESETS_MOST = 64 };

/* Text is printed as it comes, JSON when all has gone well. */
/* Of presets that read pictures a text tells nothing. */
static bool reads_text(const char *preset) {
    sa_model_config config;
    sa_error error;
    return sa_model_config_preset(&config, preset, &error) == SA_OK && config.picture_side == 0;
}

static int measure_presets(const doctor_arguments *a, const sample *s, measurement *m, int *n) {
    status_line line;
    status_line_begin(&line);
    *n = 0;
    for (const char *const *preset = sa_model_presets(); *preset != NULL && *n < PRESETS_MOST; preset++) {
        char text[80];
        if ((a->preset != NULL && strcmp(a->preset, *preset) != 0) || !reads_text(*preset))
            continue;
        snprintf(text, sizeof text, "measuring %s ...", *preset);
        if (line.terminal)
            status_line_show(&line, text);
        int status = measure(a, s, *preset, &m[*n]);
        status_line_clear(&line);
        if (status != CLI_OK)
            return status;
        if (!a->json)
            print_measurement(a, &m[*n]);
        ++*n;
    }
    return CLI_OK;
}

static int examine(const doctor_arguments *a) {
    sa_error error;
    sa_machine machine;
    sample s;
    measurement m[PRESETS_MOST];
    int n;
    if (sa_machine_describe(&machine, &error) != SA_OK)
        return cli_library_error(&error);
    int status = sample_fill(&s, a);
    if (status == CLI_OK && !a->json) {
        print_machine(&machine);
        print_head(a, &s);
        fflush(stdout);
    }
    if (status == CLI_OK)
        status = measure_presets(a, &s, m, &n);
    if (status == CLI_OK && a->json)
        print_json(a, &machine, m, n);
    sample_free(&s);
    return status;
}

static int doctor_run(int argc, char **argv) {
    doctor_arguments a = {.epochs = 10};
    sa_error error;
    sa_model_config config;
    int n;
    int status = options_parse(&command_doctor, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.preset != NULL && sa_model_config_preset(&config, a.preset, &error) != SA_OK)
        return cli_library_error(&error);
    if (a.preset != NULL && !reads_text(a.preset))
        return cli_usage_error(&command_doctor, "%s reads pictures; doctor measures with text", a.preset);
    if (a.source != NULL && (strcmp(a.source, "-") == 0 || strcmp(a.target, "-") == 0))
        return cli_usage_error(&command_doctor, "--train needs files: they are read twice");
    return examine(&a);
}

const command command_doctor = {
    .name = "doctor",
    .summary = "say what this machine has, and how long training takes on it",
    .synopsis = "[OPTION]...",
    .about =
        "Prints the processor, the instruction sets and precisions that matrix products use, memory and the "
        "versions of libraries; then trains for a moment with each preset and prints target words a second, and, "
        "with --train, how long a corpus would take. The measurement is short, and other programs that run "
        "meanwhile "
        "make it slower: a long run may differ by a fifth.",
    .examples = "  softalign doctor\n"
                "  softalign doctor --train corpus.en.gz corpus.fr.gz --preset small\n",
    .options = doctor_options,
    .run = doctor_run,
};
