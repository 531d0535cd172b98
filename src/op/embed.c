#include "op/embed.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct embed_record {
    op_record record;
    tensor *y;
    param *E, *b;
    const int *ids;
} embed_record;

static void embed_backward(tape *t, op_record *record) {
    embed_record *r = (embed_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    long rows = tensor_rows(r->y);
    int m = tensor_cols(r->y);
    for (long i = 0; i < rows; i++) /* a zero vector has no parameters */
        if (r->ids[i] < 0)
            memset(r->y->grad + i * m, 0, (size_t)m * sizeof(real));
    tape_defer_ids(t, r->E, r->ids, tensor_grad_matrix(r->y));
    if (r->b)
        tape_defer_rows(t, r->b, tensor_grad_matrix(r->y));
}

/* The first m numbers of a row; whole: room for all of it, where it has more (it is rounded as a whole). */
static void look_up(const param *E, int id, int m, real *whole, real *row) {
    param_row(E, id, whole ? whole : row);
    if (whole)
        memcpy(row, whole, (size_t)m * sizeof *row);
}

tensor *embed(tape *t, param *E, int m, param *b, int n, const int *ids) {
    SA_ASSERT(m <= E->dim[1]);
    tensor *y = tape_matrix(t, n, m);
    real *whole = m < E->dim[1] ? tape_scratch(t, E->dim[1]) : NULL;
    if (!y || t->failed)
        return NULL;
    for (long i = 0; i < n; i++) {
        SA_ASSERT(ids[i] < E->dim[0]);
        real *row = y->data + i * m;
        if (ids[i] < 0) {
            memset(row, 0, (size_t)m * sizeof *row);
            continue;
        }
        look_up(E, ids[i], m, whole, row);
        if (b)
            vec_add(row, b->value, m);
    }
    embed_record *r = tape_record(t, sizeof *r, embed_backward);
    if (r) {
        r->y = y;
        r->E = E;
        r->b = b;
        r->ids = ids;
    }
    return t->failed ? NULL : y;
}
