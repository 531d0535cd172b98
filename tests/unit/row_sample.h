/* Rows of many lengths, for what works row by row. */
#ifndef TEST_ROW_SAMPLE_H
#define TEST_ROW_SAMPLE_H

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { MOST = 10007 };

/* The vectors of a length, drawn from its number. */
typedef struct sample {
    int n;
    float a[MOST], b[MOST], c[MOST], d[2 * MOST];
} sample;
static sample s;

static inline void draw(int n) {
    rng random = rng_at(2, (uint64_t)n, 0, 0);
    s.n = n;
    for (int i = 0; i < n; i++) {
        s.a[i] = (float)(2 * rng_uniform(&random) - 1);
        s.b[i] = (float)(2 * rng_uniform(&random) - 1);
        s.c[i] = (float)(2 * rng_uniform(&random) - 1);
    }
    for (int i = 0; i < 2 * n; i++)
        s.d[i] = (float)(2 * rng_uniform(&random) - 1);
}

static inline void for_every_length(void (*check)(void)) {
    for (int n = 1; n <= 70; n++) {
        draw(n);
        check();
    }
    static const int longer[] = {255, 1000, 4095, 4096, 4097, MOST};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        draw(longer[i]);
        check();
    }
}

static inline void near(float got, double wanted) {
    assert_true(fabs((double)got - wanted) <= 5e-7);
}

/* A copy of n numbers, and what must stay behind it. */
static inline float *filled_with(float *to, const float *from) {
    memcpy(to, from, (size_t)s.n * sizeof *to);
    to[s.n] = 77;
    return to;
}

#endif
