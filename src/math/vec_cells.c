/* Gated units and long short-term memories between their products. */
#include "math/vecmath_inline.h"

MULTI void vec_gru_mix(real *y, real *c, const real *z, const real *s, int n) {
    if (!s) {
#pragma omp simd
        for (int i = 0; i < n; i++) {
            c[i] = tanh_of(c[i]);
            y[i] = z[i] * c[i];
        }
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        c[i] = tanh_of(c[i]);
        y[i] = s[i] + z[i] * (c[i] - s[i]);
    }
}

MULTI void vec_gru_unmix(real *ds, real *z, real *c, const real *dy, const real *s, int n) {
    if (!s) {
#pragma omp simd
        for (int i = 0; i < n; i++) {
            real gate = z[i], value = c[i];
            c[i] = dy[i] * gate * (1 - value * value);
            z[i] = dy[i] * value * gate * (1 - gate);
        }
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real gate = z[i], value = c[i];
        ds[i] += dy[i] * (1 - gate);
        c[i] = dy[i] * gate * (1 - value * value);
        z[i] = dy[i] * (value - s[i]) * gate * (1 - gate);
    }
}

MULTI void vec_gru_reset_before(real *ds, real *r, const real *d, const real *s, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real value = r[i];
        ds[i] += d[i] * value;
        r[i] = d[i] * s[i] * value * (1 - value);
    }
}

MULTI void vec_gru_reset_after(real *r, real *u, const real *dc, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real value = r[i];
        r[i] = dc[i] * u[i] * value * (1 - value);
        u[i] = dc[i] * value;
    }
}

INLINE void lstm_mix(real *h, real *memory, real *x, const real *c, bool squash, int n) {
    real *i = x, *f = x + n, *o = x + 2 * n, *g = x + 3 * n;
#pragma omp simd
    for (int k = 0; k < n; k++) {
        i[k] = sigmoid_of(i[k]);
        f[k] = sigmoid_of(f[k]);
        o[k] = sigmoid_of(o[k]);
        g[k] = tanh_of(g[k]);
        memory[k] = i[k] * g[k] + (c ? f[k] * c[k] : 0);
        h[k] = o[k] * (squash ? tanh_of(memory[k]) : memory[k]);
    }
}

INLINE void lstm_unmix(real *dc, real *x, const real *dh, const real *dmemory, const real *memory, const real *c,
                       bool squash, int n) {
    real *i = x, *f = x + n, *o = x + 2 * n, *g = x + 3 * n;
#pragma omp simd
    for (int k = 0; k < n; k++) {
        real in = i[k], forget = f[k], out = o[k], new = g[k], seen = squash ? tanh_of(memory[k]) : memory[k];
        real d = dmemory[k] + dh[k] * out * (squash ? 1 - seen * seen : 1);
        i[k] = d * new *in *(1 - in);
        f[k] = c ? d * c[k] * forget * (1 - forget) : 0;
        o[k] = dh[k] * seen * out * (1 - out);
        g[k] = d * in * (1 - new *new);
        if (dc)
            dc[k] += d * forget;
    }
}

/* One loop for each form, so that none asks inside. */
MULTI void vec_lstm_mix(real *h, real *memory, real *x, const real *c, bool squash, int n) {
    if (squash && c)
        lstm_mix(h, memory, x, c, true, n);
    else if (squash)
        lstm_mix(h, memory, x, NULL, true, n);
    else if (c)
        lstm_mix(h, memory, x, c, false, n);
    else
        lstm_mix(h, memory, x, NULL, false, n);
}

MULTI void vec_lstm_unmix(real *dc, real *x, const real *dh, const real *dmemory, const real *memory, const real *c,
                          bool squash, int n) {
    if (squash && c)
        lstm_unmix(dc, x, dh, dmemory, memory, c, true, n);
    else if (squash)
        lstm_unmix(NULL, x, dh, dmemory, memory, NULL, true, n);
    else if (c)
        lstm_unmix(dc, x, dh, dmemory, memory, c, false, n);
    else
        lstm_unmix(NULL, x, dh, dmemory, memory, NULL, false, n);
}

