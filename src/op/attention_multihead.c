#include "op/attention_multihead.h"

#include "math/vecmath.h"

#include <math.h>
#include <string.h>

typedef struct multihead_record {
    op_record record;
    tensor *q, *kv, *context, *weights; /* weights NULL: not shown */
    const tensor *past;
    attention_groups groups;
    int heads, head; /* that is shown; 0: the mean */
} multihead_record;

/* One group and head, gathered, so that every product is of a row with a matrix: w = d / heads columns of each.
 * Matrices that lie across the keys have `wide` columns, a multiple of LANES. */
enum { LANES = 16 };
typedef struct workbench {
    int Q, K, w, wide;
    real *q, *dc;            /* (Q, w); q scaled */
    real *keys, *values;     /* (K, w) */
    real *keys_t, *values_t; /* (w, wide) */
    real *a, *da;            /* (wide) of one query */
    real *a_t, *de_t;        /* (K, Q) of all */
    real *row;               /* (w) */
} workbench;

static int group_size(const int *at, int g) {
    return at[g + 1] - at[g];
}

static real *take(real **from, long n) {
    real *at = *from;
    *from += n;
    return at;
}

/* Room for the largest group; false without memory. backward: also for what only that needs. */
static bool set_up(tape *t, const multihead_record *r, bool backward, workbench *b) {
    int Q = 0, K = 0, w = tensor_cols(r->q) / r->heads;
    for (int g = 0; g < r->groups.n; g++) {
        int queries = group_size(r->groups.query_at, g), keys = group_size(r->groups.key_at, g);
        Q = queries > Q ? queries : Q;
        K = keys > K ? keys : K;
    }
    long wide = (K + LANES - 1) / LANES * LANES, inside = (long)K * w, across = wide * w, all = (long)Q * w;
    long each = 2 * inside + across + 2 * wide + all + w, more = across + 2 * (long)K * Q + all;
    real *room = tape_scratch(t, each + (backward ? more : 0));
    if (!room)
        return false;
    *b = (workbench){.w = w};
    b->keys = take(&room, inside);
    b->values = take(&room, inside);
    b->keys_t = take(&room, across);
    b->a = take(&room, wide);
    b->da = take(&room, wide);
    b->q = take(&room, all);
    b->row = take(&room, w);
    if (backward) {
        b->values_t = take(&room, across);
        b->a_t = take(&room, (long)K * Q);
        b->de_t = take(&room, (long)K * Q);
        b->dc = take(&room, all);
    }
    return true;
}

static const real *key_row(const multihead_record *r, int k) {
    int R = r->past ? (int)tensor_rows(r->past) : 0, cols = tensor_cols(r->kv);
    return k < R ? r->past->data + (long)k * cols : r->kv->data + (long)(k - R) * cols;
}

static void transpose(real *to, const real *from, int rows, int cols, int wide) {
    for (int i = 0; i < cols; i++) {
        for (int j = 0; j < rows; j++)
            to[(long)i * wide + j] = from[(long)j * cols + i];
        for (int j = rows; j < wide; j++)
            to[(long)i * wide + j] = 0;
    }
}

static void gather(const multihead_record *r, int g, int head, workbench *b) {
    const attention_groups *groups = &r->groups;
    int d = tensor_cols(r->q), from = head * b->w;
    const int *query = groups->query + groups->query_at[g], *key = groups->key + groups->key_at[g];
    real factor = (real)(1 / sqrt((double)b->w));
    b->Q = group_size(groups->query_at, g);
    b->K = group_size(groups->key_at, g);
    b->wide = (b->K + LANES - 1) / LANES * LANES;
    for (long j = 0; j < b->K; j++) {
        const real *row = key_row(r, key[j]) + from;
        memcpy(b->keys + j * b->w, row, (size_t)b->w * sizeof *row);
        memcpy(b->values + j * b->w, row + d, (size_t)b->w * sizeof *row);
    }
    transpose(b->keys_t, b->keys, b->K, b->w, b->wide);
    for (long i = 0; i < b->Q; i++) {
        const real *row = r->q->data + (long)query[i] * d + from;
        for (int k = 0; k < b->w; k++)
            b->q[i * b->w + k] = factor * row[k];
    }
}

/* Keys that query i of the group sees. */
static int seen(const multihead_record *r, const workbench *b, int i) {
    return r->groups.causal ? b->K - b->Q + i + 1 : b->K;
}

/* The weights of query i, in b->a; zeros behind the n that are seen. */
static void weigh(const workbench *b, int i, int n) {
    int lanes = (n + LANES - 1) / LANES * LANES;
    vec_row_times(b->a, b->q + (long)i * b->w, b->keys_t, b->wide, b->w, lanes);
    real scale = 1 / vec_exp_shift(b->a, b->a, vec_max(b->a, n), n);
    for (int j = 0; j < n; j++)
        b->a[j] *= scale;
    for (int j = n; j < b->wide; j++)
        b->a[j] = 0;
}

/* The share of a head in the weights that are shown. */
static real share(const multihead_record *r, int head) {
    return r->head == 0 ? 1 / (real)r->heads : r->head == head + 1 ? 1 : 0;
}

