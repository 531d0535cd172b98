#include "explain/kendall.h"

#include <math.h>

enum { EXACT_MOST = 33 };

/* Of the values of one side: sums over groups of t equal ones. */
typedef struct ties {
    double pairs;  /* t (t - 1) / 2 */
    double triple; /* t (t - 1) (t - 2) */
    double spread; /* t (t - 1) (2 t + 5) */
} ties;

static ties count_ties(const float *x, int n) {
    ties out = {0};
    for (int i = 0; i < n; i++) {
        double before = 0, t = 1;
        for (int j = 0; j < n; j++) {
            before += j < i && x[j] <= x[i] && x[j] >= x[i];
            t += j > i && x[j] <= x[i] && x[j] >= x[i];
        }
        if (before > 0 || t < 2) /* counted with the first of its group */
            continue;
        out.pairs += t * (t - 1) / 2;
        out.triple += t * (t - 1) * (t - 2);
        out.spread += t * (t - 1) * (2 * t + 5);
    }
    return out;
}

/* The share of the orders of n things that have at most c inversions, doubled for both sides. The k-th thing put
 * into an order of k - 1 adds 0 ... k - 1 inversions, each alike. */
static double exact_p(int n, int c) {
    double share[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1] = {1}, sum = 0;
    if (4 * c >= n * (n - 1))
        return 1;
    for (int k = 2; k <= n; k++) {
        for (int i = 1; i <= c; i++) /* at most i inversions */
            share[i] += share[i - 1];
        for (int i = c; i >= 0; i--)
            share[i] = (share[i] - (i >= k ? share[i - k] : 0)) / k;
    }
    for (int i = 0; i <= c; i++)
        sum += share[i];
    return fmin(1, 2 * sum);
}

static double normal_p(double difference, int n, ties x, ties y) {
    double size = n, m = size * (size - 1);
    double variance = (m * (2 * size + 5) - x.spread - y.spread) / 18 + 2 * x.pairs * y.pairs / m +
                      x.triple * y.triple / (9 * m * (size - 2));
    return erfc(fabs(difference) / sqrt(2 * variance));
}

sa_correlation kendall_tau(const float *x, const float *y, int n) {
    double same = 0, opposite = 0, total = (double)n * (n - 1) / 2;
    for (int i = 0; i < n; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            return (sa_correlation){(double)NAN, (double)NAN};
        for (int j = 0; j < i; j++) {
            int a = (x[i] > x[j]) - (x[i] < x[j]), b = (y[i] > y[j]) - (y[i] < y[j]);
            same += a * b > 0;
            opposite += a * b < 0;
        }
    }
    ties of_x = count_ties(x, n), of_y = count_ties(y, n);
    double norm = sqrt(total - of_x.pairs) * sqrt(total - of_y.pairs);
    if (!(norm > 0))
        return (sa_correlation){(double)NAN, (double)NAN};
    double tau = fmax(-1, fmin(1, (same - opposite) / norm));
    bool tied = of_x.pairs > 0 || of_y.pairs > 0;
    double p =
        !tied && n <= EXACT_MOST ? exact_p(n, (int)fmin(same, opposite)) : normal_p(same - opposite, n, of_x, of_y);
    return (sa_correlation){tau, p};
}
