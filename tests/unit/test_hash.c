#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

static void strings_give_the_published_fnv_1a_values(void **state) {
    (void)state;
    assert_true(hash_string("") == 0xcbf29ce484222325);
    assert_true(hash_string("a") == 0xaf63dc4c8601ec8c);
    assert_true(hash_string("foobar") == 0x85944171f73967e8);
}

static void every_byte_counts_zeros_and_high_ones_too(void **state) {
    (void)state;
    assert_true(hash_bytes("foobar", 6) == hash_string("foobar"));
    assert_true(hash_bytes("a\0", 2) != hash_bytes("a", 1));
    assert_true(hash_bytes("\0", 1) != hash_bytes("", 0));
    /* One step by hand: a byte above 127 is not sign-extended. */
    assert_true(hash_bytes("\xff", 1) == (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3);
    assert_true(hash_bytes(NULL, 0) == hash_string(""));
}

static void pieces_give_the_hash_of_the_whole(void **state) {
    (void)state;
    const char text[] = "foobar";
    for (size_t cut = 0; cut <= 6; cut++)
        assert_true(hash_more(hash_more(HASH_START, text, cut), text + cut, 6 - cut) == hash_string(text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_give_the_published_fnv_1a_values),
        cmocka_unit_test(every_byte_counts_zeros_and_high_ones_too),
        cmocka_unit_test(pieces_give_the_hash_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
