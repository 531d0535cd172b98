#include "tape/steps.h"

#include "tape/tape.h"

void steps_make(tape *t, int B, const int *lengths, steps *out) {
    int T = B > 0 ? lengths[0] : 0;
    int *n = tape_bytes(t, (size_t)T * sizeof *n), *at = tape_bytes(t, ((size_t)T + 1) * sizeof *at);
    *out = (steps){B, T, n, at};
    if (!n || !at) {
        out->n = NULL;
        return;
    }
    for (int i = 1; i < B; i++)
        SA_ASSERT(lengths[i] <= lengths[i - 1] && lengths[i] >= 1);
    at[0] = 0;
    for (int j = 0, rows = B; j < T; j++) {
        while (lengths[rows - 1] <= j)
            rows--;
        n[j] = rows;
        at[j + 1] = at[j] + rows;
    }
}
