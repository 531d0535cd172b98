#include "decode/pair_symbols.h"

#include <string.h>

sa_status pair_symbols_encode(symbols *source, symbols *target, const sa_model *owner, const char *const line[2],
                              sa_protect protect, bool read, sa_error *error) {
    const char *shown[2] = {line[0], read ? "" : line[1]};
    size_t length[2] = {strlen(shown[0]), strlen(shown[1])};
    strbuf text[2] = {{0}, {0}};
    if (protect != SA_PROTECT_OFF && sa_model_protects(owner)) {
        bool ok = protect_pair(text, shown, length, true);
        for (int side = 0; side < 2 && ok; side++)
            shown[side] = text[side].data ? text[side].data : "";
        if (!ok) {
            strbuf_free(&text[0]);
            strbuf_free(&text[1]);
            return sa_fail_memory(error, length[0] + length[1]);
        }
    }
    sa_status status = symbols_encode(source, owner->source, shown[0], false, error);
    if (status == SA_OK && read)
        status = symbols_read(target, owner->target, line[1], error);
    else if (status == SA_OK)
        status = symbols_encode(target, owner->target, shown[1], false, error);
    strbuf_free(&text[0]);
    strbuf_free(&text[1]);
    return status;
}
