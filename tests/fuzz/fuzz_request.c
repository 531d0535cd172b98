/* Bodies of requests to the server, as JSON and as forms: what is read is an object or an array, and of forms an
 * object of strings that are UTF-8. The first byte says how it is read; the content type stands before the first
 * line end. */
#include "fuzz.h"
#include "serve/body.h"
#include "serve/fields.h"

static void check_form(json_t *object) {
    const char *name;
    json_t *value;
    require(json_is_object(object));
    json_object_foreach(object, name, value) require(json_is_string(value));
}

/* Options out of whatever the object has. */
static void check_fields(json_t *object) {
    static const field *const tables[] = {search_fields, alignment_fields};
    static const char *const names[] = {"text", NULL};
    sa_translate_options search;
    sa_alignment_options links = {0};
    sa_error e;
    sa_translate_options_init(&search);
    sa_status status = fields_read(search_fields, object, &search, &e);
    require(status == SA_OK || (status == SA_USAGE && strlen(e.text) > 0));
    status = fields_read(alignment_fields, object, &links, &e);
    require(status == SA_OK || status == SA_USAGE);
    status = fields_known(object, tables, 2, names, &e);
    require(status == SA_OK || status == SA_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *end = size > 1 ? memchr(text + 1, '\n', size - 1) : NULL;
    if (end == NULL)
        return 0;
    bool forms = data[0] % 2 == 1;
    char type[128];
    snprintf(type, sizeof type, "%.*s", (int)(end - text - 1), text + 1);
    json_t *read;
    sa_error e;
    sa_status status = body_read(&read, type, forms, end + 1, size - (size_t)(end + 1 - text), &e);
    require(status == SA_OK ? json_is_object(read) || json_is_array(read) : read == NULL && strlen(e.text) > 0);
    if (json_is_object(read))
        check_fields(read);
    if (status == SA_OK && forms && strncmp(type, "multipart/form-data", 19) == 0)
        check_form(read);
    json_decref(read);
    return 0;
}
