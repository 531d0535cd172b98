/* What `softalign explain --records` wrote, as Jain and Wallace (2019) and Wiegreffe and Pinter (2019) print it:
 * how often each correlation comes, and what becomes of outcomes by how peaked attention is. */
#include "curves.h"

#include <stdlib.h>
#include <string.h>

/* Where a target symbol lies in a chart; of some charts a symbol has several, or none. */
typedef struct spot {
    double x, y;
} spot;

/* Spot k of a symbol; false when it has no more. */
typedef bool spot_finder(const json_t *symbol, size_t k, spot *out);

static bool spot_of_tau(const json_t *symbol, size_t k, const char *pair, spot *out) {
    out->x = curves_number(json_object_get(json_object_get(symbol, "tau"), pair), "tau");
    return k == 0;
}

static bool attention_gradient(const json_t *symbol, size_t k, spot *out) {
    return spot_of_tau(symbol, k, "attention, gradient", out);
}

static bool attention_left_out(const json_t *symbol, size_t k, spot *out) {
    return spot_of_tau(symbol, k, "attention, leave-one-out", out);
}

static bool gradient_left_out(const json_t *symbol, size_t k, spot *out) {
    return spot_of_tau(symbol, k, "gradient, leave-one-out", out);
}

static bool permuted(const json_t *symbol, size_t k, spot *out) {
    *out = (spot){curves_number(symbol, "largest"), curves_number(symbol, "permuted")};
    return k == 0;
}

static bool adversary(const json_t *symbol, size_t k, spot *out) {
    out->x = curves_number(json_object_get(symbol, "adversary"), "jsd");
    return k == 0;
}

static bool adversary_by_largest(const json_t *symbol, size_t k, spot *out) {
    *out = (spot){curves_number(symbol, "largest"), curves_number(json_object_get(symbol, "adversary"), "jsd")};
    return k == 0;
}

static bool other_model(const json_t *symbol, size_t k, spot *out) {
    const json_t *others = json_object_get(symbol, "others");
    *out = (spot){curves_number(json_array_get(others, k), "tvd"), curves_number(json_array_get(others, k), "jsd")};
    return k < json_array_size(others);
}

/* What is made of the spots, in `bins` parts of low ... high. */
typedef enum chart_form {
    FORM_SHARES,   /* percent of the symbols that have x there; y is not used */
    FORM_QUARTILES /* median and quartiles of y */
} chart_form;

static const char of_largest[] = "largest weight of attention", of_symbols[] = "% of target symbols";

static const struct {
    const char *title, *x_label, *y_label;
    spot_finder *find;
    chart_form form;
    int bins;
    double low, high;
} charts[] = {
    {"attention and gradient", "Kendall's τ", of_symbols, attention_gradient, FORM_SHARES, 20, -1, 1},
    {"attention and leave-one-out", "Kendall's τ", of_symbols, attention_left_out, FORM_SHARES, 20, -1, 1},
    {"gradient and leave-one-out", "Kendall's τ", of_symbols, gradient_left_out, FORM_SHARES, 20, -1, 1},
    {"permuted weights", of_largest, "TVD of the outcome: median, quartiles", permuted, FORM_QUARTILES, 10, 0, 1},
    {"adversarial weights", "JSD from the model's own", of_symbols, adversary, FORM_SHARES, 14, 0, 0.7},
    {"adversarial weights, by the largest", of_largest, "JSD: median, quartiles", adversary_by_largest,
     FORM_QUARTILES, 10, 0, 1},
    {"another model", "TVD of the outcome", "JSD of the weights: median, quartiles", other_model, FORM_QUARTILES,
     10, 0, 1},
};
enum { CHARTS = sizeof charts / sizeof *charts };
_Static_assert((int)CHARTS <= (int)MOST_CHARTS, "charts of explanations");

/* ---- gathering --------------------------------------------------------------------------------------- */

typedef struct spots {
    spot *spot;
    size_t n, capacity;
} spots;

