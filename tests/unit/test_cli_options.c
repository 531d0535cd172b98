#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

typedef enum colour { RED, GREEN, BLUE } colour;

typedef struct arguments {
    bool quiet, loud;
    int width;
    int64_t updates;
    uint64_t seed;
    float rate;
    double share;
    const char *input, *source, *target;
    option_list layers;
    colour colour;
    char shape[8];
} arguments;

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const shapes[] = {"round", "square", NULL};

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return CLI_OK;
}

static const option options[] = {
    OPT_SECTION("All kinds"),
    OPT_FLAG("quiet", 'q', arguments, quiet, "say less"),
    OPT_FLAG("loud", 'l', arguments, loud, "say more"),
    OPT_NUMBER("width", 'w', "N", arguments, width, BETWEEN(1, 100), "columns"),
    OPT_NUMBER("updates", 0, "N", arguments, updates, AT_LEAST(0), "updates"),
    OPT_NUMBER("seed", 0, "N", arguments, seed, ANY, "seed"),
    OPT_NUMBER("rate", 0, "X", arguments, rate, POSITIVE, "rate"),
    OPT_NUMBER("share", 0, "X", arguments, share, FRACTION, "share"),
    OPT_STRING("input-format", 0, "NAME", arguments, target, "another that begins with the name of one"),
    OPT_STRING("input", 'i', "FILE", arguments, input, "a file"),
    OPT_PAIR("train", 0, "SRC TGT", arguments, source, target, "two files"),
    OPT_LIST("layers", 0, "FILE...", arguments, layers, "many files"),
    OPT_ENUM("colour", 0, "NAME", arguments, colour, colours, "paint"),
    OPT_NAME("shape", 0, "NAME", arguments, shape, shapes, NULL, "form"),
    OPT_END,
};

static const command painter = {
    .name = "paint",
    .summary = "paint",
    .synopsis = "[OPTION]... [FILE]...",
    .about = "Paints.",
    .examples = "  softalign paint\n",
    .options = options,
    .most_arguments = 3,
    .run = run,
};

enum { MOST = 80 };

/* A command line of the words of a text, and what came of it. */
typedef struct parsed {
    arguments a;
    int status, n;
    char text[256];
    char *argv[MOST];
    char message[1024]; /* standard error */
} parsed;

static void parse(parsed *p, const char *line) {
    *p = (parsed){.a = {.width = 7, .shape = "round"}};
    snprintf(p->text, sizeof p->text, "paint %s", line);
    int argc = 0;
    for (char *word = strtok(p->text, " "); word != NULL && argc < MOST; word = strtok(NULL, " "))
        p->argv[argc++] = word;
    FILE *file = tmpfile();
    assert_non_null(file);
    int old = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    p->status = options_parse(&painter, &p->a, argc, p->argv, &p->n);
    dup2(old, STDERR_FILENO);
    close(old);
    rewind(file);
    p->message[fread(p->message, 1, sizeof p->message - 1, file)] = '\0';
    fclose(file);
}

static void expect_refusal(const char *line, const char *message) {
    parsed p;
    parse(&p, line);
    assert_int_equal(p.status, CLI_USAGE);
    char first[1024], expected[1024];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(p.message, "\n"), p.message);
    snprintf(expected, sizeof expected, "softalign: %s", message);
    assert_string_equal(first, expected);
    assert_non_null(strstr(p.message, "\nTry 'softalign paint --help'.\n"));
}

static void test_every_kind_of_value_is_stored(void **state) {
    (void)state;
    parsed p;
    parse(&p, "-q --width 12 --updates=9000000000 --seed 18446744073709551615 --rate 1e-3 --share .5 --input - "
              "--colour blue --shape square");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_string_equal(p.message, "");
    assert_int_equal(p.n, 0);
    assert_true(p.a.quiet);
    assert_false(p.a.loud);
    assert_int_equal(p.a.width, 12);
    assert_true(p.a.updates == INT64_C(9000000000));
    assert_true(p.a.seed == UINT64_MAX);
    assert_true(p.a.rate == 1e-3f);
    assert_true(p.a.share == 0.5);
    assert_string_equal(p.a.input, "-");
    assert_int_equal(p.a.colour, BLUE);
    assert_string_equal(p.a.shape, "square");
}

