/* Modules: shared objects that the library loads when something needs them, so that neither it nor the program is
 * linked with what they are linked with. */
#ifndef BASE_MODULE_H
#define BASE_MODULE_H

#include "base/error.h"

#include <stdbool.h>

/* What a module exports is a const struct whose first member is this: SA_VERSION of the library that it was built
 * with. */
typedef struct module_table {
    const char *version;
} module_table;

/* The table of that name in the module `file` ("softalign-mpi.so"), looked for in a folder "softalign" beside the
 * library, then beside the program, as in a build folder, then where this build installs it. It stays loaded until
 * the process ends. global: its libraries' symbols are seen by what is loaded later. NULL: *why says why. */
const void *module_load(const char *file, const char *table, bool global, sa_error *why);

#endif
