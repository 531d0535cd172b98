/* A line as symbols of a vocabulary, with the texts behind them where <unk> would lose them. */
#ifndef DECODE_SYMBOLS_H
#define DECODE_SYMBOLS_H

#include "text/vocab.h"

typedef struct symbols {
    id_list ids;
    const char **text; /* of each id, as vocab_encode_texts gives it; NULL unless asked for */
    strbuf bytes;      /* behind text */
    int *word;         /* of each id: see symbols_number; NULL before */
} symbols;

/* ids without </s>. On failure *out is empty. */
sa_status symbols_encode(symbols *out, const vocab *v, const char *line, bool texts, sa_error *error);
/* The same of a line that has the symbols' own texts, with blanks between; without text. */
sa_status symbols_read(symbols *out, const vocab *v, const char *line, sa_error *error);
/* Fills word: the word of each id in the line, counted from 0 at blanks. encoded: the text that the ids are of;
 * origin: word i of it lies in word origin[i] of the line, NULL: they have the same. first: words of `encoded`
 * before it, where it is cut out of a longer text. Symbols that are no text have no words: word stays NULL. */
sa_status symbols_number(symbols *s, const vocab *v, const char *encoded, size_t length, int first,
                         const int *origin, sa_error *error);
void symbols_free(symbols *s);
/* n of them, and their array; NULL is fine. */
void symbols_free_all(symbols *s, size_t n);

/* What a translation must begin with.
 *
 * In a model of words these are the words of the line. In a model of subwords a line that stops in the middle of a
 * word, as one does who is typing, must not be cut as if the word were whole: "Ein M" has the pieces "Ein" and "M",
 * but "Ein Mann" has not. So only the pieces of the words before the last are fixed; of the last word the letters
 * are, and search may use any pieces that agree with them: that is `open`, in the form of pieces. A blank at the
 * end of the line ends the last word: then `open` is the mark of a blank. A last word with letters that the
 * vocabulary does not know is fixed as it is cut. */
typedef struct forced_start {
    symbols symbols; /* with texts */
    int n;           /* of them are fixed */
    char *open;      /* NULL: nothing */
} forced_start;

sa_status forced_start_read(forced_start *out, const vocab *target, const char *line, sa_error *error);
void forced_start_free(forced_start *f);

#endif