/* r with its pointers in registers, and what it has known to the compiler. */
INLINE void gru_norm_mix(real *y, const vec_gru_norm *r, bool input, const real *s, int n) {
    const real *x_z = r->x_zr, *x_r = input ? x_z + n : NULL, *x = r->x, *u_z = r->u_zr, *u_r = u_z + n, *u = r->u;
    const real *gx_z = r->gain_x_zr, *gx_r = input ? gx_z + n : NULL, *gx = r->gain_x, *b = r->b, *b_u = r->b_u;
    const real *gu_z = r->gain_u_zr, *gu_r = gu_z + n, *gu = r->gain_u, *b_z = r->b_zr, *b_r = b_z + n;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real z = sigmoid_of(gu_z[i] * u_z[i] + b_z[i] + (input ? gx_z[i] * x_z[i] : 0));
        real reset = sigmoid_of(gu_r[i] * u_r[i] + b_r[i] + (input ? gx_r[i] * x_r[i] : 0));
        real c = tanh_of(b[i] + (input ? gx[i] * x[i] : 0) + reset * (gu[i] * u[i] + b_u[i]));
        y[i] = s ? s[i] + z * (c - s[i]) : z * c;
    }
}

INLINE void gru_norm_unmix(real *ds, real *d, const vec_gru_norm *r, bool input, const real *dy, const real *s,
                           int n) {
    const real *x_z = r->x_zr, *x_r = input ? x_z + n : NULL, *x = r->x, *u_z = r->u_zr, *u_r = u_z + n, *u = r->u;
    const real *gx_z = r->gain_x_zr, *gx_r = input ? gx_z + n : NULL, *gx = r->gain_x, *b = r->b, *b_u = r->b_u;
    const real *gu_z = r->gain_u_zr, *gu_r = gu_z + n, *gu = r->gain_u, *b_z = r->b_zr, *b_r = b_z + n;
    real *d_z = d, *d_r = d + n, *d_c = d + 2 * n, *d_u = d + 3 * n;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real z = sigmoid_of(gu_z[i] * u_z[i] + b_z[i] + (input ? gx_z[i] * x_z[i] : 0));
        real reset = sigmoid_of(gu_r[i] * u_r[i] + b_r[i] + (input ? gx_r[i] * x_r[i] : 0));
        real inner = gu[i] * u[i] + b_u[i];
        real c = tanh_of(b[i] + (input ? gx[i] * x[i] : 0) + reset * inner);
        real dc = dy[i] * z * (1 - c * c);
        d_z[i] = dy[i] * (s ? c - s[i] : c) * z * (1 - z);
        d_r[i] = dc * inner * reset * (1 - reset);
        d_c[i] = dc;
        d_u[i] = dc * reset;
        if (ds)
            ds[i] += dy[i] * (1 - z);
    }
}

MULTI void vec_gru_norm_mix(real *y, const vec_gru_norm *r, const real *s, int n) {
    if (r->x && s)
        gru_norm_mix(y, r, true, s, n);
    else if (r->x)
        gru_norm_mix(y, r, true, NULL, n);
    else if (s)
        gru_norm_mix(y, r, false, s, n);
    else
        gru_norm_mix(y, r, false, NULL, n);
}

MULTI void vec_gru_norm_unmix(real *ds, real *d, const vec_gru_norm *r, const real *dy, const real *s, int n) {
    if (r->x && s)
        gru_norm_unmix(ds, d, r, true, dy, s, n);
    else if (r->x)
        gru_norm_unmix(NULL, d, r, true, dy, NULL, n);
    else if (s)
        gru_norm_unmix(ds, d, r, false, dy, s, n);
    else
        gru_norm_unmix(NULL, d, r, false, dy, NULL, n);
}
