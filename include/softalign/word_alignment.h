/* Word alignments: a part of softalign.h, which includes it. */
#ifndef SOFTALIGN_WORD_ALIGNMENT_H
#define SOFTALIGN_WORD_ALIGNMENT_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A link between a word of the source and one of the target, which count from 0. */
typedef struct sa_link {
    int source, target;
    float weight;  /* how sure it is, 0 ... 1; 1 where nothing is known */
    bool possible; /* not sure: annotators of gold links may doubt */
} sa_link;

/* Those of a pair, in order of source, then target, no two alike. */
typedef struct sa_links {
    size_t n;
    sa_link *link;
} sa_links;

/* Reads "0-0 1-2 2p3 3-1:0.75": links with blanks between, i-j or, where only possible, ipj or i?j, with a weight
 * or without. base: what the first word is called, 0 or 1; swap: the target word is named first. Of a link that
 * stands there twice the surer stays. SA_DATA with the piece that is no link; no line may name more than a million
 * words. Free with sa_links_free. */
SA_API sa_status sa_links_parse(sa_links *out, const char *line, int base, bool swap, sa_error *error);
SA_API void sa_links_free(sa_links *links);
/* Writes them so, from 0, the target word first if swap, with weights or without. *out belongs to the caller. */
SA_API sa_status sa_links_format(const sa_links *links, bool swap, bool weights, char **out, sa_error *error);

/* Makes the source the target and the target the source. */
SA_API void sa_links_swap(sa_links *links);

/* How the links of two directions are made one. */
typedef enum sa_symmetrization {
    SA_INTERSECTION,    /* links that both have */
    SA_UNION,           /* that one has */
    SA_AVERAGE,         /* whose weight, the mean of both, is above 1/2: those of probabilities that are likely */
    SA_GROW_DIAG,       /* the intersection; then, again and again, links of the union next to those, diagonally
                           too, that link a word without any */
    SA_GROW_DIAG_FINAL, /* then links of the forward, last of the reverse direction of such a word */
    SA_GROW_DIAG_FINAL_AND /* the same, but of two such words */
} sa_symmetrization;
/* Both name the source word first. A weight is the mean of both, 0 where there is no link. (Och and Ney 2003;
 * Koehn, Och and Marcu 2003; candidates are tried in order, again and again, as fast_align's atools does.) Free
 * with sa_links_free. */
SA_API sa_status sa_links_symmetrize(sa_links *out, const sa_links *forward, const sa_links *reverse,
                                     sa_symmetrization how, sa_error *error);

typedef struct sa_alignment_options {
    bool subwords; /* between symbols of the model, and not words of the texts */
    int shift; /* a symbol has the weights of the step that writes it (0), or of the next one, which reads it (1);
                  of the last symbol, </s>, those of the first step */
    float threshold; /* links to all source words with at least so much weight; 0: to the one with the most, and to
                        none where </s> has more */
} sa_alignment_options;

/* How words of a translation belong to words of its source. */
typedef struct sa_alignment {
    int source_length, target_length; /* </s>, which is last, counted */
    char **source, **target;          /* the words */
    float *weights; /* (target_length x source_length); rows sum to 1, or are 0 where the model saw nothing of a
                       word */
    sa_links links; /* </s> has none */
} sa_alignment;

/* From the attention of a hypothesis (sa_translate, sa_score_pairs, with attention). source: the line that was
 * translated. A word of several symbols has, as a source word, the sum of their weights, and as a target word the
 * mean of their rows. What stands for no word counts as </s>. A pair of two empty lines has one weight, of </s> on
 * </s>, which is 1. SA_USAGE where there is no attention. Free with sa_alignment_free. */
SA_API sa_status sa_alignment_make(sa_alignment *out, const sa_translation *t, int hypothesis, const char *source,
                                   const sa_alignment_options *options, sa_error *error);
SA_API void sa_alignment_free(sa_alignment *alignment);

/* Aligns a parallel text by what it says itself, without a model: docs/align.md has the method. */
typedef struct sa_align_text_options {
    const char *source, *target; /* target NULL: TSV in source. "-" and gzip are read as they stand; what can be
                                    read only once is copied, without a name, to $TMPDIR */
    bool strict;                 /* invalid UTF-8 is an error */
    uint64_t seed;
    int threads; /* 0: all cores. The result depends on the text, the seed, chains and sweeps, and not on this */
    int chains;  /* aligned apart, and averaged */
    int sweeps;  /* of each over the text */
    sa_symmetrization symmetrization; /* how both directions' links are made one; SA_AVERAGE is best */
} sa_align_text_options;
SA_API void sa_align_text_options_init(sa_align_text_options *options);

/* Called for each pair of lines in order, from 0. links: those that both directions have together; forward: of each
 * word of the target, with the word of the source that it most likely comes from; reverse: of each word of the
 * source, likewise. A weight is a probability, the source word comes first, and a pair with an empty side has none.
 * Anything but 0 ends the work with SA_STOPPED. */
typedef int sa_align_text_callback(size_t line, const sa_links *links, const sa_links *forward,
                                   const sa_links *reverse, void *user);
SA_API sa_status sa_align_text(const sa_align_text_options *options, sa_align_text_callback *take, void *user,
                               sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
