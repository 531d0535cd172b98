#include "decode/glimpse.h"

#include <stdlib.h>

static const node *up_to(const node *n, int depth) {
    while (n && n->depth > depth)
        n = n->parent;
    return n;
}

/* The last word that the beginnings of two hypotheses share; NULL: none. */
static const node *shared(const node *a, const node *b) {
    a = up_to(a, b ? b->depth : 0);
    b = up_to(b, a ? a->depth : 0);
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return a;
}

/* The last word that all hypotheses share which can still be the best, or, of samples, all. A finished one beside
 * the best cannot. */
static const node *certain_end(const sa_translate_options *o, const beam *b) {
    const node *end = b->tip[0];
    for (int k = 1; k < b->live; k++)
        end = shared(end, b->tip[k]);
    int done = o->sample ? o->n_best : b->n_done > 0;
    for (int k = 0; k < done; k++)
        if (b->done[k].end)
            end = shared(end, b->done[k].end);
    return end;
}

/* Whether the text of a symbol is known only when the translation is: an item of the source, or what replaces
 * <unk>. */
static bool is_open(const sa_translate_options *o, const vocab *target, int id) {
    bool open = id == VOCAB_UNK && o->replace_unk;
    for (int kind = 0; kind < PROTECT_KINDS && vocab_protects(target); kind++)
        open = open || id == vocab_placeholder(target, (protect_kind)kind);
    return open;
}

/* The text of the words up to `end`, as far as it is known. */
static sa_status write_text(const sa_translate_options *o, const vocab *target, const node *end, strbuf *out,
                            sa_error *error) {
    int *ids = malloc((size_t)end->depth * sizeof *ids), n = 0;
    if (!ids)
        return sa_fail_memory(error, (size_t)end->depth * sizeof *ids);
    for (const node *at = end; at; at = at->parent)
        ids[at->depth - 1] = at->word;
    while (n < end->depth && !is_open(o, target, ids[n]))
        n++;
    sa_status status = vocab_decode(target, ids, (size_t)n, NULL, out, error);
    free(ids);
    return status;
}

sa_status glimpse_show(const sa_translate_options *o, const vocab *target, beam *b, bool *wanted, sa_error *error) {
    sa_glimpse glimpse = {.line = b->sentence->line, .piece = b->sentence->piece};
    const node *end = certain_end(o, b);
    strbuf text = {0};
    glimpse.length = end ? end->depth : 0;
    if (o->watch_text && glimpse.length > b->certain) {
        SA_TRY(write_text(o, target, end, &text, error));
        strbuf_append(&text, "", 0);
        glimpse.text = text.data;
    }
    bool failed = text.failed;
    b->certain = glimpse.length;
    *wanted = failed || o->watch(&glimpse, o->watch_user);
    strbuf_free(&text);
    return failed ? sa_fail_memory(error, 0) : SA_OK;
}
