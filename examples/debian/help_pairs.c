/* Pairs the pages of two HTML trees, English and French, that have the same paths: LibreOffice's help, for one.
 *
 *   help_pairs [--min-words N] [--max-words N] [--held-out N] ENGLISH FRENCH OUTPUT
 *
 * Blocks pair by position; a page whose block elements differ is left out. A paragraph is cut into sentences where
 * both sides have as many. Writes {train,valid,test}.{en,fr} into the folder OUTPUT, one sentence a line.
 *
 * Whole pages are held out, chosen by a hash of the path, until N pairs each for valid and test are found; of these
 * pages only the pairs count whose source stands on no other page, so nothing held out was seen in training. */
#include "base/hash.h"
#include "html_blocks.h"
#include "pair_filter.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum part_id { TRAIN, VALID, TEST, PARTS } part_id;
static const char *const part_names[PARTS] = {"train", "valid", "test"};

typedef struct page {
    char *path; /* below the folder of either language */
    uint64_t hash;
    part_id part;
} page;

typedef struct pair {
    char *english, *french;
    char *english_key, *french_key; /* folded */
    size_t page, number;            /* number: place among all pairs */
    bool shared;                    /* the source stands on other pages too */
    bool again;                     /* the source was seen on the same page */
    bool duplicate;                 /* not to be written */
} pair;

typedef struct collection {
    page *pages;
    size_t n_pages, pages_capacity;
    pair *pairs;
    size_t n_pairs, pairs_capacity;
    size_t missing, different; /* pages without a partner; with other block elements */
    size_t verdicts[PAIR_VERDICTS];
} collection;

typedef struct options {
    pair_limits limits;
    size_t held_out;
    const char *english, *french, *output;
} options;

static bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Always false, so that a failing function can return it. */
static bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("help_pairs: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

/* Room for one more element; NULL when memory ran out, and then the old array stays. */
static void *grown(void *array, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity)
        return array;
    size_t more = *capacity ? 2 * *capacity : 256;
    void *moved = realloc(array, more * size);
    if (moved)
        *capacity = more;
    return moved;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static bool is_html(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".html") || !strcmp(dot, ".htm"));
}

static bool add_page(collection *c, const char *path) {
    page *pages = grown(c->pages, c->n_pages, &c->pages_capacity, sizeof *pages);
    if (!pages)
        return complain("out of memory");
    c->pages = pages;
    page new_page = {.path = strdup(path), .hash = hash_string(path)};
    if (!new_page.path)
        return complain("out of memory");
    pages[c->n_pages++] = new_page;
    return true;
}

/* Adds every HTML file below root/below. Symbolic links are not followed. */
static bool find_pages(collection *c, const char *root, const char *below) {
    strbuf path = {0};
    strbuf_printf(&path, "%s/%s", root, below);
    DIR *folder = path.failed ? NULL : opendir(path.data);
    bool ok = folder || complain("%s: %s", path.failed ? root : path.data, strerror(errno));
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        strbuf relative = {0};
        struct stat status;
        strbuf_clear(&path);
        strbuf_printf(&relative, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        strbuf_printf(&path, "%s/%s", root, relative.failed ? "" : relative.data);
        if (path.failed || relative.failed)
            ok = complain("out of memory");
        else if (lstat(path.data, &status))
            ok = complain("%s: %s", path.data, strerror(errno));
        else if (S_ISDIR(status.st_mode))
            ok = find_pages(c, root, relative.data);
        else if (S_ISREG(status.st_mode) && is_html(entry->d_name))
            ok = add_page(c, relative.data);
        strbuf_free(&relative);
    }
    if (folder)
        closedir(folder);
    strbuf_free(&path);
    return ok;
}

