/* Any bytes as a container: an error, or a file of which everything offered can be read. */
#include "base/safetensors.h"
#include "fuzz.h"

static void read_all(const st_file *file) {
    volatile uint8_t byte = 0;
    for (int i = 0; i < st_count(file); i++) {
        const st_tensor *t = st_at(file, i);
        require(st_find(file, t->name) == t);
        for (size_t k = 0; k < t->bytes; k++)
            byte = ((const uint8_t *)t->data)[k];
    }
    (void)byte;
    const char *value = st_metadata(file, "format");
    require(!value || strlen(value) < ST_MAX_HEADER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = fuzz_file(data, size, path);
    st_file *file;
    sa_error e;
    sa_status status = st_open(&file, path, &e);
    require(status == SA_OK || status == SA_FORMAT || status == SA_MEMORY);
    if (status == SA_OK)
        read_all(file);
    else
        require(!file && e.status == status && *e.text);
    st_close(file);
    close(fd);
    return 0;
}
