/* Copies of a pair that are passed together: a training pass without its loss, whose parts stay at hand. */
#ifndef EXPLAIN_COPIES_H
#define EXPLAIN_COPIES_H

#include "explain/forced.h"

enum { COPIES = 32 }; /* that are passed together at most */

typedef struct copies {
    int n;
    source_batch source;
    target_batch target;
    encoding h;
    tensor *hidden; /* the readout's, of all steps */
} copies;

/* Passes n pairs, on the tape as it is. False once the tape has failed. */
bool copies_pass(const forced *f, int n, const sentence *source, const sentence *target, copies *out);

/* Copy k = 0 ... of the pair ends with target word first + k, as many as there are or may be; goes back from log p
 * of that word. Gradients stay until the tape is rewound. control: what is done with weights of attention; NULL:
 * nothing. False once the tape has failed. */
bool copies_differentiate(const forced *f, int first, const attention_control *control, copies *out);

#endif