/* The file's blocks; *found is false, and that is no failure, when there is no such file. */
static bool read_page(html_blocks *blocks, const char *root, const char *path, bool *found) {
    strbuf name = {0}, content = {0};
    strbuf_printf(&name, "%s/%s", root, path);
    FILE *file = name.failed ? NULL : fopen(name.data, "rb");
    *found = file != NULL;
    bool ok = !name.failed && (file || errno == ENOENT);
    if (file) {
        char buffer[16384];
        for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
            strbuf_append(&content, buffer, n);
        ok = !ferror(file) && !content.failed;
        if (ok) {
            html_blocks_read(blocks, content.data ? content.data : "", content.length);
            ok = !blocks->text.failed && !blocks->boundaries.failed;
        }
        fclose(file);
    }
    if (!ok)
        complain("%s/%s: cannot be read, or too large for the memory", root, path);
    strbuf_free(&name);
    strbuf_free(&content);
    return ok;
}

/* ---- pairing ----------------------------------------------------------------------------------------- */

static bool add_pair(collection *c, size_t page_index, const char *english, const char *french) {
    pair *pairs = grown(c->pairs, c->n_pairs, &c->pairs_capacity, sizeof *pairs);
    if (!pairs)
        return complain("out of memory");
    c->pairs = pairs;
    pair *p = &pairs[c->n_pairs];
    *p = (pair){.english = strdup(english),
                .french = strdup(french),
                .english_key = strdup(english),
                .french_key = strdup(french),
                .page = page_index,
                .number = c->n_pairs};
    c->n_pairs++;
    if (!p->english || !p->french || !p->english_key || !p->french_key)
        return complain("out of memory");
    fold_case(p->english_key);
    fold_case(p->french_key);
    return true;
}

/* Puts a zero after every sentence but the last, in place, and returns how many there are. */
static size_t cut_sentences(char *text) {
    size_t n = 0;
    for (; *text; n++) {
        text += sentence_length(text);
        if (*text)
            *text++ = 0;
    }
    return n;
}

static bool judge_and_add(collection *c, size_t page_index, const char *english, const char *french,
                          pair_limits limits) {
    pair_verdict verdict = pair_judge_content(english, french);
    if (verdict == PAIR_KEPT)
        verdict = pair_judge_length(english, french, limits);
    c->verdicts[verdict]++;
    return verdict != PAIR_KEPT || add_pair(c, page_index, english, french);
}

/* Whether the sentences fit one by one: one that does not tells that they were cut in different places. */
static bool sentences_fit(const char *english, const char *french, size_t n) {
    for (; n; n--, english += strlen(english) + 1, french += strlen(french) + 1) {
        pair_verdict verdict = pair_judge_content(english, french);
        if (verdict == PAIR_NUMBERS || verdict == PAIR_RATIO)
            return false;
    }
    return true;
}

static bool pair_block(collection *c, size_t page_index, const char *english, const char *french,
                       pair_limits limits) {
    char *en = strdup(english), *fr = strdup(french);
    bool ok = (en && fr) || complain("out of memory");
    if (ok) {
        size_t n = cut_sentences(en);
        if (n == 0 || n != cut_sentences(fr) || !sentences_fit(en, fr, n)) {
            ok = judge_and_add(c, page_index, english, french, limits);
        } else {
            const char *e = en, *f = fr;
            for (; ok && n; n--, e += strlen(e) + 1, f += strlen(f) + 1)
                ok = judge_and_add(c, page_index, e, f, limits);
        }
    }
    free(en);
    free(fr);
    return ok;
}

static bool pair_pages(collection *c, const options *o) {
    html_blocks english = {0}, french = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < c->n_pages; i++) {
        bool has_english, has_french;
        ok = read_page(&english, o->english, c->pages[i].path, &has_english) &&
             read_page(&french, o->french, c->pages[i].path, &has_french);
        if (!ok)
            break;
        if (!has_english || !has_french) {
            c->missing++;
            continue;
        }
        if (strcmp(english.boundaries.data, french.boundaries.data)) {
            c->different++;
            continue;
        }
        const char *e = english.text.data, *f = french.text.data;
        for (size_t k = 0; ok && k < english.n; k++, e += strlen(e) + 1, f += strlen(f) + 1)
            if (*e || *f)
                ok = pair_block(c, i, e, f, o->limits);
    }
    html_blocks_free(&english);
    html_blocks_free(&french);
    return ok;
}

