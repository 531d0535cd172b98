/* How what stands at one position of the source reaches others, and the words that are written, as norms of
 * derivatives. */
#ifndef EXPLAIN_INFLUENCE_H
#define EXPLAIN_INFLUENCE_H

#include "explain/forced.h"

/* Whether the encoder leaves a vector for each position: annotations, or states where none are kept. */
bool influence_has_positions(const forced *f);

/* |d log p(y_i | y_<i, x) / d x_j|, x_j the embedded source word j, into words (T, S); and the same with respect to
 * h_j, the vector that the encoder leaves at j, into positions (T, S), which is NULL where it leaves none. What was
 * written before y_i is held, and attention moves with what it looks at. Of annotations the derivative is what
 * comes through attention; of states what comes through all later ones. False once the tape has failed. */
bool influence_on_output(const forced *f, float *words, float *positions);

/* |d h_j / d x_k|, the Frobenius norm, divided by the sum over k, into out (S, S): what annotation j listens to.
 * The squared norm is a mean of |v' dh_j/dx_k|^2 over vectors v of signs: exact for widths up to INFLUENCE_PROBES,
 * for others an estimate whose expectation over the signs is right. False once the tape has failed. */
enum { INFLUENCE_PROBES = 16 };
bool influence_within_source(const forced *f, float *out);

#endif
