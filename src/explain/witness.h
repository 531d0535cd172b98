/* Collects what operations show of an encoder, or of a step, for a trace. */
#ifndef EXPLAIN_WITNESS_H
#define EXPLAIN_WITNESS_H

#include "base/arena.h"
#include "tape/tape.h"

#include <softalign/trace.h>

enum { TRACE_UNITS_MAX = 8 };

/* Numbers in the arena, as floats; NULL for NULL or without memory, which sets *failed. */
float *trace_copy(arena *memory, const real *x, long n, bool *failed);

typedef struct witness {
    tape_witness of_tape; /* what the tape is given; user is the witness */
    tape *t;
    arena *memory;
    int positions; /* of the source: units of the encoder have as many places. 0: a step is seen */
    int n_units;
    sa_trace_unit *unit; /* TRACE_UNITS_MAX */
    sa_trace_step *step; /* what is seen of it; NULL: only energies are kept */
    float *energies;     /* (S) of the look that is seen; may be NULL */
    bool looked, failed; /* energies were shown; no memory */
} witness;

/* Begins to see what is done on the tape. The witness stays where it is until witness_end. */
void witness_begin(witness *w, tape *t, arena *memory);
void witness_end(witness *w);

#endif
