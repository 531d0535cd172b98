/* Who may ask: API keys, and how often a key or an address may. Used by one thread. */
#ifndef SERVE_GATE_H
#define SERVE_GATE_H

#include <softalign.h>

typedef struct gate gate;

/* keys: a file, a key a line, lines that are blank or begin with # left out; NULL: none are asked for. rate:
 * requests a minute, as many at once; 0: any number. SA_DATA where the file has no key, or one that is too long. */
sa_status gate_new(gate **out, const char *keys, int rate, sa_error *error);
void gate_free(gate *g);

bool gate_needs_key(const gate *g);
/* The number of a key, from 1; 0: there is no such. Takes the same time for all keys. */
int gate_key(const gate *g, const char *key);
/* Counts a request of `who` (a key's number and an address, as text); false, with the seconds after which there may
 * be another, when that is one too many. */
bool gate_pass(gate *g, const char *who, double now, int *retry_after);

#endif
