#include "evaluate.h"
#include <stdlib.h>
#include <string.h>

void lines_free(lines *l) {
    for (size_t i = 0; i < l->n; i++)
        free(l->line[i]);
    free(l->line);
}

int out_of_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

static bool lines_append(lines *l, const char *text, size_t length) {
    if (l->n == l->capacity) {
        size_t capacity = l->capacity > 0 ? 2 * l->capacity : 1024;
        char **line = realloc(l->line, capacity * sizeof *line);
        if (line == NULL)
            return false;
        l->line = line;
        l->capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, text, length + 1);
    l->line[l->n++] = copy;
    return true;
}

static void warn_replaced(const sa_reader *reader, const char *name) {
    size_t line, column;
    if (sa_reader_replaced(reader) == 0)
        return;
    sa_reader_first_replaced(reader, &line, &column);
    cli_message("%s:%zu:%zu: not UTF-8 text: %zu replaced by U+FFFD from here on; --strict makes this an error",
                name, line, column, sa_reader_replaced(reader));
}

static void warn_marked(const lines *l) {
    if (l->n > 0 && strncmp(l->line[0], "\xEF\xBB\xBF", 3) == 0)
        cli_message("%s begins with a byte order mark, which is scored as a character, as sacreBLEU does", l->name);
}

int lines_read(lines *l, const char *path, bool strict, bool quiet) {
    sa_error error;
    sa_reader *reader;
    l->name = input_name(path);
    if (sa_reader_open(&reader, path, strict, &error) != SA_OK)
        return cli_library_error(&error);
    sa_reader_keep_marks(reader);
    int status = CLI_GO_ON;
    while (status == CLI_GO_ON) {
        char *line;
        size_t length;
        if (sa_reader_next(reader, &line, &length, &error) != SA_OK)
            status = cli_library_error(&error);
        else if (line == NULL)
            status = CLI_OK;
        else if (!lines_append(l, line, length))
            status = out_of_memory();
    }
    if (status == CLI_OK && !quiet) {
        warn_replaced(reader, l->name);
        warn_marked(l);
    }
    sa_reader_free(reader);
    return status;
}

/* ---- warnings ---------------------------------------------------------------------------------------- */

/* Texts with so many lines that end in " ." were tokenised and then not put together again. */
enum { TOKENISED_LINES = 100 };

static bool ends_in_lone_stop(const char *line) {
    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    return n >= 2 && line[n - 1] == '.' && line[n - 2] == ' ';
}

void warn_tokenised(const lines *hypotheses) {
    size_t n = 0;
    for (size_t i = 0; i < hypotheses->n; i++)
        n += ends_in_lone_stop(hypotheses->line[i]);
    if (n >= TOKENISED_LINES)
        cli_message("%s looks tokenised: %zu lines end in ' .'. The score is that of other systems only when the "
                    "text is detokenised first; to compare tokens as they are, use --tokenize none",
                    hypotheses->name, n);
}

/* Thai to Burmese, Khmer, kana and Han: written without blanks between words. Three bytes in UTF-8. */
static bool is_unspaced(const unsigned char *s) {
    if ((s[0] & 0xF0) != 0xE0)
        return false;
    unsigned c = (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    return (c >= 0xE00 && c < 0xF00) || (c >= 0x1000 && c < 0x10A0) || (c >= 0x1780 && c < 0x1800) ||
           (c >= 0x3040 && c < 0x3100) || (c >= 0x3400 && c < 0xA000);
}

void warn_unspaced(const lines *reference, const char *tokenizer) {
    size_t characters = 0, unspaced = 0;
    for (size_t i = 0; i < reference->n; i++)
        for (const unsigned char *s = (const unsigned char *)reference->line[i]; *s != '\0'; s++) {
            characters += (*s & 0xC0) != 0x80;
            unspaced += is_unspaced(s);
        }
    if (2 * unspaced > characters)
        cli_message("%s is mostly in a script without blanks between words, which --tokenize %s does not cut; use "
                    "--tokenize char",
                    reference->name, tokenizer);
}
