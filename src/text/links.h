/* Word alignments as lists of links: what sa_links_parse and its like share with those that make links. */
#ifndef TEXT_LINKS_H
#define TEXT_LINKS_H

#include "base/error.h"

/* Positions that a file may name: far more than a line has words, and few enough for an array of them. */
enum { LINKS_MOST_WORDS = 1 << 20 };

/* Appends, *capacity links having room; false when memory runs out. Order and doubles are left to links_sort. */
bool links_push(sa_links *links, size_t *capacity, sa_link link);
/* By source, then target; of several alike one stays, which is possible only if all were, and has the largest
 * weight. */
void links_sort(sa_links *links);
/* The place of a link in a sorted list; NULL: none. */
sa_link *links_find(const sa_links *links, int source, int target);
/* How many words each side has at least: one more than the largest position. */
void links_extent(const sa_links *links, int *source, int *target);

#endif
