/* A client of HTTP for tests of the server, and for measuring it:
 *
 *   http_client URL request METHOD PATH [HEADER]... < BODY   prints the status, the headers, a blank line, the body
 *   http_client URL raw [MILLISECONDS] < BYTES   sends bytes as they are, at once or one after each pause; prints
 * the answer http_client URL leave N PATH < BODY          asks N times, and leaves each time before the answer
 *   http_client URL storm CLIENTS REQUESTS IN OUT [FIRST]
 *       so many clients at once send so many requests each, one after the other on one connection: line k of IN to
 *       /v1/translate, whose translation must be line k of OUT; prints how it went. FIRST: the line to begin with
 *   http_client URL mix CLIENTS SECONDS IN       clients ask, ask wrongly, ask for too much, dawdle and leave, for
 * so long
 *
 * Exit status 0 when all went as it should, else 1. */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in server;

static void die(const char *what) {
    fprintf(stderr, "http_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_for(double seconds) {
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static void *need(void *p) {
    if (p == NULL)
        die("memory");
    return p;
}

/* ---- bytes ------------------------------------------------------------------------------------------- */

typedef struct bytes {
    char *at; /* zero-terminated */
    size_t n, room;
} bytes;

static void add(bytes *b, const void *more, size_t n) {
    if (b->n + n + 1 > b->room) {
        b->room = 2 * (b->n + n + 1);
        b->at = need(realloc(b->at, b->room));
    }
    memcpy(b->at + b->n, more, n);
    b->n += n;
    b->at[b->n] = '\0';
}

static bytes read_input(void) {
    bytes b = {0};
    char block[65536];
    size_t n;
    add(&b, "", 0);
    while ((n = fread(block, 1, sizeof block, stdin)) > 0)
        add(&b, block, n);
    return b;
}

/* Lines of a file; free with forget_lines. */
static char **read_lines(const char *path, size_t *n) {
    FILE *file = fopen(path, "r");
    char **lines = NULL, *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (file == NULL)
        die(path);
    for (*n = 0; (length = getline(&line, &room, file)) >= 0; (*n)++) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        lines = need(realloc(lines, (*n + 1) * sizeof *lines));
        lines[*n] = need(strdup(line));
    }
    free(line);
    fclose(file);
    return lines;
}

static void forget_lines(char **lines, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(lines[i]);
    free(lines);
}

/* ---- connections ------------------------------------------------------------------------------------- */

static int dial(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = {.tv_sec = 90};
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&server, sizeof server) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool send_all(int fd, const char *at, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* A connection with what was read of it and not used. */
typedef struct line_of {
    int fd;
    bytes unread;
} line_of;

static bool read_more(line_of *l) {
    char block[65536];
    ssize_t n = recv(l->fd, block, sizeof block, 0);
    if (n > 0)
        add(&l->unread, block, (size_t)n);
    return n > 0;
}

static void drop(line_of *l, size_t n) {
    memmove(l->unread.at, l->unread.at + n, l->unread.n - n + 1);
    l->unread.n -= n;
}

/* ---- answers ----------------------------------------------------------------------------------------- */

typedef struct answer {
    int status; /* 0: none came */
    bytes head, body;
} answer;

static void forget(answer *a) {
    free(a->head.at);
    free(a->body.at);
    *a = (answer){0};
}

static const char *find_header(const answer *a, const char *name) {
    size_t n = strlen(name);
    for (const char *at = a->head.at; at != NULL && *at != '\0'; at = strstr(at, "\r\n"), at += at != NULL ? 2 : 0)
        if (strncasecmp(at, name, n) == 0 && at[n] == ':')
            return at + n + 1 + strspn(at + n + 1, " ");
    return NULL;
}

static bool read_head(line_of *l, answer *a) {
    char *end;
    while (l->unread.at == NULL || (end = strstr(l->unread.at, "\r\n\r\n")) == NULL)
        if (!read_more(l))
            return false;
    size_t n = (size_t)(end - l->unread.at) + 4;
    add(&a->head, l->unread.at, n - 2);
    drop(l, n);
    return sscanf(a->head.at, "HTTP/1.%*d %d", &a->status) == 1;
}

static bool read_length(line_of *l, answer *a, size_t n) {
    while (l->unread.n < n)
        if (!read_more(l))
            return false;
    add(&a->body, l->unread.at, n);
    drop(l, n);
    return true;
}

static bool read_chunks(line_of *l, answer *a) {
    for (;;) {
        char *end;
        while ((end = strstr(l->unread.at, "\r\n")) == NULL)
            if (!read_more(l))
                return false;
        size_t n = strtoul(l->unread.at, NULL, 16);
        drop(l, (size_t)(end - l->unread.at) + 2);
        if (!read_length(l, a, n + 2))
            return false;
        a->body.at[a->body.n -= 2] = '\0';
        if (n == 0)
            return true;
    }
}

/* False where the connection broke; an answer without a length ends with it. */
static bool read_answer(line_of *l, bool head, answer *a) {
    *a = (answer){0};
    add(&a->body, "", 0);
    do {
        free(a->head.at);
        a->head = (bytes){0};
        if (!read_head(l, a)) {
            a->status = 0;
            return false;
        }
    } while (a->status == 100);
    const char *length = find_header(a, "Content-Length"), *coding = find_header(a, "Transfer-Encoding");
    if (head || a->status == 204 || a->status == 304)
        return true;
    if (coding != NULL && strncasecmp(coding, "chunked", 7) == 0)
        return read_chunks(l, a);
    if (length != NULL)
        return read_length(l, a, strtoul(length, NULL, 10));
    while (read_more(l))
        ;
    return read_length(l, a, l->unread.n);
}

static bytes make_request(const char *method, const char *path, char *const *headers, int n, const bytes *body) {
    bytes b = {0};
    char line[512];
    add(&b, line, (size_t)snprintf(line, sizeof line, "%s %s HTTP/1.1\r\nHost: test\r\n", method, path));
    for (int i = 0; i < n; i++)
        add(&b, line, (size_t)snprintf(line, sizeof line, "%s\r\n", headers[i]));
    if (body != NULL)
        add(&b, line, (size_t)snprintf(line, sizeof line, "Content-Length: %zu\r\n", body->n));
    add(&b, "\r\n", 2);
    if (body != NULL)
        add(&b, body->at, body->n);
    return b;
}

/* ---- request, raw, leave ----------------------------------------------------------------------------- */

static int run_request(int argc, char **argv) {
    bool posts = strcmp(argv[0], "POST") == 0;
    bytes body = read_input(), all = make_request(argv[0], argv[1], argv + 2, argc - 2, posts ? &body : NULL);
    line_of l = {.fd = dial()};
    answer a;
    if (l.fd < 0)
        die("connect");
    /* Who refuses a request may do so before all of it was sent. */
    send_all(l.fd, all.at, all.n);
    read_answer(&l, strcmp(argv[0], "HEAD") == 0, &a);
    printf("%d\n%s\n%s\n", a.status, a.head.n > 0 ? a.head.at : "", a.body.at);
    close(l.fd);
    free(l.unread.at);
    free(body.at);
    free(all.at);
    forget(&a);
    return 0;
}

static bool closed(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char one;
    return poll(&p, 1, 0) > 0 && recv(fd, &one, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static int run_raw(int argc, char **argv) {
    bytes input = read_input();
    line_of l = {.fd = dial()};
    double pause = argc > 0 ? atof(argv[0]) / 1000 : 0;
    if (l.fd < 0)
        die("connect");
    if (pause <= 0)
        send_all(l.fd, input.at, input.n);
    for (size_t i = 0; pause > 0 && i < input.n && !closed(l.fd) && send_all(l.fd, input.at + i, 1); i++)
        pause_for(pause);
    while (read_more(&l))
        ;
    if (l.unread.n > 0)
        fwrite(l.unread.at, 1, l.unread.n, stdout);
    close(l.fd);
    free(input.at);
    free(l.unread.at);
    return 0;
}

static int run_leave(int argc, char **argv) {
    (void)argc;
    bytes body = read_input(), all = make_request("POST", argv[1], NULL, 0, &body);
    for (int i = 0, n = atoi(argv[0]); i < n; i++) {
        int fd = dial();
        if (fd < 0 || !send_all(fd, all.at, all.n))
            die("leave");
        pause_for(0.002 * (i % 25));
        close(fd);
    }
    free(body.at);
    free(all.at);
    return 0;
}

/* ---- storm ------------------------------------------------------------------------------------------- */

typedef struct storm {
    char **in, **out;
    size_t lines, first;
    int clients, requests;
    double *seconds; /* of each request */
    atomic_long failed, wrong, words;
    atomic_int next;
} storm;

static bytes translation_request(const char *text) {
    json_t *object = json_pack("{s:s}", "text", text);
    char *dumped = need(json_dumps(object, JSON_COMPACT));
    bytes body = {.at = dumped, .n = strlen(dumped)}, all = make_request("POST", "/v1/translate", NULL, 0, &body);
    free(dumped);
    json_decref(object);
    return all;
}

static bool is_translation(const answer *a, const char *wanted) {
    json_t *root = json_loads(a->body.at, 0, NULL);
    json_t *first = json_array_get(json_object_get(root, "translations"), 0);
    const char *text =
        json_string_value(json_object_get(json_array_get(json_object_get(first, "hypotheses"), 0), "text"));
    bool same = text != NULL && strcmp(text, wanted) == 0;
    json_decref(root);
    return same;
}

static long count_words(const char *text) {
    long n = 0;
    for (const char *at = text; *at != '\0'; at++)
        n += *at != ' ' && (at == text || at[-1] == ' ');
    return n;
}

static void *storm_client(void *argument) {
    storm *s = argument;
    int client = atomic_fetch_add(&s->next, 1);
    line_of l = {.fd = dial()};
    for (int i = 0; i < s->requests; i++) {
        size_t k = (s->first + (size_t)client * (size_t)s->requests + (size_t)i) % s->lines;
        bytes all = translation_request(s->in[k]);
        answer a = {0};
        double begun = seconds_now();
        if (l.fd < 0 || !send_all(l.fd, all.at, all.n) || !read_answer(&l, false, &a) || a.status != 200) {
            atomic_fetch_add(&s->failed, 1);
            close(l.fd);
            l.fd = dial();
            l.unread.n = 0;
        } else if (!is_translation(&a, s->out[k])) {
            atomic_fetch_add(&s->wrong, 1);
        } else
            atomic_fetch_add(&s->words, count_words(s->out[k]));
        s->seconds[client * s->requests + i] = seconds_now() - begun;
        free(all.at);
        forget(&a);
    }
    close(l.fd);
    free(l.unread.at);
    return NULL;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_together(int n, void *(*work)(void *), void *argument) {
    pthread_t *thread = need(calloc((size_t)n, sizeof *thread));
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, argument) != 0)
            die("thread");
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static int run_storm(int argc, char **argv) {
    size_t outs;
    storm s = {.clients = atoi(argv[0]), .requests = atoi(argv[1])};
    s.in = read_lines(argv[2], &s.lines);
    s.out = read_lines(argv[3], &outs);
    s.first = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if (outs != s.lines || outs == 0)
        die("IN and OUT have not as many lines");
    size_t n = (size_t)s.clients * (size_t)s.requests;
    s.seconds = need(calloc(n, sizeof *s.seconds));
    double begun = seconds_now();
    run_together(s.clients, storm_client, &s);
    double seconds = seconds_now() - begun;
    qsort(s.seconds, n, sizeof *s.seconds, compare_doubles);
    printf("%zu requests of %d clients in %.2f s: %ld failed, %ld wrong\n", n, s.clients, seconds, s.failed,
           s.wrong);
    printf("seconds: p50 %.4f, p90 %.4f, p99 %.4f, longest %.4f\n", s.seconds[n / 2], s.seconds[n * 9 / 10],
           s.seconds[n * 99 / 100], s.seconds[n - 1]);
    printf("%.1f requests/s, %.1f words/s\n", (double)n / seconds, (double)s.words / seconds);
    free(s.seconds);
    forget_lines(s.in, s.lines);
    forget_lines(s.out, outs);
    return s.failed > 0 || s.wrong > 0;
}

/* ---- mix --------------------------------------------------------------------------------------------- */

typedef struct mix {
    char **in;
    size_t lines;
    double end;
    atomic_int next;
    atomic_long done, surprises;
} mix;

/* One exchange on a connection of its own; returns the status. */
static int ask(const bytes *all) {
    line_of l = {.fd = dial()};
    answer a = {0};
    if (l.fd >= 0 && send_all(l.fd, all->at, all->n))
        read_answer(&l, false, &a);
    int status = a.status;
    close(l.fd);
    free(l.unread.at);
    forget(&a);
    return status;
}

static bool ask_well(mix *m, unsigned r) {
    bytes all = translation_request(m->in[r % m->lines]);
    int status = ask(&all);
    free(all.at);
    return status == 200 || status == 503;
}

static bool ask_wrongly(mix *m, unsigned r) {
    static const char *const bodies[] = {"",
                                         "{}",
                                         "[]",
                                         "null",
                                         "\"\"",
                                         "{\"text\":7}",
                                         "{\"text\":",
                                         "\xff\xfe",
                                         "{\"text\":\"a\",\"beam_size\":-1}",
                                         "{\"text\":\"a\",\"what\":1}"};
    (void)m;
    const char *text = bodies[r % (sizeof bodies / sizeof *bodies)];
    bytes body = {.at = (char *)(uintptr_t)text, .n = strlen(text)};
    bytes all = make_request("POST", "/v1/translate", NULL, 0, &body);
    int status = ask(&all);
    free(all.at);
    return status == 400;
}

/* Chunks without end, and lengths that are too great. */
static bool ask_too_much(mix *m, unsigned r) {
    static const char big[] =
        "POST /v1/translate HTTP/1.1\r\nHost: t\r\nContent-Length: 50000000\r\n\r\n{\"text\":\"";
    static const char chunked[] = "POST /v1/translate HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
    (void)m;
    char chunk[4096 + 16];
    int head = snprintf(chunk, sizeof chunk, "1000\r\n");
    memset(chunk + head, 'x', 4096);
    memcpy(chunk + head + 4096, "\r\n", 2);
    int fd = dial();
    if (fd < 0)
        return false;
    if (r % 2 != 0)
        send_all(fd, big, sizeof big - 1);
    else if (send_all(fd, chunked, sizeof chunked - 1))
        for (int i = 0; i < 3000 && send_all(fd, chunk, (size_t)head + 4098); i++)
            ;
    line_of l = {.fd = fd};
    answer a;
    bool answered = read_answer(&l, false, &a);
    bool right = !answered || a.status == 413; /* a connection that was reset may have lost the answer */
    close(fd);
    free(l.unread.at);
    forget(&a);
    return right;
}

static bool dawdle(mix *m, unsigned r) {
    static const char slow[] = "POST /v1/translate HTTP/1.1\r\nHost: t\r\nContent-Length: 900\r\n\r\n{\"text\":";
    (void)m;
    int fd = dial();
    if (fd < 0)
        return false;
    for (size_t i = 0; i < 10 + r % 60 && i < sizeof slow - 1; i++) {
        send_all(fd, slow + i, 1);
        pause_for(0.01);
    }
    close(fd);
    return true;
}

static bool vanish(mix *m, unsigned r) {
    bytes all = translation_request(m->in[r % m->lines]);
    int fd = dial();
    if (fd >= 0)
        send_all(fd, all.at, all.n);
    pause_for(0.001 * (r % 20));
    close(fd);
    free(all.at);
    return fd >= 0;
}

static void *mix_client(void *argument) {
    static bool (*const ways[])(mix * m, unsigned r) = {ask_well, ask_well,     ask_well, ask_wrongly,
                                                        vanish,   ask_too_much, dawdle,   ask_well};
    mix *m = argument;
    unsigned random = 1 + (unsigned)atomic_fetch_add(&m->next, 1);
    while (seconds_now() < m->end) {
        random = random * 1664525 + 1013904223;
        unsigned way = random >> 16;
        if (!ways[way % (sizeof ways / sizeof *ways)](m, random >> 8))
            atomic_fetch_add(&m->surprises, 1);
        atomic_fetch_add(&m->done, 1);
    }
    return NULL;
}

static int run_mix(int argc, char **argv) {
    (void)argc;
    mix m = {.end = seconds_now() + atof(argv[1])};
    m.in = read_lines(argv[2], &m.lines);
    run_together(atoi(argv[0]), mix_client, &m);
    printf("%ld requests, %ld not answered as they should be\n", m.done, m.surprises);
    forget_lines(m.in, m.lines);
    return m.surprises > 0;
}

/* ------------------------------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int least;
        int (*run)(int argc, char **argv);
    } ways[] = {{"request", 2, run_request},
                {"raw", 0, run_raw},
                {"leave", 2, run_leave},
                {"storm", 4, run_storm},
                {"mix", 3, run_mix}};
    char host[64] = "";
    unsigned port = 0;
    signal(SIGPIPE, SIG_IGN);
    if (argc >= 3 && sscanf(argv[1], "http://%63[0-9.]:%u", host, &port) == 2) {
        server.sin_family = AF_INET;
        server.sin_port = htons((uint16_t)port);
        inet_pton(AF_INET, host, &server.sin_addr);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            if (strcmp(argv[2], ways[i].name) == 0 && argc - 3 >= ways[i].least)
                return ways[i].run(argc - 3, argv + 3);
    }
    fprintf(stderr, "usage: http_client http://ADDRESS:PORT/ request|raw|leave|storm|mix ARGUMENT...\n");
    return 2;
}
