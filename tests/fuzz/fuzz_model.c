/* Any bytes as a model: an error, or a model that describes itself and translates. */
#include "fuzz.h"

#include <softalign.h>

static bool is_small(const sa_model *m) {
    int64_t numbers = 0;
    for (int i = 0; i < sa_model_parameter_count(m); i++)
        numbers += sa_model_parameter(m, i).count;
    return numbers < 100000;
}

static void use(const sa_model *m) {
    const char *const lines[] = {"the dog sees 12 cats <b>", "x"};
    sa_translate_options o;
    sa_translation *t = NULL;
    sa_error e;
    for (int side = SA_SOURCE; side <= SA_TARGET; side++)
        for (int id = 0; id < sa_model_vocab_size(m, (sa_side)side); id++)
            require(sa_model_vocab_piece(m, (sa_side)side, id) != NULL);
    require(sa_model_normalization(m) != NULL);
    sa_model_metadata(m, "training");
    sa_translate_options_init(&o);
    o.threads = 1;
    o.beam_size = 2;
    o.max_length_factor = 0.1f;
    o.attention = sa_model_get_config(m)->dim_att > 0;
    sa_status status = sa_translate(m, lines, 2, &o, &t, &e);
    require(status == SA_OK || status == SA_NUMERIC || status == SA_MEMORY);
    if (status == SA_OK)
        sa_translations_free(t, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = fuzz_file(data, size, path);
    sa_model *m;
    sa_error e;
    sa_status status = sa_model_open(&m, path, &e);
    require(status == SA_OK || status == SA_FORMAT || status == SA_MEMORY);
    require((status == SA_OK) == (m != NULL) && (status == SA_OK || *e.text));
    if (status == SA_OK && is_small(m))
        use(m);
    sa_model_free(m);
    close(fd);
    return 0;
}
