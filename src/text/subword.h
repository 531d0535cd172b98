/* The C face of SentencePiece (Kudo and Richardson 2018), as thin as can be: whatever it throws or reports ends
 * here as an sa_status, and it prints nothing. Ids: 0 </s>, 1 <unk>, no <s>, no padding. */
#ifndef TEXT_SUBWORD_H
#define TEXT_SUBWORD_H

#ifdef __cplusplus
extern "C" {
#endif

#include "text/vocab_kind.h"

typedef struct subword subword;

/* Learns a model and appends its bytes, a serialized ModelProto, to `model`. text: sentences, each ended by LF,
 * free of tabs, zero bytes, U+2581 and U+2585, not all of them blank, no word of more than SUBWORD_MAX_WORD
 * characters. The same text and options give the same bytes. Where the text does not hold options->size symbols the
 * model is smaller; where options->size does not hold the characters of the text, the rarest of up to 2% of it are
 * left out. SA_USAGE when that is not enough, SA_DATA when no model comes of the text. */
sa_status subword_train(strbuf *model, const vocab_options *options, const char *text, size_t n, sa_error *error);

/* SentencePiece ends the program at words of 65,536 characters; a normalization can make 18 of one. */
enum { SUBWORD_MAX_WORD = 1000 };

/* Opens a model. The bytes must have passed subword_check(): SentencePiece trusts them. */
sa_status subword_open(subword **out, const char *bytes, size_t n, sa_error *error);
void subword_free(subword *s);

int subword_size(const subword *s);
const char *subword_piece(const subword *s, int id);
/* log p of a unigram piece; of BPE's pieces those that are merged first have more. */
float subword_score(const subword *s, int id);
/* The id of a piece; that of <unk> where there is none. */
int subword_find(const subword *s, const char *piece, size_t length);
/* Appends ids; text is UTF-8. Thread-safe, as is decoding. */
sa_status subword_encode(const subword *s, const char *text, size_t n, id_list *ids, sa_error *error);
/* Appends the pieces of those ids, zero-terminated; of what became <unk> the text itself. */
sa_status subword_pieces(const subword *s, const char *text, size_t n, strbuf *out, sa_error *error);
/* Appends text; all ids must be in range. `hole`, which must be no piece, stands for id i where holes[i]; holes may
 * be NULL. */
sa_status subword_decode(const subword *s, const int *ids, size_t n, const bool *holes, const char *hole,
                         strbuf *out, sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
