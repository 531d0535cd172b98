/* The connections, and the thread that looks after them: libmicrohttpd forgets a connection while its request is
 * worked on, and counts a byte now and then as life. This thread notices clients that left, requests that take too
 * long to come in, and answers that take too long to make. */
#ifndef SERVE_PEERS_H
#define SERVE_PEERS_H

#include "serve/exchange.h"

typedef struct peer peer;
struct peer {
    int fd;
    char address[64];
    double since;       /* the request that comes in began, or may have begun; 0: none does */
    double patience;    /* seconds that it may take */
    exchange *exchange; /* of the request; NULL between two */
    peer *before, *next;
};

typedef struct peers peers;

/* left: the client of an exchange is gone. late: its answer takes longer than `time` seconds. Both are called
 * without the lock, once. NULL without memory or thread. */
typedef struct peers_calls {
    void (*left)(exchange *x);
    void (*late)(exchange *x);
    double time;
} peers_calls;
peers *peers_new(const peers_calls *calls);
void peers_free(peers *p);

/* Guards all peers, and what exchanges say is. */
void peers_lock(peers *p);
void peers_unlock(peers *p);

/* A connection that was accepted; its first request is to come within so many seconds. NULL without memory. */
peer *peers_add(peers *p, int fd, const char *address, double patience);
void peers_remove(peers *p, peer *gone);
size_t peers_count(peers *p);
/* Those whose request has come in and is not answered yet. */
size_t peers_unanswered(peers *p);
/* Calls a function, without the lock, for all exchanges with a job that has not ended. */
void peers_each_working(peers *p, void (*call)(exchange *x));

#endif
