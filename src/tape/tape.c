#include "tape/tape.h"

#include <stdlib.h>
#include <string.h>

enum { SLABS_MAX = 256 };

sa_status tape_new(tape **out, int n_params, size_t arena_chunk, sa_error *error) {
    *out = NULL;
    tape *t = calloc(1, sizeof *t);
    if (!t)
        return sa_fail_memory(error, sizeof *t);
    t->n_params = n_params;
    t->arena = arena_new(arena_chunk);
    t->slabs = calloc(SLABS_MAX, sizeof *t->slabs);
    t->deferred = calloc((size_t)n_params + 1, sizeof *t->deferred);
    t->direct = calloc((size_t)n_params + 1, sizeof *t->direct);
    sa_status status = gemm_new(&t->own_gemm, error);
    t->gemm = t->own_gemm;
    if (status == SA_OK && (!t->arena || !t->slabs || !t->deferred || !t->direct))
        status = sa_fail_memory(error, 0);
    if (status != SA_OK) {
        tape_free(t);
        return status;
    }
    *out = t;
    return SA_OK;
}

void tape_free(tape *t) {
    if (!t)
        return;
    arena_free(t->arena);
    gemm_free(t->own_gemm);
    free(t->slabs);
    free(t->deferred);
    free(t->direct);
    free(t);
}

void tape_reset(tape *t, bool recording) {
    arena_reset(t->arena);
    t->gemm = t->own_gemm;
    t->recording = recording;
    t->owns_grads = false;
    t->failed = false;
    t->last = NULL;
    t->loop = NULL;
    t->attention = NULL;
    t->witness = NULL;
    memset(t->deferred, 0, (size_t)t->n_params * sizeof *t->deferred);
    memset(t->direct, 0, (size_t)t->n_params * sizeof *t->direct);
}

void tape_rewind(tape *t, arena_mark mark, bool recording) {
    arena_release(t->arena, mark);
    t->recording = recording;
    t->last = NULL;
    memset(t->deferred, 0, (size_t)t->n_params * sizeof *t->deferred);
    memset(t->direct, 0, (size_t)t->n_params * sizeof *t->direct);
}

void tape_loop_begin(tape *t, const steps *over, bool reversed) {
    SA_ASSERT(!t->loop);
    t->loop = over;
    t->loop_reversed = reversed;
    t->loop_i = -1;
    t->n_slabs = 0;
}

int tape_loop_next(tape *t) {
    t->loop_i++;
    t->slab_at = 0;
    SA_ASSERT(t->loop_i < t->loop->T);
    return t->loop_j = t->loop_reversed ? t->loop->T - 1 - t->loop_i : t->loop_i;
}

void tape_loop_end(tape *t) {
    t->loop = NULL;
}

void *tape_fail(tape *t) {
    t->failed = true;
    return NULL;
}

void *tape_bytes(tape *t, size_t n) {
    if (t->failed)
        return NULL;
    void *p = arena_alloc(t->arena, n);
    return p ? p : tape_fail(t);
}

real *tape_reals(tape *t, long n) {
    if (t->failed)
        return NULL;
    size_t bytes = (size_t)n * sizeof(real);
    if (!t->loop)
        return tape_bytes(t, bytes);
    SA_ASSERT(t->slab_at < SLABS_MAX);
    const steps *s = t->loop;
    size_t rows = (size_t)s->n[t->loop_j];
    tape_slab *slab = &t->slabs[t->slab_at++];
    SA_ASSERT(bytes % rows == 0);
    if (t->loop_i == 0) {
        t->n_slabs = t->slab_at;
        slab->bytes = bytes / rows;
        slab->base = tape_bytes(t, slab->bytes * (size_t)s->at[s->T]);
        if (!slab->base)
            return NULL;
    }
    SA_ASSERT(t->slab_at <= t->n_slabs && slab->bytes == bytes / rows);
    return (real *)(slab->base + slab->bytes * (size_t)s->at[t->loop_j]);
}

real *tape_scratch(tape *t, long n) {
    real *scratch = gemm_scratch(t->gemm, (size_t)n * sizeof *scratch);
    return scratch ? scratch : tape_fail(t);
}

static tensor *describe(tape *t, int rank, const int *dim) {
    tensor *x = tape_bytes(t, sizeof *x);
    if (!x)
        return NULL;
    *x = (tensor){.rank = rank};
    for (int i = 0; i < rank; i++)
        x->dim[i] = dim[i];
    return x;
}

tensor *tape_tensor(tape *t, int rank, const int *dim) {
    SA_ASSERT(rank >= 1 && rank <= 4);
    tensor *x = describe(t, rank, dim);
    if (!x)
        return NULL;
    x->data = tape_reals(t, tensor_count(x));
    if (t->recording)
        x->grad = tape_reals(t, tensor_count(x));
    return t->failed ? NULL : x;
}

tensor *tape_matrix(tape *t, int rows, int cols) {
    return tape_tensor(t, 2, (int[]){rows, cols});
}

tensor *tape_like(tape *t, const tensor *shape) {
    return tape_tensor(t, shape->rank, shape->dim);
}

bool tensor_grad_accumulates(tensor *x) {
    if (x->whole) {
        tensor_grad_clear_once(x->whole);
        return true;
    }
    bool had = x->has_grad;
    x->has_grad = true;
    return had;
}

void tensor_grad_clear_once(tensor *x) {
    if (!tensor_grad_accumulates(x))
        memset(x->grad, 0, (size_t)tensor_count(x) * sizeof *x->grad);
}

