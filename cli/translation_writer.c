#include "translation_writer.h"

#include "json_writer.h"

#include <stdlib.h>
#include <string.h>

const char *const output_format_names[] = {
    [OUTPUT_AUTO] = "auto",   [OUTPUT_TEXT] = "text",     [OUTPUT_TSV] = "tsv",
    [OUTPUT_JSONL] = "jsonl", [OUTPUT_N_BEST] = "n-best", NULL};

/* ---- lines and fields -------------------------------------------------------------------------------- */

/* The text with a blank for each of those characters. */
static void write_without(const translation_writer *w, const char *text, const char *characters) {
    for (;;) {
        size_t length = strcspn(text, characters);
        fwrite(text, 1, length, w->file);
        text += length;
        if (*text == '\0')
            return;
        fputc(' ', w->file);
        text++;
    }
}

/* "0-0 1-2", or nothing when not asked for. */
static const char *links_of(const translation_writer *w, int hypothesis) {
    return w->links != NULL ? w->links[hypothesis] : "";
}

static void write_line(const translation_writer *w, const record *r, const sa_translation *t, size_t line) {
    (void)r;
    (void)line;
    if (t != NULL) {
        const sa_hypothesis *best = &t->hypothesis[0];
        if (w->scores)
            fprintf(w->file, "%.6f\t", best->normalized);
        bool fields = w->scores || w->word_scores || w->alignment;
        write_without(w, best->text, fields ? "\n\r\t" : "\n\r");
        if (w->alignment)
            fprintf(w->file, "\t%s", links_of(w, 0));
        if (w->word_scores)
            write_word_scores(w->file, best, false);
    }
    fputc('\n', w->file);
}

static void write_row(const translation_writer *w, const record *r, const sa_translation *t, size_t line) {
    (void)line;
    if (t == NULL) {
        fprintf(w->file, "%s\t\t\t\n", r->line);
        return;
    }
    const sa_hypothesis *best = &t->hypothesis[0];
    write_without(w, r->object != NULL ? r->text : r->line, r->object != NULL ? "\n\r\t" : "\n\r");
    fputc('\t', w->file);
    write_without(w, best->text, "\n\r\t");
    fprintf(w->file, "\t%.6f\t%.6f", best->score, best->normalized);
    if (w->alignment)
        fprintf(w->file, "\t%s", links_of(w, 0));
    if (w->word_scores)
        write_word_scores(w->file, best, false);
    fputc('\n', w->file);
}

/* Rows of Marian and Moses. */
static void write_n_best(const translation_writer *w, const record *r, const sa_translation *t, size_t line) {
    static const sa_hypothesis empty = {.text = (char *)""};
    (void)r;
    for (int k = 0; k < (t != NULL ? t->n : 1); k++) {
        const sa_hypothesis *h = t != NULL ? &t->hypothesis[k] : &empty;
        fprintf(w->file, "%zu ||| ", line);
        write_in_row(w->file, h->text);
        if (w->alignment)
            fprintf(w->file, " ||| %s", links_of(w, k));
        fprintf(w->file, " ||| F0= %.6f ||| %.6f", h->score, h->normalized);
        if (w->word_scores)
            write_word_scores(w->file, h, true);
        fputc('\n', w->file);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

/* Members of an object that this program writes; those of the input by these names give way. */
static const char *const own_members[] = {
    "source", "text",       "score",          "normalized", "symbols",     "symbol_scores", "pieces",
    "error",  "hypotheses", "source_symbols", "line",       "items_added", "alignment",     "links"};

static bool is_own(const char *name) {
    for (size_t i = 0; i < sizeof own_members / sizeof *own_members; i++)
        if (strcmp(name, own_members[i]) == 0)
            return true;
    return false;
}

static void write_name(FILE *file, bool *first, const char *name) {
    fputs(*first ? "" : ",", file);
    *first = false;
    write_json_string(file, name);
    fputc(':', file);
}

static void write_value(FILE *file, json_t *value);

/* The members of an object, in their order; without own_members where they are the input's. */
static void write_members(FILE *file, bool *first, json_t *object, bool inputs) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        if (inputs && is_own(name))
            continue;
        write_name(file, first, name);
        write_value(file, value);
    }
}

