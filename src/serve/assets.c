#include "serve/assets.h"

#include "serve/routes.h"

#include <string.h>

const serve_asset *asset_find(const char *path) {
    static const serve_asset *const tables[] = {serve_page, serve_openapi};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const serve_asset *a = tables[t]; a->path; a++)
            if (strcmp(a->path, path) == 0)
                return a;
    return NULL;
}

static const char without_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>softalign</title>\n"
    "<h1>softalign</h1>\n"
    "<p>The server runs. The page that shows what a model looks at was left out of this build: it needs Node "
    "18 and npm when softalign is built. Install them (Debian: <code>apt-get install nodejs npm</code>) and build "
    "again: <code>make clean all</code>.</p>\n"
    "<p>The interfaces work: <a href=\"/openapi.json\">/openapi.json</a> describes them.</p>\n</html>\n";

void begin_page(exchange *x, json_t *body) {
    (void)body;
    x->asset = asset_find(x->path);
    x->status = 200;
    if (!x->asset && strcmp(x->path, "/") == 0)
        answer_text(x, 200, "text/html; charset=utf-8", strdup(without_page));
    else if (!x->asset)
        begin_unknown(x, body);
}
