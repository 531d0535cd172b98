/* What the sources of `softalign align` share: cmd_align.c has the options and aligns with models, align_text.c a
 * text with nothing else. */
#ifndef CLI_ALIGN_H
#define CLI_ALIGN_H

#include "pair_input.h"

typedef enum align_format { FORMAT_LINKS, FORMAT_SOFT, FORMAT_JSONL, FORMAT_NPY } align_format;

typedef struct align_arguments {
    sa_translate_options search;
    model_list models, reverse;
    const char *source, *target; /* target NULL: TSV in source */
    const char *tsv, *output;
    sa_align_text_options text;                /* source not NULL: align this text */
    const char *forward_links, *reverse_links; /* where each direction's go; NULL: nowhere */
    sa_alignment_options links;
    sa_symmetrization symmetrization;
    align_format format;
    bool scores, swap, strict, quiet;
} align_arguments;

/* Writes a line of links; returns CLI_OK or the exit status. */
int write_links_line(FILE *file, const sa_links *links, bool swap, bool scores);
/* softalign align --train: returns the exit status. */
int align_text(const align_arguments *a);

#endif
