/* A request and its answer, on their way through the server. */
#ifndef SERVE_EXCHANGE_H
#define SERVE_EXCHANGE_H

#include "base/strbuf.h"
#include "serve/hosted.h"
#include "serve/job.h"

#include <microhttpd.h>

typedef struct route route;
typedef struct serve_asset serve_asset;
typedef struct exchange exchange;

struct exchange {
    server *server;
    struct MHD_Connection *connection; /* while attached */
    struct peer *peer;
    const route *route; /* one that stands for all unknown ones, if there is none for the path */
    char method[8];
    char address[64]; /* that it came from */
    char path[256];   /* asked for, cut short where it is longer */
    double begun;     /* when its head had come */

    strbuf body;
    size_t received; /* bytes, those thrown away too */
    bool too_large, refused;
    bool begun_work;

    job *job;
    void *own; /* the route's, freed by free() */

    /* The answer. */
    unsigned status;
    char *text; /* length bytes; freed by free() */
    size_t length;
    const char *type;         /* of the text */
    const serve_asset *asset; /* instead of a text */
    const char *allow;        /* header of a 405 */
    int retry_after;          /* seconds; 0: no such header */

    /* For the log. */
    int key; /* number of the API key, from 1; 0: none */
    size_t items, characters;
    long words;
    double ended; /* when libmicrohttpd was done with it */
    bool cut;     /* before all of the answer was sent */

    /* Under the lock of the peers. */
    bool attached;         /* libmicrohttpd knows it */
    bool working;          /* its job has not ended */
    bool suspended;        /* its connection is */
    bool told, gone, late; /* by the peers' thread; its client left; it took too long */
    double submitted;
    bool streaming, sent_all;
    strbuf stream; /* events that have not been sent */

    atomic_int references;
};

void exchange_hold(exchange *x);
/* The last one to let go of it writes the log. */
void exchange_release(exchange *x);

/* ---- for routes -------------------------------------------------------------------------------------- */

/* The answer is this JSON, which is taken over; NULL: 500. */
void answer_json(exchange *x, unsigned status, json_t *value);
/* The answer is this text, which is taken over; NULL: 500. type: constant. */
void answer_text(exchange *x, unsigned status, const char *type, char *text);
/* The answer is an error, in the route's dialect. */
void answer_error(exchange *x, unsigned status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for what the library said: 400 for what was asked wrongly, else 500. */
void answer_failure(exchange *x, const sa_error *error);
/* Appends an event to a streamed answer, on any thread; data is taken over. */
void stream_event(exchange *x, const char *event, json_t *data);

#endif
