#include "decode/pieces.h"

#include "text/cut.h"

#include <stdlib.h>
#include <string.h>

/* A line that is being cut. */
typedef struct cutter {
    piece_list *out;
    const vocab *source;
    const sa_translate_options *options;
    size_t line, first; /* number of the line, and of its first piece */
    int line_feeds;     /* since the last piece */
    held_item *items;
    size_t n_items, taken; /* of the line, and of them by pieces so far */
    bool protect, too_long;
    const char *whole; /* the text that pieces are cut out of */
    int *origin;       /* its words in the line; NULL: the same */
} cutter;

/* ---- items ------------------------------------------------------------------------------------------- */

/* The line with symbols for its items, and copies of these. */
static sa_status hold_items(cutter *c, const char *text, strbuf *out, sa_error *error) {
    size_t length = strlen(text), bytes = 0;
    protected_items found = {0};
    bool ok = protect_find(&found, text, length);
    for (size_t i = 0; i < found.n; i++)
        bytes += found.at[i].length + 1;
    held_item *items = ok ? arena_alloc(c->out->texts, (found.n + 1) * sizeof *items) : NULL;
    char *copy = items ? arena_alloc(c->out->texts, bytes + 1) : NULL;
    for (size_t i = 0; copy && i < found.n; i++) {
        const protected_item *x = &found.at[i];
        items[i] = (held_item){copy, x->kind, -1};
        memcpy(copy, text + x->start, x->length);
        copy[x->length] = 0;
        copy += x->length + 1;
    }
    if (copy)
        protect_write(out, text, length, &found);
    c->items = items;
    c->n_items = found.n;
    protected_items_free(&found);
    return copy && !out->failed ? SA_OK : sa_fail_memory(error, bytes);
}

static bool is_placeholder(const vocab *v, int id) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (id == vocab_placeholder(v, (protect_kind)kind))
            return true;
    return false;
}

/* Gives the piece the items whose symbols are in its text, and notes where they are. */
static void take_items(cutter *c, source_piece *p, const char *text, size_t n) {
    held_item *items = c->items + c->taken;
    for (const char *s = text; n > 2 && s < text + n - 2; s++)
        for (int kind = 0; *s == protect_symbol(PROTECT_NUMBER)[0] && kind < PROTECT_KINDS; kind++)
            p->n_items += memcmp(s, protect_symbol((protect_kind)kind), 3) == 0;
    SA_ASSERT(c->taken + p->n_items <= c->n_items);
    p->items = items;
    c->taken += p->n_items;
    size_t k = 0;
    for (size_t j = 0; j < p->source.ids.n && k < p->n_items; j++)
        if (is_placeholder(c->source, p->source.ids.id[j]))
            items[k++].at = (int)j;
    for (size_t i = 0; i < p->n_items; i++)
        p->kinds[items[i].kind]++;
}

void piece_show_items(const source_piece *p, const char **texts) {
    memset(texts, 0, p->source.ids.n * sizeof *texts);
    for (size_t i = 0; i < p->n_items; i++)
        if (p->items[i].at >= 0)
            texts[p->items[i].at] = p->items[i].text;
}

/* ---- cutting ----------------------------------------------------------------------------------------- */

static sa_status append(cutter *c, source_piece *p, sa_error *error) {
    piece_list *list = c->out;
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        source_piece *grown = realloc(list->at, capacity * sizeof *grown);
        if (!grown)
            return sa_fail_memory(error, capacity * sizeof *grown);
        list->at = grown;
        list->capacity = capacity;
    }
    p->line = c->line;
    p->number = (int)(list->n - c->first);
    p->line_feeds = c->line_feeds;
    c->line_feeds = 0;
    list->at[list->n++] = *p;
    return SA_OK;
}

static sa_status encode(const cutter *c, source_piece *p, const char *text, size_t n, sa_error *error) {
    char *line = strndup(text, n);
    if (!line)
        return sa_fail_memory(error, n);
    sa_status status = symbols_encode(&p->source, c->source, line, c->options->replace_unk, error);
    word_counter before = {0};
    words_take(&before, c->whole, (size_t)(text - c->whole));
    if (status == SA_OK && c->options->attention)
        status = symbols_number(&p->source, c->source, line, n, before.n - before.open, c->origin, error);
    if (status != SA_OK)
        symbols_free(&p->source);
    free(line);
    return status;
}

