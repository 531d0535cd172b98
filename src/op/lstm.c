#include "op/lstm.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <string.h>

typedef struct step_record {
    op_record record;
    lstm_weights w;
    tensor *x, *context;
    lstm_state before, after;
} step_record;

/* The rows that have a state: the first of x, all of the state or the first of them. */
static int rows_with_state(const tensor *x, lstm_state s) {
    long n = tensor_rows(x), m = tensor_rows(s.h);
    return (int)(m < n ? m : n);
}

static matrix top(matrix m, int rows) {
    m.rows = rows;
    return m;
}

/* Gates and candidate give way to the gradients of what went into them; the memory before takes its share. */
static void unmix(const step_record *r) {
    int m = rows_with_state(r->x, r->before), H = tensor_cols(r->before.h);
    bool squash = r->w.cell == SA_CELL_LSTM;
    for (long i = 0; i < tensor_rows(r->x); i++) {
        const real *c = i < m ? r->before.c->data + i * H : NULL;
        vec_lstm_unmix(c ? r->before.c->grad + i * H : NULL, r->x->data + 4 * i * H, r->after.h->grad + i * H,
                       r->after.c->grad + i * H, r->after.c->data + i * H, c, squash, H);
    }
}

static void step_backward(tape *t, op_record *record) {
    step_record *r = (step_record *)record;
    int m = rows_with_state(r->x, r->before);
    if (!tensor_has_grad(r->after.h) && !tensor_has_grad(r->after.c)) { /* the input waits for a gradient */
        memset(r->x->data, 0, (size_t)tensor_count(r->x) * sizeof(real));
        return;
    }
    tensor *const all[] = {r->after.h, r->after.c, r->before.h, r->before.c};
    for (int k = 0; k < 4; k++)
        tensor_grad_clear_once(all[k]);
    unmix(r);
    matrix x = tensor_matrix(r->x), h = top(tensor_matrix(r->before.h), m);
    bool ok = linear_product_back(t, top(x, m), r->w.U, top(tensor_grad_matrix(r->before.h), m), true);
    tape_defer_product(t, r->w.U, h, top(x, m));
    if (r->context) {
        bool add = tensor_grad_accumulates(r->context);
        ok = ok && linear_product_back(t, x, r->w.C, tensor_grad_matrix(r->context), add);
        tape_defer_product(t, r->w.C, tensor_matrix(r->context), x);
    }
    if (!ok)
        tape_fail(t);
}

lstm_state lstm_step(tape *t, const lstm_weights *w, tensor *x, tensor *context, lstm_state s) {
    const lstm_state failed = {0};
    if (!x || !s.h || !s.c) {
        tape_fail(t);
        return failed;
    }
    int n = (int)tensor_rows(x), H = tensor_cols(s.h), m = rows_with_state(x, s);
    SA_ASSERT(tensor_cols(x) == 4 * H && tensor_rows(s.c) == tensor_rows(s.h));
    SA_ASSERT(!context || (w->C && tensor_rows(context) == n));
    lstm_state made = {tape_matrix(t, n, H), tape_matrix(t, n, H)};
    if (!made.h || !made.c)
        return failed;
    matrix gates = tensor_matrix(x);
    if ((context && !linear_product(t, tensor_matrix(context), w->C, NULL, gates, true)) ||
        !linear_product(t, top(tensor_matrix(s.h), m), w->U, NULL, top(gates, m), true)) {
        tape_fail(t);
        return failed;
    }
    for (long i = 0; i < n; i++)
        vec_lstm_mix(made.h->data + i * H, made.c->data + i * H, x->data + 4 * i * H,
                     i < m ? s.c->data + i * H : NULL, w->cell == SA_CELL_LSTM, H);
    step_record *r = tape_record(t, sizeof *r, step_backward);
    if (r) {
        r->w = *w;
        r->x = x;
        r->context = context;
        r->before = s;
        r->after = made;
    }
    return t->failed ? failed : made;
}
