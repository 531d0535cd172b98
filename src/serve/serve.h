/* The server: models behind HTTP. docs/serve.md has the interfaces that clients see.
 *
 *   server *s;
 *   if (serve_open(&s, &options, &e) == SA_OK) { // answers from here on, 503 where a model is needed
 *       serve_load(s, &e);                       // until the models are there
 *       ... wait for the end ...
 *       serve_stop(s, 10);
 *   }
 *   serve_close(s);
 *
 * One process: a thread of libmicrohttpd reads requests and writes answers, as many as --threads say translate, and
 * one looks after clients that left or dawdle. Nothing here prints; all that is written goes to the access log. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <softalign.h>

enum { SERVE_MODELS_MOST = 64 };

/* A model as it is named on the command line. */
typedef struct serve_model {
    char name[64];
    char source[24], target[24];       /* codes of its languages; "" where they were not said */
    const char *path[SA_ENSEMBLE_MAX]; /* n files that work together as one model */
    int n;
    char *text; /* that the paths point into */
} serve_model;

/* Reads "[SOURCE-TARGET=]FILE[,FILE]...", with a colon between codes that have hyphens themselves. The name is that
 * of the languages, else that of the file without its ending. Returns NULL, or what was expected. Free with
 * serve_model_free. */
const char *serve_model_parse(serve_model *out, const char *text);
void serve_model_free(serve_model *model);

typedef struct serve_limits {
    int64_t body;   /* bytes of a request's body */
    int items;      /* texts in a request */
    int characters; /* in all of them */
    int beam_size, n_best;
    int queue;           /* texts that wait for a thread */
    int connections;     /* at once */
    int per_address;     /* of these from one address; 0: all */
    double time;         /* seconds until an answer */
    double receive_time; /* seconds for a request to come in */
    double idle_time;    /* seconds between two requests of a connection */
} serve_limits;

typedef struct serve_options {
    serve_model model[SERVE_MODELS_MOST];
    int n_models;
    sa_precision precision;
    const char *host;            /* a numeric address, IPv4 or IPv6 */
    int port;                    /* 0: one that is free */
    sa_translate_options search; /* what requests begin with. threads and mini_batch are the server's */
    const char *keys;            /* a file of API keys, one a line; NULL: none is asked for */
    int rate;               /* requests a minute of a key, or, where none is asked for, of an address; 0: any */
    bool forwarded;         /* an address is what the last proxy says it is (X-Forwarded-For) */
    const char *cors;       /* the origin whose pages may ask, or "*"; NULL: none */
    const char *access_log; /* a file, "-" for standard error; NULL: none */
    serve_limits limits;
} serve_options;

void serve_options_init(serve_options *options);

typedef struct server server;

/* Binds and listens. options must live as long as the server. SA_IO names the address and why it cannot be had. */
sa_status serve_open(server **out, const serve_options *options, sa_error *error);
/* "http://127.0.0.1:5000/", with the port that was chosen. */
const char *serve_url(const server *s);
/* Opens the models and begins to translate. SA_USAGE where one does not translate text, or where options do not go
 * with one. */
sa_status serve_load(server *s, sa_error *error);
/* Refuses what is new, waits so many seconds for what runs, and breaks off the rest. */
void serve_stop(server *s, double seconds);
/* Ends at once and frees all; NULL is fine. */
void serve_close(server *s);

#endif
