#include "serve/serve.h"

#include "base/clock.h"
#include "base/error.h"
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void serve_options_init(serve_options *options) {
    *options = (serve_options){.precision = SA_AS_STORED,
                               .host = "127.0.0.1",
                               .port = 5000,
                               .limits = {.body = 1 << 20,
                                          .items = 1000,
                                          .characters = 100000,
                                          .beam_size = 16,
                                          .n_best = 16,
                                          .queue = 4000,
                                          .connections = 500,
                                          .time = 60,
                                          .receive_time = 20,
                                          .idle_time = 60}};
    sa_translate_options_init(&options->search);
}

/* ---- the socket -------------------------------------------------------------------------------------- */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
} address;

static bool read_address(address *out, const char *host, int port) {
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        return true;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons((uint16_t)port);
    return inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1;
}

static sa_status listen_at(int *out, const serve_options *o, sa_error *error) {
    address a;
    int yes = 1;
    if (!read_address(&a, o->host, o->port))
        return sa_fail(error, SA_USAGE, "%s is not a numeric address, like 127.0.0.1, 0.0.0.0 or ::1", o->host);
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The port of a server that ended a moment ago may be had again. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, &a.any, a.any.sa_family == AF_INET ? sizeof a.v4 : sizeof a.v6) != 0 ||
        listen(fd, SOMAXCONN) != 0) {
        sa_fail(error, SA_IO, "cannot listen on %s, port %d: %s", o->host, o->port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return SA_IO;
    }
    *out = fd;
    return SA_OK;
}

static void note_url(server *s, int fd) {
    address a;
    socklen_t size = sizeof a;
    int port = s->options->port;
    if (getsockname(fd, &a.any, &size) == 0)
        port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
    bool v6 = strchr(s->options->host, ':') != NULL;
    snprintf(s->url, sizeof s->url, "http://%s%s%s:%d/", v6 ? "[" : "", s->options->host, v6 ? "]" : "", port);
}

static sa_status start_daemon(server *s, int fd, sa_error *error) {
    enum { MEMORY = 32 << 10 }; /* of a connection, for a request's head */
    const serve_limits *l = &s->options->limits;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_handle, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, http_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
        http_connection, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)l->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)l->per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(l->idle_time + 1), MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
    if (s->daemon)
        return SA_OK;
    close(fd);
    return sa_fail(error, SA_IO, "the server cannot be started: %s", strerror(errno));
}

/* ---- life -------------------------------------------------------------------------------------------- */

static sa_status make_parts(server *s, sa_error *error) {
    const serve_options *o = s->options;
    const peers_calls calls = {exchange_left, exchange_late, o->limits.time};
    SA_TRY(gate_new(&s->gate, o->keys, o->rate, error));
    SA_TRY(access_log_open(&s->log, o->access_log, error));
    s->metrics = metrics_new(route_names(), n_routes);
    s->peers = peers_new(&calls);
    return s->metrics && s->peers ? SA_OK : sa_fail_memory(error, 0);
}

sa_status serve_open(server **out, const serve_options *options, sa_error *error) {
    server *s = *out = calloc(1, sizeof *s);
    int fd = -1;
    if (!s)
        return sa_fail_memory(error, sizeof *s);
    s->options = options;
    s->socket = -1;
    sa_status status = make_parts(s, error);
    if (status == SA_OK)
        status = listen_at(&fd, options, error);
    if (status == SA_OK) {
        note_url(s, fd);
        status = start_daemon(s, fd, error);
    }
    if (status != SA_OK) {
        serve_close(s);
        *out = NULL;
    }
    return status;
}

const char *serve_url(const server *s) {
    return s->url;
}

sa_status serve_load(server *s, sa_error *error) {
    const serve_options *o = s->options;
    SA_TRY(hosted_open(&s->models, o, error));
    SA_TRY(detector_new(&s->detector, &s->models, error));
    SA_TRY(queue_new(&s->queue, o->search.threads, o->search.mini_batch, o->limits.queue, s->metrics, error));
    atomic_store(&s->ready, true);
    return SA_OK;
}

static void wait_for_answers(server *s, double seconds) {
    const struct timespec moment = {.tv_nsec = 10000000};
    double end = clock_seconds() + seconds;
    while (peers_unanswered(s->peers) > 0 && clock_seconds() < end)
        nanosleep(&moment, NULL);
}

void serve_stop(server *s, double seconds) {
    enum { LAST_WORDS = 2 }; /* seconds for answers that say so to be sent */
    atomic_store(&s->stopping, true);
    s->socket = MHD_quiesce_daemon(s->daemon);
    if (s->socket >= 0)
        shutdown(s->socket, SHUT_RDWR); /* who waits to be accepted is told */
    wait_for_answers(s, seconds);
    peers_each_working(s->peers, exchange_stop);
    wait_for_answers(s, LAST_WORDS);
}

void serve_close(server *s) {
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    if (s->peers)
        peers_each_working(s->peers, exchange_stop);
    /* Threads end after what they are at; only then no connection is suspended any more. */
    queue_free(s->queue);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    if (s->socket >= 0)
        close(s->socket);
    peers_free(s->peers);
    detector_free(s->detector);
    hosted_close(&s->models);
    metrics_free(s->metrics);
    access_log_close(s->log);
    gate_free(s->gate);
    free(s);
}
