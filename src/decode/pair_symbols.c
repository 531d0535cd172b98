#include "decode/pair_symbols.h"

#include <string.h>

sa_status pair_symbols_protect(strbuf text[2], const char *line[2], const sa_model *owner, sa_protect protect,
                               sa_error *error) {
    const size_t length[2] = {strlen(line[0]), strlen(line[1])};
    if (protect == SA_PROTECT_OFF || !sa_model_protects(owner))
        return SA_OK;
    if (!protect_pair(text, line, length, true))
        return sa_fail_memory(error, length[0] + length[1]);
    for (int side = 0; side < 2; side++)
        line[side] = text[side].data ? text[side].data : "";
    return SA_OK;
}

sa_status pair_symbols_encode(symbols *source, symbols *target, const sa_model *owner, const char *const line[2],
                              sa_protect protect, bool read, sa_error *error) {
    const char *shown[2] = {line[0], read ? "" : line[1]};
    strbuf text[2] = {{0}, {0}};
    sa_status status = pair_symbols_protect(text, shown, owner, protect, error);
    if (status == SA_OK)
        status = symbols_encode(source, owner->source, shown[0], false, error);
    if (status == SA_OK && read)
        status = symbols_read(target, owner->target, line[1], error);
    else if (status == SA_OK)
        status = symbols_encode(target, owner->target, shown[1], false, error);
    strbuf_free(&text[0]);
    strbuf_free(&text[1]);
    return status;
}
