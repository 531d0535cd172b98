#include "json_writer.h"
#include "pair_input.h"

#include <stdlib.h>
#include <string.h>

typedef enum align_format { FORMAT_LINKS, FORMAT_SOFT, FORMAT_JSONL, FORMAT_NPY } align_format;
static const char *const format_names[] = {
    [FORMAT_LINKS] = "links", [FORMAT_SOFT] = "soft", [FORMAT_JSONL] = "jsonl", [FORMAT_NPY] = "npy", NULL};

typedef struct align_arguments {
    sa_translate_options search;
    model_list models, reverse;
    const char *source, *target; /* target NULL: TSV in source */
    const char *tsv, *output;
    sa_alignment_options links;
    sa_symmetrization symmetrization;
    align_format format;
    bool scores, swap, strict, quiet;
} align_arguments;

static const option align_options[] = {
    OPT_SECTION("Models and files"),
    MODELS_OPTION(align_arguments, models),
    OPT_CUSTOM(
        "reverse-model", 0, "FILE", align_arguments, reverse, parse_model_path, show_nothing,
        "a model that translates from the target to the source: the links of both are made one; given again, "
        "models work together as those of -m do"),
    OPT_STRING("tsv", 0, "FILE", align_arguments, tsv,
               "pairs in one file, source, tab, target on each line, instead of two files"),
    OPT_STRING("output", 'o', "FILE", align_arguments, output, "where alignments go; - is standard output"),
    OPT_FLAG("strict", 0, align_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', align_arguments, quiet,
             "no progress, and no warnings about cropped lines and replaced bytes"),
    OPT_SECTION("Alignment"),
    ALIGNMENT_OPTIONS(align_arguments, links),
    OPT_ENUM("symmetrization", 0, "NAME", align_arguments, symmetrization, symmetrization_names,
             "with --reverse-model: which links both have together, see 'softalign symmetrize'"),
    OPT_SECTION("What is written"),
    OPT_ENUM(
        "format", 0, "NAME", align_arguments, format, format_names,
        "links: i-j with blanks between; soft: for each target word and </s> the weights of all source words and "
        "</s>, with commas between, rows with blanks between; jsonl: an object with words, weights and links; npy: "
        "NumPy arrays of the weights, one behind the other"),
    OPT_FLAG("scores", 0, align_arguments, scores, "with links: write i-j:WEIGHT"),
    OPT_FLAG("swap", 0, align_arguments, swap, "with links: write the target word first"),
    OPT_SECTION("Work"),
    OPT_NUMBER(
        "max-length", 0, "N", align_arguments, search.max_length, AT_LEAST(1),
        "symbols read of a line, either side; what is longer is cropped, with a warning, and the rest has no "
        "links"),
    OPT_NUMBER("mini-batch", 0, "N", align_arguments, search.mini_batch, BETWEEN(1, 1000000),
               "pairs aligned together; changes the speed, not the result"),
    OPT_NUMBER("threads", 0, "N", align_arguments, search.threads, AT_LEAST(0),
               "threads that work; 0: one for each core"),
    OPT_END,
};

typedef struct aligner {
    const align_arguments *a;
    model_list models, reverse;
    pair_input pairs;
    FILE *file;
    double symbols; /* of targets so far */
    warnings warnings;
} aligner;

/* ---- alignments out ---------------------------------------------------------------------------------- */

/* A pair's alignments, and the links of both, or of the first alone, with source words first. */
typedef struct alignment_pair {
    sa_alignment forward, reverse;
    sa_links links;
} alignment_pair;

static int write_links(const aligner *a, const alignment_pair *p) {
    sa_error error;
    char *text;
    if (sa_links_format(&p->links, a->a->swap, a->a->scores, &text, &error) != SA_OK)
        return cli_library_error(&error);
    fprintf(a->file, "%s\n", text);
    free(text);
    return CLI_OK;
}

static int write_soft(const aligner *a, const alignment_pair *p) {
    const sa_alignment *m = &p->forward;
    const float *w = m->weights;
    for (int i = 0; i < m->target_length; i++)
        for (int j = 0; j < m->source_length; j++)
            fprintf(a->file, "%s%.6f", j > 0 ? "," : i > 0 ? " " : "", (double)*w++);
    fputc('\n', a->file);
    return CLI_OK;
}

