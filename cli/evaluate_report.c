#include "evaluate.h"
#include "evaluate_lengths.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT 0.05

/* "BLEU|nrefs:1|bs:1000|seed:12345|case:mixed|...": what was resampled stands behind nrefs, as in sacreBLEU. */
static void write_signature(const evaluation *e, const sa_statistics *s, char *text, size_t size) {
    const char *signature = sa_statistics_signature(s);
    int first = (int)strcspn(signature, "|") + 1;
    snprintf(text, size, "%.*s%s%s", first, signature, e->resampling, signature + first);
}

static double score_of(const sa_statistics *s, size_t first, size_t n) {
    sa_score score;
    sa_statistics_score(s, first, n, &score);
    return score.score;
}

/* ---- text -------------------------------------------------------------------------------------------- */

static void print_bleu(const sa_bleu_result *r, int max_order) {
    for (int i = 0; i < max_order; i++)
        printf("%s%.1f", i > 0 ? "/" : " ", r->precision[i]);
    double ratio = r->reference_length > 0 ? (double)r->hypothesis_length / (double)r->reference_length : 0;
    printf(" (BP = %.3f ratio = %.3f hyp_len = %" PRId64 " ref_len = %" PRId64 ")", r->brevity_penalty, ratio,
           r->hypothesis_length, r->reference_length);
}

static void print_aer(const sa_aer_result *r, int width) {
    printf(" (precision = %.*f recall = %.*f links = %" PRId64 " sure = %" PRId64 ")", width, r->precision, width,
           r->recall, r->links, r->sure);
}

/* One score with all that is known of it. */
static void print_score(const evaluation *e, int metric, size_t first, size_t n) {
    const sa_statistics *s = e->statistics[metric];
    char signature[2 * SA_SIGNATURE_SIZE];
    sa_score score;
    sa_statistics_score(s, first, n, &score);
    write_signature(e, s, signature, sizeof signature);
    printf("%s|%s = %.*f", sa_statistics_name(s), signature, e->width, score.score);
    if (e->interval != NULL)
        printf(" (μ = %.*f ± %.*f)", e->width, e->interval[metric].mean, e->width, e->interval[metric].half);
    if (e->metric[metric].kind == SA_METRIC_BLEU)
        print_bleu(&score.detail.bleu, e->metric[metric].bleu.max_order);
    if (e->metric[metric].kind == SA_METRIC_AER)
        print_aer(&score.detail.aer, e->width);
    putchar('\n');
}

/* The scores of some lines, with tabs between: those of the first system, then the next. */
static void print_numbers(const evaluation *e, int from, int to, size_t first, size_t n) {
    for (int i = from; i < to; i++)
        for (int m = 0; m < e->n_metrics; m++)
            printf("%s%.*f", i > from || m > 0 ? "\t" : "", e->width,
                   score_of(e->statistics[cell_of(e, i, m)], first, n));
    putchar('\n');
}

static void print_sentences(const evaluation *e) {
    if (e->n_systems > 1 && !e->score_only)
        for (int i = 0; i < e->n_systems; i++)
            for (int m = 0; m < e->n_metrics; m++)
                printf("%s:%s%c", e->system[i].name, sa_statistics_name(e->statistics[m]),
                       i + 1 == e->n_systems && m + 1 == e->n_metrics ? '\n' : '\t');
    for (size_t line = 0; line < e->system[0].n; line++) {
        if (e->n_systems > 1 || e->score_only)
            print_numbers(e, 0, e->n_systems, line, 1);
        else
            for (int m = 0; m < e->n_metrics; m++)
                print_score(e, m, line, 1);
    }
}

/* ---- a table of systems ------------------------------------------------------------------------------ */

enum { CELL_SIZE = 128 };

