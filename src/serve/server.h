/* What the parts of the server share. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/access_log.h"
#include "serve/detector.h"
#include "serve/gate.h"
#include "serve/metrics.h"
#include "serve/peers.h"
#include "serve/queue.h"
#include "serve/routes.h"

struct server {
    const serve_options *options;
    _Atomic bool ready; /* models and queue are there */
    _Atomic bool stopping;
    hosted models;
    detector *detector;
    queue *queue;
    metrics *metrics;
    peers *peers;
    gate *gate;
    access_log *log;
    struct MHD_Daemon *daemon;
    int socket; /* after it was taken from the daemon; -1: not yet */
    char url[96];
};

/* libmicrohttpd's callbacks (http.c); cls is the server. */
enum MHD_Result http_handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                            const char *version, const char *upload, size_t *upload_size, void **state);
void http_completed(void *cls, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode how);
void http_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                     enum MHD_ConnectionNotificationCode what);
/* What becomes of work whose client left, that takes too long, or that the server's end breaks off (exchange.c). */
void exchange_left(exchange *x);
void exchange_late(exchange *x);
void exchange_stop(exchange *x);
/* Hands an exchange's job to the queue; false: there is an answer already. */
bool exchange_submit(exchange *x);
/* The answer as libmicrohttpd takes it (response.c); NULL without memory. */
struct MHD_Response *response_of(exchange *x);

#endif
