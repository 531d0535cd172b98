/* How much memory this process may still take. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

typedef struct memory_room {
    double bytes;      /* INFINITY when nothing is known to limit it */
    const char *limit; /* what does, in a few words; constant */
} memory_room;

/* root: "", or for tests a folder with another proc/ and sys/.
 *
 * Pages that may still be used: what the memory limits of the process' control group and of those above it (v2 and
 * v1) leave, file pages that can be dropped counted as free, and what the machine has available, free swap
 * included. */
memory_room memory_pages_left(const char *root);
/* Addresses that may still be taken, used or not: by RLIMIT_AS and RLIMIT_DATA. */
memory_room memory_addresses_left(const char *root);

/* Most bytes that were resident since the process began, or since the last memory_forget_peak; 0: not known. */
double memory_peak(void);
void memory_forget_peak(void);

#endif
