#include "serve/body.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- fields of forms --------------------------------------------------------------------------------- */

static sa_status add_field(json_t *object, const strbuf *name, const strbuf *value, sa_error *error) {
    if (name->failed || value->failed)
        return sa_fail_memory(error, 0);
    const char *key = name->data ? name->data : "", *text = value->data ? value->data : "";
    if (utf8_valid_length(key, name->length) < name->length)
        return sa_fail(error, SA_DATA, "the form has a field whose name is not UTF-8");
    if (utf8_valid_length(text, value->length) < value->length)
        return sa_fail(error, SA_DATA, "the form's field '%.100s' is not UTF-8", key);
    if (json_object_get(object, key))
        return sa_fail(error, SA_DATA, "the form has two fields '%.100s'", key);
    return json_object_set_new(object, key, json_stringn(text, value->length)) == 0 ? SA_OK
                                                                                    : sa_fail_memory(error, 0);
}

/* ---- a=b&c=d ----------------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* + is a blank; a % that no two digits follow stands for itself, as browsers read it. */
static void unescape(const char *text, size_t n, strbuf *out) {
    strbuf_clear(out);
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%' && i + 2 < n && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
            c = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        }
        strbuf_append(out, &c, 1);
    }
}

static sa_status read_urlencoded(json_t *object, const char *text, size_t n, sa_error *error) {
    strbuf name = {0}, value = {0};
    sa_status status = SA_OK;
    for (size_t at = 0; at < n && status == SA_OK;) {
        const char *field = text + at, *end = memchr(field, '&', n - at);
        size_t length = end ? (size_t)(end - field) : n - at;
        const char *equals = memchr(field, '=', length);
        size_t key = equals ? (size_t)(equals - field) : length;
        unescape(field, key, &name);
        unescape(equals ? equals + 1 : field, equals ? length - key - 1 : 0, &value);
        if (length > 0)
            status = add_field(object, &name, &value, error);
        at += length + 1;
    }
    strbuf_free(&name);
    strbuf_free(&value);
    return status;
}

/* ---- multipart/form-data (RFC 7578) ------------------------------------------------------------------ */

enum { BOUNDARY_MOST = 70 }; /* characters, by RFC 2046 */

/* Copies the value of a parameter, name="..." or name=..., out of a header; false where it has none that fits. */
static bool header_parameter(const char *header, size_t n, const char *name, strbuf *out) {
    size_t length = strlen(name);
    for (size_t i = 0; i + length + 1 < n; i++) {
        bool starts = i == 0 || header[i - 1] == ';' || header[i - 1] == ' ';
        if (!starts || strncasecmp(header + i, name, length) != 0 || header[i + length] != '=')
            continue;
        const char *value = header + i + length + 1, *end = header + n;
        bool quoted = *value == '"';
        value += quoted;
        const char *stop = value;
        while (stop < end && (quoted ? *stop != '"' : *stop != ';' && *stop != ' '))
            stop++;
        strbuf_clear(out);
        strbuf_append(out, value, (size_t)(stop - value));
        return true;
    }
    return false;
}

/* The name out of the headers of a part. */
static bool part_name(const char *headers, size_t n, strbuf *name) {
    static const char wanted[] = "content-disposition:";
    for (size_t at = 0; at < n;) {
        const char *line = headers + at, *end = memmem(line, n - at, "\r\n", 2);
        size_t length = end ? (size_t)(end - line) : n - at;
        if (length > sizeof wanted && strncasecmp(line, wanted, sizeof wanted - 1) == 0)
            return header_parameter(line + sizeof wanted - 1, length - sizeof wanted + 1, "name", name);
        at += length + 2;
    }
    return false;
}

static sa_status add_part(json_t *object, const char *part, size_t n, sa_error *error) {
    static const char blank_line[] = "\r\n\r\n";
    strbuf name = {0}, value = {0};
    const char *end = memmem(part, n, blank_line, 4);
    sa_status status;
    if (!end || !part_name(part, (size_t)(end - part), &name)) {
        status = sa_fail(error, SA_DATA, "the form has a part without a name");
    } else {
        size_t head = (size_t)(end - part) + 4;
        strbuf_append(&value, part + head, n - head);
        status = add_field(object, &name, &value, error);
    }
    strbuf_free(&name);
    strbuf_free(&value);
    return status;
}

/* between: "\r\n--BOUNDARY", which stands before each part and, with "--" behind it, at the end. The first may lack
 * its line end. */
static sa_status read_parts(json_t *object, const strbuf *between, const char *text, size_t n, sa_error *error) {
    const char *end = text + n, *at;
    if (n >= between->length - 2 && memcmp(text, between->data + 2, between->length - 2) == 0)
        at = text + between->length - 2;
    else if ((at = memmem(text, n, between->data, between->length)))
        at += between->length;
    while (at && !(end - at >= 2 && memcmp(at, "--", 2) == 0)) {
        const char *next = memmem(at, (size_t)(end - at), between->data, between->length);
        if (!next)
            break;
        /* The line of the boundary ends before the part's headers. */
        const char *part = memmem(at, (size_t)(next - at), "\r\n", 2);
        if (part)
            SA_TRY(add_part(object, part + 2, (size_t)(next - part) - 2, error));
        at = next + between->length;
        if (end - at >= 2 && memcmp(at, "--", 2) == 0)
            return SA_OK;
    }
    return at && end - at >= 2 && memcmp(at, "--", 2) == 0
               ? SA_OK
               : sa_fail(error, SA_DATA, "the form ends before its last boundary");
}

static sa_status read_multipart(json_t *object, const char *content_type, const char *text, size_t n,
                                sa_error *error) {
    strbuf boundary = {0}, between = {0};
    sa_status status;
    if (!header_parameter(content_type, strlen(content_type), "boundary", &boundary) || boundary.length == 0 ||
        boundary.length > BOUNDARY_MOST) {
        status = sa_fail(error, SA_DATA, "the form's content type has no boundary");
    } else {
        strbuf_puts(&between, "\r\n--");
        strbuf_append(&between, boundary.data, boundary.length);
        status = boundary.failed || between.failed ? sa_fail_memory(error, 0)
                                                   : read_parts(object, &between, text, n, error);
    }
    strbuf_free(&boundary);
    strbuf_free(&between);
    return status;
}

/* ---- all kinds --------------------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *start) {
    return text && strncasecmp(text, start, strlen(start)) == 0;
}

static sa_status read_json(json_t **out, const char *bytes, size_t n, sa_error *error) {
    json_error_t problem;
    *out = n > 0 ? json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &problem) : NULL;
    if (*out)
        return SA_OK;
    if (n == 0)
        return sa_fail(error, SA_DATA, "the request has no body, where JSON was expected");
    return sa_fail(error, SA_DATA, "the body is not JSON: line %d, column %d: %s", problem.line, problem.column,
                   problem.text);
}

sa_status body_read(json_t **out, const char *content_type, bool forms, const char *bytes, size_t n,
                    sa_error *error) {
    bool urlencoded = forms && starts_with(content_type, "application/x-www-form-urlencoded");
    bool multipart = forms && starts_with(content_type, "multipart/form-data");
    *out = NULL;
    if (!urlencoded && !multipart)
        return read_json(out, bytes, n, error);
    json_t *object = json_object();
    sa_status status = !object      ? sa_fail_memory(error, 0)
                       : urlencoded ? read_urlencoded(object, bytes, n, error)
                                    : read_multipart(object, content_type, bytes, n, error);
    if (status == SA_OK)
        *out = object;
    else
        json_decref(object);
    return status;
}
