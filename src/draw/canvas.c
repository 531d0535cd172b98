#include "draw/canvas.h"

#include "base/file.h"
#include "base/module.h"
#include "base/utf8.h"
#include "draw/canvas_backend.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- formats ----------------------------------------------------------------------------------------- */

typedef struct canvas_format {
    const char *ending;
    const canvas_backend *own; /* NULL: the module's table of that name */
    const char *table;
    bool pages;
} canvas_format;

static const canvas_format formats[] = {
    {".svg", &canvas_svg, NULL, false},
    {".png", NULL, "softalign_canvas_png", false},
    {".pdf", NULL, "softalign_canvas_pdf", true},
};

static const canvas_format *format_of(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n = strlen(formats[i].ending);
        if (length > n && strcasecmp(path + length - n, formats[i].ending) == 0)
            return &formats[i];
    }
    return NULL;
}

bool canvas_has_pages(const char *path) {
    const canvas_format *format = format_of(path);
    return format && format->pages;
}

/* ---- a canvas ---------------------------------------------------------------------------------------- */

struct canvas {
    const canvas_backend *by;
    void *self;
    bool paged, failed; /* failed: out of memory */
    char path[];        /* of the file */
};

static sa_status backend_of(const char *path, const canvas_backend **by, sa_error *error) {
    const canvas_format *format = format_of(path);
    if (!format)
        return sa_fail(error, SA_USAGE, "%s: the ending of its name says what a picture is: .svg, .png or .pdf",
                       path);
    sa_error why;
    *by = format->own ? format->own : module_load("softalign-draw.so", format->table, false, &why);
    if (!*by)
        return sa_fail(
            error, SA_USAGE,
            "%s: softalign's drawing module cannot be loaded: %.500s. Build softalign where cairo and pango "
            "are installed (on Debian: libcairo2-dev libpango1.0-dev), or write .svg, which needs neither",
            path, why.text);
    return SA_OK;
}

sa_status canvas_open(canvas **out, const char *path, sa_error *error) {
    const canvas_backend *by = NULL;
    *out = NULL;
    SA_TRY(backend_of(path, &by, error));
    canvas *c = malloc(sizeof *c + strlen(path) + 1);
    const char *why = NULL;
    void *self = c ? by->open(&why) : NULL;
    if (!self) {
        free(c);
        return why ? sa_fail(error, SA_USAGE, "%s: %s", path, why) : sa_fail_memory(error, 0);
    }
    c->by = by;
    c->self = self;
    c->paged = c->failed = false;
    strcpy(c->path, path);
    *out = c;
    return SA_OK;
}

void canvas_page(canvas *c, double width, double height) {
    SA_ASSERT(width > 0 && height > 0 && !(c->paged && !canvas_has_pages(c->path)));
    c->paged = true;
    c->by->page(c->self, width, height);
}

void canvas_box(canvas *c, canvas_rect r, canvas_paint paint) {
    SA_ASSERT(c->paged);
    c->by->box(c->self, r, paint);
}

void canvas_path(canvas *c, const canvas_point *point, int n, bool closed, canvas_paint paint) {
    SA_ASSERT(c->paged);
    if (n > 0)
        c->by->path(c->self, point, n, closed, paint);
}

void canvas_text(canvas *c, const canvas_label *label) {
    SA_ASSERT(c->paged);
    if (label->text[0])
        c->by->text(c->self, label);
}

/* The place of pixel i of n among m pixels that cover the same length: between *at and the next, by a share. */
static int place_among(int i, int n, int m, double *share) {
    double x = (i + 0.5) * m / n - 0.5;
    x = x < 0 ? 0 : x > m - 1 ? m - 1 : x;
    int at = x >= m - 1 && m > 1 ? m - 2 : (int)x;
    *share = x - at;
    return at;
}

/* Bilinear, to a size that is no smaller; the outermost pixels go on to the edges. NULL without memory. */
static unsigned char *enlarge(const canvas_image_data *from, int width, int height) {
    unsigned char *rgba = malloc((size_t)width * (size_t)height * 4);
    for (int y = 0; rgba && y < height; y++) {
        double down, right;
        int top = place_among(y, height, from->height, &down);
        size_t below = from->height > 1 ? (size_t)from->width * 4 : 0;
        for (int x = 0; x < width; x++) {
            int left = place_among(x, width, from->width, &right);
            const unsigned char *a = from->rgba + ((size_t)top * (size_t)from->width + (size_t)left) * 4;
            size_t beside = from->width > 1 ? 4 : 0;
            for (int k = 0; k < 4; k++) {
                double upper = a[k] + (a[beside + (size_t)k] - a[k]) * right;
                double lower =
                    a[below + (size_t)k] + (a[below + beside + (size_t)k] - a[below + (size_t)k]) * right;
                rgba[((size_t)y * (size_t)width + (size_t)x) * 4 + (size_t)k] =
                    (unsigned char)(upper + (lower - upper) * down + 0.5);
            }
        }
    }
    return rgba;
}

