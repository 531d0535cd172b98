#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

sa_status sa_fail(sa_error *error, sa_status status, const char *format, ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

sa_status sa_fail_memory(sa_error *error, size_t bytes) {
    if (bytes)
        return sa_fail(error, SA_MEMORY, "not enough memory: %.1f MB more were needed", (double)bytes / 1e6);
    return sa_fail(error, SA_MEMORY, "not enough memory");
}

const char *sa_status_text(sa_status status) {
    static const char *const text[] = {
#define X(name, words) words,
        SA_STATUS_LIST(X)
#undef X
    };
    if ((size_t)status < sizeof text / sizeof *text)
        return text[status];
    return "unknown status";
}

const char *sa_version(void) {
    return SA_VERSION;
}