tensor *tape_consumed(tape *t, int rows, int cols) {
    tensor *x = describe(t, 2, (int[]){rows, cols});
    if (!x)
        return NULL;
    x->data = tape_reals(t, (long)rows * cols);
    if (t->recording) {
        x->grad = x->data;
        x->has_grad = true;
    }
    return t->failed ? NULL : x;
}

tensor *tape_rows(tape *t, tensor *x, int from, int n) {
    if (!x)
        return tape_fail(t);
    int cols = tensor_cols(x);
    SA_ASSERT(from >= 0 && n >= 0 && from + n <= tensor_rows(x));
    tensor *y = describe(t, 2, (int[]){n, cols});
    if (!y)
        return NULL;
    y->data = x->data + (long)from * cols;
    y->grad = x->grad ? x->grad + (long)from * cols : NULL;
    y->whole = x;
    return y;
}

tensor *tape_reshaped(tape *t, tensor *x, int rows, int cols) {
    if (!x)
        return tape_fail(t);
    SA_ASSERT((long)rows * cols == tensor_count(x));
    tensor *y = describe(t, 2, (int[]){rows, cols});
    if (!y)
        return NULL;
    y->data = x->data;
    y->grad = x->grad;
    y->whole = x;
    return y;
}

tensor *tape_step(tape *t, tensor *x, const steps *s, int j) {
    return tape_rows(t, x, s->at[j], s->n[j]);
}

tensor *tape_joined(tape *t, const steps *s, tensor *const *x) {
    for (int j = 0; j < s->T; j++)
        if (!x[j])
            return tape_fail(t);
    int cols = tensor_cols(x[0]);
    tensor *y = describe(t, 2, (int[]){s->at[s->T], cols});
    if (!y)
        return NULL;
    y->data = x[0]->data;
    y->grad = x[0]->grad;
    for (int j = 0; j < s->T; j++) {
        SA_ASSERT(tensor_rows(x[j]) == s->n[j] && !x[j]->whole);
        SA_ASSERT(x[j]->data == y->data + (long)s->at[j] * cols);
        x[j]->whole = y;
    }
    return y;
}

tensor *tape_wrap(tape *t, int rows, int cols, real *data) {
    SA_ASSERT(!t->recording);
    tensor *x = describe(t, 2, (int[]){rows, cols});
    if (x)
        x->data = data;
    return x;
}

void tape_show(tape *t, const char *part, const param *of, const tensor *x) {
    if (t->witness && x && !t->failed)
        t->witness->see(t->witness->user, part, of, x);
}

void *tape_record(tape *t, size_t size, op_backward *backward) {
    if (t->failed || !t->recording)
        return NULL;
    op_record *record = tape_bytes(t, size);
    if (!record)
        return NULL;
    memset(record, 0, size);
    record->backward = backward;
    record->previous = t->last;
    t->last = record;
    return record;
}

void tape_backward(tape *t) {
    for (op_record *record = t->last; record && !t->failed; record = record->previous)
        record->backward(t, record);
}

/* Whether `later` lies directly behind `now` in memory, row for row. */
static bool adjoins(matrix now, matrix later) {
    return now.at + now.rows * now.stride == later.at && now.stride == later.stride && now.cols == later.cols;
}

/* Whether `later` goes on where `now` ends. */
static bool follows(const deferred *now, const deferred *later) {
    if ((later->x.at == NULL) != (now->x.at == NULL) || (later->ids == NULL) != (now->ids == NULL))
        return false;
    return adjoins(now->dy, later->dy) && (!now->x.at || adjoins(now->x, later->x)) &&
           (!now->ids || now->ids + now->dy.rows == later->ids);
}

/* Backward runs from the last iteration to the first: a run of steps grows at its front, in a reversed loop at its
 * end. */
static void defer(tape *t, const param *p, deferred now) {
    deferred *newest = t->deferred[p->index];
    for (deferred *d = newest; d; d = d->next) { /* a parameter has few runs: one per call site */
        bool front = follows(&now, d);
        if (!front && !follows(d, &now))
            continue;
        if (front) {
            d->x.at = now.x.at;
            d->dy.at = now.dy.at;
            d->ids = now.ids;
        }
        d->x.rows += now.x.rows;
        d->dy.rows += now.dy.rows;
        return;
    }
    deferred *d = tape_bytes(t, sizeof *d);
    if (!d)
        return;
    *d = now;
    d->next = newest;
    t->deferred[p->index] = d;
}

void tape_defer_product(tape *t, param *W, matrix x, matrix dy) {
    SA_ASSERT(x.rows == dy.rows && !x.transposed && !dy.transposed);
    if (x.rows == 0)
        return;
    defer(t, W, (deferred){.x = x, .dy = dy});
}

void tape_defer_rows(tape *t, param *b, matrix dy) {
    defer(t, b, (deferred){.dy = dy});
}

void tape_defer_ids(tape *t, param *E, const int *ids, matrix dy) {
    defer(t, E, (deferred){.ids = ids, .dy = dy});
}

real *tape_direct_grad(tape *t, param *p) {
    real **buffer = &t->direct[p->index];
    if (!*buffer) {
        size_t bytes = (size_t)param_count(p) * sizeof(real);
        *buffer = t->owns_grads ? p->grad : tape_bytes(t, bytes);
        if (*buffer)
            memset(*buffer, 0, bytes);
    }
    return *buffer;
}
