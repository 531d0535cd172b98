#include "gallery.h"

#include <stdlib.h>
#include <string.h>

/* Those of the next line of the file of links. */
static int mark_links(const gallery *g, sa_heatmap *h) {
    sa_error error;
    sa_links links;
    char *line;
    size_t length;
    if (sa_reader_next(g->links, &line, &length, &error) != SA_OK)
        return cli_library_error(&error);
    if (line == NULL) {
        cli_message("%s has only %zu lines: one is needed for each drawing", g->links_name,
                    sa_reader_line(g->links));
        return CLI_FAILED;
    }
    sa_status status = sa_links_parse(&links, line, 0, false, &error);
    if (status == SA_OK) {
        status = sa_heatmap_mark_links(h, &links, &error);
        sa_links_free(&links);
    }
    if (status == SA_OK)
        return CLI_OK;
    cli_message("%s:%zu: %s", g->links_name, sa_reader_line(g->links), error.text);
    return CLI_FAILED;
}

static int make_heatmap(const gallery *g, const exhibit *e, sa_heatmap *h) {
    sa_error error;
    bool drawn = e->weight != NULL;
    sa_status status = sa_heatmap_make(h, e->row, drawn ? e->rows : 0, e->column, drawn ? e->columns : 0, e->weight,
                                       !g->subwords, &error);
    if (status == SA_OK && g->mark_largest)
        status = sa_heatmap_mark_largest(h, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
    return g->links != NULL ? mark_links(g, h) : CLI_OK;
}

/* ---- text -------------------------------------------------------------------------------------------- */

/* A line; a terminal would obey control characters. */
static void write_line(const char *text) {
    for (const char *c = text; *c != '\0'; c++)
        putchar((unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c);
    putchar('\n');
}

static int print(gallery *g, const exhibit *e, const sa_heatmap *h) {
    sa_error error;
    char *drawing = NULL;
    if (e->weight != NULL && sa_heatmap_text(h, &g->options, &drawing, &error) != SA_OK)
        return cli_library_error(&error);
    if (g->n++ > 0)
        putchar('\n');
    write_line(e->text);
    if (!isnan(e->score))
        printf("score %.6f, normalized %.6f\n", e->score, e->normalized);
    if (drawing != NULL)
        fputs(drawing, stdout);
    else if (e->absent != NULL)
        printf("(%s)\n", e->absent);
    free(drawing);
    return fflush(stdout) != 0 || ferror(stdout) ? cli_write_error("standard output") : CLI_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------- */

static int no_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

/* Takes what *h holds. */
static int keep(gallery *g, const exhibit *e, sa_heatmap *h) {
    if (g->n == g->capacity) {
        size_t capacity = g->capacity > 0 ? 2 * g->capacity : 16;
        sa_heatmap *more = realloc(g->picture, capacity * sizeof *more);
        if (more == NULL)
            return no_memory();
        g->picture = more;
        g->capacity = capacity;
    }
    int length = 1;
    if (e->weight == NULL && e->absent != NULL)
        length = asprintf(&h->title, "%s%s(%s)", e->text, e->text[0] != '\0' ? " " : "", e->absent);
    else if (e->of > 1 && !isnan(e->score))
        length = asprintf(&h->title, "%d of %d, score %.2f", e->number, e->of, e->score);
    else if (e->of > 1)
        length = asprintf(&h->title, "%d of %d", e->number, e->of);
    if (length < 0) {
        h->title = NULL;
        return no_memory();
    }
    g->picture[g->n++] = *h;
    *h = (sa_heatmap){0};
    return CLI_OK;
}

int gallery_add(gallery *g, const exhibit *e) {
    sa_heatmap h;
    int status = make_heatmap(g, e, &h);
    if (status == CLI_OK)
        status = g->path != NULL ? keep(g, e, &h) : print(g, e, &h);
    sa_heatmap_free(&h);
    return status;
}

int gallery_close(gallery *g, int status) {
    sa_error error;
    size_t unknown = 0;
    if (g->path == NULL)
        return status;
    if (status == CLI_OK && g->n == 0) {
        cli_message("there is nothing to draw: %s is not written", g->path);
        status = CLI_FAILED;
    }
    if (status == CLI_OK && g->n > INT32_MAX) {
        cli_message("%zu pictures are too many", g->n);
        status = CLI_FAILED;
    }
    if (status == CLI_OK &&
        sa_heatmaps_write(g->picture, (int)g->n, g->path, &g->options, &unknown, &error) != SA_OK)
        status = cli_library_error(&error);
    if (status == CLI_OK && unknown > 0)
        cli_message("%s: %zu characters are in no font that is installed, and are drawn as boxes (on Debian: "
                    "fonts-noto-core, fonts-noto-cjk, fonts-noto-color-emoji; a .svg needs no fonts)",
                    g->path, unknown);
    for (size_t i = 0; i < g->n; i++)
        sa_heatmap_free(&g->picture[i]);
    free(g->picture);
    return status;
}
