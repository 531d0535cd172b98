/* A growing byte string. Appending to one that failed does nothing; check `failed` once at the end. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

typedef struct strbuf {
    char *data; /* zero-terminated once anything was appended; NULL before */
    size_t length, capacity;
    bool failed; /* memory ran out */
} strbuf;

void strbuf_append(strbuf *s, const void *bytes, size_t n);
void strbuf_puts(strbuf *s, const char *text);
void strbuf_printf(strbuf *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Length back to 0, memory kept. */
void strbuf_clear(strbuf *s);
/* Hands the string to the caller (free); never NULL unless failed. s is empty afterwards. */
char *strbuf_take(strbuf *s);
void strbuf_free(strbuf *s);

#endif
