/* What a kind of vocabulary does. vocab.c picks the kind and keeps the promises that both share: text arrives here
 * as UTF-8 without zero bytes, ids as ids below size. */
#ifndef TEXT_VOCAB_KIND_H
#define TEXT_VOCAB_KIND_H

#include "text/vocab.h"

/* A kind that is no text leaves out (NULL) all that is marked *: it learns nothing, and its symbols have no texts.
 */
typedef struct vocab_kind {
    /* Begins to learn; then comes each line, without LF and not blank; with the last, when there was one at least,
     * the state is that of the vocabulary. */
    sa_status (*begin)(void **state, const vocab_options *options, sa_error *error);
    sa_status (*add)(void *state, const char *line, size_t n, sa_error *error);   /* * */
    sa_status (*end)(void *state, const vocab_options *options, sa_error *error); /* * */
    sa_status (*save)(const void *state, strbuf *out, sa_error *error);
    sa_status (*load)(void **state, sa_vocab_type type, const char *bytes, size_t n, sa_error *error);
    void (*free)(void *state);
    int (*size)(const void *state);
    int (*length)(const void *state);                                 /* NULL: texts differ */
    const char *(*piece)(const void *state, int id);                  /* * */
    double (*score)(const void *state, int id);                       /* NULL: all are alike */
    const char *(*normalization)(const void *state);                  /* * */
    int (*placeholder)(const void *state, protect_kind kind);         /* *; -1: none */
    int (*find)(const void *state, const char *piece, size_t length); /* *; any id where it is no piece */
    /* texts NULL: not wanted */
    sa_status (*encode)(const void *state, const char *text, size_t length, id_list *ids, strbuf *texts,
                        sa_error *error);
    /* *; ids without </s>; texts may be NULL, as each of them */
    sa_status (*decode)(const void *state, const int *ids, size_t n, const char *const *texts, strbuf *out,
                        sa_error *error);
} vocab_kind;

extern const vocab_kind vocab_kind_word;     /* vocab_word.c */
extern const vocab_kind vocab_kind_subword;  /* vocab_subword.c */
extern const vocab_kind vocab_kind_picture;  /* vocab_picture.c */
extern const vocab_kind vocab_kind_features; /* vocab_features.c */

/* The text without blanks at its ends, which the caller frees; NULL without memory. */
char *vocab_trimmed(const char *text, size_t length);

/* Blank, tab, and what else could break a line in two: CR and LF. */
static inline bool vocab_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

#endif
