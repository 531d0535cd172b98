#include "eval/bleu_tokenizer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "text/unicode_class.h"

#include <string.h>

typedef struct cut_method {
    const char *name;
    cut_sets *sets_of;
    void (*prepare)(cutter *c);
    const cut_rule *rule;
    int n_rules;
} cut_method;

static unsigned sets_of_intl(uint32_t c) {
    switch (unicode_class_of(c)) {
    case UNICODE_NUMBER:
        return NUMBER;
    case UNICODE_PUNCTUATION:
        return NOT_NUMBER | PUNCTUATION;
    case UNICODE_SYMBOL:
        return NOT_NUMBER | SYMBOL;
    default:
        return NOT_NUMBER;
    }
}

static unsigned sets_of_char(uint32_t c) {
    (void)c;
    return ANY;
}

/* What mteval-v13a.pl does first. */
static void prepare_13a(cutter *c) {
    cutter_replace(c, "<skipped>", "");
    cutter_replace(c, "-\n", "");
    cutter_replace(c, "\n", " ");
    cutter_read_entities(c);
    cutter_pad(c);
}

static const cut_rule intl_rule[] = {
    {NOT_NUMBER, PUNCTUATION, false, true},
    {PUNCTUATION, NOT_NUMBER, true, false},
    {SYMBOL, 0, true, true},
};
static const cut_rule char_rule[] = {{ANY, 0, true, true}};

static const cut_method methods[] = {
    [SA_TOK_13A] = {"13a", cut_western, prepare_13a, cut_western_rule, CUT_WESTERN_RULES},
    [SA_TOK_INTL] = {"intl", sets_of_intl, NULL, intl_rule, 3},
    [SA_TOK_CHAR] = {"char", sets_of_char, NULL, char_rule, 1},
    [SA_TOK_NONE] = {"none", NULL, NULL, NULL, 0},
};

static const cut_method *method_of(sa_bleu_tokenizer kind) {
    return (size_t)kind < sizeof methods / sizeof methods[0] ? &methods[kind] : NULL;
}

const char *bleu_tokenizer_name(sa_bleu_tokenizer kind) {
    const cut_method *method = method_of(kind);
    return method ? method->name : NULL;
}

static size_t length_without_trailing_space(const char *line) {
    size_t length = strlen(line), end = 0, n;
    for (size_t i = 0; i < length; i += n) {
        uint32_t c;
        n = utf8_decode(line + i, length - i, &c);
        if (!unicode_is_space(c))
            end = i + n;
    }
    return end;
}

const char *bleu_tokenize(bleu_tokenizer *t, const char *line, size_t *length) {
    const cut_method *method = method_of(t->kind);
    SA_ASSERT(method);
    cutter_begin(&t->cut, line, length_without_trailing_space(line), t->lowercase);
    if (method->prepare)
        method->prepare(&t->cut);
    for (int i = 0; i < method->n_rules; i++)
        cutter_apply(&t->cut, &method->rule[i], method->sets_of);
    return cutter_tokens(&t->cut, length);
}

void bleu_tokenizer_free(bleu_tokenizer *t) {
    cutter_free(&t->cut);
}
