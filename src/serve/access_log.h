/* A line of JSON for each request: who asked what when, and how it went; no text, no key. On any thread. */
#ifndef SERVE_ACCESS_LOG_H
#define SERVE_ACCESS_LOG_H

#include "serve/exchange.h"

typedef struct access_log access_log;

/* Appends to a file; "-": standard error; NULL: nothing is written. SA_IO. */
sa_status access_log_open(access_log **out, const char *path, sa_error *error);
void access_log_close(access_log *log);

/* A line such as
 *   {"time":"2026-01-31T12:00:00.123Z","address":"127.0.0.1","method":"POST","route":"/translate","status":200,
 *    "received":61,"sent":48,"items":1,"characters":17,"words":5,"seconds":0.0312}
 * status 0: the client left before there was an answer. */
void access_log_write(access_log *log, const exchange *x);

#endif