static int write_object(const aligner *a, const alignment_pair *p) {
    const sa_alignment *m = &p->forward, *r = &p->reverse;
    fputs("{\"source\":", a->file);
    write_json_strings(a->file, m->source, m->source_length);
    fputs(",\"target\":", a->file);
    write_json_strings(a->file, m->target, m->target_length);
    fputs(",\"weights\":", a->file);
    write_json_matrix(a->file, m->weights, m->target_length, m->source_length);
    if (r->weights != NULL) {
        fputs(",\"reverse_weights\":", a->file);
        write_json_matrix(a->file, r->weights, r->target_length, r->source_length);
    }
    fputs(",\"links\":[", a->file);
    for (size_t i = 0; i < p->links.n; i++)
        fprintf(a->file, "%s[%d,%d,%.5f]", i > 0 ? "," : "", p->links.link[i].source, p->links.link[i].target,
                (double)p->links.link[i].weight);
    fputs("]}\n", a->file);
    return CLI_OK;
}

/* NumPy's format 1.0: magic, version, length of the header, header up to a multiple of 64 bytes, numbers. */
static int write_npy(const aligner *a, const alignment_pair *p) {
    enum { PREFIX = 10, HEADER = 118 };
    const sa_alignment *m = &p->forward;
    const unsigned char prefix[PREFIX] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER, 0};
    char header[HEADER + 1], dictionary[HEADER];
    snprintf(dictionary, sizeof dictionary, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }",
             m->target_length, m->source_length);
    snprintf(header, sizeof header, "%-*s\n", HEADER - 1, dictionary);
    fwrite(prefix, 1, sizeof prefix, a->file);
    fwrite(header, 1, HEADER, a->file);
    fwrite(m->weights, sizeof *m->weights, (size_t)m->target_length * (size_t)m->source_length, a->file);
    return CLI_OK;
}

static int (*const writers[])(const aligner *a, const alignment_pair *p) = {[FORMAT_LINKS] = write_links,
                                                                            [FORMAT_SOFT] = write_soft,
                                                                            [FORMAT_JSONL] = write_object,
                                                                            [FORMAT_NPY] = write_npy};

/* ---- the window -------------------------------------------------------------------------------------- */

/* What sa_score_pairs is called with, in one direction or the other. */
static sa_status run_models(const aligner *a, const model_list *models, char **from, char **to, size_t n,
                            sa_translation **out, sa_error *error) {
    return sa_score_pairs((const sa_model *const *)models->model, models->n, (const char *const *)from,
                          (const char *const *)to, n, &a->a->search, out, error);
}

static sa_status make_pair(const aligner *a, size_t i, const sa_translation *forward, const sa_translation *reverse,
                           alignment_pair *out, sa_error *error) {
    const sa_alignment_options *options = &a->a->links;
    sa_status status = sa_alignment_make(&out->forward, forward, 0, a->pairs.from[i], options, error);
    if (status != SA_OK || reverse == NULL) {
        out->links = out->forward.links;
        out->forward.links = (sa_links){0};
        return status;
    }
    status = sa_alignment_make(&out->reverse, reverse, 0, a->pairs.to[i], options, error);
    sa_links_swap(&out->reverse.links);
    return status == SA_OK ? sa_links_symmetrize(&out->links, &out->forward.links, &out->reverse.links,
                                                 a->a->symmetrization, error)
                           : status;
}

static int write_pair(aligner *a, size_t i, const sa_translation *forward, const sa_translation *reverse) {
    sa_error error;
    alignment_pair p = {0};
    if (forward->too_long && warnings_show(&a->warnings))
        cli_message("%s:%zu: a side longer than %d symbols; the rest was left out (--max-length)",
                    a->pairs.source.name, a->pairs.done + i + 1, a->a->search.max_length);
    sa_status made = make_pair(a, i, forward, reverse, &p, &error);
    int status = made == SA_OK ? writers[a->a->format](a, &p) : cli_library_error(&error);
    sa_links_free(&p.links);
    sa_alignment_free(&p.forward);
    sa_alignment_free(&p.reverse);
    a->symbols += forward->hypothesis[0].length;
    return status;
}

static int align_window(aligner *a) {
    sa_error error;
    sa_translation *forward = NULL, *reverse = NULL;
    pair_input *in = &a->pairs;
    sa_status ran = run_models(a, &a->models, in->from, in->to, in->n, &forward, &error);
    if (ran == SA_OK && a->reverse.n > 0)
        ran = run_models(a, &a->reverse, in->to, in->from, in->n, &reverse, &error);
    int status = ran == SA_OK ? CLI_OK : cli_library_error(&error);
    for (size_t i = 0; i < in->n && status == CLI_OK; i++)
        status = write_pair(a, i, &forward[i], reverse != NULL ? &reverse[i] : NULL);
    sa_translations_free(forward, forward != NULL ? in->n : 0);
    sa_translations_free(reverse, reverse != NULL ? in->n : 0);
    if (status == CLI_OK && (fflush(a->file) != 0 || ferror(a->file)))
        status = cli_write_error(input_name(a->a->output));
    status_line_count(&a->warnings.line, in->source.reader, in->done + in->n, a->symbols);
    return status;
}

