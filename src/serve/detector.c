#include "serve/detector.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char BLANK[] = "\xE2\x96\x81"; /* U+2581, which begins a word in a vocabulary of subwords */
enum { BLANK_BYTES = 3, TEXT_MOST = 4000 /* bytes that are looked at */, NEVER_SEEN = 1000000 /* a rank */ };

/* A symbol with its rank; text NULL: an empty slot. */
typedef struct ranked {
    const char *text; /* of the model */
    size_t length;
    int rank;
} ranked;

typedef struct language {
    const char *code;
    bool words; /* the vocabulary is of whole words, without marks of blanks */
    ranked *slot;
    size_t mask;
    size_t longest; /* bytes of a symbol */
    int size;
} language;

struct detector {
    const hosted *models;
    int n;
    language language[2 * SERVE_MODELS_MOST];
};

/* ---- vocabularies ------------------------------------------------------------------------------------ */

static ranked *find(const language *l, const char *text, size_t length) {
    size_t at = (size_t)hash_bytes(text, length) & l->mask;
    while (l->slot[at].text && !(l->slot[at].length == length && memcmp(l->slot[at].text, text, length) == 0))
        at = (at + 1) & l->mask;
    return &l->slot[at];
}

static sa_status learn(language *l, const char *code, const sa_model *m, sa_side side, sa_error *error) {
    size_t size = (size_t)sa_model_vocab_size(m, side), slots = 1;
    while (slots < 2 * size + 2)
        slots *= 2;
    *l = (language){
        .code = code, .words = sa_model_vocab_type(m, side) == SA_VOCAB_WORD, .mask = slots - 1, .size = (int)size};
    l->slot = calloc(slots, sizeof *l->slot);
    if (!l->slot)
        return sa_fail_memory(error, slots * sizeof *l->slot);
    for (int i = 2; i < l->size; i++) { /* after </s> and <unk> */
        const char *text = sa_model_vocab_piece(m, side, i);
        size_t length = strlen(text);
        ranked *r = find(l, text, length);
        if (!r->text)
            *r = (ranked){text, length, i};
        l->longest = length > l->longest ? length : l->longest;
    }
    return SA_OK;
}

static bool knows(const detector *d, const char *code) {
    for (int i = 0; i < d->n; i++)
        if (strcmp(d->language[i].code, code) == 0)
            return true;
    return false;
}

sa_status detector_new(detector **out, const hosted *models, sa_error *error) {
    detector *d = *out = calloc(1, sizeof *d);
    if (!d)
        return sa_fail_memory(error, sizeof *d);
    d->models = models;
    for (int i = 0; i < models->n; i++) {
        const hosted_model *m = &models->model[i];
        const char *code[] = {[SA_SOURCE] = m->is->source, [SA_TARGET] = m->is->target};
        for (sa_side side = SA_SOURCE; side <= SA_TARGET; side++) {
            if (!*code[side] || knows(d, code[side]))
                continue;
            sa_status status = learn(&d->language[d->n], code[side], m->model[0], side, error);
            if (status != SA_OK) {
                detector_free(d);
                *out = NULL;
                return status;
            }
            d->n++;
        }
    }
    return SA_OK;
}

void detector_free(detector *d) {
    for (int i = 0; d && i < d->n; i++)
        free(d->language[i].slot);
    free(d);
}

int detector_languages(const detector *d) {
    return d->n;
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* What a language makes of a text. */
typedef struct reading {
    double log_p;
    double characters, known; /* in the text, blanks left out; of these in symbols of the language */
} reading;

static double log_of_rank(const language *l, int rank) {
    return -log((rank + 10.0) * log(l->size + 10.0));
}

/* Reads a word, which in subwords begins with the mark of a blank. */
static void read_word(const language *l, const char *word, size_t n, reading *r) {
    for (size_t at = 0; at < n;) {
        const ranked *found = NULL;
        size_t length = n - at < l->longest ? n - at : l->longest;
        for (; length > 0 && !found; length -= !found) {
            const ranked *x = find(l, word + at, length);
            found = x->text ? x : NULL;
        }
        uint32_t code;
        size_t step = found ? length : utf8_decode(word + at, n - at, &code);
        /* The mark of a blank is no character of the text. */
        bool marked = n - at >= BLANK_BYTES && memcmp(word + at, BLANK, BLANK_BYTES) == 0;
        double characters = (double)utf8_count(word + at, step) - marked;
        r->characters += characters;
        r->known += found ? characters : 0;
        r->log_p += log_of_rank(l, found ? found->rank : NEVER_SEEN);
        at += step;
    }
}

static bool read_text(const language *l, const char *text, reading *r) {
    strbuf word = {0};
    *r = (reading){0};
    size_t end = strnlen(text, TEXT_MOST);
    for (size_t at = 0; at < end;) {
        at += strspn(text + at, " \t\r\n");
        size_t length = at < end ? strcspn(text + at, " \t\r\n") : 0;
        length = at + length > end ? end - at : length;
        strbuf_clear(&word);
        if (!l->words)
            strbuf_puts(&word, BLANK);
        strbuf_append(&word, text + at, length);
        if (length > 0 && !word.failed)
            read_word(l, word.data, word.length, r);
        at += length;
    }
    bool ok = !word.failed;
    strbuf_free(&word);
    return ok;
}

static int compare_guesses(const void *a, const void *b) {
    const guess *x = a, *y = b;
    return (x->confidence < y->confidence) - (x->confidence > y->confidence);
}

int detector_guess(const detector *d, const char *text, const char *target, guess *out) {
    reading r[2 * SERVE_MODELS_MOST];
    int n = 0;
    double best = -INFINITY, sum = 0;
    for (int i = 0; i < d->n; i++) {
        const language *l = &d->language[i];
        if (target && !hosted_between(d->models, l->code, target))
            continue;
        if (!read_text(l, text, &r[n]))
            return -1;
        out[n].language = l->code;
        best = r[n].log_p > best ? r[n].log_p : best;
        n++;
    }
    for (int i = 0; i < n; i++)
        sum += exp(r[i].log_p - best);
    for (int i = 0; i < n; i++) {
        double known = r[i].characters > 0 ? r[i].known / r[i].characters : 0;
        out[i].confidence = 100 * exp(r[i].log_p - best) / sum * known;
    }
    qsort(out, (size_t)n, sizeof *out, compare_guesses);
    return n;
}
