#include "serve/peers.h"

#include "base/clock.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct peers {
    peers_calls calls;
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_t thread;
    bool ending;
    peer *first;
    size_t n;
};

/* Exchanges to be told something, each held. */
enum { TOGETHER = 64 };
typedef struct news {
    exchange *of[TOGETHER];
    bool late[TOGETHER];
    int n;
} news;

static bool has_left(const peer *p) {
    struct pollfd f = {.fd = p->fd, .events = POLLRDHUP};
    return poll(&f, 1, 0) > 0 && (f.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void tell_later(news *n, exchange *x, bool late) {
    if (n->n == TOGETHER)
        return; /* the next round */
    x->told = true;
    exchange_hold(x);
    n->of[n->n] = x;
    n->late[n->n++] = late;
}

/* A round, under the lock. What dawdles is shut down here: libmicrohttpd then finds the end of its input. */
static void look(peers *p, double now, news *n) {
    for (peer *at = p->first; at; at = at->next) {
        exchange *x = at->exchange;
        if (at->since > 0 && now - at->since > at->patience) {
            shutdown(at->fd, SHUT_RDWR);
            at->since = 0;
        }
        if (!x || !x->working || x->told)
            continue;
        if (x->suspended && has_left(at))
            tell_later(n, x, false);
        else if (now - x->submitted > p->calls.time)
            tell_later(n, x, true);
    }
}

static void tell(const peers *p, news *n) {
    for (int i = 0; i < n->n; i++) {
        (n->late[i] ? p->calls.late : p->calls.left)(n->of[i]);
        exchange_release(n->of[i]);
    }
    n->n = 0;
}

static void *peers_main(void *argument) {
    enum { PERIOD = 100000000 }; /* nanoseconds between two rounds */
    peers *p = argument;
    news n = {.n = 0};
    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        if (!p->first) {
            pthread_cond_wait(&p->change, &p->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += PERIOD;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->change, &p->lock, &until);
        look(p, clock_seconds(), &n);
        pthread_mutex_unlock(&p->lock);
        tell(p, &n);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

peers *peers_new(const peers_calls *calls) {
    peers *p = calloc(1, sizeof *p);
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (!p)
        return NULL;
    p->calls = *calls;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&p->thread, NULL, peers_main, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!code)
        return p;
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void peers_free(peers *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void peers_lock(peers *p) {
    pthread_mutex_lock(&p->lock);
}

void peers_unlock(peers *p) {
    pthread_mutex_unlock(&p->lock);
}

peer *peers_add(peers *p, int fd, const char *address, double patience) {
    peer *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    *new = (peer){.fd = fd, .since = clock_seconds(), .patience = patience};
    snprintf(new->address, sizeof new->address, "%s", address);
    peers_lock(p);
    new->next = p->first;
    if (p->first)
        p->first->before = new;
    else
        pthread_cond_signal(&p->change);
    p->first = new;
    p->n++;
    peers_unlock(p);
    return new;
}

void peers_remove(peers *p, peer *gone) {
    peers_lock(p);
    *(gone->before ? &gone->before->next : &p->first) = gone->next;
    if (gone->next)
        gone->next->before = gone->before;
    p->n--;
    peers_unlock(p);
    free(gone);
}

size_t peers_count(peers *p) {
    peers_lock(p);
    size_t n = p->n;
    peers_unlock(p);
    return n;
}

size_t peers_unanswered(peers *p) {
    size_t n = 0;
    peers_lock(p);
    for (const peer *at = p->first; at; at = at->next)
        n += at->exchange && at->since <= 0;
    peers_unlock(p);
    return n;
}

void peers_each_working(peers *p, void (*call)(exchange *x)) {
    size_t n = 0;
    peers_lock(p);
    exchange **held = calloc(p->n + 1, sizeof(exchange *));
    for (const peer *at = p->first; held && at; at = at->next)
        if (at->exchange && at->exchange->working) {
            exchange_hold(at->exchange);
            held[n++] = at->exchange;
        }
    peers_unlock(p);
    for (size_t i = 0; i < n; i++) {
        call(held[i]);
        exchange_release(held[i]);
    }
    free(held);
}
