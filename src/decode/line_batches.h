/* Work on many lines, in batches of similar length, on several threads. */
#ifndef DECODE_LINE_BATCHES_H
#define DECODE_LINE_BATCHES_H

#include "base/error.h"

/* Does what is to be done with n lines. Several run at once. */
typedef sa_status batch_work(void *argument, const size_t *lines, int n, sa_error *error);

/* Shares out the lines whose length is not 0, `batch` at a time, the longest first; threads 0: all cores. Returns
 * the failure of the first batch that has one. */
sa_status batch_run(const size_t *length, size_t n, int batch, int threads, batch_work *work, void *argument,
                    sa_error *error);

#endif