/* Viewers differ in how they enlarge an image, and some do not smooth it: what is enlarged is made here. */
void canvas_image(canvas *c, const canvas_image_data *image, canvas_rect r, bool smooth) {
    SA_ASSERT(c->paged && image->width > 0 && image->height > 0);
    canvas_image_data large = {NULL, (int)(2 * r.width), (int)(2 * r.height)};
    unsigned char *rgba = NULL;
    if (smooth && large.width > image->width && large.height > image->height) {
        large.rgba = rgba = enlarge(image, large.width, large.height);
        c->failed |= !rgba;
        image = rgba ? &large : image;
    }
    c->by->image(c->self, image, r, smooth);
    free(rgba);
}

double canvas_text_width(canvas *c, const char *text, double size, bool bold) {
    return text[0] ? c->by->text_width(c->self, text, size, bold) : 0;
}

size_t canvas_unknown(const canvas *c) {
    return c->by->unknown(c->self);
}

sa_status canvas_finish(canvas *c, sa_error *error) {
    const void *bytes = NULL;
    size_t n = 0;
    SA_ASSERT(c->paged);
    const char *why = c->failed ? CANVAS_NO_MEMORY : c->by->finish(c->self, &bytes, &n);
    sa_status status;
    if (!why)
        status = file_write_whole(c->path, &(file_chunk){bytes, n}, 1, error);
    else
        status = sa_fail(error, strcmp(why, CANVAS_NO_MEMORY) == 0 ? SA_MEMORY : SA_USAGE, "%s: %s", c->path, why);
    canvas_abandon(c);
    return status;
}

void canvas_abandon(canvas *c) {
    if (!c)
        return;
    c->by->close(c->self);
    free(c);
}

/* ---- labels ------------------------------------------------------------------------------------------ */

/* Code points that a label may not hold: controls, line ends, turns of direction, and those that XML refuses. */
static const utf8_range disturbing[] = {
    {0x01, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
    {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFFFE, 0xFFFF},
};

static const utf8_range right_to_left[] = {
    {0x0590, 0x08FF},   {0xFB1D, 0xFDFF},   {0xFE70, 0xFEFC},
    {0x10800, 0x10CFF}, {0x10D00, 0x10FFF}, {0x1E800, 0x1EFFF},
};

#define IN(code, ranges) utf8_in_ranges(code, ranges, sizeof(ranges) / sizeof *(ranges))

static bool is_space(uint32_t code) {
    return code == ' ' || code == '\t' || code == 0xA0 || code == 0x3000 || (code >= 0x2000 && code <= 0x200A);
}

void canvas_clean(const char *text, strbuf *out) {
    size_t n = strlen(text), blank = 0, step;
    uint32_t code;
    for (size_t i = 0; i < n; i += step) {
        step = utf8_decode(text + i, n - i, &code);
        blank += is_space(code);
    }
    bool only_blank = blank == utf8_count(text, n);
    for (size_t i = 0; i < n; i += step) {
        step = utf8_decode(text + i, n - i, &code);
        if (only_blank)
            strbuf_puts(out, "\u2423");
        else if (code == '\t')
            strbuf_puts(out, " ");
        else if (code == UTF8_INVALID || IN(code, disturbing))
            strbuf_puts(out, UTF8_REPLACEMENT);
        else
            strbuf_append(out, text + i, step);
    }
}

/* Letters of ASCII and what lies above it decide; digits and signs of ASCII have no direction of their own. */
bool canvas_is_rtl(const char *text) {
    size_t n = strlen(text);
    while (n > 0) {
        uint32_t code;
        size_t step = utf8_decode(text, n, &code);
        if (IN(code, right_to_left))
            return true;
        if ((code | 0x20) - 'a' < 26 || (code >= 0xC0 && code != UTF8_INVALID && (code < 0x2000 || code > 0x2BFF)))
            return false;
        text += step;
        n -= step;
    }
    return false;
}

/* Where the text is cut to lose its last letter, with the marks on it and what is joined to it. */
static size_t without_last(const char *text, size_t n) {
    bool joined = true;
    while (n > 0 && joined) {
        uint32_t code;
        do
            n--;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80);
        utf8_decode(text + n, strlen(text + n), &code);
        joined = utf8_width_of(code) == 0 || (n >= 3 && memcmp(text + n - 3, "\xE2\x80\x8D", 3) == 0);
    }
    return n;
}

void canvas_fit(canvas *c, const char *text, double size, double most, strbuf *out) {
    size_t n = strlen(text),
           longest = (size_t)(most / size * 40); /* bytes: some ten to a letter at its narrowest */
    if (n <= longest && canvas_text_width(c, text, size, false) <= most) {
        strbuf_append(out, text, n);
        return;
    }
    strbuf part = {0};
    n = n > longest ? without_last(text, longest) : without_last(text, n);
    for (; n > 0; n = without_last(text, n)) {
        strbuf_clear(&part);
        strbuf_append(&part, text, n);
        strbuf_puts(&part, "…");
        if (part.failed || canvas_text_width(c, part.data, size, false) <= most)
            break;
    }
    strbuf_puts(out, n > 0 && !part.failed ? part.data : "…");
    out->failed |= part.failed;
    strbuf_free(&part);
}
