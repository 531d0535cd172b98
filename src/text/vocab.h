/* Vocabularies: text <-> symbol ids. Kinds behind one interface: words split at blanks with a frequency shortlist;
 * SentencePiece (BPE, unigram); and, for a source that is no text, what the file that a line names holds: colours
 * of a picture's pixels, or numbers that describe one. These two learn nothing, and have other ids than words:
 * below 2^24, as many for each line (vocab_length), 0 among them. Of words and subwords, id 0 is </s>, id 1 is
 * <unk> in both; neither ever comes from the letters of a text (a literal "</s>" is an ordinary or unknown word).
 * Blanks are U+0020, tab, CR and LF (which no line read from a file has). Bytes that are not UTF-8 count as U+FFFD.
 */
#ifndef TEXT_VOCAB_H
#define TEXT_VOCAB_H

#include "base/error.h"
#include "base/strbuf.h"
#include "text/protect.h"

enum { VOCAB_EOS = 0, VOCAB_UNK = 1 };

typedef struct vocab vocab;

/* A growing list of ids. */
typedef struct id_list {
    int *id;
    size_t n, capacity;
} id_list;
/* Appends an id; false when memory ran out. */
bool id_list_push(id_list *list, int id);
void id_list_free(id_list *list);

typedef struct vocab_options {
    sa_vocab_type type;
    int size;                  /* upper bound, </s> and <unk> included */
    const char *normalization; /* NULL: "identity", which changes nothing but blanks; "nfc" (text/nfc.h); with
                                  subwords also SentencePiece's "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf" */
    bool protect;              /* symbols for protected items (text/protect.h), in subwords only */
    int count, width;          /* of SA_VOCAB_PICTURE: pixels a side, and 3; of SA_VOCAB_FEATURES: vectors, and how
                                  wide they are */
} vocab_options;

/* Learning takes line after line. Words are counted, so that memory grows with the number of different ones (beyond
 * 256 MB of them the rarest are forgotten); SentencePiece needs some twenty times the bytes of the text that it
 * learns from, so let it have a sample of a large one. */
typedef struct vocab_learner vocab_learner;
sa_status vocab_learner_new(vocab_learner **out, const vocab_options *options, sa_error *error);
sa_status vocab_learner_add(vocab_learner *l, const char *line, size_t length, sa_error *error);
/* Learns; l can then only be freed. A size that the text cannot fill is lowered to what it holds. */
sa_status vocab_learner_end(vocab_learner *l, vocab **out, sa_error *error);
void vocab_learner_free(vocab_learner *l);

/* Bytes for the model file and back. The bytes are untrusted. */
sa_status vocab_save(const vocab *v, strbuf *out, sa_error *error);
sa_status vocab_load(vocab **out, sa_vocab_type type, const void *bytes, size_t n, sa_error *error);
void vocab_free(vocab *v);

sa_vocab_type vocab_type(const vocab *v);
int vocab_size(const vocab *v);
/* How many ids every text has that is not blank, </s> not counted; 0: texts differ. */
int vocab_length(const vocab *v);
/* The name of what is done to characters first. */
const char *vocab_normalization(const vocab *v);
/* The symbol for protected items of a kind, which a text's protect_symbol(kind) becomes; -1: the vocabulary
 * protects nothing. Texts for vocabularies that protect must have come through protect_write or protect_pair. */
int vocab_placeholder(const vocab *v, protect_kind kind);
bool vocab_protects(const vocab *v);
/* The symbol's own text ("▁man", "dog", "</s>"); constant for the vocabulary's life. In pieces of subwords the mark
 * is a blank, and nothing else is. */
#define VOCAB_SUBWORD_BLANK "\xE2\x96\x81" /* U+2581 */
const char *vocab_piece(const vocab *v, int id);
/* Of a subword: log p in a unigram vocabulary; in one of BPE more for what is merged earlier. */
double vocab_score(const vocab *v, int id);
/* The symbol's own text for people: "<number>" for the symbol of a protected number. */
const char *vocab_shown(const vocab *v, int id);
/* The symbol whose own text this is; <unk> where there is none, and for "</s>" unless that is a word of the text.
 */
int vocab_find(const vocab *v, const char *piece, size_t length);

/* Appends the ids of one line, without </s>. Thread-safe on one vocabulary. */
sa_status vocab_encode(const vocab *v, const char *text, size_t length, id_list *ids, sa_error *error);
/* The same, and the text that each id stands for, in which what became <unk> keeps its letters. A subword that
 * starts a word starts with a blank. Appends one zero-terminated text for each id. */
sa_status vocab_encode_texts(const vocab *v, const char *text, size_t length, id_list *ids, strbuf *texts,
                             sa_error *error);
/* Appends the ids of a source and its translation, </s> behind each, as models learn from them: with symbols for
 * what is to be protected in both, where the vocabularies have them. symbols: of each, without </s>. */
sa_status vocab_encode_pair(const vocab *const side[2], const char *const line[2], const size_t length[2],
                            id_list *ids, size_t symbols[2], sa_error *error);
/* Appends the text of ids; </s> ends it early. Symbol i is written as texts[i], in the form above, where texts and
 * texts[i] are not NULL; <unk> else as "<unk>" for words, " ⁇ " as SentencePiece does. */
sa_status vocab_decode(const vocab *v, const int *ids, size_t n, const char *const *texts, strbuf *out,
                       sa_error *error);

#endif
