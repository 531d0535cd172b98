/* Reverse-mode differentiation over coarse operations.
 *
 * A tape belongs to one thread and one piece of a minibatch. Operations (src/op) allocate their results in its
 * arena and, while it records, leave a record with a backward function. tape_backward calls those in reverse.
 *
 * Failure is sticky: an operation that runs out of memory, or is given NULL, returns NULL and fails the tape; the
 * caller checks tape->failed once per pass.
 *
 * Loops. Between tape_loop_begin and tape_loop_end, the k-th allocation of step j lies directly behind that of step
 * j - 1: what the steps of a time loop compute forms slabs, one matrix over all steps, without anybody saying so.
 * All iterations must make the same allocations, each of them a multiple of the step's rows.
 *
 * Weight gradients are deferred: a backward leaves (W, input, output gradient) with tape_defer_*; neighbours in
 * memory, as in a slab, melt into one. params_collect turns what all tapes left into one tall product per weight.
 */
#ifndef TAPE_TAPE_H
#define TAPE_TAPE_H

#include "base/arena.h"
#include "tape/param.h"
#include "tape/steps.h"
#include "tape/tensor.h"

typedef struct tape tape;
typedef struct op_record op_record;
typedef void op_backward(tape *t, op_record *record);
struct op_record {
    op_backward *backward;
    op_record *previous;
};

/* One product that a weight's gradient is waiting for: W.grad += dy^T x. Without x: b.grad += column sums of dy.
 * With ids: E.grad[ids[i]] += dy[i], which may be narrower than E. */
typedef struct deferred {
    struct deferred *next;
    matrix x, dy; /* x.at NULL: no x */
    const int *ids;
} deferred;

/* Somebody who is shown numbers that an operation computes on its way and hands to nobody: gates, energies. part
 * names them ("gates"; the operation's header says what it shows), `of` is a parameter of the operation, by whose
 * name its caller is known; NULL where it has none. x has a row for each of the operation's; while the tape does
 * not record, it stays as it is until tape_reset or tape_rewind. */
typedef struct tape_witness {
    void (*see)(void *user, const char *part, const param *of, const tensor *x);
    void *user;
} tape_witness;

typedef struct tape_slab {
    char *base;
    size_t bytes; /* of one row */
} tape_slab;

struct tape {
    arena *arena;
    gemm *gemm, *own_gemm; /* gemm: its own, unless a worker lends one for a pass, after tape_reset */
    bool recording, failed;
    op_record *last;

    const steps *loop; /* NULL outside of loops */
    bool loop_reversed;
    int loop_i, loop_j; /* the current iteration and the step it makes */
    int slab_at;
    int n_slabs;
    tape_slab *slabs;

    int n_params;
    deferred **deferred; /* newest first, per parameter index */
    real **direct;       /* gradients that an operation adds up itself, per parameter index; NULL: none */
    bool owns_grads;     /* direct gradients go to the parameters' own: one tape of a minibatch may do so */

    const struct attention_control *attention; /* what is done with weights of attention (op/attention.h); NULL:
                                                  nothing. Forgotten by tape_reset */
    const tape_witness *witness;               /* NULL: nobody looks. Forgotten by tape_reset */

    uint64_t seed, update; /* of the random draws of this pass */
    int first_sentence;    /* number of the tape's sentence 0 in its minibatch */
};

/* A tape for a model of n_params parameters. It owns arena and gemm. */
sa_status tape_new(tape **out, int n_params, size_t arena_chunk, sa_error *error);
void tape_free(tape *t);
/* Forgets everything of the last pass; recording says whether the next one can be differentiated. */
void tape_reset(tape *t, bool recording);

/* Forgets what was done since the mark of its arena was taken, and all records: what is older stays, as constants.
 * recording: whether what follows can be differentiated. */
void tape_rewind(tape *t, arena_mark mark, bool recording);

/* A loop over all steps, from the first to the last or the other way. `over` must live until the end. */
void tape_loop_begin(tape *t, const steps *over, bool reversed);
/* Begins the next iteration; returns its step. */
int tape_loop_next(tape *t);
void tape_loop_end(tape *t);

/* Numbers in the arena or the current slab; NULL fails the tape. */
real *tape_reals(tape *t, long n);
void *tape_bytes(tape *t, size_t n);
/* Numbers for use inside one operation: the next call may give the same memory. NULL fails the tape. */
real *tape_scratch(tape *t, long n);
/* A tensor with undefined values; its gradient has memory when recording. */
tensor *tape_tensor(tape *t, int rank, const int *dim);
tensor *tape_matrix(tape *t, int rows, int cols);
tensor *tape_like(tape *t, const tensor *shape);
/* A matrix that its one reader consumes: when recording, its gradient takes the place of its values. */
tensor *tape_consumed(tape *t, int rows, int cols);
/* A view of n rows of x from row `from` on, as a matrix. */
tensor *tape_rows(tape *t, tensor *x, int from, int n);
/* All numbers of x as a matrix of another shape, a view of it. */
tensor *tape_reshaped(tape *t, tensor *x, int rows, int cols);
/* The rows of step j of x, which lies step by step. */
tensor *tape_step(tape *t, tensor *x, const steps *s, int j);
/* What the steps of a finished loop left, x[j] (n[j], cols), as one matrix (rows of all steps, cols) without
 * copying; they become views of it. */
tensor *tape_joined(tape *t, const steps *s, tensor *const *x);
/* Numbers that live elsewhere, as a tensor without gradient. */
tensor *tape_wrap(tape *t, int rows, int cols, real *data);

/* Shows x to the witness, if there is one. */
void tape_show(tape *t, const char *part, const param *of, const tensor *x);

/* Registers a record that starts with an op_record; size bytes, cleared. NULL when not recording or failed. */
void *tape_record(tape *t, size_t size, op_backward *backward);
void *tape_fail(tape *t); /* fails the tape, returns NULL */

void tape_backward(tape *t);

/* For backward functions. */
void tape_defer_product(tape *t, param *W, matrix x, matrix dy);
void tape_defer_rows(tape *t, param *b, matrix dy);
void tape_defer_ids(tape *t, param *E, const int *ids, matrix dy);
/* Where an operation adds up the gradient of p by itself, cleared at first use; NULL fails the tape. */
real *tape_direct_grad(tape *t, param *p);

/* Sets every p->grad from what n tapes left, or adds that to it, one tape after the other: calls for some tapes
 * each give the same bits as one for all. workers: one product engine per worker of the team. The result does not
 * depend on the number of workers. */
sa_status params_collect(params *p, tape *const *tapes, int n, bool add, gemm **workers, pool *team,
                         sa_error *error);

#endif
