#include "decode/top.h"

#include "math/vecmath.h"

#include <math.h>

static int block_end(const score_row *row, int b) {
    int end = (b + 1) * SCORE_BLOCK;
    return end < row->n ? end : row->n;
}

static void measure_block(score_row *row, int b) {
    int start = b * SCORE_BLOCK;
    row->block[b] = vec_max(row->x + start, block_end(row, b) - start);
}

void score_row_measure(score_row *row) {
    for (int b = 0; b < score_blocks(row->n); b++)
        measure_block(row, b);
}

double score_row_log_sum(const score_row *row) {
    real largest = vec_max(row->block, score_blocks(row->n));
    return (double)largest + log((double)vec_sum_exp(row->x, largest, row->n));
}

void score_row_forbid(score_row *row, int i) {
    row->x[i] = -INFINITY;
    measure_block(row, i / SCORE_BLOCK);
}

bool score_row_allows_any(const score_row *row) {
    return vec_max(row->block, score_blocks(row->n)) > -INFINITY;
}

/* Puts it behind those that are as good, unless k places are taken by such. Returns how many places are taken. */
static int insert(scored *out, int found, int k, scored new) {
    if (found == k && new.score <= out[k - 1].score)
        return found;
    int at = found < k ? found++ : k - 1;
    for (; at > 0 && out[at - 1].score < new.score; at--)
        out[at] = out[at - 1];
    out[at] = new;
    return found;
}

/* The k-th largest maximum of a block: k scores at least are no smaller. */
static double least_of_top(const score_row *row, int k, scored *scratch) {
    int blocks = score_blocks(row->n), found = 0;
    for (int b = 0; b < blocks; b++)
        found = insert(scratch, found, k, (scored){(double)row->block[b], b});
    return found == k ? scratch[k - 1].score : -HUGE_VAL;
}

int score_row_top(const score_row *row, int k, double floor, scored *out) {
    double least = least_of_top(row, k, out);
    int found = 0;
    for (int b = 0; b < score_blocks(row->n); b++) {
        double most = (double)row->block[b];
        if (most < least || !(most > floor) || (found == k && most <= out[k - 1].score))
            continue;
        for (int i = b * SCORE_BLOCK; i < block_end(row, b); i++)
            if ((double)row->x[i] > floor)
                found = insert(out, found, k, (scored){(double)row->x[i], i});
    }
    return found;
}
