/* Files that are part of the program: the page, and the description of the interface. */
#ifndef SERVE_ASSETS_H
#define SERVE_ASSETS_H

#include <stddef.h>

typedef struct serve_asset {
    const char *path;           /* "/", "/assets/lab.js"; NULL ends a table */
    const char *type;           /* of its content */
    const char *etag;           /* in quotes */
    const unsigned char *bytes; /* gzip */
    size_t size, plain_size;    /* of these; unpacked */
} serve_asset;

/* What scripts/embed.py wrote: the page, where it was built (else the table is empty), and /openapi.json. */
extern const serve_asset serve_page[], serve_openapi[];

/* The file for a path; NULL: none. */
const serve_asset *asset_find(const char *path);

#endif
