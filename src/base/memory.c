#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The number behind `key` at the start of a line ("": of the first line), colon, blanks and "kB" understood. False
 * when there is no such file or line, or no number ("max"). */
static bool read_number(const char *root, const char *path, const char *key, double *out) {
    char name[4096], line[512], *end;
    size_t length = strlen(key);
    bool found = false;
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *at = line + length;
        if (strncmp(line, key, length) || (length > 0 && !strchr(": \t", *at)))
            continue;
        at += strspn(at, ": \t");
        *out = (double)strtoull(at, &end, 10) * (strstr(end, "kB") ? 1024 : 1);
        found = end > at;
        if (!found)
            break;
    }
    if (file)
        fclose(file);
    return found;
}

static void limit_to(memory_room *room, double bytes, const char *limit) {
    if (bytes < room->bytes)
        *room = (memory_room){fmax(0, bytes), limit};
}

memory_room memory_addresses_left(const char *root) {
    static const struct {
        int resource;
        const char *used, *name;
    } table[] = {{RLIMIT_AS, "VmSize", "the limit of the address space, ulimit -v"},
                 {RLIMIT_DATA, "VmData", "the limit of data, ulimit -d"}};
    memory_room room = {(double)INFINITY, "nothing"};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        double used;
        if (getrlimit(table[i].resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            read_number(root, "/proc/self/status", table[i].used, &used))
            limit_to(&room, (double)limit.rlim_cur - used, table[i].name);
    }
    return room;
}

typedef struct cgroup_version {
    const char *mount, *most, *used;
    const char *dropped[2]; /* of memory.stat: file pages, which go when memory is needed */
} cgroup_version;
static const cgroup_version cgroups[] = {
    {"/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

static void look_at_cgroup(const char *root, const cgroup_version *v, const char *group, memory_room *room) {
    char path[4096];
    double most, used, dropped;
    snprintf(path, sizeof path, "%s%s/%s", v->mount, group, v->most);
    if (!read_number(root, path, "", &most))
        return;
    snprintf(path, sizeof path, "%s%s/%s", v->mount, group, v->used);
    if (!read_number(root, path, "", &used))
        return;
    snprintf(path, sizeof path, "%s%s/memory.stat", v->mount, group);
    for (int i = 0; i < 2; i++)
        if (read_number(root, path, v->dropped[i], &dropped))
            used -= dropped;
    limit_to(room, most - used, "the limit of the control group");
}

/* A line of /proc/self/cgroup: "0::/a/b" is v2, "7:memory,hugetlb:/a/b" v1. The group's own folder and all above
 * it: in a container, the mount may be that of the group itself. */
static void look_at_cgroup_line(const char *root, char *line, memory_room *room) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return;
    *controllers++ = *group++ = 0;
    bool memory = false;
    char *rest;
    for (char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        memory = memory || !strcmp(name, "memory");
    if (!memory && strcmp(line, "0"))
        return;
    for (;;) {
        look_at_cgroup(root, &cgroups[memory], group, room);
        char *end = strrchr(group, '/');
        if (!end)
            return;
        *end = 0;
    }
}

static void look_at_cgroups(const char *root, memory_room *room) {
    char name[4096], line[4096];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file))
        look_at_cgroup_line(root, line, room);
    if (file)
        fclose(file);
}

memory_room memory_pages_left(const char *root) {
    memory_room room = {(double)INFINITY, "nothing"};
    double available, swap = 0;
    look_at_cgroups(root, &room);
    if (read_number(root, "/proc/meminfo", "MemAvailable", &available)) {
        read_number(root, "/proc/meminfo", "SwapFree", &swap);
        limit_to(&room, available + swap, "this machine");
    }
    return room;
}

double memory_peak(void) {
    double bytes = 0;
    return read_number("", "/proc/self/status", "VmHWM", &bytes) ? bytes : 0;
}

void memory_forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}
