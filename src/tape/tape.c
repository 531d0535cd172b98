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
    sa_status status = gemm_new(&t->gemm, error);
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
    gemm_free(t->gemm);
    free(t->slabs);
    free(t->deferred);
    free(t->direct);
    free(t->scratch);
    free(t);
}

void tape_reset(tape *t, bool recording) {
    arena_reset(t->arena);
    t->recording = recording;
    t->failed = false;
    t->last = NULL;
    t->loop_n = 0;
    memset(t->deferred, 0, (size_t)t->n_params * sizeof *t->deferred);
    memset(t->direct, 0, (size_t)t->n_params * sizeof *t->direct);
}

void tape_loop_begin(tape *t, int iterations) {
    SA_ASSERT(t->loop_n == 0);
    t->loop_n = iterations;
    t->loop_i = -1;
    t->n_slabs = 0;
}

void tape_loop_next(tape *t) {
    t->loop_i++;
    t->slab_at = 0;
    SA_ASSERT(t->loop_i < t->loop_n);
}

void tape_loop_end(tape *t) {
    t->loop_n = 0;
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

/* Slabs make sense for what a backward reads later; without recording a loop allocates as it goes. */
real *tape_reals(tape *t, long n) {
    if (t->failed)
        return NULL;
    size_t bytes = (size_t)n * sizeof(real);
    if (t->loop_n == 0 || !t->recording)
        return tape_bytes(t, bytes);
    SA_ASSERT(t->slab_at < SLABS_MAX);
    tape_slab *slab = &t->slabs[t->slab_at++];
    if (t->loop_i == 0) {
        t->n_slabs = t->slab_at;
        slab->bytes = bytes;
        slab->base = tape_bytes(t, bytes * (size_t)t->loop_n);
        if (!slab->base)
            return NULL;
    }
    SA_ASSERT(t->slab_at <= t->n_slabs && slab->bytes == bytes);
    return (real *)(slab->base + bytes * (size_t)t->loop_i);
}

real *tape_scratch(tape *t, long n) {
    if (n <= t->scratch_n)
        return t->scratch;
    free(t->scratch);
    size_t bytes = ((size_t)n * sizeof(real) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    t->scratch = aligned_alloc(ARENA_ALIGN, bytes);
    t->scratch_n = t->scratch ? n : 0;
    return t->scratch ? t->scratch : tape_fail(t);
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

void tensor_grad_clear_once(tensor *x) {
    if (!tensor_grad_accumulates(x))
        memset(x->grad, 0, (size_t)tensor_count(x) * sizeof *x->grad);
}

/* Several views may write to one gradient, in any order: it is cleared when the first view is taken. */
static tensor *view(tape *t, tensor *x, int rank, const int *dim, long offset) {
    tensor *y = describe(t, rank, dim);
    if (!y)
        return NULL;
    y->data = x->data + offset;
    if (x->grad) {
        tensor_grad_clear_once(x);
        y->grad = x->grad + offset;
        y->has_grad = true;
    }
    return y;
}

tensor *tape_slice(tape *t, tensor *x, int i) {
    if (!x)
        return tape_fail(t);
    SA_ASSERT(x->rank >= 2 && i >= 0 && i < x->dim[0]);
    return view(t, x, x->rank - 1, x->dim + 1, i * (tensor_count(x) / x->dim[0]));
}

tensor *tape_wrap(tape *t, int rows, int cols, real *data) {
    SA_ASSERT(!t->recording);
    tensor *x = describe(t, 2, (int[]){rows, cols});
    if (x)
        x->data = data;
    return x;
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

/* Backward runs from the last step to the first: a run of steps grows at its front. */
static bool extends(const deferred *d, const deferred *now) {
    if (d->row != now->row || (d->x.at == NULL) != (now->x.at == NULL) || (d->ids == NULL) != (now->ids == NULL))
        return false;
    return adjoins(now->dy, d->dy) && (!d->x.at || adjoins(now->x, d->x)) &&
           (!d->ids || now->ids + now->dy.rows == d->ids);
}

static void defer(tape *t, const param *p, deferred now) {
    deferred *newest = t->deferred[p->index];
    for (deferred *d = newest; d; d = d->next) /* a parameter has few runs: one per call site */
        if (extends(d, &now)) {
            now.x.rows += d->x.rows;
            now.dy.rows += d->dy.rows;
            now.next = d->next;
            *d = now;
            return;
        }
    deferred *d = tape_bytes(t, sizeof *d);
    if (!d)
        return;
    *d = now;
    d->next = newest;
    t->deferred[p->index] = d;
}

void tape_defer_product(tape *t, param *W, int row, matrix x, matrix dy) {
    SA_ASSERT(x.rows == dy.rows && !x.transposed && !dy.transposed);
    defer(t, W, (deferred){.x = x, .dy = dy, .row = row});
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
        *buffer = tape_bytes(t, bytes);
        if (*buffer)
            memset(*buffer, 0, bytes);
    }
    return *buffer;
}
