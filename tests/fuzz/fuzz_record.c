/* Any line of input in each format: one line of output in each format, and in JSON what is asked for. */
#include "fuzz.h"
#include "translation_writer.h"

static void check_line(const record *r, const sa_translation *t, output_format format, input_format input) {
    char *out = NULL;
    size_t n;
    translation_writer w = {.format = format, .word_scores = t != NULL, .hypotheses = t != NULL};
    w.file = open_memstream(&out, &n);
    require(w.file != NULL);
    w.alignment = format == OUTPUT_JSONL;
    write_translation(&w, r, t, 6);
    require(fclose(w.file) == 0 && n > 0 && out[n - 1] == '\n' && memchr(out, '\n', n) == out + n - 1);
    if (format == OUTPUT_JSONL) {
        json_t *object = json_loadb(out, n, JSON_REJECT_DUPLICATES, NULL);
        const char *text = json_string_value(json_object_get(object, "text"));
        require(json_is_object(object));
        require(t ? text && strcmp(text, t->hypothesis[0].text) == 0
                  : json_integer_value(json_object_get(object, "line")) == 7);
        json_decref(object);
    }
    if (format == OUTPUT_TSV && input == INPUT_TEXT && !strchr(r->line, '\t')) {
        size_t tabs = 0;
        for (size_t i = 0; i < n; i++)
            tabs += out[i] == '\t';
        require(tabs == 4);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    input_format input = (input_format)(data[0] % 3);
    char *line = malloc(size);
    require(line != NULL);
    /* What the reader hands out: UTF-8 without zeros. Here what it is made of matters less than what follows. */
    size_t n = 0;
    for (size_t i = 1; i < size; i++)
        if (data[i] != 0 && data[i] != '\n' && data[i] < 0x80)
            line[n++] = (char)data[i];
    line[n] = '\0';
    record r;
    sa_error e;
    require(record_make(&r, input, 1 + data[0] / 3 % 4, line, &e) == SA_OK);
    require((r.text == NULL) == (r.problem != NULL));
    char *symbol[] = {r.text, (char *)"</s>"};
    double scores[] = {-1, -2};
    float attention[] = {0.25f, 0.75f, 1, 0};
    sa_hypothesis h = {.text = r.text,
                       .score = -3,
                       .normalized = -1.5,
                       .length = 2,
                       .symbol = symbol,
                       .word_score = scores,
                       .attention = attention};
    sa_translation t = {.n = 1, .hypothesis = &h, .source_length = 2, .source_symbol = symbol, .pieces = 1};
    for (int format = OUTPUT_TEXT; format <= OUTPUT_N_BEST; format++)
        check_line(&r, r.text ? &t : NULL, (output_format)format, input);
    record_free(&r);
    return 0;
}
