/* What libmicrohttpd calls: a request's head, pieces of its body, its end, and connections that come and go. All on
 * its one thread. */
#include "base/clock.h"
#include "serve/body.h"
#include "serve/server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* ---- a request begins -------------------------------------------------------------------------------- */

static const char *header(const exchange *x, const char *name) {
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* Bytes that the request says it has; -1: it does not say. */
static long long announced(const exchange *x) {
    const char *text = header(x, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text ? strtoll(text, NULL, 10) : header(x, MHD_HTTP_HEADER_TRANSFER_ENCODING) ? -1 : 0;
}

static void refuse_size(exchange *x) {
    answer_error(x, 413, "the request's body is larger than %lld bytes (--max-body)",
                 (long long)x->server->options->limits.body);
}

static void note_address(exchange *x) {
    const char *forwarded = x->server->options->forwarded ? header(x, "X-Forwarded-For") : NULL;
    const char *comma = forwarded ? strrchr(forwarded, ',') : NULL, *last = comma ? comma + 1 : forwarded;
    snprintf(x->address, sizeof x->address, "%s", last ? last + strspn(last, " ") : x->peer->address);
}

static exchange *exchange_new(server *s, struct MHD_Connection *connection, const char *url, const char *method) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    peer *p = info ? info->socket_context : NULL;
    exchange *x = p ? calloc(1, sizeof *x) : NULL;
    if (!x)
        return NULL;
    x->server = s;
    x->connection = connection;
    x->peer = p;
    note_address(x);
    x->begun = clock_seconds();
    x->attached = true;
    atomic_init(&x->references, 1);
    snprintf(x->method, sizeof x->method, "%s", method);
    snprintf(x->path, sizeof x->path, "%s", url);
    x->route = route_find(method, url, &x->allow);
    peers_lock(s->peers);
    p->exchange = x;
    p->since = x->begun;
    p->patience = s->options->limits.receive_time;
    peers_unlock(s->peers);
    return x;
}

/* ---- its body ---------------------------------------------------------------------------------------- */

/* A body that is too large but did not say so in its head. libmicrohttpd has no way to answer before its end, so
 * this writes to the socket what it would write; then some more is read, lest the client finds a broken connection
 * before it finds the answer. */
static void answer_at_once(exchange *x) {
    char head[256];
    refuse_size(x);
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Type: %s\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     x->type, x->length);
    if (send(x->peer->fd, head, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n && x->text)
        send(x->peer->fd, x->text, x->length, MSG_NOSIGNAL | MSG_DONTWAIT);
    x->too_large = true;
    strbuf_free(&x->body);
}

static enum MHD_Result take_body(exchange *x, const char *bytes, size_t n) {
    enum { DRAIN = 4 }; /* so many times the limit is read */
    size_t most = (size_t)x->server->options->limits.body;
    x->received += n;
    if (!x->too_large && x->received > most)
        answer_at_once(x);
    else if (!x->too_large)
        strbuf_append(&x->body, bytes, n);
    return x->too_large && x->received / DRAIN > most ? MHD_NO : MHD_YES;
}

/* ---- who asks ---------------------------------------------------------------------------------------- */

/* Of IPv6 the network, for a client has all addresses of one. */
static void rate_name(const exchange *x, char name[80]) {
    struct in6_addr v6;
    snprintf(name, 80, "%d %s", x->key, x->key > 0 ? "" : x->address);
    if (x->key == 0 && inet_pton(AF_INET6, x->address, &v6) == 1) {
        memset(v6.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &v6, name, 64);
    }
}

/* The key of a header, or of LibreTranslate's member. */
static const char *key_of(const exchange *x, json_t *body) {
    static const char bearer[] = "Bearer ";
    const char *text = header(x, MHD_HTTP_HEADER_AUTHORIZATION);
    if (text && strncasecmp(text, bearer, sizeof bearer - 1) == 0)
        return text + sizeof bearer - 1;
    return json_string_value(json_object_get(body, "api_key"));
}

static bool may_ask(exchange *x, json_t *body) {
    gate *g = x->server->gate;
    char who[80];
    const char *key = gate_needs_key(g) ? key_of(x, body) : NULL;
    x->key = key ? gate_key(g, key) : 0;
    if (gate_needs_key(g) && x->key == 0 && x->route->dialect == DIALECT_LIBRE)
        answer_error(x, 403, "%s",
                     key ? "Invalid API key" : "Please contact the server operator to get an API key");
    else if (gate_needs_key(g) && x->key == 0)
        answer_error(x, 401, "%s",
                     key ? "there is no such API key" : "an API key is needed: Authorization: Bearer KEY");
    else {
        rate_name(x, who);
        if (gate_pass(g, who, clock_seconds(), &x->retry_after))
            return true;
        answer_error(x, 429, "Slowdown: %d per 1 minute", x->server->options->rate);
    }
    return false;
}

/* ---- the answer -------------------------------------------------------------------------------------- */

/* Calls the route, unless something is in the way. */
static void begin(exchange *x) {
    const server *s = x->server;
    const route *r = x->route;
    json_t *body = NULL;
    sa_error error;
    bool posts = strcmp(r->method, "POST") == 0;
    if (x->allow && s->options->cors && strcmp(x->method, "OPTIONS") == 0)
        answer_text(x, 204, "text/plain", strdup(""));
    else if (x->allow)
        answer_error(x, 405, "%s does not answer %s, but %s", r->path, x->method, x->allow);
    else if (x->body.failed)
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
    else if (posts && body_read(&body, header(x, MHD_HTTP_HEADER_CONTENT_TYPE), r->forms, x->body.data,
                                x->body.length, &error) != SA_OK)
        answer_failure(x, &error);
    else if (!r->open && !may_ask(x, body))
        ; /* said why */
    else if (r->waits && atomic_load(&s->stopping))
        answer_error(x, 503, "the server is stopping");
    else if (r->waits && !atomic_load(&s->ready)) {
        x->retry_after = 5;
        answer_error(x, 503, "the models are being loaded");
    } else
        r->begin(x, body);
    json_decref(body);
}

/* Waits for the job, unless it has ended already or its answer streams. */
static bool wait_for_job(exchange *x) {
    peers *p = x->server->peers;
    peers_lock(p);
    bool wait = x->working && !x->streaming;
    x->suspended = wait;
    if (wait)
        MHD_suspend_connection(x->connection);
    peers_unlock(p);
    return wait;
}

static enum MHD_Result send_answer(exchange *x) {
    if (x->gone)
        return MHD_NO;
    struct MHD_Response *response = response_of(x);
    if (!response)
        return MHD_NO;
    /* A stream's job may be setting the status. */
    enum MHD_Result queued = MHD_queue_response(x->connection, x->streaming ? 200 : x->status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result finish(exchange *x) {
    if (x->too_large)
        return MHD_NO; /* answered at once */
    if (!x->begun_work) {
        x->begun_work = true;
        peers_lock(x->server->peers);
        x->peer->since = 0; /* all has come */
        peers_unlock(x->server->peers);
        begin(x);
        if (x->job && x->status == 0 && exchange_submit(x) && wait_for_job(x))
            return MHD_YES;
    }
    return send_answer(x);
}

enum MHD_Result http_handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                            const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)version;
    exchange *x = *state;
    if (!x) {
        *state = x = exchange_new(cls, connection, url, method);
        if (!x)
            return MHD_NO;
        /* An answer before the body closes the connection after it. */
        if (announced(x) > x->server->options->limits.body) {
            x->begun_work = true;
            refuse_size(x);
            return send_answer(x);
        }
        return MHD_YES;
    }
    if (*upload_size > 0) {
        size_t n = *upload_size;
        *upload_size = 0;
        return take_body(x, upload, n);
    }
    return finish(x);
}

void http_completed(void *cls, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode how) {
    server *s = cls;
    exchange *x = *state;
    (void)connection;
    if (!x)
        return;
    *state = NULL;
    x->ended = clock_seconds();
    peers_lock(s->peers);
    x->attached = false;
    x->peer->exchange = NULL;
    x->peer->since = x->ended;
    x->peer->patience = s->options->limits.idle_time;
    bool working = x->working;
    peers_unlock(s->peers);
    x->cut = x->gone || working || (how != MHD_REQUEST_TERMINATED_COMPLETED_OK && !x->too_large);
    if (working)
        queue_cancel(s->queue, x->job);
    exchange_release(x);
}

/* ---- connections ------------------------------------------------------------------------------------- */

static void format_address(const struct sockaddr *from, char *text, size_t size) {
    const void *at = NULL;
    text[0] = '\0';
    if (from && from->sa_family == AF_INET)
        at = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
    else if (from && from->sa_family == AF_INET6)
        at = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    if (at)
        inet_ntop(from->sa_family, at, text, (socklen_t)size);
}

void http_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                     enum MHD_ConnectionNotificationCode what) {
    server *s = cls;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            peers_remove(s->peers, *socket_context);
        *socket_context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char address[64];
    format_address(from ? from->client_addr : NULL, address, sizeof address);
    *socket_context = fd ? peers_add(s->peers, fd->connect_fd, address, s->options->limits.receive_time) : NULL;
}
