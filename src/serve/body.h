/* Bodies of requests: JSON, or forms, of which the same is made. They come from anybody. */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include <jansson.h>
#include <softalign.h>

/* Reads n bytes. With forms allowed and a content type (NULL: none was said) of one,
 * "application/x-www-form-urlencoded" or "multipart/form-data; boundary=...", the result is an object of strings;
 * else it is what the JSON text says, which is an object or an array. SA_DATA with what is wrong, a name that is
 * given twice among it; SA_MEMORY. */
sa_status body_read(json_t **out, const char *content_type, bool forms, const char *bytes, size_t n,
                    sa_error *error);

#endif