static void look(const multihead_record *r, int g, int head, workbench *b) {
    const int *query = r->groups.query + r->groups.query_at[g];
    int d = tensor_cols(r->q);
    gather(r, g, head, b);
    for (int i = 0; i < b->Q; i++) {
        int n = seen(r, b, i);
        weigh(b, i, n);
        vec_row_times(r->context->data + (long)query[i] * d + head * b->w, b->a, b->values, b->w, n, b->w);
        if (r->weights && share(r, head) > 0)
            vec_axpy(r->weights->data + (long)query[i] * tensor_cols(r->weights), share(r, head), b->a, n);
    }
}

/* ---- backward ---------------------------------------------------------------------------------------- */

/* da_j = dc . values_j, and what the readers of the weights left; de = a (da - sum a da). Both go into column i of
 * the matrices over all queries, de also into b->da. */
static void turn_back(const multihead_record *r, const workbench *b, int query, int head, int i) {
    int n = seen(r, b, i), lanes = (n + LANES - 1) / LANES * LANES;
    weigh(b, i, n);
    vec_row_times(b->da, b->dc + (long)i * b->w, b->values_t, b->wide, b->w, lanes);
    if (r->weights && tensor_has_grad(r->weights))
        vec_axpy(b->da, share(r, head), r->weights->grad + (long)query * tensor_cols(r->weights), n);
    real mean = vec_dot(b->a, b->da, n);
    for (int j = 0; j < b->K; j++) {
        b->da[j] = j < n ? b->a[j] * (b->da[j] - mean) : 0;
        b->a_t[(long)j * b->Q + i] = b->a[j];
        b->de_t[(long)j * b->Q + i] = b->da[j];
    }
}

static void add_key_gradients(const multihead_record *r, int g, int head, const workbench *b) {
    const int *key = r->groups.key + r->groups.key_at[g];
    int d = tensor_cols(r->q);
    for (long j = 0; j < b->K; j++) {
        real *dk = r->kv->grad + (long)key[j] * 2 * d + head * b->w;
        vec_row_times(b->row, b->de_t + j * b->Q, b->q, b->w, b->Q, b->w); /* q is scaled */
        vec_add(dk, b->row, b->w);
        vec_row_times(b->row, b->a_t + j * b->Q, b->dc, b->w, b->Q, b->w);
        vec_add(dk + d, b->row, b->w);
    }
}

static void look_back(const multihead_record *r, int g, int head, workbench *b) {
    const int *query = r->groups.query + r->groups.query_at[g];
    int d = tensor_cols(r->q), from = head * b->w;
    real factor = (real)(1 / sqrt((double)b->w));
    gather(r, g, head, b);
    transpose(b->values_t, b->values, b->K, b->w, b->wide);
    for (long i = 0; i < b->Q; i++)
        memcpy(b->dc + i * b->w, r->context->grad + (long)query[i] * d + from, (size_t)b->w * sizeof(real));
    for (int i = 0; i < b->Q; i++) {
        real *dq = r->q->data + (long)query[i] * d + from;
        turn_back(r, b, query[i], head, i);
        vec_row_times(dq, b->da, b->keys, b->w, b->K, b->w);
        for (int k = 0; k < b->w; k++)
            dq[k] *= factor;
    }
    add_key_gradients(r, g, head, b);
}

static void multihead_backward(tape *t, op_record *record) {
    multihead_record *r = (multihead_record *)record;
    bool needed = tensor_has_grad(r->context) || (r->weights && tensor_has_grad(r->weights));
    workbench b;
    if (!needed) { /* q waits for a gradient in its place */
        memset(r->q->data, 0, (size_t)tensor_count(r->q) * sizeof(real));
        return;
    }
    if (!set_up(t, r, true, &b))
        return;
    tensor_grad_clear_once(r->context);
    tensor_grad_clear_once(r->kv);
    for (int g = 0; g < r->groups.n; g++)
        for (int head = 0; head < r->heads && group_size(r->groups.query_at, g) > 0; head++)
            look_back(r, g, head, &b);
}

tensor *attention_multihead(tape *t, tensor *q, tensor *kv, const tensor *past, const attention_groups *groups,
                            int heads, shown_weights *shown) {
    if (!q || !kv || !groups->query || !groups->key)
        return tape_fail(t);
    int rows = (int)tensor_rows(q), d = tensor_cols(q);
    SA_ASSERT(d % heads == 0 && tensor_cols(kv) == 2 * d && (!past || tensor_cols(past) == 2 * d));
    SA_ASSERT(!t->recording || (q->grad == q->data && !past));
    multihead_record now = {.q = q, .kv = kv, .past = past, .groups = *groups, .heads = heads};
    now.context = tape_matrix(t, rows, d);
    if (shown) {
        now.head = shown->head;
        now.weights = shown->weights = tape_matrix(t, rows, shown->S);
        if (!now.weights)
            return NULL;
        memset(now.weights->data, 0, (size_t)tensor_count(now.weights) * sizeof(real));
    }
    workbench b;
    if (!now.context || !set_up(t, &now, false, &b))
        return NULL;
    for (int g = 0; g < groups->n; g++)
        for (int head = 0; head < heads && group_size(groups->query_at, g) > 0; head++)
            look(&now, g, head, &b);
    multihead_record *r = tape_record(t, sizeof *r, multihead_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    return t->failed ? NULL : now.context;
}
