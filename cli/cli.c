#include "cli.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The C library's readers take blanks, "inf", hexadecimal and, once a locale is set, a comma. The program never
 * sets one; what else they take is kept out here. */
static bool digits_only(const char *text) {
    size_t n = strspn(text, "0123456789");
    return n > 0 && text[n] == '\0';
}

bool parse_int64(const char *text, int64_t *value, bool *overflow) {
    const char *digits = text + (*text == '-' || *text == '+');
    *overflow = false;
    if (!digits_only(digits))
        return false;
    errno = 0;
    *value = strtoimax(text, NULL, 10);
    *overflow = errno == ERANGE;
    return !*overflow;
}

bool parse_uint64(const char *text, uint64_t *value, bool *overflow) {
    *overflow = false;
    if (!digits_only(text))
        return false;
    errno = 0;
    *value = strtoumax(text, NULL, 10);
    *overflow = errno == ERANGE;
    return !*overflow;
}

bool parse_double(const char *text, double *value, bool *overflow) {
    *overflow = false;
    if (!isdigit((unsigned char)text[strcspn(text, "0123456789")]) || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    char *end;
    *value = strtod(text, &end);
    if (*end != '\0')
        return false;
    *overflow = !isfinite(*value);
    return !*overflow;
}

void cli_message(const char *format, ...) {
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "softalign: %s\n", text);
}

int cli_usage_error(const command *c, const char *format, ...) {
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "softalign: %s\nTry 'softalign %s --help'.\n", text, c->name);
    return CLI_USAGE;
}

int cli_library_error(const sa_error *error) {
    cli_message("%s", error->text[0] != '\0' ? error->text : sa_status_text(error->status));
    return error->status == SA_USAGE ? CLI_USAGE : CLI_FAILED;
}

int cli_write_error(const char *name) {
    if (errno == EPIPE)
        return CLI_PIPE;
    cli_message("%s: cannot write: %s", name, strerror(errno));
    return CLI_FAILED;
}

int cli_close_output(FILE *stream, const char *name) {
    int status = CLI_OK;
    if (fflush(stream) != 0 || ferror(stream))
        status = cli_write_error(name);
    if (stream != stdout && fclose(stream) != 0 && status == CLI_OK)
        status = cli_write_error(name);
    return status;
}

int cli_columns(int descriptor, int fallback) {
    const char *text = getenv("COLUMNS");
    int64_t columns;
    bool overflow;
    if (text != NULL && parse_int64(text, &columns, &overflow) && columns > 0 && columns < 10000)
        return (int)columns;
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return fallback;
}