static int align_all(aligner *a) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = pair_input_read(&a->pairs, &end, &error);
        int status = a->pairs.n > 0 ? align_window(a) : CLI_OK;
        pair_input_forget(&a->pairs);
        if (status != CLI_OK)
            return status;
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    warnings_end(&a->warnings, a->pairs.source.name);
    return CLI_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------- */

static int open_all(aligner *a) {
    const align_arguments *g = a->a;
    sa_error error;
    a->reverse.attention = a->models.attention;
    sa_status status = models_open(&a->models, &error);
    if (status == SA_OK)
        status = models_open(&a->reverse, &error);
    if (status == SA_OK)
        status =
            pair_input_open(&a->pairs, g->source, g->target, g->strict, g->search.mini_batch, &a->warnings, &error);
    /* No pair: models that do not go together, and options that do not go with them, are told before work starts.
     */
    const model_list *lists[] = {&a->models, &a->reverse};
    for (int i = 0; i < 2 && status == SA_OK; i++) {
        sa_translation *nothing;
        if (lists[i]->n > 0)
            status = run_models(a, lists[i], NULL, NULL, 0, &nothing, &error);
        if (lists[i]->n > 0 && status == SA_OK)
            sa_translations_free(nothing, 0);
    }
    if (status != SA_OK)
        return cli_library_error(&error);
    if (strcmp(g->output, "-") != 0 && (a->file = fopen(g->output, "w")) == NULL)
        return cli_write_error(g->output);
    return CLI_OK;
}

static int align_files(const align_arguments *g) {
    aligner a = {
        .a = g, .models = g->models, .reverse = g->reverse, .file = stdout, .warnings = {.quiet = g->quiet}};
    int status = open_all(&a);
    if (status == CLI_OK) {
        if (!g->quiet)
            status_line_begin(&a.warnings.line);
        status = align_all(&a);
        status_line_clear(&a.warnings.line);
        int closed = cli_close_output(a.file, input_name(g->output));
        status = status == CLI_OK ? closed : status;
    }
    pair_input_close(&a.pairs);
    models_close(&a.models);
    models_close(&a.reverse);
    return status;
}

static int check_arguments(const align_arguments *a) {
    const command *c = &command_align;
    if (a->models.n == 0)
        return cli_usage_error(c, "which model? -m FILE is missing");
    if (a->format != FORMAT_LINKS && (a->scores || a->swap))
        return cli_usage_error(c, "--scores and --swap go with --format links");
    if (a->reverse.n > 0 && (a->format == FORMAT_SOFT || a->format == FORMAT_NPY))
        return cli_usage_error(c,
                               "weights are of one direction: --reverse-model goes with --format links or jsonl");
    if (a->reverse.n > 0 && a->links.subwords)
        return cli_usage_error(c,
                               "two models may cut a line into other symbols: --reverse-model aligns words only");
    if (a->reverse.n == 0 && a->symmetrization != SA_GROW_DIAG)
        return cli_usage_error(c, "--symmetrization goes with --reverse-model");
    const char *input[] = {a->source, a->target};
    for (int i = 0; i < 2; i++)
        if (input[i] != NULL && same_file(input[i], a->output))
            return cli_usage_error(c, "%s is both read and written", a->output);
    return CLI_GO_ON;
}

static int align_run(int argc, char **argv) {
    align_arguments a = {.output = "-", .symmetrization = SA_GROW_DIAG};
    sa_translate_options_init(&a.search);
    a.search.attention = true;
    int n;
    int status = options_parse(&command_align, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = pair_input_arguments(&command_align, n, argv, a.tsv, &a.source, &a.target);
    if (status == CLI_GO_ON)
        status = check_arguments(&a);
    return status == CLI_GO_ON ? align_files(&a) : status;
}

const command command_align = {
    .name = "align",
    .summary = "say which words of given pairs belong together",
    .synopsis = "-m MODEL [--reverse-model MODEL] [OPTION]... SOURCE TARGET | --tsv FILE",
    .about =
        "Reads pairs of lines and writes a line of links for each: i-j for word i of the source and word j of the "
        "target, counted from 0 at blanks. They come of the attention of a model that is made to write the target: "
        "each target word is linked to the source word that it looked at most. A line without links is empty.\n"
        "Of a word that the model reads as several symbols, the weights are added where it is looked at, and "
        "averaged where it looks. The end mark </s> is a row and a column of the weights, and has no links.",
    .examples = "  softalign align -m run/best.safetensors in.en in.fr > links\n"
                "  softalign align -m en-fr/best.safetensors --reverse-model fr-en/best.safetensors in.en in.fr\n"
                "  softalign align -m run/best.safetensors --format npy -o weights.npy --tsv pairs.tsv.gz\n",
    .options = align_options,
    .most_arguments = 2,
    .run = align_run,
};
