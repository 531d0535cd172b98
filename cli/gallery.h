/* Where `softalign heatmap` puts its drawings: on standard output, one after the other, or in a file. */
#ifndef CLI_GALLERY_H
#define CLI_GALLERY_H

#include "cli.h"

typedef struct gallery {
    const char *path; /* of the picture; NULL: text on standard output */
    sa_heatmap_options options;
    bool subwords, mark_largest;
    sa_reader *links; /* hard links to mark, a line for each drawing; NULL: none */
    const char *links_name;
    sa_heatmap *picture; /* kept for the file */
    size_t n, capacity;
} gallery;

/* A matrix and what is known of it. */
typedef struct exhibit {
    const char *text;         /* the translation */
    double score, normalized; /* NaN: not known */
    char *const *row, *const *column;
    int rows, columns;
    const float *weight; /* (rows x columns); NULL: nothing can be drawn, for the reason of `absent` */
    const char *absent;  /* in parentheses */
    int number, of;      /* which hypothesis, from 1, of how many */
} exhibit;

/* Draws one, or keeps it for the file. Returns the exit status. */
int gallery_add(gallery *g, const exhibit *e);
/* Writes the file, unless `status` says that something failed before, and frees what was kept. Returns the exit
 * status. */
int gallery_close(gallery *g, int status);

#endif
