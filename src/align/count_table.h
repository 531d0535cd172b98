/* How often two words are linked, for all pairs of words that are: a small hash table for each word of the source.
 * A cell holds the counts of both directions, so that one search serves both. */
#ifndef ALIGN_COUNT_TABLE_H
#define ALIGN_COUNT_TABLE_H

#include "base/error.h"

#include <stdint.h>

enum { COUNT_FREE = -1 };

typedef struct count_cell {
    int32_t target;    /* COUNT_FREE: nobody's, and its counts are 0 */
    uint32_t count[2]; /* by direction */
} count_cell;
extern const count_cell count_free_cell; /* one that is free */

/* Open addressing. A row that was never written to is one free cell that all such rows share. */
typedef struct count_row {
    count_cell *cell;
    uint32_t mask; /* cells - 1; they are a power of two, and one at least is free */
    uint32_t used;
} count_row;

typedef struct count_table {
    count_row *row;
    size_t rows;
} count_table;

sa_status count_table_make(count_table *t, size_t rows, sa_error *error);
void count_table_free(count_table *t);

/* Adds `by` to a count, which must not fall below 0. SA_MEMORY leaves the table as it was. */
sa_status count_table_add(count_table *t, int source, int target, int direction, int by, sa_error *error);
/* Bytes that the cells of a table of n links take, with a reserve. */
double count_table_bytes(double n);

static inline uint32_t count_place(const count_row *r, int target) {
    return (uint32_t)target * 2654435769u >> 8 & r->mask;
}

/* The cell of a target word in a row, or a free one. */
static inline const count_cell *count_find(const count_row *r, int target) {
    uint32_t i = count_place(r, target);
    while (r->cell[i].target != target && r->cell[i].target != COUNT_FREE)
        i = (i + 1) & r->mask;
    return &r->cell[i];
}

/* Asks for the memory that count_find will look at. */
static inline void count_expect(const count_row *r, int target) {
    __builtin_prefetch(&r->cell[count_place(r, target)]);
}

#endif
