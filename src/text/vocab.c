#include "text/vocab.h"

#include "base/utf8.h"
#include "text/nfc.h"
#include "text/vocab_kind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct vocab {
    const vocab_kind *kind;
    sa_vocab_type type;
    void *state;
    bool nfc; /* text is brought to Form C before it gets to the kind */
};

/* What the bytes of such a vocabulary begin with; those of a kind follow. */
static const char nfc_mark[] = "softalign:nfc\n";

static const vocab_kind *const kinds[] = {
    [SA_VOCAB_WORD] = &vocab_kind_word,         [SA_VOCAB_BPE] = &vocab_kind_subword,
    [SA_VOCAB_UNIGRAM] = &vocab_kind_subword,   [SA_VOCAB_PICTURE] = &vocab_kind_picture,
    [SA_VOCAB_FEATURES] = &vocab_kind_features,
};

static sa_status create(vocab **out, sa_vocab_type type, sa_error *error) {
    *out = NULL;
    SA_ASSERT((size_t)type < sizeof kinds / sizeof *kinds);
    vocab *v = calloc(1, sizeof *v);
    if (!v)
        return sa_fail_memory(error, sizeof *v);
    v->kind = kinds[type];
    v->type = type;
    *out = v;
    return SA_OK;
}

static bool is_blank_line(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!vocab_is_blank(s[i]))
            return false;
    return true;
}

/* Appends a text as the kinds are promised it. */
static void prepare(const vocab *v, strbuf *out, const char *s, size_t n) {
    if (!v->nfc) {
        utf8_clean(out, s, n);
        return;
    }
    strbuf cleaned = {0};
    utf8_clean(&cleaned, s, n);
    if (cleaned.failed)
        out->failed = true;
    else if (n > 0)
        nfc_append(out, cleaned.data, cleaned.length);
    strbuf_free(&cleaned);
}

struct vocab_learner {
    vocab *v;
    vocab_options options; /* of the kind */
    strbuf line;           /* cleaned */
    bool any;              /* line that was not blank */
};

sa_status vocab_learner_new(vocab_learner **out, const vocab_options *options, sa_error *error) {
    *out = NULL;
    if (options->size < 3)
        return sa_fail(
            error, SA_USAGE,
            "a vocabulary of %d symbols is too small: </s> and <unk> are two of them, so give at least 3",
            options->size);
    vocab_learner *l = calloc(1, sizeof *l);
    if (!l)
        return sa_fail_memory(error, sizeof *l);
    bool nfc = options->normalization && strcmp(options->normalization, "nfc") == 0;
    l->options = *options;
    if (nfc || !options->normalization)
        l->options.normalization = "identity";
    sa_status status = create(&l->v, options->type, error);
    if (status == SA_OK)
        l->v->nfc = nfc;
    if (status == SA_OK)
        status = l->v->kind->begin(&l->v->state, &l->options, error);
    if (status != SA_OK)
        vocab_learner_free(l);
    else
        *out = l;
    return status;
}

sa_status vocab_learner_add(vocab_learner *l, const char *line, size_t length, sa_error *error) {
    if (is_blank_line(line, length))
        return SA_OK;
    strbuf_clear(&l->line);
    prepare(l->v, &l->line, line, length);
    if (l->line.failed)
        return sa_fail_memory(error, length);
    for (char *lf = l->line.data; (lf = strchr(lf, '\n'));)
        *lf = ' ';
    l->any = true;
    if (!l->v->kind->add)
        return SA_OK;
    return l->v->kind->add(l->v->state, l->line.data, l->line.length, error);
}

sa_status vocab_learner_end(vocab_learner *l, vocab **out, sa_error *error) {
    *out = NULL;
    if (!l->any)
        return sa_fail(error, SA_DATA, "there is nothing to learn a vocabulary from: all lines are empty");
    if (l->v->kind->end)
        SA_TRY(l->v->kind->end(l->v->state, &l->options, error));
    *out = l->v;
    l->v = NULL;
    return SA_OK;
}

void vocab_learner_free(vocab_learner *l) {
    if (!l)
        return;
    vocab_free(l->v);
    strbuf_free(&l->line);
    free(l);
}

sa_status vocab_save(const vocab *v, strbuf *out, sa_error *error) {
    if (v->nfc)
        strbuf_puts(out, nfc_mark);
    return v->kind->save(v->state, out, error);
}

sa_status vocab_load(vocab **out, sa_vocab_type type, const void *bytes, size_t n, sa_error *error) {
    vocab *v;
    SA_TRY(create(&v, type, error));
    const char *s = n ? bytes : "";
    size_t mark = strlen(nfc_mark);
    v->nfc = n >= mark && memcmp(s, nfc_mark, mark) == 0;
    if (v->nfc) {
        s += mark;
        n -= mark;
    }
    sa_status status = v->kind->load(&v->state, type, s, n, error);
    if (status != SA_OK) {
        vocab_free(v);
        v = NULL;
    }
    *out = v;
    return status;
}

void vocab_free(vocab *v) {
    if (!v)
        return;
    if (v->state)
        v->kind->free(v->state);
    free(v);
}

