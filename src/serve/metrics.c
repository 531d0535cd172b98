#include "serve/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper ends of the bins: seconds until an answer, units in a batch. The last bin has none. */
static const double latency_ends[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
static const double batch_ends[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
enum { LATENCIES = sizeof latency_ends / sizeof *latency_ends, BATCHES = sizeof batch_ends / sizeof *batch_ends };

/* Answers that the server gives; 0: the client left before there was one. */
static const unsigned statuses[] = {0, 200, 204, 304, 400, 401, 403, 404, 405, 413, 429, 500, 503};
enum { STATUSES = sizeof statuses / sizeof *statuses };

typedef struct route_counts {
    long status[STATUSES];
    long latency[LATENCIES + 1];
    double seconds;
} route_counts;

struct metrics {
    pthread_mutex_t lock;
    const char *const *names;
    int n_routes;
    route_counts *routes;
    long batch[BATCHES + 1];
    double units, words;
};

metrics *metrics_new(const char *const *names, int n_routes) {
    metrics *m = calloc(1, sizeof *m);
    if (!m || !(m->routes = calloc((size_t)n_routes, sizeof *m->routes))) {
        free(m);
        return NULL;
    }
    m->names = names;
    m->n_routes = n_routes;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_free(metrics *m) {
    if (!m)
        return;
    pthread_mutex_destroy(&m->lock);
    free(m->routes);
    free(m);
}

static int bin_of(const double *ends, int n, double x) {
    int i = 0;
    while (i < n && x > ends[i])
        i++;
    return i;
}

void metrics_request(metrics *m, int route, unsigned status, double seconds) {
    pthread_mutex_lock(&m->lock);
    route_counts *r = &m->routes[route];
    for (int i = 0; i < STATUSES; i++)
        r->status[i] += statuses[i] == status;
    r->latency[bin_of(latency_ends, LATENCIES, seconds)]++;
    r->seconds += seconds;
    pthread_mutex_unlock(&m->lock);
}

void metrics_batch(metrics *m, size_t units, long words) {
    pthread_mutex_lock(&m->lock);
    m->batch[bin_of(batch_ends, BATCHES, (double)units)]++;
    m->units += (double)units;
    m->words += (double)words;
    pthread_mutex_unlock(&m->lock);
}

/* Bins add up, as Prometheus wants them. label: "" or "route=\"...\",". */
static void write_histogram(strbuf *out, const char *name, const char *label, const double *ends, int n,
                            const long *count, double sum) {
    long total = 0;
    for (int i = 0; i < n; i++)
        strbuf_printf(out, "%s_bucket{%sle=\"%g\"} %ld\n", name, label, ends[i], total += count[i]);
    total += count[n];
    strbuf_printf(out, "%s_bucket{%sle=\"+Inf\"} %ld\n", name, label, total);
    int length = (int)strlen(label);
    const char *open = length ? "{" : "", *close = length ? "}" : "";
    strbuf_printf(out, "%s_sum%s%.*s%s %.6f\n", name, open, length ? length - 1 : 0, label, close, sum);
    strbuf_printf(out, "%s_count%s%.*s%s %ld\n", name, open, length ? length - 1 : 0, label, close, total);
}

static void write_routes(metrics *m, strbuf *out) {
    strbuf_puts(out, "# HELP softalign_requests_total Requests by route and status; status 0: the client left.\n"
                     "# TYPE softalign_requests_total counter\n");
    for (int r = 0; r < m->n_routes; r++)
        for (int i = 0; i < STATUSES; i++)
            if (m->routes[r].status[i])
                strbuf_printf(out, "softalign_requests_total{route=\"%s\",status=\"%u\"} %ld\n", m->names[r],
                              statuses[i], m->routes[r].status[i]);
    strbuf_puts(out, "# HELP softalign_request_seconds Time from a request's first line to its answer.\n"
                     "# TYPE softalign_request_seconds histogram\n");
    for (int r = 0; r < m->n_routes; r++) {
        const route_counts *c = &m->routes[r];
        char label[128];
        long any = 0;
        for (int i = 0; i <= LATENCIES; i++)
            any += c->latency[i];
        snprintf(label, sizeof label, "route=\"%s\",", m->names[r]);
        if (any)
            write_histogram(out, "softalign_request_seconds", label, latency_ends, LATENCIES, c->latency,
                            c->seconds);
    }
}

static void write_value(strbuf *out, const char *name, const char *type, const char *help, double value) {
    strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.0f\n", name, help, name, type, name, value);
}

void metrics_write(metrics *m, const metrics_now *now, strbuf *out) {
    pthread_mutex_lock(&m->lock);
    write_routes(m, out);
    strbuf_puts(out, "# HELP softalign_batch_size Texts or pairs that were done together.\n"
                     "# TYPE softalign_batch_size histogram\n");
    write_histogram(out, "softalign_batch_size", "", batch_ends, BATCHES, m->batch, m->units);
    write_value(out, "softalign_words_total", "counter", "Symbols written or scored, end marks left out.",
                m->words);
    pthread_mutex_unlock(&m->lock);
    write_value(out, "softalign_queue_length", "gauge", "Texts or pairs that wait for a thread.",
                (double)now->waiting);
    write_value(out, "softalign_jobs", "gauge", "Requests that are worked on or wait.", (double)now->jobs);
    write_value(out, "softalign_connections", "gauge", "Connections that are open.", (double)now->connections);
    write_value(out, "softalign_ready", "gauge", "1 when the models are loaded.", now->ready);
}
