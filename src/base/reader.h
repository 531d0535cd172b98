/* Lines of a file that is open already. The rest of sa_reader is public. */
#ifndef BASE_READER_H
#define BASE_READER_H

#include "base/error.h"

/* Reads fd from where it stands; it stays the caller's. name: what messages call it. */
sa_status reader_open_descriptor(sa_reader **out, int fd, const char *name, bool strict, sa_error *error);

#endif
