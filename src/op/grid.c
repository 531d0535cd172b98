#include "op/grid.h"

#include "math/vecmath.h"

#include <stdint.h>
#include <string.h>

tensor *op_pixels(tape *t, int n, int side, const int *ids, const int *shift) {
    tensor *y = tape_matrix(t, n * side * side, 3);
    if (!y)
        return NULL;
    memset(y->data, 0, (size_t)tensor_count(y) * sizeof *y->data);
    for (int i = 0; i < n; i++) {
        int left = shift ? shift[2 * i] : 0, up = shift ? shift[2 * i + 1] : 0;
        real *at = y->data + 3L * i * side * side;
        for (int row = 0; row < side; row++)
            for (int col = 0; col < side; col++, at += 3) {
                int from_row = row + up, from_col = col + left;
                if (from_row < 0 || from_row >= side || from_col < 0 || from_col >= side)
                    continue;
                int colour = ids[(long)(from_row * side + from_col) * n + i];
                for (int k = 0; k < 3; k++)
                    at[k] = 1 - (real)(colour >> (16 - 8 * k) & 255) / 255;
            }
    }
    return y;
}

tensor *op_numbers(tape *t, int n, int k, int c, const int *ids) {
    tensor *y = tape_matrix(t, n * k, c);
    for (long i = 0; y && i < n; i++)
        for (long j = 0; j < (long)k * c; j++) {
            uint32_t bits = (uint32_t)ids[j * n + i] << 8;
            float x;
            memcpy(&x, &bits, sizeof x);
            y->data[i * k * c + j] = (real)x;
        }
    return y;
}

enum { REACH = 3, TAPS = REACH * REACH };

/* The row of x that is tap `tap` around place (row, col) of the smaller square of picture i; -1 outside. */
static long row_of_tap(int i, int side, int row, int col, int tap) {
    int y = 2 * row + tap / REACH - 1, x = 2 * col + tap % REACH - 1;
    return y < 0 || y >= side || x < 0 || x >= side ? -1 : ((long)i * side + y) * side + x;
}

typedef struct windows_record {
    op_record record;
    tensor *y, *x;
    int n, side;
} windows_record;

static void windows_backward(tape *t, op_record *record) {
    (void)t;
    windows_record *r = (windows_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    tensor_grad_clear_once(r->x);
    int c = tensor_cols(r->x), half = r->side / 2;
    const real *dy = r->y->grad;
    for (int place = 0; place < r->n * half * half; place++)
        for (int tap = 0; tap < TAPS; tap++, dy += c) {
            long row = row_of_tap(place / (half * half), r->side, place / half % half, place % half, tap);
            if (row >= 0)
                vec_add(r->x->grad + row * c, dy, c);
        }
}

tensor *op_windows(tape *t, tensor *x, int n, int side) {
    if (!x)
        return tape_fail(t);
    SA_ASSERT(side % 2 == 0 && tensor_rows(x) == (long)n * side * side);
    int c = tensor_cols(x), half = side / 2;
    tensor *y = tape_matrix(t, n * half * half, TAPS * c);
    if (!y)
        return NULL;
    real *to = y->data;
    for (int place = 0; place < n * half * half; place++)
        for (int tap = 0; tap < TAPS; tap++, to += c) {
            long row = row_of_tap(place / (half * half), side, place / half % half, place % half, tap);
            if (row >= 0)
                memcpy(to, x->data + row * c, (size_t)c * sizeof *to);
            else
                memset(to, 0, (size_t)c * sizeof *to);
        }
    windows_record *r = tape_record(t, sizeof *r, windows_backward);
    if (r) {
        r->y = y;
        r->x = x;
        r->n = n;
        r->side = side;
    }
    return t->failed ? NULL : y;
}