/* text[0, n) as one piece, or as two halves and so on where it has too many symbols. */
static sa_status add_piece(cutter *c, const char *text, size_t n, sa_error *error) {
    source_piece p = {0};
    size_t most = vocab_length(c->source) ? SIZE_MAX : (size_t)c->options->max_length;
    cut_trim(&text, &n);
    SA_TRY(encode(c, &p, text, n, error));
    if (p.source.ids.n == 0) {
        symbols_free(&p.source);
        return SA_OK;
    }
    size_t middle = p.source.ids.n > most ? cut_middle(text, n) : 0;
    if (middle > 0) {
        symbols_free(&p.source);
        c->too_long = true;
        SA_TRY(add_piece(c, text, middle, error));
        return add_piece(c, text + middle, n - middle, error);
    }
    p.cropped = p.source.ids.n > most;
    if (p.cropped)
        p.source.ids.n = most;
    if (c->protect)
        take_items(c, &p, text, n);
    sa_status status = id_list_push(&p.source.ids, VOCAB_EOS) ? SA_OK : sa_fail_memory(error, 0);
    if (status == SA_OK)
        status = append(c, &p, error);
    if (status != SA_OK)
        symbols_free(&p.source);
    return status;
}

static sa_status add_sentences(cutter *c, const char *text, size_t n, sa_error *error) {
    size_t start = 0;
    cut found;
    cut_trim(&text, &n);
    bool split = c->options->split_sentences && !vocab_length(c->source);
    for (size_t from = 0; split && cut_next(text, n, from, &found); from = found.at)
        if (found.level == CUT_SENTENCE) {
            SA_TRY(add_piece(c, text + start, found.at - start, error));
            start = found.at;
        }
    return add_piece(c, text + start, n - start, error);
}

static sa_status add_text(cutter *c, const char *text, size_t n, sa_error *error) {
    for (const char *lf; (lf = memchr(text, '\n', n)); c->line_feeds++) {
        SA_TRY(add_sentences(c, text, (size_t)(lf - text), error));
        n -= (size_t)(lf + 1 - text);
        text = lf + 1;
    }
    return add_sentences(c, text, n, error);
}

sa_status pieces_add(piece_list *out, const vocab *source, const sa_translate_options *o, bool protect, size_t line,
                     const char *text, bool *too_long, sa_error *error) {
    cutter c = {.out = out, .source = source, .options = o, .line = line, .first = out->n, .protect = protect};
    if (!out->texts && !(out->texts = arena_new(1 << 14)))
        return sa_fail_memory(error, 0);
    strbuf held = {0};
    sa_status status = protect ? hold_items(&c, text, &held, error) : SA_OK;
    c.whole = protect ? held.data : text;
    if (status == SA_OK && protect && o->attention)
        status = words_under_protection(&c.origin, text, c.whole, error);
    if (status == SA_OK)
        status = add_text(&c, c.whole, protect ? held.length : strlen(text), error);
    free(c.origin);
    strbuf_free(&held);
    *too_long = c.too_long;
    return status;
}

void pieces_free(piece_list *pieces) {
    for (size_t i = 0; i < pieces->n; i++) {
        symbols_free(&pieces->at[i].source);
        forced_start_free(&pieces->at[i].start);
    }
    free(pieces->at);
    arena_free(pieces->texts);
    *pieces = (piece_list){0};
}

/* ---- joining ----------------------------------------------------------------------------------------- */

typedef struct joint {
    const source_piece *pieces;
    const sa_translation *parts;
    size_t n;
    int source_length;
    bool attention, symbols, word_scores;
    int *first; /* word of the joined text in which each part begins */
} joint;

static const sa_hypothesis *part_of(const joint *j, size_t i, int k) {
    const sa_translation *t = &j->parts[i];
    return &t->hypothesis[k < t->n ? k : t->n - 1];
}

static char *join_texts(const joint *j, int k) {
    strbuf text = {0};
    word_counter words = {0};
    strbuf_puts(&text, "");
    for (size_t i = 0; i < j->n; i++) {
        const char *next = part_of(j, i, k)->text;
        size_t length = strlen(next);
        for (int feed = 0; feed < j->pieces[i].line_feeds; feed++)
            strbuf_puts(&text, "\n");
        bool apart = i > 0 && j->pieces[i].line_feeds == 0 && !text.failed &&
                     !cut_needs_no_blank(text.data, text.length, next, length);
        strbuf_puts(&text, apart ? " " : "");
        strbuf_append(&text, next, length);
        words.open = words.open && !apart && j->pieces[i].line_feeds == 0;
        int first = words_take(&words, next, length);
        j->first[i] = first < 0 ? words.n : first;
    }
    return strbuf_take(&text);
}

static bool copy_symbols(char **to, char *const *from, int n) {
    for (int i = 0; i < n; i++)
        if (!(to[i] = strdup(from[i])))
            return false;
    return true;
}

