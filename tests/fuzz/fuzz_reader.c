/* Any bytes as a text: lines of UTF-8 without LF, CR and NUL, as many as the bytes have. */
#include "base/utf8.h"
#include "fuzz.h"

#include <softalign.h>

static size_t read_lines(const char *path, bool strict, sa_status *status) {
    sa_reader *reader;
    sa_error e;
    size_t n = 0;
    char *line;
    size_t length;
    require(sa_reader_open(&reader, path, strict, &e) == SA_OK);
    while ((*status = sa_reader_next(reader, &line, &length, &e)) == SA_OK && line) {
        n++;
        require(strlen(line) == length && utf8_valid_length(line, length) == length);
        require(!strchr(line, '\n') && !strchr(line, '\r'));
        require(sa_reader_line(reader) == n);
        double share = sa_reader_share(reader);
        require(share >= 0 && share <= 1);
    }
    require(*status == SA_OK || *status == SA_DATA || *status == SA_MEMORY);
    require(!strict || sa_reader_replaced(reader) == 0);
    sa_reader_free(reader);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = fuzz_file(data, size, path);
    sa_status status, strict;
    size_t n = read_lines(path, false, &status), feeds = 0;
    bool gzip = size >= 2 && data[0] == 0x1F && data[1] == 0x8B;
    for (size_t i = 0; i < size; i++)
        feeds += data[i] == '\n';
    if (!gzip)
        require(status == SA_OK && n == feeds + (size > 0 && data[size - 1] != '\n'));
    require(read_lines(path, true, &strict) <= n);
    close(fd);
    return 0;
}
