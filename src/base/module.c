#include "base/module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <module_folder.h>

/* The folder of the file that holds this function: the program, or the shared library. */
static bool own_folder(char *out, size_t size) {
    Dl_info info;
    struct link_map *map;
    static const char anchor;
    if (!dladdr1(&anchor, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    char *path = realpath(*map->l_name ? map->l_name : "/proc/self/exe", NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    bool found = slash && (size_t)(slash - path) < size;
    if (found)
        snprintf(out, size, "%.*s", (int)(slash - path), path);
    free(path);
    return found;
}

const void *module_load(const char *file, const char *table, bool global, sa_error *why) {
    char own[4000], path[3][4096];
    int n = 0;
    if (own_folder(own, sizeof own)) {
        snprintf(path[n++], sizeof *path, "%s/softalign/%s", own, file);
        snprintf(path[n++], sizeof *path, "%s/%s", own, file);
    }
    snprintf(path[n++], sizeof *path, "%s/%s", SA_MODULE_FOLDER, file);
    sa_fail(why, SA_USAGE, "there is no %s", path[n - 1]);
    for (int i = 0; i < n; i++) {
        if (access(path[i], F_OK))
            continue;
        void *module = dlopen(path[i], RTLD_NOW | RTLD_NODELETE | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        const module_table *found = module ? dlsym(module, table) : NULL;
        if (found && strcmp(found->version, SA_VERSION) == 0)
            return found;
        if (module)
            sa_fail(why, SA_USAGE, "%s is not of this version", path[i]);
        else
            sa_fail(why, SA_USAGE, "%s", dlerror());
    }
    return NULL;
}