int columns_of(const char *text) {
    int n = 0;
    for (; *text != '\0'; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

/* "26.60 ± 0.65 * p = 0.0120" */
static void write_cell(const evaluation *e, int system, int metric, char text[CELL_SIZE]) {
    size_t cell = cell_of(e, system, metric), n;
    n = (size_t)snprintf(text, CELL_SIZE, "%.*f", e->width, score_of(e->statistics[cell], 0, e->system[0].n));
    if (e->interval != NULL)
        n += (size_t)snprintf(text + n, CELL_SIZE - n, " ± %.*f", e->width, e->interval[cell].half);
    if (e->p_value != NULL && system > 0)
        snprintf(text + n, CELL_SIZE - n, " %c p = %.4f", e->p_value[cell] < SIGNIFICANT ? '*' : ' ',
                 e->p_value[cell]);
    else if (e->p_value != NULL)
        snprintf(text + n, CELL_SIZE - n, " %12s", "baseline");
}

static void print_table(const evaluation *e) {
    char cell[CELL_SIZE];
    int wide[MOST_METRICS], names = 6;
    for (int m = 0; m < e->n_metrics; m++)
        wide[m] = columns_of(sa_statistics_name(e->statistics[m]));
    for (int i = 0; i < e->n_systems; i++) {
        int n = columns_of(e->system[i].name);
        names = n > names ? n : names;
        for (int m = 0; m < e->n_metrics; m++) {
            write_cell(e, i, m, cell);
            n = columns_of(cell);
            wide[m] = n > wide[m] ? n : wide[m];
        }
    }
    printf("%-*s", names, "system");
    for (int m = 0; m < e->n_metrics; m++)
        printf("  %*s", wide[m], sa_statistics_name(e->statistics[m]));
    putchar('\n');
    for (int i = 0; i < e->n_systems; i++) {
        printf("%s%*s", e->system[i].name, names - columns_of(e->system[i].name), "");
        for (int m = 0; m < e->n_metrics; m++) {
            write_cell(e, i, m, cell);
            printf("  %*s%s", wide[m] - columns_of(cell), "", cell);
        }
        putchar('\n');
    }
}

static void print_notes(const evaluation *e) {
    char signature[2 * SA_SIGNATURE_SIZE];
    putchar('\n');
    for (int m = 0; m < e->n_metrics; m++) {
        write_signature(e, e->statistics[m], signature, sizeof signature);
        printf("%s|%s\n", sa_statistics_name(e->statistics[m]), signature);
    }
    if (e->interval != NULL)
        puts("±: half of the 95% confidence interval, by bootstrap resampling");
    if (e->p_value != NULL)
        printf(
            "p: of a difference to the baseline as large as this between systems that are equally good, by paired "
            "%s; *: below %.2f\n",
            e->test, SIGNIFICANT);
}

static void print_text(const evaluation *e) {
    size_t n = e->system[0].n;
    if (e->sentence) {
        print_sentences(e);
    } else if (e->score_only) {
        for (int i = 0; i < e->n_systems; i++)
            print_numbers(e, i, i + 1, 0, n);
    } else if (e->n_systems == 1) {
        for (int m = 0; m < e->n_metrics; m++)
            print_score(e, m, 0, n);
    } else {
        print_table(e);
        print_notes(e);
    }
    if (e->n_groups > 0)
        lengths_print(e);
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

/* In what follows a NULL says that memory ran out, and jansson takes it for what it is: an object that is given one
 * is not made, and frees what else it was given. */

static json_t *counts_json(const int64_t *x, int n) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        if (json_array_append_new(array, json_integer(x[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *numbers_json(const double *x, int n) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        if (json_array_append_new(array, json_real(x[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *bleu_json(const sa_metric *metric, const sa_score *score) {
    const sa_bleu_result *r = &score->detail.bleu;
    int n = metric->bleu.max_order;
    return json_pack("{s:o, s:o, s:o, s:f, s:I, s:I}", "precisions", numbers_json(r->precision, n), "correct",
                     counts_json(r->correct, n), "total", counts_json(r->total, n), "brevity_penalty",
                     r->brevity_penalty, "hypothesis_length", (json_int_t)r->hypothesis_length, "reference_length",
                     (json_int_t)r->reference_length);
}

static json_t *chrf_json(const sa_metric *metric, const sa_score *score) {
    (void)metric;
    (void)score;
    return json_object();
}

static json_t *ter_json(const sa_metric *metric, const sa_score *score) {
    (void)metric;
    return json_pack("{s:f, s:f}", "edits", score->detail.ter.edits, "reference_length",
                     score->detail.ter.reference_length);
}

static json_t *aer_json(const sa_metric *metric, const sa_score *score) {
    (void)metric;
    const sa_aer_result *r = &score->detail.aer;
    return json_pack("{s:f, s:f, s:I, s:I}", "precision", r->precision, "recall", r->recall, "links",
                     (json_int_t)r->links, "sure", (json_int_t)r->sure);
}

static json_t *(*const detail_json[])(const sa_metric *metric,
                                      const sa_score *score) = {[SA_METRIC_BLEU] = bleu_json,
                                                                [SA_METRIC_CHRF] = chrf_json,
                                                                [SA_METRIC_TER] = ter_json,
                                                                [SA_METRIC_AER] = aer_json};

static json_t *sentences_json(const sa_statistics *s, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_real(score_of(s, i, 1))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* The score of all lines, and what belongs to it. */
static json_t *corpus_json(const evaluation *e, int system, int metric) {
    size_t cell = cell_of(e, system, metric);
    sa_score score;
    sa_statistics_score(e->statistics[cell], 0, e->system[0].n, &score);
    json_t *detail = detail_json[e->metric[metric].kind](&e->metric[metric], &score);
    json_t *object = json_pack("{s:f}", "score", score.score);
    int failed = json_object_update(object, detail);
    if (e->interval != NULL)
        failed |= json_object_set_new(
            object, "confidence",
            json_pack("{s:f, s:f}", "mean", e->interval[cell].mean, "half_width", e->interval[cell].half));
    if (e->p_value != NULL && system > 0)
        failed |= json_object_set_new(object, "p_value", json_real(e->p_value[cell]));
    if (e->n_groups > 0)
        failed |= json_object_set_new(object, "by_length", lengths_json(e, system, metric));
    json_decref(detail);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *score_json(const evaluation *e, int system, int metric) {
    const sa_statistics *s = e->statistics[cell_of(e, system, metric)];
    char signature[2 * SA_SIGNATURE_SIZE];
    write_signature(e, s, signature, sizeof signature);
    json_t *object = json_pack("{s:s, s:s}", "metric", sa_statistics_name(s), "signature", signature);
    int failed;
    if (e->sentence) {
        failed = json_object_set_new(object, "sentences", sentences_json(s, e->system[0].n));
    } else {
        json_t *corpus = corpus_json(e, system, metric);
        failed = json_object_update(object, corpus);
        json_decref(corpus);
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* A path need not be UTF-8; JSON must be. */
static json_t *name_json(const char *name, int i) {
    json_t *text = json_string(name);
    return text != NULL ? text : json_sprintf("file %d", i + 1);
}

static json_t *system_json(const evaluation *e, int system) {
    json_t *scores = json_array();
    for (int m = 0; m < e->n_metrics; m++)
        if (json_array_append_new(scores, score_json(e, system, m)) != 0) {
            json_decref(scores);
            return NULL;
        }
    return json_pack("{s:o, s:o}", "system", name_json(e->system[system].name, system), "scores", scores);
}

static json_t *evaluation_json(const evaluation *e) {
    json_t *references = json_array(), *systems = json_array();
    int failed = 0;
    for (int i = 0; i < e->n_references; i++)
        failed |= json_array_append_new(references, name_json(e->reference[i].name, i));
    for (int i = 0; i < e->n_systems; i++)
        failed |= json_array_append_new(systems, system_json(e, i));
    json_t *all = json_pack("{s:o, s:I, s:o}", "references", references, "lines", (json_int_t)e->system[0].n,
                            "systems", systems);
    if (e->test != NULL)
        failed |= json_object_set_new(all, "paired_test", json_string(e->test));
    if (!failed)
        return all;
    json_decref(all);
    return NULL;
}

int evaluation_report(const evaluation *e) {
    if (e->json) {
        json_t *all = evaluation_json(e);
        bool made = all != NULL;
        if (made) {
            json_dumpf(all, stdout, JSON_INDENT(2));
            putchar('\n');
        }
        json_decref(all);
        if (!made)
            return out_of_memory();
    } else {
        print_text(e);
    }
    return cli_close_output(stdout, "standard output");
}
