#include "text/links.h"

#include "base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool links_push(sa_links *links, size_t *capacity, sa_link link) {
    if (links->n == *capacity) {
        size_t wanted = *capacity > 0 ? 2 * *capacity : 16;
        sa_link *grown = realloc(links->link, wanted * sizeof *grown);
        if (!grown)
            return false;
        links->link = grown;
        *capacity = wanted;
    }
    links->link[links->n++] = link;
    return true;
}

static int compare(const void *a, const void *b) {
    const sa_link *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

void links_sort(sa_links *links) {
    if (links->n == 0)
        return;
    qsort(links->link, links->n, sizeof *links->link, compare);
    size_t kept = 1;
    for (size_t i = 1; i < links->n; i++) {
        sa_link *last = &links->link[kept - 1];
        const sa_link *next = &links->link[i];
        if (compare(last, next) != 0) {
            links->link[kept++] = *next;
            continue;
        }
        last->possible = last->possible && next->possible;
        last->weight = next->weight > last->weight ? next->weight : last->weight;
    }
    links->n = kept;
}

sa_link *links_find(const sa_links *links, int source, int target) {
    sa_link wanted = {.source = source, .target = target};
    return links->n > 0 ? bsearch(&wanted, links->link, links->n, sizeof wanted, compare) : NULL;
}

void links_extent(const sa_links *links, int *source, int *target) {
    *source = *target = 0;
    for (size_t i = 0; i < links->n; i++) {
        const sa_link *l = &links->link[i];
        *source = l->source >= *source ? l->source + 1 : *source;
        *target = l->target >= *target ? l->target + 1 : *target;
    }
}

void sa_links_swap(sa_links *links) {
    for (size_t i = 0; i < links->n; i++) {
        sa_link *l = &links->link[i];
        *l = (sa_link){l->target, l->source, l->weight, l->possible};
    }
    links_sort(links);
}

void sa_links_free(sa_links *links) {
    free(links->link);
    *links = (sa_links){0};
}

/* ---- text -------------------------------------------------------------------------------------------- */

/* Digits at *text, which moves behind them; -1: none, or too many. */
static int read_position(const char **text) {
    const char *digit = *text;
    int value = 0;
    for (; *digit >= '0' && *digit <= '9' && value <= LINKS_MOST_WORDS; digit++)
        value = 10 * value + (*digit - '0');
    if (digit == *text || value > LINKS_MOST_WORDS)
        return -1;
    *text = digit;
    return value;
}

/* A decimal fraction as links are written with it, "0.25", in any locale; false: it is none. */
static bool read_weight(const char **text, float *weight) {
    const char *at = *text;
    double value = 0, unit = 1;
    bool digits = false;
    for (; *at >= '0' && *at <= '9'; at++, digits = true)
        value = 10 * value + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, digits = true)
            value += (*at - '0') * (unit /= 10);
    *weight = (float)value;
    *text = at;
    return digits && isfinite(*weight);
}

/* "i-j", "ipj" or "i?j", with ":weight" or without; NULL, or what is wrong. */
static const char *read_link(const char *text, const char *end, int base, sa_link *out) {
    *out = (sa_link){.weight = 1};
    out->source = read_position(&text) - base;
    char mark = *text;
    bool sure = mark == '-', possible = mark == 'p' || mark == '?';
    if (sure || possible)
        text++;
    out->target = read_position(&text) - base;
    out->possible = possible;
    bool good = (sure || possible) && out->source >= -base && out->target >= -base;
    if (good && *text == ':') {
        text++;
        good = read_weight(&text, &out->weight);
    }
    if (!good || text != end)
        return "a link is written i-j, or ipj where it is only possible, and may have :weight behind it";
    if (out->source < 0 || out->target < 0)
        return "words are said to count from 1, but this names word 0";
    return NULL;
}

sa_status sa_links_parse(sa_links *out, const char *line, int base, bool swap, sa_error *error) {
    static const char blanks[] = " \t\r";
    *out = (sa_links){0};
    if (base != 0 && base != 1)
        return sa_fail(error, SA_USAGE, "words count from 0 or from 1, not from %d", base);
    size_t capacity = 0;
    for (line += strspn(line, blanks); *line; line += strspn(line, blanks)) {
        size_t length = strcspn(line, blanks);
        sa_link link;
        const char *wrong = read_link(line, line + length, base, &link);
        bool kept = !wrong && links_push(out, &capacity, link);
        if (!kept) {
            sa_links_free(out);
            return wrong ? sa_fail(error, SA_DATA, "'%.*s': %s", length < 40 ? (int)length : 40, line, wrong)
                         : sa_fail_memory(error, 0);
        }
        line += length;
    }
    links_sort(out);
    if (swap)
        sa_links_swap(out);
    return SA_OK;
}

sa_status sa_links_format(const sa_links *links, bool swap, bool weights, char **out, sa_error *error) {
    strbuf text = {0};
    strbuf_puts(&text, "");
    for (size_t i = 0; i < links->n; i++) {
        const sa_link *l = &links->link[i];
        strbuf_printf(&text, "%s%d%c%d", i > 0 ? " " : "", swap ? l->target : l->source, l->possible ? 'p' : '-',
                      swap ? l->source : l->target);
        if (weights) /* in millionths: the same in every locale */
            strbuf_printf(&text, ":%ld.%06ld", lround((double)l->weight * 1e6) / 1000000,
                          lround((double)l->weight * 1e6) % 1000000);
    }
    *out = strbuf_take(&text);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}
