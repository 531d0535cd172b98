#include "cli.h"
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

typedef struct serve_arguments {
    serve_options serve;
    double stop_time;
    bool quiet;
} serve_arguments;

/* "-m" adds a model. Target: the options. */
static const char *parse_served(const char *text, void *target) {
    serve_options *o = target;
    if (o->n_models == SERVE_MODELS_MOST)
        return "one of as many models as can be served (64)";
    const char *expected = serve_model_parse(&o->model[o->n_models], text);
    o->n_models += expected == NULL;
    return expected;
}

static const option serve_options_table[] = {
    OPT_SECTION("Models"),
    OPT_CUSTOM("model", 'm', "[SRC-TGT=]FILE", serve_arguments, serve, parse_served, show_nothing,
               "a model (required; several may be given), with the codes of its languages, like "
               "en-fr=run/best.safetensors, which LibreTranslate's interface needs; a colon stands between codes "
               "that have "
               "hyphens. Files with commas between work together as one model"),
    PRECISION_OPTION(serve_arguments, serve),
    OPT_SECTION("Network"),
    OPT_STRING("host", 0, "ADDRESS", serve_arguments, serve.host,
               "address to listen on: 127.0.0.1 is for this machine alone, 0.0.0.0 for all others"),
    OPT_NUMBER("port", 0, "N", serve_arguments, serve.port, BETWEEN(0, 65535),
               "port to listen on; 0: one that is free. The address is written to standard output"),
    OPT_STRING("cors", 0, "ORIGIN", serve_arguments, serve.cors,
               "let pages of this origin (https://example.org, or * for any) ask"),
    OPT_FLAG("forwarded", 0, serve_arguments, serve.forwarded,
             "behind a proxy: a client's address is what the proxy wrote into X-Forwarded-For"),
    OPT_SECTION("Who may ask, and how much"),
    OPT_STRING("api-keys", 0, "FILE", serve_arguments, serve.keys,
               "answer only requests with a key of this file, one a line"),
    OPT_NUMBER("rate", 0, "N", serve_arguments, serve.rate, BETWEEN(0, 1000000),
               "requests a minute of each key, or, without keys, of each address; 0: any number"),
    OPT_NUMBER("max-body", 0, "BYTES", serve_arguments, serve.limits.body, BETWEEN(1, 1e12), "largest request"),
    OPT_NUMBER("max-items", 0, "N", serve_arguments, serve.limits.items, BETWEEN(1, 1000000), "texts of a request"),
    OPT_NUMBER("max-characters", 0, "N", serve_arguments, serve.limits.characters, BETWEEN(1, 1000000000),
               "characters of a request's texts together"),
    OPT_NUMBER("max-beam-size", 0, "N", serve_arguments, serve.limits.beam_size, BETWEEN(1, 1000),
               "largest beam that a request may ask for"),
    OPT_NUMBER("max-n-best", 0, "N", serve_arguments, serve.limits.n_best, BETWEEN(1, 1000),
               "most translations of a text that a request may ask for"),
    OPT_NUMBER("max-queue", 0, "N", serve_arguments, serve.limits.queue, BETWEEN(1, 1000000),
               "texts that may wait; a request that would make them more is told to come again later"),
    OPT_NUMBER("max-connections", 0, "N", serve_arguments, serve.limits.connections, BETWEEN(1, 100000),
               "connections at once; others wait"),
    OPT_NUMBER("max-connections-per-address", 0, "N", serve_arguments, serve.limits.per_address, BETWEEN(0, 100000),
               "of these from one address; 0: all"),
    OPT_NUMBER("max-time", 0, "SECONDS", serve_arguments, serve.limits.time, POSITIVE,
               "an answer that takes longer is given up"),
    OPT_NUMBER("receive-time", 0, "SECONDS", serve_arguments, serve.limits.receive_time, POSITIVE,
               "a request that takes longer to come in is broken off"),
    OPT_NUMBER("idle-time", 0, "SECONDS", serve_arguments, serve.limits.idle_time, POSITIVE,
               "how long a connection may lie idle between requests"),
    OPT_NUMBER("stop-time", 0, "SECONDS", serve_arguments, stop_time, AT_LEAST(0),
               "after SIGTERM or SIGINT, how long what runs may go on"),
    OPT_SECTION("Search, unless a request says otherwise"),
    SEARCH_OPTIONS(serve_arguments, serve.search),
    OPT_NUMBER("mini-batch", 0, "N", serve_arguments, serve.search.mini_batch, BETWEEN(1, 10000),
               "texts translated together, of all requests that wait"),
    OPT_SECTION("What is written"),
    OPT_STRING("access-log", 0, "FILE", serve_arguments, serve.access_log,
               "append a line of JSON for each request, without its texts; - is standard error"),
    OPT_FLAG("quiet", 'q', serve_arguments, quiet, "nothing but the address and errors"),
    OPT_END,
};

