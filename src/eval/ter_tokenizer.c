#include "eval/ter_tokenizer.h"

#include "base/utf8.h"

#include <string.h>

/* Characters that are words by themselves, as Tercom lists them: radicals, strokes, enclosed and compatibility
 * forms, extension A (its range of enclosed characters runs on to U+3F22, inside that), unified ideographs. Tercom
 * has patterns for runs of kana too, but they ask for two beginnings of the line and so never match. */
static const utf8_range ideographs[] = {
    {0x2E80, 0x2EFF}, {0x31C0, 0x31EF}, {0x3200, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0xFE30, 0xFE4F},
};
static const utf8_range asian_punctuation[] = {
    {0x3001, 0x3002}, {0x3008, 0x3011}, {0x3014, 0x301F}, {0x30FB, 0x30FB}, {0xFF01, 0xFF02}, {0xFF08, 0xFF09},
    {0xFF0C, 0xFF0C}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1B}, {0xFF1F, 0xFF1F}, {0xFF61, 0xFF65},
};

#define IN(table, c) utf8_in_ranges(c, table, sizeof(table) / sizeof(table)[0])

static unsigned asian(uint32_t c) {
    if (c < 0x2E80)
        return 0;
    return (IN(ideographs, c) ? SYMBOL : 0u) | (IN(asian_punctuation, c) ? PUNCTUATION : 0u);
}

static unsigned western_punctuation(uint32_t c) {
    return c > 0 && c < 0x80 && strchr(".,?:;!\"()", (int)c) ? PUNCTUATION : 0u;
}

static void normalize(cutter *c, bool asian_support) {
    static const cut_rule isolate = {SYMBOL | PUNCTUATION, 0, true, true};
    cutter_replace(c, "\n-", "");
    cutter_replace(c, "\n", " ");
    cutter_read_entities(c);
    cutter_pad(c);
    cutter_apply(c, &cut_western_rule[0], cut_western);
    cutter_replace(c, "'s ", " 's "); /* the possessive */
    for (int i = 1; i < CUT_WESTERN_RULES; i++)
        cutter_apply(c, &cut_western_rule[i], cut_western);
    if (asian_support)
        cutter_apply(c, &isolate, asian);
}

const char *ter_tokenize(cutter *c, const sa_ter_options *options, const char *line, size_t *length) {
    cutter_begin(c, line, strlen(line), !options->case_sensitive);
    if (options->normalized)
        normalize(c, options->asian_support);
    if (options->no_punct) {
        cutter_remove(c, PUNCTUATION, western_punctuation);
        if (options->asian_support)
            cutter_remove(c, PUNCTUATION, asian);
    }
    return cutter_tokens(c, length);
}
