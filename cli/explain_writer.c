#include "explain_writer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- records ----------------------------------------------------------------------------------------- */

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

/* Puts a new value into an object; *ok falls where there is no memory. */
static void put(json_t *object, const char *key, json_t *value, bool *ok) {
    *ok = json_object_set_new(object, key, value) == 0 && *ok;
}

static void append(json_t *array, json_t *value, bool *ok) {
    *ok = json_array_append_new(array, value) == 0 && *ok;
}

/* "attention, gradient" */
static void name_pair(int k, char name[64]) {
    snprintf(name, 64, "%s, %s", sa_importance_name(sa_tau_pair[k][0]), sa_importance_name(sa_tau_pair[k][1]));
}

static bool write_object(FILE *file, json_t *object, bool ok) {
    char *text = ok ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7)) : NULL;
    json_decref(object);
    if (text != NULL)
        fprintf(file, "%s\n", text);
    free(text);
    return text != NULL;
}

bool explain_write_record(FILE *file, const sa_explanation *x, uint64_t line, int max_length) {
    char *text;
    if (sa_explanation_json(x, line, max_length, &text, NULL) != SA_OK)
        return false;
    fprintf(file, "%s\n", text);
    free(text);
    return true;
}

/* ---- summaries --------------------------------------------------------------------------------------- */

enum { QUANTITIES_MOST = 4 + SA_TAU_PAIRS + 2 * SA_ENSEMBLE_MAX };

/* A row of the summary, in every bin. */
typedef struct quantity {
    char name[512];
    size_t offset; /* of an sa_spread in sa_explain_bin */
    bool correlation;
} quantity;

static void add_quantity(quantity *list, int *n, size_t offset, const char *name) {
    quantity *q = &list[(*n)++];
    *q = (quantity){.offset = offset};
    snprintf(q->name, sizeof q->name, "%s", name);
}

static int list_quantities(const explain_subject *s, quantity *list) {
    int n = 0;
    char name[512];
    add_quantity(list, &n, offsetof(sa_explain_bin, log_p), "log p");
    for (int k = 0; k < SA_TAU_PAIRS; k++) {
        char pair[64];
        name_pair(k, pair);
        snprintf(name, sizeof name, "tau of %s", pair);
        add_quantity(list, &n, offsetof(sa_explain_bin, tau) + (size_t)k * sizeof(sa_spread), name);
        list[n - 1].correlation = true;
    }
    if (s->options->permutations > 0)
        add_quantity(list, &n, offsetof(sa_explain_bin, permuted), "TVD, weights permuted");
    if (s->options->adversaries > 0) {
        add_quantity(list, &n, offsetof(sa_explain_bin, adversary_jsd), "JSD of the adversary");
        add_quantity(list, &n, offsetof(sa_explain_bin, adversary_tvd), "TVD of the adversary");
    }
    for (int k = 0; k < s->n_others; k++) {
        size_t at = (size_t)k * sizeof(sa_spread);
        snprintf(name, sizeof name, "JSD of %.400s", s->others[k]);
        add_quantity(list, &n, offsetof(sa_explain_bin, other_jsd) + at, name);
        snprintf(name, sizeof name, "TVD of %.400s", s->others[k]);
        add_quantity(list, &n, offsetof(sa_explain_bin, other_tvd) + at, name);
    }
    return n;
}

static const sa_spread *spread_in(const sa_explain_bin *bin, const quantity *q) {
    return (const sa_spread *)(const void *)((const char *)bin + q->offset);
}

static void write_row(FILE *file, const char *name, int width, const char *bin, const sa_spread *s,
                      bool correlation) {
    fprintf(file, "%-*s  %-11s %8lld", width, name, bin, (long long)s->n);
    if (s->n > 0)
        fprintf(file, " %8.3f %9.3f", s->mean, sa_spread_deviation(s));
    if (s->n > 0 && correlation)
        fprintf(file, " %7.1f%%", 100 * (double)s->significant / (double)s->n);
    fputc('\n', file);
}

void explain_write_table(FILE *file, const sa_explain_summary *summary, const explain_subject *subject) {
    quantity list[QUANTITIES_MOST];
    int n = list_quantities(subject, list), width = 8;
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(list[i].name);
        width = length > width ? length : width;
    }
    fprintf(file, "%lld pairs, %lld symbols", (long long)summary->pairs, (long long)summary->bin[0].symbols);
    if (summary->left_out > 0)
        fprintf(file, "; %lld pairs left out", (long long)summary->left_out);
    fprintf(file, "\n\n%-*s  %-11s %8s %8s %9s %8s\n", width, "", "largest", "symbols", "mean", "deviation",
            "p < 0.05");
    for (int i = 0; i < n; i++)
        for (int b = 0; b < SA_EXPLAIN_BINS; b++) {
            const sa_explain_bin *bin = &summary->bin[b];
            char range[32] = "all";
            if (b > 0)
                snprintf(range, sizeof range, "%.2f - %.2f", bin->from, bin->to);
            write_row(file, b == 0 ? list[i].name : "", width, range, spread_in(bin, &list[i]),
                      list[i].correlation);
        }
}

static json_t *spread_json(const sa_spread *s, bool correlation, bool *ok) {
    json_t *object = json_object();
    put(object, "n", json_integer(s->n), ok);
    put(object, "mean", s->n > 0 ? number(s->mean) : json_null(), ok);
    put(object, "deviation", s->n > 0 ? number(sa_spread_deviation(s)) : json_null(), ok);
    if (correlation)
        put(object, "significant", json_integer(s->significant), ok);
    return object;
}

bool explain_write_json(FILE *file, const sa_explain_summary *summary, const explain_subject *subject) {
    bool ok = true;
    quantity list[QUANTITIES_MOST];
    int n = list_quantities(subject, list);
    json_t *object = json_object(), *bins = json_array();
    put(object, "pairs", json_integer(summary->pairs), &ok);
    put(object, "left_out", json_integer(summary->left_out), &ok);
    for (int b = 0; b < SA_EXPLAIN_BINS; b++) {
        const sa_explain_bin *bin = &summary->bin[b];
        json_t *one = json_object();
        put(one, "from", number(bin->from), &ok);
        put(one, "to", number(bin->to), &ok);
        put(one, "symbols", json_integer(bin->symbols), &ok);
        for (int i = 0; i < n; i++)
            put(one, list[i].name, spread_json(spread_in(bin, &list[i]), list[i].correlation, &ok), &ok);
        append(bins, one, &ok);
    }
    put(object, "bins", bins, &ok);
    return write_object(file, object, ok);
}