sa_vocab_type vocab_type(const vocab *v) {
    return v->type;
}

int vocab_size(const vocab *v) {
    return v->kind->size(v->state);
}

int vocab_length(const vocab *v) {
    return v->kind->length ? v->kind->length(v->state) : 0;
}

const char *vocab_normalization(const vocab *v) {
    if (v->nfc)
        return "nfc";
    return v->kind->normalization ? v->kind->normalization(v->state) : "identity";
}

int vocab_placeholder(const vocab *v, protect_kind kind) {
    return v->kind->placeholder ? v->kind->placeholder(v->state, kind) : -1;
}

bool vocab_protects(const vocab *v) {
    bool all = true;
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        all = all && vocab_placeholder(v, (protect_kind)kind) >= 0;
    return all;
}

const char *vocab_piece(const vocab *v, int id) {
    SA_ASSERT(id >= 0 && id < vocab_size(v));
    return v->kind->piece ? v->kind->piece(v->state, id) : "<number>";
}

double vocab_score(const vocab *v, int id) {
    return v->kind->score ? v->kind->score(v->state, id) : 0;
}

const char *vocab_shown(const vocab *v, int id) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (id == vocab_placeholder(v, (protect_kind)kind))
            return protect_name((protect_kind)kind);
    return vocab_piece(v, id);
}

/* "<unk>" may be a word too; the symbol that a model writes is the other. */
int vocab_find(const vocab *v, const char *piece, size_t length) {
    int id = v->kind->find ? v->kind->find(v->state, piece, length) : VOCAB_UNK;
    const char *unknown = vocab_piece(v, VOCAB_UNK);
    bool is_unknown = length == strlen(unknown) && memcmp(piece, unknown, length) == 0;
    return id == VOCAB_EOS || is_unknown ? VOCAB_UNK : id;
}

sa_status vocab_encode_texts(const vocab *v, const char *text, size_t length, id_list *ids, strbuf *texts,
                             sa_error *error) {
    if (length == 0)
        return SA_OK;
    if (!v->nfc && utf8_valid_length(text, length) == length)
        return v->kind->encode(v->state, text, length, ids, texts, error);
    strbuf clean = {0};
    prepare(v, &clean, text, length);
    sa_status status = clean.failed ? sa_fail_memory(error, length)
                                    : v->kind->encode(v->state, clean.data, clean.length, ids, texts, error);
    strbuf_free(&clean);
    return status;
}

sa_status vocab_encode(const vocab *v, const char *text, size_t length, id_list *ids, sa_error *error) {
    return vocab_encode_texts(v, text, length, ids, NULL, error);
}

static sa_status encode_side(const vocab *v, const char *line, size_t length, id_list *ids, size_t *symbols,
                             sa_error *error) {
    size_t start = ids->n;
    SA_TRY(vocab_encode(v, line, length, ids, error));
    *symbols = ids->n - start;
    return id_list_push(ids, VOCAB_EOS) ? SA_OK : sa_fail_memory(error, ids->n * sizeof *ids->id);
}

sa_status vocab_encode_pair(const vocab *const side[2], const char *const line[2], const size_t length[2],
                            id_list *ids, size_t symbols[2], sa_error *error) {
    strbuf protected[2] = {{0}, {0}};
    bool protect = vocab_protects(side[0]) && vocab_protects(side[1]);
    sa_status status = SA_OK;
    if (protect && !protect_pair(protected, line, length, false))
        status = sa_fail_memory(error, length[0] + length[1]);
    for (int k = 0; k < 2 && status == SA_OK; k++)
        status = encode_side(side[k], protect ? protected[k].data : line[k],
                             protect ? protected[k].length : length[k], ids, &symbols[k], error);
    strbuf_free(&protected[0]);
    strbuf_free(&protected[1]);
    return status;
}

sa_status vocab_decode(const vocab *v, const int *ids, size_t n, const char *const *texts, strbuf *out,
                       sa_error *error) {
    int size = vocab_size(v);
    size_t end = 0;
    while (end < n && ids[end] != VOCAB_EOS) {
        if (ids[end] < 0 || ids[end] >= size)
            return sa_fail(error, SA_DATA, "symbol %d is not in the vocabulary of %d symbols", ids[end], size);
        end++;
    }
    if (!v->kind->decode)
        return sa_fail(error, SA_USAGE, "these symbols are no text");
    return v->kind->decode(v->state, ids, end, texts, out, error);
}

char *vocab_trimmed(const char *text, size_t length) {
    while (length > 0 && vocab_is_blank(text[length - 1]))
        length--;
    while (length > 0 && vocab_is_blank(*text)) {
        text++;
        length--;
    }
    return strndup(text, length);
}

bool id_list_push(id_list *list, int id) {
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        int *ids = realloc(list->id, capacity * sizeof *ids);
        if (!ids)
            return false;
        list->id = ids;
        list->capacity = capacity;
    }
    list->id[list->n++] = id;
    return true;
}

void id_list_free(id_list *list) {
    free(list->id);
    *list = (id_list){0};
}
