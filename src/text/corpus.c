#include "text/corpus.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(corpus_entry) == 32, "entries are written to files as they are");

void corpus_free(corpus *c) {
    free(c->own_entry);
    free(c->own_ids);
    free(c->path);
    file_unmap(&c->mapping);
    *c = (corpus){0};
}

static size_t id_count(const corpus_entry *e) {
    return (size_t)e->source_length + (size_t)e->target_length;
}

/* Room for `more` elements behind n; false without memory. */
static bool reserve(void **array, size_t *capacity, size_t n, size_t more, size_t size) {
    if (more <= *capacity - n)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 1024;
    while (wanted - n < more)
        wanted *= 2;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

sa_status corpus_append(corpus *c, const corpus_entry *e, const int *ids, sa_error *error) {
    size_t count = id_count(e);
    void *entries = c->own_entry, *all = c->own_ids;
    bool ok = reserve(&entries, &c->entry_capacity, c->n, 1, sizeof *e) &&
              reserve(&all, &c->ids_capacity, c->n_ids, count, sizeof *ids);
    c->entry = c->own_entry = entries;
    c->ids = c->own_ids = all;
    if (!ok)
        return sa_fail_memory(error, count * sizeof *ids);
    memcpy(c->own_ids + c->n_ids, ids, count * sizeof *ids);
    c->own_entry[c->n] = *e;
    c->own_entry[c->n].first = c->n_ids;
    c->n_ids += count;
    c->source_symbols += (size_t)e->source_length - 1;
    c->target_symbols += (size_t)e->target_length - 1;
    c->n++;
    return SA_OK;
}

uint64_t corpus_entry_check(const corpus_entry *e, uint64_t number, const int *ids) {
    const uint64_t known[4] = {number, e->line, (uint64_t)e->source_length, (uint64_t)e->target_length};
    return hash_more(hash_bytes(known, sizeof known), ids, id_count(e) * sizeof *ids);
}

static bool lies_inside(const corpus *c, const corpus_entry *e) {
    return e->source_length > 0 && e->target_length > 0 && e->first <= c->n_ids &&
           id_count(e) <= c->n_ids - e->first;
}

/* n symbols of a vocabulary of that size, </s> last. */
static bool are_symbols(const int *ids, int n, int size) {
    bool inside = true;
    for (int i = 0; i < n; i++)
        inside &= (unsigned)ids[i] < (unsigned)size;
    return inside && ids[n - 1] == VOCAB_EOS;
}

static bool is_whole(const corpus *c, size_t i) {
    const corpus_entry *e = &c->entry[i];
    if (!lies_inside(c, e))
        return false;
    pair p = corpus_pair(c, i);
    return e->check == corpus_entry_check(e, i, p.source) &&
           are_symbols(p.source, p.source_length, c->vocab_size[0]) &&
           are_symbols(p.target, p.target_length, c->vocab_size[1]);
}

sa_status corpus_check(const corpus *c, const size_t *pairs, size_t n, sa_error *error) {
    for (size_t i = 0; i < n; i++) {
        SA_ASSERT(pairs[i] < c->n);
        if (!is_whole(c, pairs[i]))
            return sa_fail(error, SA_FORMAT, "%s: the file is damaged: its pair %zu is not what was written",
                           c->path ? c->path : "corpus", pairs[i] + 1);
    }
    return SA_OK;
}

static void expect_bytes(const void *from, size_t n, size_t page) {
    uintptr_t start = (uintptr_t)from / page * page, end = (uintptr_t)from + n;
    madvise((void *)start, end - start, MADV_WILLNEED); /* a hint: what comes of it does not matter */
}

void corpus_expect(const corpus *c, const size_t *pairs, size_t n) {
    if (!c->mapping.data)
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < n; i++)
        expect_bytes(&c->entry[pairs[i]], sizeof *c->entry, page);
    for (size_t i = 0; i < n; i++) {
        const corpus_entry *e = &c->entry[pairs[i]];
        if (lies_inside(c, e))
            expect_bytes(c->ids + e->first, id_count(e) * sizeof *c->ids, page);
    }
}