static void test_options_not_given_keep_their_defaults(void **state) {
    (void)state;
    parsed p;
    parse(&p, "");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_int_equal(p.a.width, 7);
    assert_string_equal(p.a.shape, "round");
    assert_null(p.a.input);
}

static void test_short_options_join_and_take_what_follows(void **state) {
    (void)state;
    parsed p;
    parse(&p, "-qlw12 -ifile");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_true(p.a.quiet && p.a.loud);
    assert_int_equal(p.a.width, 12);
    assert_string_equal(p.a.input, "file");
    parse(&p, "-qw 13");
    assert_int_equal(p.a.width, 13);
}

static void test_the_last_of_two_wins(void **state) {
    (void)state;
    parsed p;
    parse(&p, "--width 3 -w 4");
    assert_int_equal(p.a.width, 4);
}

static void test_arguments_move_to_the_front_in_order(void **state) {
    (void)state;
    parsed p;
    parse(&p, "one -w 5 - --quiet -- -q");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.argv[0], "one");
    assert_string_equal(p.argv[1], "-");
    assert_string_equal(p.argv[2], "-q");
    expect_refusal("one two three four", "unexpected argument 'four'");
}

static void test_a_preview_sets_values_and_leaves_the_arguments_alone(void **state) {
    (void)state;
    char *argv[] = {"paint", "--width", "5", "file", "--quiet", NULL};
    char *before[sizeof argv / sizeof *argv];
    memcpy(before, argv, sizeof argv);
    arguments a = {0};
    assert_int_equal(options_preview(&painter, &a, 5, argv), CLI_GO_ON);
    assert_int_equal(a.width, 5);
    assert_true(a.quiet);
    assert_memory_equal(argv, before, sizeof argv);
}

static void test_a_pair_takes_two_files(void **state) {
    (void)state;
    parsed p;
    parse(&p, "--train a b -q");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_string_equal(p.a.source, "a");
    assert_string_equal(p.a.target, "b");
    assert_true(p.a.quiet);
    parse(&p, "--train=a -");
    assert_string_equal(p.a.source, "a");
    assert_string_equal(p.a.target, "-");
    expect_refusal("--train a -q", "option --train needs two files: --train SRC TGT (for one that starts with a "
                                   "dash, write ./-)");
}

static void test_a_list_takes_all_up_to_the_next_option_and_grows(void **state) {
    (void)state;
    parsed p;
    parse(&p, "x --layers a - b -q y --layers=c z");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_int_equal(p.a.layers.n, 4);
    static const char *const expected[] = {"a", "-", "b", "c"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(p.a.layers.text[i], expected[i]);
    assert_true(p.a.quiet);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.argv[0], "x");
    assert_string_equal(p.argv[1], "y");
    assert_string_equal(p.argv[2], "z");
    parse(&p, "--layers a -- b");
    assert_int_equal(p.a.layers.n, 1);
    assert_int_equal(p.n, 1);
    char many[256] = "--layers";
    for (int i = 0; i <= OPTION_LIST_MOST; i++)
        strcat(many, " a");
    expect_refusal(many, "option --layers takes at most 64");
}

static void test_long_names_may_be_shortened_while_unambiguous(void **state) {
    (void)state;
    parsed p;
    parse(&p, "--col green --wi=9");
    assert_int_equal(p.status, CLI_GO_ON);
    assert_int_equal(p.a.colour, GREEN);
    assert_int_equal(p.a.width, 9);
    /* A whole name wins over longer ones that begin with it. */
    parse(&p, "--input file");
    assert_string_equal(p.a.input, "file");
    expect_refusal("--inp file", "option --inp could be any of --input-format, --input");
    expect_refusal("--s 1", "option --s could be any of --seed, --share, --shape");
}

static void test_unknown_options_are_named_with_the_nearest(void **state) {
    (void)state;
    expect_refusal("--wdith 5", "unknown option --wdith; did you mean --width?");
    expect_refusal("--wdith=5", "unknown option --wdith; did you mean --width?");
    expect_refusal("--xyzzy", "unknown option --xyzzy");
    expect_refusal("-qz", "unknown option -z");
}

