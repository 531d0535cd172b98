#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(strbuf *s, size_t more) {
    if (s->failed)
        return false;
    size_t need = s->length + more + 1;
    if (need <= s->capacity)
        return true;
    size_t capacity = s->capacity ? s->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(s->data, capacity);
    if (!data) {
        s->failed = true;
        return false;
    }
    s->data = data;
    s->capacity = capacity;
    return true;
}

void strbuf_append(strbuf *s, const void *bytes, size_t n) {
    if (!reserve(s, n))
        return;
    if (n)
        memcpy(s->data + s->length, bytes, n);
    s->length += n;
    s->data[s->length] = 0;
}

void strbuf_puts(strbuf *s, const char *text) {
    strbuf_append(s, text, strlen(text));
}

void strbuf_printf(strbuf *s, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n >= 0 && reserve(s, (size_t)n)) {
        vsnprintf(s->data + s->length, (size_t)n + 1, format, again);
        s->length += (size_t)n;
    }
    va_end(again);
}

void strbuf_clear(strbuf *s) {
    s->length = 0;
    s->failed = false;
    if (s->data)
        s->data[0] = 0;
}

char *strbuf_take(strbuf *s) {
    strbuf_append(s, "", 0);
    char *data = s->failed ? NULL : s->data;
    if (!data)
        free(s->data);
    *s = (strbuf){0};
    return data;
}

void strbuf_free(strbuf *s) {
    free(s->data);
    *s = (strbuf){0};
}
