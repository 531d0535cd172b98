#include "align/count_table.h"

#include <math.h>
#include <stdlib.h>

/* Read only: count_table_add gives a row cells of its own before it writes. */
const count_cell count_free_cell = {.target = COUNT_FREE};

sa_status count_table_make(count_table *t, size_t rows, sa_error *error) {
    *t = (count_table){.row = malloc((rows + 1) * sizeof *t->row), .rows = rows};
    if (!t->row)
        return sa_fail_memory(error, rows * sizeof *t->row);
    for (size_t i = 0; i < rows; i++)
        t->row[i] = (count_row){.cell = (count_cell *)&count_free_cell};
    return SA_OK;
}

static bool is_shared(const count_row *r) {
    return r->cell == &count_free_cell;
}

void count_table_free(count_table *t) {
    for (size_t i = 0; t->row && i < t->rows; i++)
        if (!is_shared(&t->row[i]))
            free(t->row[i].cell);
    free(t->row);
    *t = (count_table){0};
}

static bool counts(const count_cell *c) {
    return c->count[0] || c->count[1];
}

/* Gives the row at least twice the cells that its counts and one more need, and forgets what counts no longer. */
static sa_status make_room(count_row *r, sa_error *error) {
    size_t live = 1, cells = 2;
    for (size_t i = 0; i <= r->mask; i++)
        live += counts(&r->cell[i]);
    while (cells < 3 * live)
        cells *= 2;
    count_row grown = {.cell = malloc(cells * sizeof *grown.cell), .mask = (uint32_t)(cells - 1)};
    if (!grown.cell)
        return sa_fail_memory(error, cells * sizeof *grown.cell);
    for (size_t i = 0; i < cells; i++)
        grown.cell[i] = count_free_cell;
    for (size_t i = 0; i <= r->mask; i++)
        if (counts(&r->cell[i])) {
            *(count_cell *)count_find(&grown, r->cell[i].target) = r->cell[i];
            grown.used++;
        }
    if (!is_shared(r))
        free(r->cell);
    *r = grown;
    return SA_OK;
}

sa_status count_table_add(count_table *t, int source, int target, int direction, int by, sa_error *error) {
    count_row *r = &t->row[source];
    count_cell *c = (count_cell *)count_find(r, target);
    if (c->target == COUNT_FREE) {
        SA_ASSERT(by > 0);
        /* Two thirds full, or the shared cell. */
        if (3 * (r->used + 1) > 2 * (r->mask + 1)) {
            SA_TRY(make_room(r, error));
            c = (count_cell *)count_find(r, target);
        }
        c->target = target;
        r->used++;
    }
    c->count[direction] += (uint32_t)by;
    return SA_OK;
}

double count_table_bytes(double n) {
    /* Seen on English and French: 1.46 cells for each of 0.2 million links, 0.97 for each of a million; the growth
     * of 2/3 is on the safe side of that, and of what 15 million took. */
    return fmin(1.5 * n, 150 * cbrt(n * n)) * sizeof(count_cell);
}
