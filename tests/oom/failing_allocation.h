/* Allocation that fails when it is told to, and knows what was not freed. For one test program, which is linked
 * with
 * --wrap for each function here. */
#ifndef FAILING_ALLOCATION_H
#define FAILING_ALLOCATION_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
void __wrap_free(void *p);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static bool armed;                                       /* allocations count */
static bool all_after;                                   /* those after the one that fails fail too */
static long made, fail_at; /* the allocations since it was armed; the one that fails */
enum { LIVE_MAX = 1 << 16 };
static void *live[LIVE_MAX]; /* what was allocated while armed and not freed */
static int n_live;

static bool refuse(void) {
    pthread_mutex_lock(&lock);
    made += armed;
    bool now = armed && (all_after ? made >= fail_at : made == fail_at);
    pthread_mutex_unlock(&lock);
    if (now)
        errno = ENOMEM;
    return now;
}

static void *note(void *p) {
    pthread_mutex_lock(&lock);
    if (armed && p) {
        assert_true(n_live < LIVE_MAX);
        live[n_live++] = p;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

/* What was allocated last is freed first, as a rule. */
static void forget(const void *p) {
    pthread_mutex_lock(&lock);
    for (int i = n_live; p && i-- > 0;)
        if (live[i] == p) {
            live[i] = live[--n_live];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *__wrap_malloc(size_t size) {
    return refuse() ? NULL : note(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size) {
    return refuse() ? NULL : note(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size) {
    if (refuse())
        return NULL;
    forget(old);
    return note(__real_realloc(old, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    int failed = refuse() ? ENOMEM : __real_posix_memalign(out, alignment, size);
    if (!failed)
        note(*out);
    return failed;
}

char *__wrap_strdup(const char *text) {
    return refuse() ? NULL : note(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t n) {
    return refuse() ? NULL : note(__real_strndup(text, n));
}

void __wrap_free(void *p) {
    forget(p);
    __real_free(p);
}

/* Nothing need outlive the machine here. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    (void)fd;
    return 0;
}

#endif
