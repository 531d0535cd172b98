#include "draw/album.h"

#include <stdlib.h>
#include <string.h>

/* Pictures first ... first + n - 1 as one file. */
static sa_status write_file(const char *path, int first, int n, album_draw *draw, const void *user, size_t *unknown,
                            sa_error *error) {
    canvas *on;
    SA_TRY(canvas_open(&on, path, error));
    for (int i = first; i < first + n; i++) {
        sa_status status = draw(on, i, user, error);
        if (status != SA_OK) {
            canvas_abandon(on);
            return status;
        }
    }
    *unknown += canvas_unknown(on);
    return canvas_finish(on, error);
}

sa_status album_write(const char *path, int n, album_draw *draw, const void *user, size_t *unknown,
                      sa_error *error) {
    size_t ignored;
    if (!unknown)
        unknown = &ignored;
    *unknown = 0;
    if (n == 1 || canvas_has_pages(path))
        return write_file(path, 0, n, draw, user, unknown, error);
    const char *ending = strrchr(path, '.');
    for (int i = 0; i < n; i++) {
        strbuf name = {0};
        strbuf_printf(&name, "%.*s-%d%s", ending ? (int)(ending - path) : (int)strlen(path), path, i + 1,
                      ending ? ending : "");
        sa_status status =
            name.failed ? sa_fail_memory(error, 0) : write_file(name.data, i, 1, draw, user, unknown, error);
        strbuf_free(&name);
        SA_TRY(status);
    }
    return SA_OK;
}
