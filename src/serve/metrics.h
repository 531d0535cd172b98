/* What the server counts, in the text format of Prometheus. Every function may be called on any thread. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct metrics metrics;

/* n_routes: of what metrics_request counts; names[i] is that of route i, and must stay. NULL without memory. */
metrics *metrics_new(const char *const *names, int n_routes);
void metrics_free(metrics *m);

/* A request that was answered, or (status 0) whose client left. */
void metrics_request(metrics *m, int route, unsigned status, double seconds);
/* A batch of so many units, and the symbols that were made or scored in it. */
void metrics_batch(metrics *m, size_t units, long words);

/* What is read at the moment when metrics are asked for. */
typedef struct metrics_now {
    size_t waiting, jobs, connections;
    bool ready;
} metrics_now;
void metrics_write(metrics *m, const metrics_now *now, strbuf *out);

#endif
