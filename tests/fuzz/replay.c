/* Runs a fuzz target over files: replay FOLDER-OR-FILE... Inputs that once went wrong are there, and one of each
 * kind. */
#include "fuzz.h"

#include <dirent.h>

static int count;

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    require(file != NULL);
    uint8_t *bytes = NULL;
    size_t n = 0, capacity = 0, got;
    do {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            bytes = realloc(bytes, capacity);
            require(bytes != NULL);
        }
        got = fread(bytes + n, 1, capacity - n, file);
        n += got;
    } while (got > 0);
    fclose(file);
    /* An end of its own, so that a sanitizer sees who reads beyond it. */
    uint8_t *exact = malloc(n ? n : 1);
    require(exact != NULL);
    memcpy(exact, bytes, n);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    count++;
}

static void run_folder(const char *path, DIR *folder) {
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            run_file(file);
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            run_file(argv[i]);
            continue;
        }
        run_folder(argv[i], folder);
        closedir(folder);
    }
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
