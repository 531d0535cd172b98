#include "eval/metric.h"
#include "eval/pcg64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sa_status check_resampling(const sa_statistics *s, const sa_resampling *r, sa_error *error) {
    if (r->samples < 1)
        return sa_fail(error, SA_USAGE, "resampling: %d samples; give 1 at least", r->samples);
    if (s->n > UINT32_MAX)
        return sa_fail(error, SA_DATA, "resampling: %zu lines are too many", s->n);
    return SA_OK;
}

static sa_status new_scores(double **out, int n, sa_error *error) {
    *out = malloc((size_t)n * sizeof **out);
    return *out ? SA_OK : sa_fail_memory(error, (size_t)n * sizeof **out);
}

/* sums[k] = sum of number k over the lines. A few columns at a time stay in registers. */
static void sum_lines(const sa_statistics *s, const uint32_t *line, size_t n, double sums[METRIC_MAX_WIDTH]) {
    static_assert(METRIC_COLUMNS == 4, "as many sums as columns");
    for (size_t k = 0; k < s->stride; k += METRIC_COLUMNS) {
        double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        for (size_t i = 0; i < n; i++) {
            const double *numbers = s->numbers + line[i] * s->stride + k;
            sum0 += numbers[0];
            sum1 += numbers[1];
            sum2 += numbers[2];
            sum3 += numbers[3];
        }
        sums[k] = sum0, sums[k + 1] = sum1, sums[k + 2] = sum2, sums[k + 3] = sum3;
    }
}

static double score_of(const sa_statistics *s, const double *sums) {
    sa_score score = {0};
    s->class->score(&s->metric, sums, &score);
    return score.score;
}

static double corpus_score(const sa_statistics *s) {
    sa_score score;
    sa_statistics_score(s, 0, s->n, &score);
    return score.score;
}

static sa_status new_lines(uint32_t **out, size_t n, sa_error *error) {
    *out = malloc(n * sizeof **out);
    return *out ? SA_OK : sa_fail_memory(error, n * sizeof **out);
}

/* scores[i] is that of the i-th sample of lines; the lines depend on the seed and the number of lines only. */
static sa_status bootstrap_scores(const sa_statistics *s, const sa_resampling *r, double *scores, sa_error *error) {
    pcg64 random = pcg64_seed(r->seed);
    uint32_t *line;
    SA_TRY(new_lines(&line, s->n, error));
    for (int i = 0; i < r->samples; i++) {
        double sums[METRIC_MAX_WIDTH];
        for (size_t k = 0; k < s->n; k++)
            line[k] = s->n > 1 ? pcg64_below(&random, (uint32_t)s->n) : 0;
        sum_lines(s, line, s->n, sums);
        scores[i] = score_of(s, sums);
    }
    free(line);
    return SA_OK;
}

static double mean_of(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sa_status sa_bootstrap(const sa_statistics *statistics, const sa_resampling *resampling, sa_interval *interval,
                       sa_error *error) {
    static const sa_resampling usual = {SA_BOOTSTRAP_SAMPLES, SA_RESAMPLING_SEED};
    const sa_resampling *r = resampling ? resampling : &usual;
    double *scores;
    *interval = (sa_interval){0};
    SA_TRY(check_resampling(statistics, r, error));
    SA_TRY(new_scores(&scores, r->samples, error));
    sa_status status = bootstrap_scores(statistics, r, scores, error);
    if (status == SA_OK) {
        qsort(scores, (size_t)r->samples, sizeof *scores, by_size);
        int outside = r->samples / 40; /* 2.5% on either side */
        interval->mean = mean_of(scores, r->samples);
        interval->half = (scores[r->samples - 1 - outside] - scores[outside]) / 2;
    }
    free(scores);
    return status;
}

/* differences[i] = |score of the system - score of the baseline| in sample i, less their mean: if the systems are
 * equally good, that is what chance makes of no difference. */
static sa_status bootstrap_differences(const sa_statistics *baseline, const sa_statistics *system,
                                       const sa_resampling *r, double *differences, sa_error *error) {
    double *scores;
    SA_TRY(new_scores(&scores, r->samples, error));
    sa_status status = bootstrap_scores(baseline, r, scores, error);
    if (status == SA_OK)
        status = bootstrap_scores(system, r, differences, error);
    if (status == SA_OK) {
        for (int i = 0; i < r->samples; i++)
            differences[i] = fabs(differences[i] - scores[i]);
        double mean = mean_of(differences, r->samples);
        for (int i = 0; i < r->samples; i++)
            differences[i] -= mean;
    }
    free(scores);
    return status;
}

static void sum_all(const sa_statistics *s, double sums[METRIC_MAX_WIDTH]) {
    for (int k = 0; k < s->width; k++)
        sums[k] = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < s->width; k++)
            sums[k] += s->numbers[i * s->stride + (size_t)k];
}