/* ---- splitting --------------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b) {
    return strcmp(((const page *)a)->path, ((const page *)b)->path);
}

static int by_page_hash(const void *a, const void *b) {
    const page *x = *(page *const *)a, *y = *(page *const *)b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : strcmp(x->path, y->path);
}

static int by_source(const void *a, const void *b) {
    const pair *x = *(pair *const *)a, *y = *(pair *const *)b;
    int order = strcmp(x->english_key, y->english_key);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_both_sides(const void *a, const void *b) {
    const pair *x = *(pair *const *)a, *y = *(pair *const *)b;
    int order = strcmp(x->english_key, y->english_key);
    order = order ? order : strcmp(x->french_key, y->french_key);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void mark_repeated_sources(pair **sorted, size_t n) {
    for (size_t first = 0, end; first < n; first = end) {
        bool shared = false;
        for (end = first + 1; end < n && !strcmp(sorted[first]->english_key, sorted[end]->english_key); end++)
            shared = shared || sorted[end]->page != sorted[first]->page;
        for (size_t i = first; i < end; i++) {
            sorted[i]->shared = shared;
            sorted[i]->again = i > first;
        }
    }
}

static bool fit_to_hold_out(const pair *p) {
    return !p->shared && !p->again;
}

/* Gives whole pages to test and valid, in the order of their hashes, until each has held_out pairs. */
static bool choose_held_out(collection *c, size_t held_out) {
    page **order = malloc(c->n_pages * sizeof(page *));
    size_t *fit = calloc(c->n_pages, sizeof *fit);
    bool ok = (order && fit) || complain("out of memory");
    if (ok) {
        for (size_t i = 0; i < c->n_pairs; i++)
            fit[c->pairs[i].page] += fit_to_hold_out(&c->pairs[i]);
        for (size_t i = 0; i < c->n_pages; i++)
            order[i] = &c->pages[i];
        qsort(order, c->n_pages, sizeof(page *), by_page_hash);
        size_t next = 0;
        for (part_id part = TEST; part > TRAIN; part--)
            for (size_t n = 0; n < held_out && next < c->n_pages; next++) {
                order[next]->part = part;
                n += fit[order[next] - c->pages];
            }
    }
    free(order);
    free(fit);
    return ok;
}

/* Of a held-out page only what stands nowhere else is written; of the training pages every pair once. */
static void mark_duplicates(collection *c, pair **sorted) {
    const pair *last = NULL; /* of training */
    for (size_t i = 0; i < c->n_pairs; i++) {
        pair *p = sorted[i];
        if (c->pages[p->page].part != TRAIN) {
            p->duplicate = !fit_to_hold_out(p);
            continue;
        }
        p->duplicate =
            last && !strcmp(last->english_key, p->english_key) && !strcmp(last->french_key, p->french_key);
        last = p;
    }
}

