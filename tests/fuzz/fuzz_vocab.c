/* A kind, then any bytes as its vocabulary: an error, or one that cuts and joins text, and reads back as it was. */
#include "fuzz.h"
#include "text/vocab.h"

static void cut_and_join(const vocab *v, const char *text) {
    id_list ids = {0};
    strbuf texts = {0}, out = {0};
    sa_error e;
    sa_status status = vocab_encode_texts(v, text, strlen(text), &ids, &texts, &e);
    require(status == SA_OK || status == SA_DATA || status == SA_MEMORY);
    if (status == SA_OK) {
        for (size_t i = 0; i < ids.n; i++)
            require(ids.id[i] >= 0 && ids.id[i] < vocab_size(v));
        status = vocab_decode(v, ids.id, ids.n, NULL, &out, &e);
        require(status == SA_OK || status == SA_DATA || status == SA_MEMORY);
    }
    id_list_free(&ids);
    strbuf_free(&texts);
    strbuf_free(&out);
}

static void save_and_load(const vocab *v) {
    strbuf bytes = {0}, again = {0};
    vocab *copy;
    sa_error e;
    require(vocab_save(v, &bytes, &e) == SA_OK);
    require(vocab_load(&copy, vocab_type(v), bytes.data, bytes.length, &e) == SA_OK);
    require(vocab_save(copy, &again, &e) == SA_OK);
    require(bytes.length == again.length && memcmp(bytes.data, again.data, bytes.length) == 0);
    require(strcmp(vocab_normalization(v), vocab_normalization(copy)) == 0 &&
            vocab_protects(v) == vocab_protects(copy));
    vocab_free(copy);
    strbuf_free(&bytes);
    strbuf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    vocab *v;
    sa_error e;
    sa_vocab_type type = (sa_vocab_type)(data[0] % 3);
    sa_status status = vocab_load(&v, type, data + 1, size - 1, &e);
    require(status == SA_OK || status == SA_FORMAT || status == SA_MEMORY);
    require((status == SA_OK) == (v != NULL));
    if (status != SA_OK)
        return 0;
    for (int id = 0; id < vocab_size(v); id++)
        require(vocab_piece(v, id) && vocab_shown(v, id));
    cut_and_join(v, "der hund caf\xC3\xA9 cafe\xCC\x81 </s> \xE2\x96\x81 x\xEF\xB7\x93y\xEF\xBF\xBD");
    cut_and_join(v, "");
    save_and_load(v);
    vocab_free(v);
    return 0;
}