/* differences[i] = |score of one mixture - score of the other|, when some lines change sides */
static sa_status randomization_differences(const sa_statistics *baseline, const sa_statistics *system,
                                           const sa_resampling *r, double *differences, sa_error *error) {
    double all[2][METRIC_MAX_WIDTH], moved[2][METRIC_MAX_WIDTH];
    pcg64 random = pcg64_seed(r->seed);
    uint32_t *line;
    SA_TRY(new_lines(&line, baseline->n, error));
    sum_all(baseline, all[0]);
    sum_all(system, all[1]);
    for (int i = 0; i < r->samples; i++) {
        size_t n = 0;
        for (size_t k = 0; k < baseline->n; k++) {
            line[n] = (uint32_t)k;
            n += !pcg64_bit(&random);
        }
        sum_lines(baseline, line, n, moved[0]);
        sum_lines(system, line, n, moved[1]);
        double mixture[2][METRIC_MAX_WIDTH];
        for (int k = 0; k < baseline->width; k++) {
            mixture[0][k] = all[0][k] - moved[0][k] + moved[1][k];
            mixture[1][k] = all[1][k] - moved[1][k] + moved[0][k];
        }
        differences[i] = fabs(score_of(baseline, mixture[0]) - score_of(baseline, mixture[1]));
    }
    free(line);
    return SA_OK;
}

typedef struct paired_test {
    int samples; /* the usual number */
    sa_status (*differences)(const sa_statistics *baseline, const sa_statistics *system, const sa_resampling *r,
                             double *differences, sa_error *error);
} paired_test;

static const paired_test tests[] = {
    [SA_PAIRED_BOOTSTRAP] = {SA_BOOTSTRAP_SAMPLES, bootstrap_differences},
    [SA_PAIRED_RANDOMIZATION] = {SA_RANDOMIZATION_SAMPLES, randomization_differences},
};

static sa_status check_pair(const sa_statistics *baseline, const sa_statistics *system, sa_error *error) {
    if (strcmp(baseline->name, system->name) || strcmp(baseline->signature, system->signature))
        return sa_fail(error, SA_USAGE, "paired test: %s|%s and %s|%s are not one metric", baseline->name,
                       baseline->signature, system->name, system->signature);
    if (baseline->n != system->n)
        return sa_fail(error, SA_USAGE, "paired test: one system has %zu lines, the other %zu", baseline->n,
                       system->n);
    return SA_OK;
}

/* One is added to both counts: a test of finitely many samples has no p-value of 0. */
static double share_above(const double *differences, int samples, double found) {
    int larger = 0;
    for (int i = 0; i < samples; i++)
        larger += differences[i] > found;
    return (larger + 1.0) / (samples + 1.0);
}

sa_status sa_paired_test(const sa_statistics *baseline, const sa_statistics *system, sa_paired_test_kind kind,
                         const sa_resampling *resampling, double *p_value, sa_error *error) {
    *p_value = 1;
    if ((size_t)kind >= sizeof tests / sizeof tests[0])
        return sa_fail(error, SA_USAGE, "there is no paired test number %d", (int)kind);
    const sa_resampling usual = {tests[kind].samples, SA_RESAMPLING_SEED};
    const sa_resampling *r = resampling ? resampling : &usual;
    SA_TRY(check_pair(baseline, system, error));
    SA_TRY(check_resampling(baseline, r, error));
    double found = fabs(corpus_score(system) - corpus_score(baseline)), *differences;
    if (!(found > 0))
        return SA_OK;
    SA_TRY(new_scores(&differences, r->samples, error));
    sa_status status = tests[kind].differences(baseline, system, r, differences, error);
    if (status == SA_OK)
        *p_value = share_above(differences, r->samples, found);
    free(differences);
    return status;
}
