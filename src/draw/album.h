/* Several pictures in one file, or in as many as the format needs. */
#ifndef DRAW_ALBUM_H
#define DRAW_ALBUM_H

#include "draw/canvas.h"

/* Draws picture `number`, from 0, on a page that it begins itself. */
typedef sa_status album_draw(canvas *on, int number, const void *user, sa_error *error);

/* Writes n pictures, n > 0: as pages of one file, or, where the format has no pages and there are several, as files
 * with
 * "-1", "-2", ... before the ending, each whole or not at all. *unknown (NULL is allowed) is how many characters no
 * font has. Ends at the first failure. */
sa_status album_write(const char *path, int n, album_draw *draw, const void *user, size_t *unknown,
                      sa_error *error);

#endif
