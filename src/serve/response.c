/* Answers as libmicrohttpd takes them. */
#include "serve/assets.h"
#include "serve/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Pages may use what is theirs, and nothing else. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void add(struct MHD_Response *r, const char *name, const char *value) {
    MHD_add_response_header(r, name, value);
}

static bool accepts_gzip(const exchange *x) {
    const char *accepted =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    const char *found = accepted ? strstr(accepted, "gzip") : NULL;
    return found && strncmp(found, "gzip;q=0", 8) != 0;
}

/* ---- files ------------------------------------------------------------------------------------------- */

/* For a client that takes no gzip. NULL without memory. */
static unsigned char *unpack(const serve_asset *a) {
    enum { GZIP_WINDOW = 15 + 16 };
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)a->bytes, .avail_in = (unsigned)a->size};
    unsigned char *plain = malloc(a->plain_size + 1);
    if (!plain || inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
        free(plain);
        return NULL;
    }
    z.next_out = plain;
    z.avail_out = (unsigned)a->plain_size;
    bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
    inflateEnd(&z);
    if (ok)
        return plain;
    free(plain);
    return NULL;
}

static struct MHD_Response *asset_bytes(const exchange *x) {
    const serve_asset *a = x->asset;
    if (accepts_gzip(x)) {
        struct MHD_Response *r =
            MHD_create_response_from_buffer(a->size, (void *)(uintptr_t)a->bytes, MHD_RESPMEM_PERSISTENT);
        if (r)
            add(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
        return r;
    }
    unsigned char *plain = unpack(a);
    return plain ? MHD_create_response_from_buffer(a->plain_size, plain, MHD_RESPMEM_MUST_FREE) : NULL;
}

static bool client_has_it(const exchange *x) {
    const char *etag = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    return etag && strstr(etag, x->asset->etag);
}

static struct MHD_Response *asset_response(exchange *x) {
    bool has = client_has_it(x);
    struct MHD_Response *r =
        has ? MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT) : asset_bytes(x);
    if (!r)
        return NULL;
    x->status = has ? 304 : 200;
    x->length = has ? 0 : x->asset->size;
    /* Names in /assets/ have a hash of the content in them. */
    bool hashed = strncmp(x->asset->path, "/assets/", 8) == 0;
    add(r, MHD_HTTP_HEADER_CACHE_CONTROL, hashed ? "public, max-age=31536000, immutable" : "no-cache");
    add(r, MHD_HTTP_HEADER_ETAG, x->asset->etag);
    add(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (!has)
        add(r, MHD_HTTP_HEADER_CONTENT_TYPE, x->asset->type);
    return r;
}

/* ---- streams ----------------------------------------------------------------------------------------- */

/* Hands out what there is; where that is nothing yet, the connection sleeps until there is more. */
static ssize_t read_stream(void *cls, uint64_t position, char *buffer, size_t most) {
    exchange *x = cls;
    peers *p = x->server->peers;
    ssize_t n = 0;
    (void)position;
    peers_lock(p);
    if (x->stream.length > 0) {
        n = (ssize_t)(x->stream.length < most ? x->stream.length : most);
        memcpy(buffer, x->stream.data, (size_t)n);
        memmove(x->stream.data, x->stream.data + n, x->stream.length - (size_t)n);
        x->stream.length -= (size_t)n;
        x->length += (size_t)n;
    } else if (x->sent_all || x->stream.failed) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    }
    peers_unlock(p);
    return n;
}

static struct MHD_Response *stream_response(exchange *x) {
    enum { BLOCK = 4096 };
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, x, NULL);
    if (r) {
        add(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
        add(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        add(r, "X-Accel-Buffering", "no"); /* nginx would wait for the end */
    }
    return r;
}

/* ---- all --------------------------------------------------------------------------------------------- */

static struct MHD_Response *text_response(exchange *x) {
    struct MHD_Response *r = MHD_create_response_from_buffer(x->length, x->text ? x->text : (void *)(uintptr_t) "",
                                                             MHD_RESPMEM_PERSISTENT);
    if (r) {
        add(r, MHD_HTTP_HEADER_CONTENT_TYPE, x->type);
        add(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    return r;
}

static void add_cors(struct MHD_Response *r, const exchange *x) {
    const char *origin = x->server->options->cors;
    if (!origin)
        return;
    add(r, "Access-Control-Allow-Origin", origin);
    if (strcmp(x->method, "OPTIONS") == 0) {
        add(r, "Access-Control-Allow-Methods", x->allow ? x->allow : "GET, POST");
        add(r, "Access-Control-Allow-Headers", "Authorization, Content-Type");
        add(r, "Access-Control-Max-Age", "86400");
    }
}

struct MHD_Response *response_of(exchange *x) {
    struct MHD_Response *r = x->asset ? asset_response(x) : x->streaming ? stream_response(x) : text_response(x);
    char seconds[16];
    if (!r)
        return NULL;
    add(r, "X-Content-Type-Options", "nosniff");
    add(r, "Content-Security-Policy", page_policy);
    add_cors(r, x);
    if (x->allow)
        add(r, MHD_HTTP_HEADER_ALLOW, x->allow);
    if (x->retry_after > 0) {
        snprintf(seconds, sizeof seconds, "%d", x->retry_after);
        add(r, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    if (!x->streaming && x->status == 401)
        add(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    return r;
}