static void test_values_out_of_range_are_refused_with_the_bounds(void **state) {
    (void)state;
    expect_refusal("-w 0", "option --width: 0 is out of range; it must be at least 1 and at most 100");
    expect_refusal("-w 101", "option --width: 101 is out of range; it must be at least 1 and at most 100");
    expect_refusal("--updates -1", "option --updates: -1 is out of range; it must be at least 0");
    expect_refusal("--rate 0", "option --rate: 0 is out of range; it must be above 0");
    expect_refusal("--share 1", "option --share: 1 is out of range; it must be at least 0 and below 1");
    parsed p;
    parse(&p, "--share 0 -w 100");
    assert_int_equal(p.status, CLI_GO_ON);
}

static void test_texts_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    expect_refusal("-w 5.0", "option --width: '5.0' is not a whole number");
    expect_refusal("-w=5", "option --width: '=5' is not a whole number");
    expect_refusal("--seed +1", "option --seed: '+1' is not a whole number from 0");
    expect_refusal("--rate 0,5", "option --rate: '0,5' is not a number (written like 0.5 or 1e-6)");
    expect_refusal("--rate 1e99", "option --rate: 1e99 is too large a number");
    expect_refusal("--updates 9223372036854775808", "option --updates: 9223372036854775808 is too large a number");
}

static void test_names_that_are_not_offered_are_refused(void **state) {
    (void)state;
    expect_refusal("--colour pink", "option --colour: there is no 'pink'; it must be red, green or blue");
    expect_refusal("--shape roun", "option --shape: there is no 'roun'; it must be round or square");
}

static void test_missing_and_superfluous_values_are_refused(void **state) {
    (void)state;
    expect_refusal("--width", "option --width needs an argument: --width N");
    expect_refusal("-qw", "option --width needs an argument: --width N");
    expect_refusal("--quiet=yes", "option --quiet takes no argument");
}

static void test_help_shows_names_and_defaults(void **state) {
    (void)state;
    arguments a = {.width = 7, .rate = 0.1f, .input = "-", .colour = GREEN, .shape = "round"};
    char text[4096];
    FILE *file = tmpfile();
    assert_non_null(file);
    options_help(file, &painter, &a);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "\nAll kinds:\n  -q, --quiet                 say less\n"));
    assert_non_null(strstr(text, "\n  -w, --width N               columns [7]\n"));
    assert_non_null(strstr(text, "\n      --rate X                rate [0.1]\n"));
    assert_non_null(strstr(text, "\n  -i, --input FILE            a file [-]\n"));
    assert_non_null(strstr(text, "\n      --train SRC TGT         two files\n"));
    assert_non_null(strstr(text, "\n      --colour NAME           paint: red, green or blue [green]\n"));
    assert_non_null(strstr(text, "\n      --shape NAME            form: round or square [round]\n"));
}

static void test_near_names_are_found_and_far_ones_not(void **state) {
    (void)state;
    assert_string_equal(nearest_name("sqare", shapes), "square");
    assert_string_equal(nearest_name("roudn", shapes), "round");
    assert_null(nearest_name("triangle", shapes));
    assert_null(nearest_name("", shapes));
    char endless[200];
    memset(endless, 'r', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(nearest_name(endless, shapes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_value_is_stored),
        cmocka_unit_test(test_options_not_given_keep_their_defaults),
        cmocka_unit_test(test_short_options_join_and_take_what_follows),
        cmocka_unit_test(test_the_last_of_two_wins),
        cmocka_unit_test(test_arguments_move_to_the_front_in_order),
        cmocka_unit_test(test_a_preview_sets_values_and_leaves_the_arguments_alone),
        cmocka_unit_test(test_a_pair_takes_two_files),
        cmocka_unit_test(test_a_list_takes_all_up_to_the_next_option_and_grows),
        cmocka_unit_test(test_long_names_may_be_shortened_while_unambiguous),
        cmocka_unit_test(test_unknown_options_are_named_with_the_nearest),
        cmocka_unit_test(test_values_out_of_range_are_refused_with_the_bounds),
        cmocka_unit_test(test_texts_that_are_no_numbers_are_refused),
        cmocka_unit_test(test_names_that_are_not_offered_are_refused),
        cmocka_unit_test(test_missing_and_superfluous_values_are_refused),
        cmocka_unit_test(test_help_shows_names_and_defaults),
        cmocka_unit_test(test_near_names_are_found_and_far_ones_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
