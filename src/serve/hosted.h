/* The models that are served. */
#ifndef SERVE_HOSTED_H
#define SERVE_HOSTED_H

#include "serve/serve.h"

#include <jansson.h>

typedef struct hosted_model {
    const serve_model *is;
    char name[80]; /* unlike those of all others */
    sa_model *model[SA_ENSEMBLE_MAX];
    int n;
} hosted_model;

typedef struct hosted {
    int n;
    hosted_model model[SERVE_MODELS_MOST];
} hosted;

/* Opens all. SA_USAGE where one reads pictures: a request must not name files of the server. */
sa_status hosted_open(hosted *out, const serve_options *options, sa_error *error);
void hosted_close(hosted *h);

/* The model of that name; NULL as a name: the first. NULL: there is none. */
const hosted_model *hosted_find(const hosted *h, const char *name);
/* The first that translates from one language into another. */
const hosted_model *hosted_between(const hosted *h, const char *source, const char *target);
/* What a client may know of a model: no path, no text of its training. NULL without memory. */
json_t *hosted_describe(const hosted_model *m);

/* What the library is called with. */
#define HOSTED(m) (const sa_model *const *)(m)->model, (m)->n

#endif