/* As it was read; the reader of JSON bounds how deep it is. */
static void write_value(FILE *file, json_t *value) {
    bool first = true;
    if (json_is_string(value))
        write_json_string(file, json_string_value(value));
    else if (json_is_object(value)) {
        fputc('{', file);
        write_members(file, &first, value, false);
        fputc('}', file);
    } else if (json_is_array(value)) {
        size_t i;
        json_t *item;
        fputc('[', file);
        json_array_foreach(value, i, item) {
            fputs(i > 0 ? "," : "", file);
            write_value(file, item);
        }
        fputc(']', file);
    } else
        json_dumpf(value, file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

static void write_hypothesis(const translation_writer *w, bool *first, const sa_hypothesis *h, const char *links,
                             int source_length) {
    FILE *file = w->file;
    write_name(file, first, "text");
    write_json_string(file, h->text);
    fprintf(file, ",\"score\":%.6f,\"normalized\":%.6f", h->score, h->normalized);
    if (h->items_added > 0)
        fprintf(file, ",\"items_added\":%d", h->items_added);
    if (w->word_scores || w->alignment) {
        write_name(file, first, "symbols");
        write_json_strings(file, h->symbol, h->length);
    }
    if (w->word_scores) {
        write_name(file, first, "symbol_scores");
        fputc('[', file);
        for (int i = 0; i < h->length; i++)
            fprintf(file, i > 0 ? ",%.6f" : "%.6f", h->word_score[i]);
        fputc(']', file);
    }
    if (w->alignment) {
        write_name(file, first, "alignment");
        write_json_matrix(file, h->attention, h->length, source_length);
        write_name(file, first, "links");
        write_json_string(file, links);
    }
}

static void write_best_and_others(const translation_writer *w, bool *first, const record *r,
                                  const sa_translation *t) {
    FILE *file = w->file;
    write_name(file, first, "source");
    write_json_string(file, r->text);
    if (t->pieces > 1)
        fprintf(file, ",\"pieces\":%d", t->pieces);
    if (w->alignment) {
        write_name(file, first, "source_symbols");
        write_json_strings(file, t->source_symbol, t->source_length);
    }
    write_hypothesis(w, first, &t->hypothesis[0], links_of(w, 0), t->source_length);
    if (!w->hypotheses)
        return;
    write_name(file, first, "hypotheses");
    fputc('[', file);
    for (int k = 0; k < t->n; k++) {
        bool inner = true;
        fputs(k > 0 ? ",{" : "{", file);
        write_hypothesis(w, &inner, &t->hypothesis[k], links_of(w, k), t->source_length);
        fputc('}', file);
    }
    fputc(']', file);
}

static void write_object(const translation_writer *w, const record *r, const sa_translation *t, size_t line) {
    bool first = true;
    fputc('{', w->file);
    if (json_is_object(r->object))
        write_members(w->file, &first, r->object, true);
    if (t != NULL)
        write_best_and_others(w, &first, r, t);
    else {
        write_name(w->file, &first, "line");
        fprintf(w->file, "%zu,\"error\":", line + 1);
        write_json_string(w->file, r->problem);
    }
    fputs("}\n", w->file);
}

/* ---- all of them ------------------------------------------------------------------------------------- */

static void (*const writers[])(const translation_writer *w, const record *r, const sa_translation *t,
                               size_t line) = {[OUTPUT_AUTO] = write_line,
                                               [OUTPUT_TEXT] = write_line,
                                               [OUTPUT_TSV] = write_row,
                                               [OUTPUT_JSONL] = write_object,
                                               [OUTPUT_N_BEST] = write_n_best};

void write_translation(const translation_writer *w, const record *r, const sa_translation *t, size_t line) {
    writers[w->format](w, r, t, line);
}
