/* Looks through the bytes of a SentencePiece model before SentencePiece itself does, which trusts much of what a
 * model says: it follows indices of the normalization table unchecked and can end the program. */
#ifndef TEXT_SUBWORD_CHECK_H
#define TEXT_SUBWORD_CHECK_H

#include "base/error.h"
#include "text/protect.h"

/* SA_OK when the bytes are a serialized ModelProto as subword_train() writes them: of that type, </s> and <unk>
 * first, then ordinary symbols that are UTF-8 with a finite score, or symbols for protected items; a normalization
 * table, if any, whose indices stay inside it. Symbols that occur twice are left to SentencePiece, which refuses
 * them. SA_FORMAT with what is wrong otherwise. */
sa_status subword_check(const char *bytes, size_t n, sa_vocab_type type, sa_error *error);

typedef struct subword_facts {
    char normalization[32];         /* the rule's name; "identity" where there is none */
    int placeholder[PROTECT_KINDS]; /* the symbol for items of that kind, -1: none */
} subword_facts;
/* Reads what SentencePiece does not tell out of bytes that passed subword_check. */
void subword_read_facts(subword_facts *out, const char *bytes, size_t n);

#endif
