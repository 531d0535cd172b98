/* What explanations of many symbols say together. */
#include <softalign/explanation.h>

#include <math.h>

static void spread_add(sa_spread *s, double x) {
    if (isnan(x))
        return;
    s->n++;
    double away = x - s->mean;
    s->mean += away / (double)s->n;
    s->squares += away * (x - s->mean);
}

double sa_spread_deviation(const sa_spread *s) {
    return s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : 0;
}

void sa_explain_summary_init(sa_explain_summary *summary) {
    *summary = (sa_explain_summary){.bin = {{.from = 0, .to = 1}}};
    for (int b = 1; b < SA_EXPLAIN_BINS; b++) {
        summary->bin[b].from = (b - 1) / (double)(SA_EXPLAIN_BINS - 1);
        summary->bin[b].to = b / (double)(SA_EXPLAIN_BINS - 1);
    }
}

/* Of the bins behind the first; weights of local attention may be rounded beyond 1. */
static int bin_of(double largest) {
    int b = 1 + (int)(largest * (SA_EXPLAIN_BINS - 1));
    return b < SA_EXPLAIN_BINS ? b : SA_EXPLAIN_BINS - 1;
}

static void add_symbol(sa_explain_bin *bin, const sa_explanation *x, int i) {
    bin->symbols++;
    spread_add(&bin->log_p, x->log_p[i]);
    for (int k = 0; k < SA_TAU_PAIRS; k++) {
        const sa_correlation *c = &x->tau[i * SA_TAU_PAIRS + k];
        spread_add(&bin->tau[k], c->tau);
        bin->tau[k].significant += c->p < 0.05;
    }
    if (x->permuted)
        spread_add(&bin->permuted, x->permuted[i]);
    if (x->adversary) {
        spread_add(&bin->adversary_jsd, x->adversary_jsd[i]);
        spread_add(&bin->adversary_tvd, x->adversary_tvd[i]);
    }
    for (int k = 0; k < x->others; k++) {
        spread_add(&bin->other_jsd[k], x->other_jsd[(long)k * x->target_length + i]);
        spread_add(&bin->other_tvd[k], x->other_tvd[(long)k * x->target_length + i]);
    }
}

void sa_explain_summary_add(sa_explain_summary *summary, const sa_explanation *x) {
    if (x->target_length == 0) {
        summary->left_out++;
        return;
    }
    summary->pairs++;
    for (int i = 0; i < x->target_length; i++) {
        add_symbol(&summary->bin[0], x, i);
        add_symbol(&summary->bin[bin_of(x->largest[i])], x, i);
    }
}