/* Words, scores and attention of part p, of which `words` target and `columns` source symbols stand before. */
static bool copy_words(const joint *j, size_t p, const sa_hypothesis *from, int words, int columns,
                       sa_hypothesis *to) {
    size_t length = (size_t)from->length;
    int source_length = j->parts[p].source_length;
    for (int i = 0; from->word && i < from->length; i++)
        to->word[words + i] = from->word[i] < 0 ? -1 : from->word[i] + j->first[p];
    if (j->word_scores)
        memcpy(to->word_score + words, from->word_score, length * sizeof *to->word_score);
    for (int i = 0; j->attention && i < from->length; i++)
        memcpy(to->attention + (size_t)(words + i) * (size_t)j->source_length + columns,
               from->attention + (size_t)i * (size_t)source_length, (size_t)source_length * sizeof *to->attention);
    return !j->symbols || copy_symbols(to->symbol + words, from->symbol, from->length);
}

static bool join_hypothesis(const joint *j, int k, sa_hypothesis *out) {
    for (size_t i = 0; i < j->n; i++) {
        const sa_hypothesis *h = part_of(j, i, k);
        out->score += h->score;
        out->normalized += h->normalized / (double)j->n;
        out->length += h->length;
        out->items_added += h->items_added;
    }
    size_t length = (size_t)out->length;
    out->text = join_texts(j, k);
    out->word = part_of(j, 0, k)->word ? calloc(length, sizeof *out->word) : NULL;
    out->symbol = j->symbols ? calloc(length, sizeof *out->symbol) : NULL;
    out->word_score = j->word_scores ? calloc(length, sizeof *out->word_score) : NULL;
    out->attention = j->attention ? calloc(length * (size_t)j->source_length, sizeof *out->attention) : NULL;
    bool ok = out->text && (!part_of(j, 0, k)->word || out->word) && (!j->symbols || out->symbol) &&
              (!j->word_scores || out->word_score) && (!j->attention || out->attention);
    for (size_t i = 0, words = 0, columns = 0; i < j->n && ok; i++) {
        const sa_hypothesis *h = part_of(j, i, k);
        ok = copy_words(j, i, h, (int)words, (int)columns, out);
        words += (size_t)h->length;
        columns += (size_t)j->parts[i].source_length;
    }
    return ok;
}

static bool join_sources(const joint *j, sa_translation *out) {
    const sa_translation *first = &j->parts[0];
    size_t length = (size_t)j->source_length, at = 0;
    out->source_symbol = first->source_symbol ? calloc(length, sizeof *out->source_symbol) : NULL;
    out->source_word = first->source_word ? calloc(length, sizeof *out->source_word) : NULL;
    bool ok = (!first->source_symbol || out->source_symbol) && (!first->source_word || out->source_word);
    for (size_t i = 0; i < j->n && ok; i++) {
        const sa_translation *part = &j->parts[i];
        size_t n = (size_t)part->source_length;
        if (out->source_symbol)
            ok = copy_symbols(out->source_symbol + at, part->source_symbol, part->source_length);
        if (out->source_word)
            memcpy(out->source_word + at, part->source_word, n * sizeof *out->source_word);
        at += n;
    }
    return ok;
}

/* Attention of the longest hypothesis that any of them can have in common. */
static bool attention_fits(const joint *j, int n) {
    for (int k = 0; k < n; k++) {
        size_t words = 0;
        for (size_t i = 0; i < j->n; i++)
            words += (size_t)part_of(j, i, k)->length;
        if (words * (size_t)j->source_length > PIECES_ATTENTION_MOST)
            return false;
    }
    return true;
}

sa_status pieces_join(sa_translation *out, const source_piece *pieces, sa_translation *parts, size_t n,
                      sa_error *error) {
    bool too_long = out->too_long, ok = true;
    if (n == 1 && pieces[0].line_feeds == 0) {
        *out = parts[0];
        parts[0] = (sa_translation){0};
    } else {
        joint j = {.pieces = pieces, .parts = parts, .n = n};
        int most = 1;
        for (size_t i = 0; i < n; i++) {
            j.source_length += parts[i].source_length;
            most = parts[i].n > most ? parts[i].n : most;
        }
        const sa_hypothesis *first = &parts[0].hypothesis[0];
        j.attention = first->attention && attention_fits(&j, most);
        j.symbols = first->symbol;
        j.word_scores = first->word_score;
        j.first = calloc(n, sizeof *j.first);
        out->source_length = j.source_length;
        out->hypothesis = calloc((size_t)most, sizeof *out->hypothesis);
        ok = j.first && out->hypothesis && join_sources(&j, out);
        for (int k = 0; k < most && ok; k++) {
            out->n = k + 1;
            ok = join_hypothesis(&j, k, &out->hypothesis[k]);
        }
        free(j.first);
    }
    out->pieces = (int)n;
    out->too_long = too_long;
    for (size_t i = 0; i < n; i++)
        out->too_long = out->too_long || pieces[i].cropped;
    return ok ? SA_OK : sa_fail_memory(error, 0);
}
