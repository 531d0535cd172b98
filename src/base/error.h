/* Errors as values. A function that can fail fills the caller's sa_error and returns its status. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <assert.h>
#include <softalign.h>

#define SA_ASSERT(condition) assert(condition)

/* Writes the text and returns status. error may be NULL. */
sa_status sa_fail(sa_error *error, sa_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The one sentence for a failed allocation of that many bytes (0: unknown). */
sa_status sa_fail_memory(sa_error *error, size_t bytes);

/* Returns from the calling function when the expression is not SA_OK. */
#define SA_TRY(expression)                                                                                         \
    do {                                                                                                           \
        sa_status try_status_ = (expression);                                                                      \
        if (try_status_ != SA_OK)                                                                                  \
            return try_status_;                                                                                    \
    } while (0)

#endif
