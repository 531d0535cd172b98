/* What hypotheses are compared by.
 *   score = sum / divisor(length) + coverage_penalty * sum_j log min(1, sum_i a_ij)
 *   divisor = length^normalize, or ((5 + length) / 6)^length_penalty where length_penalty is above 0
 * The penalties are those of Wu et al. (2016), 7; </s> counts in the length, and as a source position j. */
#ifndef DECODE_RANKING_H
#define DECODE_RANKING_H

#include <softalign.h>

double ranking_divisor(const sa_translate_options *o, int length);
/* sum_j log min(1, attended[j]): 0 when every position was attended to enough. What is below 1e-10 counts as that.
 */
double ranking_coverage(const double *attended, int positions);
double ranking_score(const sa_translate_options *o, double sum, int length, double coverage);

/* The sum that a hypothesis must exceed while it grows, to end with a score above `score`.
 *
 * Words have log p <= 0, so the sum only falls; divisors grow with the length (their exponents are at least 0), and
 * the sum is negative, so the best that can come of a sum s is that the rest costs nothing and makes the
 * translation as long as it may be; coverage adds 0 at best. No end is better than s / divisor(max_length). */
double ranking_needed(const sa_translate_options *o, double score, int max_length);

#endif
