/* What routes read out of a request's body. Those that return false have set an answer that says what is wrong. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "serve/exchange.h"
#include "serve/fields.h"

/* One text or several. The texts belong to the body. */
typedef struct text_list {
    const char **text; /* n of them; free with free() */
    size_t n;
    bool single; /* it was a string and no list */
} text_list;

/* Member `name` of an object: a string, or a list of strings, of which there may be limits.items with
 * limits.characters in all, counted with those that the exchange has had before. */
bool request_texts(exchange *x, json_t *object, const char *name, text_list *out);
/* Member `name`, if there is one: a string or null for each of n texts. NULL in *out where there is none. */
bool request_optional_texts(exchange *x, json_t *object, const char *name, size_t n, text_list *out);

/* The body as an object. */
bool request_object(exchange *x, json_t *body);
/* The model that member "model" names; the first where there is none. */
const hosted_model *request_model(exchange *x, json_t *body);
/* The options that a table names, over the server's own, within the server's limits. */
bool request_search(exchange *x, json_t *body, const field *table, sa_translate_options *out);

#endif
