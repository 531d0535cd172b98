#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/restore.h"
#include "protecting_vocab.h"

static sa_error error;
static vocab *v;

enum { MOST = 16 };

/* What becomes of a target text, with those weights (rows of words and </s>, S columns; NULL: no attention). */
static void expect(const char *target, int S, const float *weights, size_t n, const held_item *items,
                   const char *wanted, int added) {
    id_list ids = {0};
    const char *texts[MOST] = {NULL};
    assert_int_equal(vocab_encode(v, target, strlen(target), &ids, &error), SA_OK);
    assert_true(id_list_push(&ids, VOCAB_EOS) && ids.n <= MOST);
    hypothesis h = {.ids = ids.id, .length = (int)ids.n, .attention = (float *)weights};
    written w;
    assert_int_equal(restore_items(&w, v, &h, S, texts, items, n, &error), SA_OK);
    strbuf text = {0};
    strbuf_puts(&text, "");
    assert_int_equal(vocab_decode(v, w.ids, w.n, w.text, &text, &error), SA_OK);
    assert_string_equal(text.data, wanted);
    assert_int_equal(w.added, added);
    strbuf_free(&text);
    written_free(&w);
    id_list_free(&ids);
}

static int symbols_of(const char *text) {
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, text, strlen(text), &ids, &error), SA_OK);
    int n = (int)ids.n;
    id_list_free(&ids);
    return n;
}

static void symbols_without_attention_are_filled_in_order(void **state) {
    (void)state;
    const held_item items[] = {
        {"<b>", PROTECT_TAG, 0}, {"12", PROTECT_NUMBER, 1}, {"</b>", PROTECT_TAG, 2}, {"7", PROTECT_NUMBER, 3}};
    expect(TAG "cats" TAG " see " NUMBER NUMBER ".", 5, NULL, 4, items, "<b>cats</b> see 127.", 0);
    expect(NUMBER " " TAG " " TAG " " NUMBER, 5, NULL, 4, items, "12 <b> </b> 7", 0);
}

static void the_item_looked_at_fills_a_symbol(void **state) {
    (void)state;
    const held_item items[] = {{"12", PROTECT_NUMBER, 0}, {"7", PROTECT_NUMBER, 1}};
    assert_int_equal(symbols_of(NUMBER NUMBER), 3); /* a blank, and the two */
    const float crossed[] = {.5f, .5f, .1f, .9f, .8f, .2f, .5f, .5f};
    expect(NUMBER NUMBER, 2, crossed, 2, items, "712", 0);
    /* The surest pair first: the second symbol takes 7 though the first looked at it more than at 12. */
    const float both[] = {.5f, .5f, .4f, .6f, .1f, .9f, .5f, .5f};
    expect(NUMBER NUMBER, 2, both, 2, items, "127", 0);
}

static void a_missing_item_follows_the_word_that_looked_at_it(void **state) {
    (void)state;
    const held_item items[] = {{"12", PROTECT_NUMBER, 0}, {"<b>", PROTECT_TAG, 1}};
    expect("dog cats", 2, NULL, 2, items, "dog cats 12 <b>", 2);
    expect("dog " NUMBER " cats", 2, NULL, 2, items, "dog 12 cats <b>", 1);
    expect("", 2, NULL, 2, items, "12 <b>", 2);
    int n = symbols_of("dog cats");
    float weights[2 * MOST] = {0};
    assert_true(n < MOST);
    weights[0] = weights[3] = 1; /* "dog" looks at 12, what follows at the tag, </s> at nothing */
    expect("dog cats", 2, weights, 2, items, n == 2 ? "dog 12 cats <b>" : "dog 12 <b> cats", 2);
    /* An item that the model could not see. */
    const held_item unseen[] = {{"12", PROTECT_NUMBER, -1}};
    expect("dog cats", 2, weights, 1, unseen, "dog cats 12", 1);
}

static void a_symbol_that_is_left_is_not_written(void **state) {
    (void)state;
    const held_item items[] = {{"12", PROTECT_NUMBER, 0}};
    expect("dog " NUMBER " cats " NUMBER TAG, 1, NULL, 1, items, "dog 12 cats ", 0);
    expect("dog " NUMBER, 1, NULL, 0, NULL, "dog ", 0);
}

static int make_vocab(void **state) {
    (void)state;
    v = protecting_vocab(SA_VOCAB_BPE);
    return 0;
}

static int free_vocab(void **state) {
    (void)state;
    vocab_free(v);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_without_attention_are_filled_in_order),
        cmocka_unit_test(the_item_looked_at_fills_a_symbol),
        cmocka_unit_test(a_missing_item_follows_the_word_that_looked_at_it),
        cmocka_unit_test(a_symbol_that_is_left_is_not_written),
    };
    return cmocka_run_group_tests(tests, make_vocab, free_vocab);
}