/* Signals of whoever wants the end; they wait until they are asked for. */
static void block_stop_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigprocmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a client that leaves is an error of its connection */
}

static int serve_until_stopped(const serve_arguments *a, server *s, const sigset_t *stop) {
    sa_error error;
    int number = 0;
    printf("%s\n", serve_url(s));
    if (fflush(stdout) != 0)
        return cli_write_error("standard output");
    if (serve_load(s, &error) != SA_OK)
        return cli_library_error(&error);
    if (!a->quiet)
        cli_message("%d model%s loaded; listening at %s", a->serve.n_models,
                    a->serve.n_models == 1 ? " is" : "s are", serve_url(s));
    while (sigwait(stop, &number) != 0)
        ;
    if (!a->quiet)
        cli_message("stopping: SIG%s", number == SIGINT ? "INT" : "TERM");
    /* A second signal ends the process at once. */
    sigprocmask(SIG_UNBLOCK, stop, NULL);
    serve_stop(s, a->stop_time);
    return CLI_OK;
}

static int check_limits(const serve_options *o) {
    const serve_limits *l = &o->limits;
    if (o->n_models == 0)
        return cli_usage_error(&command_serve, "which model? -m FILE is missing");
    if (l->items > l->queue)
        return cli_usage_error(&command_serve, "--max-items %d is more than can wait (--max-queue %d)", l->items,
                               l->queue);
    if (o->search.beam_size > l->beam_size)
        return cli_usage_error(&command_serve, "--beam-size %d is more than --max-beam-size %d",
                               o->search.beam_size, l->beam_size);
    return CLI_GO_ON;
}

static int serve_run(int argc, char **argv) {
    serve_arguments a = {.stop_time = 10};
    serve_options_init(&a.serve);
    int n;
    int status = options_parse(&command_serve, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_limits(&a.serve);
    if (status == CLI_GO_ON) {
        sigset_t stop;
        sa_error error;
        server *s;
        block_stop_signals(&stop); /* before there are other threads */
        if (serve_open(&s, &a.serve, &error) == SA_OK) {
            status = serve_until_stopped(&a, s, &stop);
            serve_close(s);
        } else
            status = cli_library_error(&error);
    }
    for (int i = 0; i < a.serve.n_models; i++)
        serve_model_free(&a.serve.model[i]);
    return status;
}

const command command_serve = {
    .name = "serve",
    .summary = "answer requests over HTTP",
    .synopsis = "-m [SRC-TGT=]MODEL [OPTION]...",
    .about =
        "Translates, scores and aligns what clients send over HTTP. Requests of many clients are translated "
        "together; an answer is what the other subcommands write for the same text. Three interfaces: one of its "
        "own (/v1/...), LibreTranslate's (/translate) and OpenNMT's (/translator/translate); /openapi.json "
        "describes them, and docs/serve.md. /health says whether it is ready, /metrics how it does.\n"
        "Ends with SIGTERM or SIGINT: what runs is finished, what is new is refused.",
    .examples = "  softalign serve -m en-fr=run/best.safetensors\n"
                "  curl -d '{\"text\": \"A man is asleep.\"}' http://127.0.0.1:5000/v1/translate\n"
                "  curl -d q='A man is asleep.' -d source=en -d target=fr http://127.0.0.1:5000/translate\n",
    .options = serve_options_table,
    .run = serve_run,
};
