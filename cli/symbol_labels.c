#include "symbol_labels.h"

#include <stdlib.h>
#include <string.h>

static bool is_unknown(const char *symbol) {
    return strcmp(symbol, "<unk>") == 0;
}

/* How many symbols from i on belong to the same word. */
static int symbols_of_word(const int *word, int n, int i) {
    int k = i + 1;
    while (k < n && word[k] == word[i])
        k++;
    return k - i;
}

/* Whether n symbols say nothing of the word that they are. */
static bool say_nothing(char *const *symbol, int n) {
    bool unknown = false;
    for (int i = 0; i < n; i++) {
        if (!is_unknown(symbol[i]) && strcmp(symbol[i], "▁") != 0)
            return false;
        unknown |= is_unknown(symbol[i]);
    }
    return unknown;
}

/* Word k of a text, from 0, at blanks; *length 0: there is none. */
static const char *word_at(const char *text, int k, size_t *length) {
    text += strspn(text, " \t\r");
    for (; k > 0; k--) {
        text += strcspn(text, " \t\r");
        text += strspn(text, " \t\r");
    }
    *length = strcspn(text, " \t\r");
    return text;
}

/* The labels of n symbols of a word: the first that is unknown becomes the word, further ones nothing. False
 * without memory. */
static bool label_word(char **label, char *const *symbol, int n, const char *known, size_t length) {
    bool made = true;
    for (int i = 0; i < n && made; i++) {
        if (length == 0 || !is_unknown(symbol[i]))
            label[i] = strdup(symbol[i]);
        else {
            label[i] = strndup(known, length);
            known = "";
        }
        made = label[i] != NULL;
    }
    return made;
}

char **symbol_labels(char *const *symbol, const int *word, int n, const char *text) {
    char **label = calloc((size_t)n + 1, sizeof *label);
    bool made = label != NULL;
    for (int i = 0, of_word; i < n && made; i += of_word) {
        bool has_word = word != NULL && word[i] >= 0;
        of_word = has_word ? symbols_of_word(word, n, i) : 1;
        size_t length = 0;
        const char *known = has_word && say_nothing(symbol + i, of_word) ? word_at(text, word[i], &length) : "";
        made = label_word(label + i, symbol + i, of_word, known, length);
    }
    if (!made) {
        symbol_labels_free(label, n);
        label = NULL;
    }
    return label;
}

void symbol_labels_free(char **label, int n) {
    for (int i = 0; label != NULL && i < n; i++)
        free(label[i]);
    free(label);
}
