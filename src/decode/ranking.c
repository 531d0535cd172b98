#include "decode/ranking.h"

#include <math.h>

double ranking_divisor(const sa_translate_options *o, int length) {
    if (o->length_penalty > 0)
        return pow((5 + length) / 6.0, (double)o->length_penalty);
    return pow(length, (double)o->normalize);
}

double ranking_coverage(const double *attended, int positions) {
    double sum = 0;
    for (int j = 0; j < positions; j++)
        sum += log(fmin(1, fmax(attended[j], 1e-10)));
    return sum;
}

double ranking_score(const sa_translate_options *o, double sum, int length, double coverage) {
    return sum / ranking_divisor(o, length) + (double)o->coverage_penalty * coverage;
}

double ranking_needed(const sa_translate_options *o, double score, int max_length) {
    return score * ranking_divisor(o, max_length);
}
