/* sa_machine_describe: the processor, memory and libraries that the program runs on. */
#include "base/strbuf.h"
#include "base/thread.h"
#include "math/gemm.h"
#include "math/gemm_library.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

/* Of the processor's flags those that matter to matrix products. */
static const char *const sets[] = {"sse4_2",      "avx",         "f16c",     "fma",      "avx2",
                                   "avx_vnni",    "avx512f",     "avx512bw", "avx512vl", "avx512_vnni",
                                   "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
                                   "asimd",       "sve",         "i8mm",     "bf16"};

static bool has_word(const char *line, const char *word) {
    size_t n = strlen(word);
    for (const char *at = line; (at = strstr(at, word)); at += n)
        if (at > line && at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n' || at[n] == 0))
            return true;
    return false;
}

static void list_sets(const char *line, char *out, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && length < size; i++)
        if (has_word(line, sets[i]))
            length += (size_t)snprintf(out + length, size - length, "%s%s", length ? " " : "", sets[i]);
}

/* What stands behind the colon of a line of that name; NULL: another line. */
static const char *value_of(const char *line, const char *name) {
    size_t n = strlen(name);
    if (strncmp(line, name, n) || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
        return NULL;
    const char *colon = strchr(line, ':');
    return colon ? colon + 1 + strspn(colon + 1, " ") : NULL;
}

static void read_processor(sa_machine *out) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char *line = NULL;
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) > 0 && line[0] != '\n') {
        const char *name = value_of(line, "model name");
        if (name)
            snprintf(out->processor, sizeof out->processor, "%.*s", (int)strcspn(name, "\n"), name);
        if (value_of(line, "flags") || value_of(line, "Features"))
            list_sets(line, out->instruction_sets, sizeof out->instruction_sets);
    }
    free(line);
    if (file)
        fclose(file);
}

/* A number of kilobytes in /proc/meminfo, as bytes; 0 where there is none. */
static uint64_t memory_of(const char *name) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    uint64_t bytes = 0;
    while (file && fgets(line, sizeof line, file)) {
        const char *value = value_of(line, name);
        bytes = value ? strtoull(value, NULL, 10) * 1024 : bytes;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* The smallest limit that is set for this process or its group; 0: none. */
static uint64_t memory_limit(void) {
    struct rlimit space;
    uint64_t limit = 0;
    char line[64];
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        limit = space.rlim_cur;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    uint64_t group = file && fgets(line, sizeof line, file) ? strtoull(line, NULL, 10) : 0; /* "max" is 0 */
    if (file)
        fclose(file);
    return group && (!limit || group < limit) ? group : limit;
}

static sa_status list_precisions(sa_machine *out, sa_error *error) {
    gemm *g;
    SA_TRY(gemm_new(&g, error));
    snprintf(out->precisions, sizeof out->precisions, "f32%s%s", gemm_has(g, GEMM_BF16) ? " bf16" : "",
             gemm_has(g, GEMM_INT8) ? " int8" : "");
    gemm_free(g);
    return SA_OK;
}

sa_status sa_machine_describe(sa_machine *out, sa_error *error) {
    gemm_library products = gemm_library_describe();
    *out = (sa_machine){.processor = "unknown", .cores = thread_cores()};
    read_processor(out);
    out->memory = memory_of("MemTotal");
    out->memory_available = memory_of("MemAvailable");
    out->memory_limit = memory_limit();
    snprintf(out->product_set, sizeof out->product_set, "%s", products.isa);
    snprintf(out->libraries, sizeof out->libraries, "oneDNN %d.%d.%d, jansson %s, zlib %s", products.major,
             products.minor, products.patch, jansson_version_str(), zlibVersion());
    return list_precisions(out, error);
}