/* False without memory. */
static bool spots_add(spots *s, spot one) {
    if (s->n == s->capacity) {
        size_t capacity = s->capacity > 0 ? 2 * s->capacity : 1024;
        spot *more = realloc(s->spot, capacity * sizeof *more);
        if (more == NULL)
            return false;
        s->spot = more;
        s->capacity = capacity;
    }
    s->spot[s->n++] = one;
    return true;
}

static bool is_record(const json_t *object) {
    return json_is_array(json_object_get(object, "target")) || json_is_string(json_object_get(object, "left_out"));
}

bool explanations_begin_with(const json_t *value) {
    return is_record(value) && json_is_integer(json_object_get(value, "line"));
}

static bool take_record(void *user, const json_t *record) {
    spots *all = user;
    const json_t *target = json_object_get(record, "target");
    for (size_t i = 0; i < json_array_size(target); i++)
        for (int c = 0; c < CHARTS; c++) {
            spot one = {0};
            for (size_t k = 0; charts[c].find(json_array_get(target, i), k, &one); k++)
                if (!isnan(one.x) && !isnan(one.y) && !spots_add(&all[c], one))
                    return false;
        }
    return true;
}

/* ---- curves ------------------------------------------------------------------------------------------ */

static int bin_of(double x, int chart) {
    int b = (int)floor((x - charts[chart].low) / (charts[chart].high - charts[chart].low) * charts[chart].bins);
    return b < 0 ? 0 : b < charts[chart].bins ? b : charts[chart].bins - 1;
}

static double middle_of(int b, int chart) {
    return charts[chart].low + (b + 0.5) * (charts[chart].high - charts[chart].low) / charts[chart].bins;
}

static int compare_spots(const void *a, const void *b) {
    const spot *p = a, *q = b;
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y) : (p->x > q->x) - (p->x < q->x);
}

/* Of n rising values, with interpolation. */
static double quantile(const spot *sorted, size_t n, double share) {
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;
    double next = i + 1 < n ? sorted[i + 1].y : sorted[i].y;
    return sorted[i].y + (at - (double)i) * (next - sorted[i].y);
}

/* The point of bin b; here: its spots. False where the chart has none. */
static bool point_of(const spot *here, size_t n, size_t all, int b, int chart, curve_point *out) {
    *out = (curve_point){middle_of(b, chart), 100 * (double)n / (double)all, (double)NAN, (double)NAN};
    if (charts[chart].form == FORM_SHARES)
        return true;
    if (n > 0)
        *out = (curve_point){out->x, quantile(here, n, 0.5), quantile(here, n, 0.25), quantile(here, n, 0.75)};
    return n > 0;
}

/* False without memory. */
static bool draw_curve(curve *c, spots *s, int chart) {
    spot *here = malloc((s->n + 1) * sizeof *here);
    bool made = here != NULL;
    qsort(s->spot, s->n, sizeof *s->spot, compare_spots);
    for (int b = 0; s->n > 0 && b < charts[chart].bins && made; b++) {
        curve_point p;
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
            if (bin_of(s->spot[i].x, chart) == b)
                here[n++] = s->spot[i];
        made = !point_of(here, n, s->n, b, chart, &p) || curve_add(c, p);
    }
    free(here);
    return made;
}

int explanations_read(curves *c, const char *path) {
    static const curve_lines lines = {"explain --records", is_record, take_record};
    spots all[CHARTS] = {0};
    char *name = curves_name(path);
    curve_set *set = name != NULL ? curves_add_set(c, name) : NULL;
    free(name);
    bool made = set != NULL;
    for (int k = 0; k < CHARTS && made; k++)
        made = curves_chart(c, charts[k].title, charts[k].x_label, charts[k].y_label) == k;
    int status = made ? curves_read_lines(path, &lines, all) : CLI_OK;
    for (int k = 0; k < CHARTS && made && status == CLI_OK; k++)
        made = draw_curve(&set->curve[k], &all[k], k);
    for (int k = 0; k < CHARTS; k++)
        free(all[k].spot);
    return made ? status : curves_no_memory();
}