static bool split(collection *c, size_t held_out) {
    pair **sorted = malloc((c->n_pairs + 1) * sizeof *sorted);
    if (!sorted)
        return complain("out of memory");
    for (size_t i = 0; i < c->n_pairs; i++)
        sorted[i] = &c->pairs[i];
    qsort(sorted, c->n_pairs, sizeof *sorted, by_source);
    mark_repeated_sources(sorted, c->n_pairs);
    bool ok = choose_held_out(c, held_out);
    if (ok) {
        qsort(sorted, c->n_pairs, sizeof *sorted, by_both_sides);
        mark_duplicates(c, sorted);
    }
    free(sorted);
    return ok;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* One side of one part, at most `most` lines; *written says how many. */
static bool write_side(const collection *c, const char *folder, part_id part, bool french, size_t most,
                       size_t *written) {
    strbuf name = {0};
    strbuf_printf(&name, "%s/%s.%s", folder, part_names[part], french ? "fr" : "en");
    if (name.failed)
        return complain("out of memory");
    FILE *file = fopen(name.data, "wb");
    bool ok = file != NULL;
    *written = 0;
    for (size_t i = 0; ok && i < c->n_pairs && *written < most; i++) {
        const pair *p = &c->pairs[i];
        if (c->pages[p->page].part != part || p->duplicate)
            continue;
        ok = fprintf(file, "%s\n", french ? p->french : p->english) > 0;
        ++*written;
    }
    if (file && fclose(file))
        ok = false;
    if (!ok)
        complain("%s: %s", name.data, strerror(errno));
    strbuf_free(&name);
    return ok;
}

static bool write_parts(const collection *c, const options *o, size_t written[PARTS]) {
    for (part_id part = TRAIN; part < PARTS; part++) {
        size_t most = part == TRAIN ? SIZE_MAX : o->held_out;
        if (!write_side(c, o->output, part, false, most, &written[part]) ||
            !write_side(c, o->output, part, true, most, &written[part]))
            return false;
    }
    return true;
}

static void report(collection *c, const size_t written[PARTS]) {
    static const char *const texts[PAIR_VERDICTS] = {
#define X(name, text) [PAIR_##name] = (text),
        PAIR_VERDICT_LIST(X)
#undef X
    };
    for (size_t i = 0; i < c->n_pairs; i++)
        c->verdicts[PAIR_DUPLICATE] += c->pairs[i].duplicate;
    printf("%zu pages: %zu on one side only, %zu with other block elements\n", c->n_pages, c->missing,
           c->different);
    for (int v = PAIR_KEPT + 1; v < PAIR_VERDICTS; v++)
        printf("%8zu pairs dropped: %s\n", c->verdicts[v], texts[v]);
    size_t pages[PARTS] = {0};
    for (size_t i = 0; i < c->n_pages; i++)
        pages[c->pages[i].part]++;
    for (part_id part = TRAIN; part < PARTS; part++)
        printf("%8zu pairs in %s, of %zu pages\n", written[part], part_names[part], pages[part]);
}

static void free_collection(collection *c) {
    for (size_t i = 0; i < c->n_pages; i++)
        free(c->pages[i].path);
    for (size_t i = 0; i < c->n_pairs; i++) {
        free(c->pairs[i].english);
        free(c->pairs[i].french);
        free(c->pairs[i].english_key);
        free(c->pairs[i].french_key);
    }
    free(c->pages);
    free(c->pairs);
}

static bool read_count(const char *name, const char *text, size_t *value) {
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || n == 0)
        return complain("%s takes a whole number from 1 on, not '%s'", name, text);
    *value = n;
    return true;
}

static bool read_options(options *o, int argc, char **argv) {
    *o = (options){.limits = {1, 100}, .held_out = 500};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i += 2) {
        size_t *value = !strcmp(argv[i], "--min-words")   ? &o->limits.min_words
                        : !strcmp(argv[i], "--max-words") ? &o->limits.max_words
                        : !strcmp(argv[i], "--held-out")  ? &o->held_out
                                                          : NULL;
        if (!value)
            return complain("unknown option %s", argv[i]);
        if (i + 1 == argc)
            return complain("%s needs a number", argv[i]);
        if (!read_count(argv[i], argv[i + 1], value))
            return false;
    }
    if (argc - i != 3)
        return complain("usage: help_pairs [--min-words N] [--max-words N] [--held-out N] ENGLISH FRENCH OUTPUT");
    o->english = argv[i];
    o->french = argv[i + 1];
    o->output = argv[i + 2];
    return true;
}

static bool run(collection *c, const options *o) {
    size_t written[PARTS];
    if (!find_pages(c, o->english, ""))
        return false;
    if (!c->n_pages)
        return complain("%s: no HTML files there", o->english);
    qsort(c->pages, c->n_pages, sizeof *c->pages, by_path);
    if (!pair_pages(c, o) || !split(c, o->held_out) || !write_parts(c, o, written))
        return false;
    report(c, written);
    if (!written[TRAIN] || written[VALID] < o->held_out || written[TEST] < o->held_out)
        return complain("too little text: %zu pairs to train on and %zu + %zu of 2 x %zu held out", written[TRAIN],
                        written[VALID], written[TEST], o->held_out);
    return true;
}

int main(int argc, char **argv) {
    options o;
    if (!read_options(&o, argc, argv))
        return 2;
    collection c = {0};
    bool ok = run(&c, &o);
    free_collection(&c);
    return ok ? 0 : 1;
}
