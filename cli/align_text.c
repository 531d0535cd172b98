#include "align.h"

#include <string.h>

enum { OUTPUTS = 3 }; /* both directions together, forward, reverse */

typedef struct text_writer {
    const align_arguments *a;
    FILE *file[OUTPUTS]; /* NULL: not wanted */
    int status;
} text_writer;

static int take_pair(size_t line, const sa_links *links, const sa_links *forward, const sa_links *reverse,
                     void *user) {
    text_writer *w = user;
    const sa_links *kind[OUTPUTS] = {links, forward, reverse};
    (void)line;
    for (int i = 0; i < OUTPUTS && w->status == CLI_OK; i++)
        if (w->file[i] != NULL)
            w->status = write_links_line(w->file[i], kind[i], w->a->swap, w->a->scores);
    return w->status;
}

static int open_outputs(text_writer *w, const char *const path[OUTPUTS]) {
    for (int i = 0; i < OUTPUTS; i++) {
        if (path[i] == NULL)
            continue;
        w->file[i] = strcmp(path[i], "-") == 0 ? stdout : fopen(path[i], "w");
        if (w->file[i] == NULL)
            return cli_write_error(path[i]);
    }
    return CLI_OK;
}

int align_text(const align_arguments *a) {
    const char *const path[OUTPUTS] = {a->output, a->forward_links, a->reverse_links};
    text_writer w = {.a = a, .status = CLI_OK};
    sa_error error;
    w.status = open_outputs(&w, path);
    if (w.status == CLI_OK) {
        sa_status status = sa_align_text(&a->text, take_pair, &w, &error);
        if (status != SA_OK && w.status == CLI_OK)
            w.status = cli_library_error(&error);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        int closed = w.file[i] != NULL ? cli_close_output(w.file[i], input_name(path[i])) : CLI_OK;
        w.status = w.status == CLI_OK ? closed : w.status;
    }
    return w.status;
}
