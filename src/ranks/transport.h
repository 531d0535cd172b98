/* How ranks reach each other: functions of a module that is loaded only when there are several of them, so that
 * neither the library nor the program is linked with MPI. A transport moves bytes and computes nothing; what
 * depends on an order is in ranks.c. */
#ifndef RANKS_TRANSPORT_H
#define RANKS_TRANSPORT_H

/* All ranks call the same functions with the same sizes in the same order, and wait there for each other. When one
 * of them is gone, the transport ends the process.
 *
 * start has one place more than there are ranks: it cuts data into pieces, piece k being the bytes start[k] ...
 * start[k + 1]. */
typedef struct transport {
    const char *version; /* SA_VERSION of the library that it was built with */
    /* Meets the other ranks. *self is what the other functions want. Returns NULL, or why it cannot. */
    const char *(*join)(void **self, int *rank, int *size);
    /* Piece k goes to rank k. parts gets the piece of this rank's number from every rank, in order of ranks. */
    void (*exchange)(void *self, const void *data, const int *start, void *parts);
    /* Piece k comes from rank k; afterwards all ranks have the same data. */
    void (*gather)(void *self, void *data, const int *start);
    void (*leave)(void *self);
} transport;

/* The name under which a module exports its table. */
#define TRANSPORT_NAME "softalign_transport"

#endif
