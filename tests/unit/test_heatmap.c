#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "align/heatmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sa_error error;

static sa_heatmap made(char *const *row, int rows, char *const *column, int columns, const float *weight,
                       bool words) {
    sa_heatmap h;
    assert_int_equal(sa_heatmap_make(&h, row, rows, column, columns, weight, words, &error), SA_OK);
    return h;
}

static char *drawn(const sa_heatmap *h, sa_heatmap_options o) {
    char *text;
    assert_int_equal(sa_heatmap_text(h, &o, &text, &error), SA_OK);
    return text;
}

static char *const house[] = {"the", "white", "house", "</s>"}, *const maison[] = {"la", "maison", "blanche",
                                                                                   "</s>"};
static const float house_weight[] = {.5f, .1f, .4f, 0, .05f, .05f, .9f, 0, .1f, .75f, .1f, .05f, 0, 0, 0, 1};

/* ---- making ------------------------------------------------------------------------------------------ */

static void pieces_become_words_whose_rows_keep_their_sums(void **state) {
    (void)state;
    char *const row[] = {"▁ein", "▁Hunde", "futter", ".", "</s>"}, *const column[] = {"▁dog", "▁", "food", ".",
                                                                                      "</s>"};
    const float weight[] = {.5f,  .25f, .125f, .125f, 0, .25f, .25f, .25f, .25f, 0, 0,    0,   .5f,
                            .25f, .25f, 0,     0,     1, 0,    0,    0,    0,    0, .25f, .75f};
    sa_heatmap h = made(row, 5, column, 5, weight, true);
    assert_int_equal(h.rows, 3);
    assert_int_equal(h.columns, 3);
    assert_string_equal(h.row[0], "ein");
    assert_string_equal(h.row[1], "Hundefutter.");
    assert_string_equal(h.row[2], "</s>");
    assert_string_equal(h.column[0], "dog");
    assert_string_equal(h.column[1], "food.");
    const float expected[] = {.5f, .5f, 0, .25f / 3, (.75f + .75f + 1) / 3, .25f / 3, 0, .25f, .75f};
    for (int k = 0; k < 9; k++)
        assert_true(fabsf(h.weight[k] - expected[k]) < 1e-6f);
    sa_heatmap_free(&h);

    h = made(row, 5, column, 5, weight, false);
    assert_true(h.rows == 5 && h.columns == 5 && strcmp(h.row[1], "▁Hunde") == 0);
    assert_memory_equal(h.weight, weight, sizeof weight);
    sa_heatmap_free(&h);
}

static void words_and_texts_without_blanks_stay_as_they_are(void **state) {
    (void)state;
    char *const cat[] = {"▁小", "猫", "睡觉"};
    sa_heatmap h = made(cat, 3, house, 4, house_weight, true);
    assert_true(h.rows == 3 && h.columns == 4 && strcmp(h.row[1], "猫") == 0);
    sa_heatmap_free(&h);
    char *const whole[] = {"▁The", "▁cat"};
    h = made(whole, 2, whole, 2, house_weight, true);
    assert_true(h.rows == 2 && strcmp(h.row[0], "The") == 0 && strcmp(h.column[1], "cat") == 0);
    sa_heatmap_free(&h);
}

static void weights_that_are_none_count_as_the_nearest(void **state) {
    (void)state;
    char *const label[] = {"a\x1B[1m", " "};
    const float weight[] = {NAN, -1, 2, INFINITY};
    sa_heatmap h = made(label, 2, label, 2, weight, true);
    const float expected[] = {0, 0, 1, 1};
    assert_memory_equal(h.weight, expected, sizeof expected);
    assert_string_equal(h.row[0], "a\uFFFD[1m");
    assert_string_equal(h.row[1], "␣");
    sa_heatmap_free(&h);
}

static void the_largest_weight_of_a_word_is_marked_and_never_that_of_the_end(void **state) {
    (void)state;
    const float weight[] = {.5f, .5f, 0, 0, 0, .1f, .2f, .7f, 0, 0, 0, 0, 1, 0, 0, 0};
    sa_heatmap h = made(maison, 4, house, 4, weight, true);
    assert_int_equal(sa_heatmap_mark_largest(&h, &error), SA_OK);
    const unsigned char expected[16] = {1};
    assert_memory_equal(h.mark, expected, 16);
    sa_heatmap_free(&h);
}

/* ---- text -------------------------------------------------------------------------------------------- */

static void text_has_blocks_of_grey_and_brackets_around_links(void **state) {
    (void)state;
    sa_heatmap h = made(maison, 4, house, 4, house_weight, true);
    assert_int_equal(sa_heatmap_mark_largest(&h, &error), SA_OK);
    char *text = drawn(&h, (sa_heatmap_options){.width = 80});
    assert_string_equal(text, "        1  2  3  4 \n"
                              "     la[▒▒]   ▒▒   \n"
                              " maison      [██]  \n"
                              "blanche   [▓▓]     \n"
                              "   </s>          ██\n"
                              "        1:the 2:white 3:house 4:</s>\n");
    free(text);
    sa_heatmap_free(&h);
}

static void text_in_colours_has_numbers_that_stand_out(void **state) {
    (void)state;
    char *const one[] = {"猫"};
    const float weight[] = {1};
    sa_heatmap h = made(one, 1, one, 1, weight, true);
    char *text = drawn(&h, (sa_heatmap_options){.width = 80, .colours = true, .numbers = true});
    assert_string_equal(text, "   1 \n"
                              "猫 \033[48;5;23;38;5;231m1.\033[0m\n"
                              "   1:猫\n");
    free(text);
    text = drawn(&h, (sa_heatmap_options){.width = 80, .colours = true, .palette = SA_PALETTE_PAPER});
    assert_non_null(strstr(text, "猫 \033[48;5;231;38;5;16m  \033[0m\n"));
    free(text);
    sa_heatmap_free(&h);
}

static void text_from_right_to_left_does_not_turn_what_stands_beside_it(void **state) {
    (void)state;
    char *const cat[] = {"قطة"};
    const float weight[] = {0.3f};
    sa_heatmap h = made(cat, 1, cat, 1, weight, true);
    char *text = drawn(&h, (sa_heatmap_options){.width = 80});
    assert_string_equal(text, "    1 \n"
                              "\u200Eقطة\u200E ░░\n"
                              "    1:\u200Eقطة\u200E\n");
    free(text);
    sa_heatmap_free(&h);
}

/* 120 words in 80 columns: parts of as many as fit, numbers that do not run together, lists that are wrapped. */
static void text_of_long_sentences_stays_in_its_width(void **state) {
    (void)state;
    enum { N = 120 };
    char name[N][8], *label[N];
    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "w%d", i);
        label[i] = name[i];
    }
    float *weight = calloc(N * N, sizeof *weight);
    sa_heatmap h = made(label, N, label, N, weight, true);
    char *text = drawn(&h, (sa_heatmap_options){.width = 80});
    int lines = 0, longest = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        lines++;
        longest = end - line > longest ? (int)(end - line) : longest;
    }
    assert_true(longest <= 80 && lines > 5 * N && lines < 6 * N);
    assert_non_null(strstr(text, " 101   103   105 "));
    free(text);
    free(weight);
    sa_heatmap_free(&h);
}

/* ---- pictures ---------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/softalign.XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* The file of that name in the folder, which is removed. */
static char *taken(const char *name) {
    char path[80];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(text && fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return text;
}

static void a_picture_has_a_label_for_each_word_and_a_box_for_each_weight(void **state) {
    (void)state;
    char path[80];
    snprintf(path, sizeof path, "%s/x.svg", folder);
    sa_heatmap h = made(maison, 4, house, 4, house_weight, true);
    const sa_heatmap_options o = {0};
    assert_int_equal(sa_heatmaps_write(&h, 1, path, &o, NULL, &error), SA_OK);
    char *plain = taken("x.svg");
    for (int i = 0; i < 4; i++) {
        char label[32];
        snprintf(label, sizeof label, ">%s</text>", i < 3 ? house[i] : "&lt;/s&gt;");
        assert_int_equal(count(plain, label), i < 3 ? 1 : 2);
        snprintf(label, sizeof label, ">%s</text>", i < 3 ? maison[i] : "&lt;/s&gt;");
        assert_int_equal(count(plain, label), i < 3 ? 1 : 2);
    }
    size_t cells = 11; /* that are not 0 */
    assert_int_equal(count(plain, "width=\"20\" height=\"20\""), cells);
    assert_int_equal(count(plain, "fill=\"#08306b\""), 2); /* weight 1, and the end of the scale */

    assert_int_equal(sa_heatmap_mark_largest(&h, &error), SA_OK);
    assert_int_equal(sa_heatmaps_write(&h, 1, path, &(sa_heatmap_options){.numbers = true}, NULL, &error), SA_OK);
    char *marked = taken("x.svg");
    assert_int_equal(count(marked, "stroke=\"#d55e00\""), 4); /* three links and the legend */
    assert_int_equal(count(marked, ">.75</text>") + count(marked, ">1.0</text>"), 2);
    assert_int_equal(count(plain, "stroke=\"#d55e00\""), 0);
    free(plain);
    free(marked);
    sa_heatmap_free(&h);
}

static void several_pictures_are_numbered_files_where_there_are_no_pages(void **state) {
    (void)state;
    char path[80];
    snprintf(path, sizeof path, "%s/x.svg", folder);
    sa_heatmap h[3] = {made(maison, 4, house, 4, house_weight, true), made(maison, 0, house, 0, house_weight, true),
                       made(maison, 1, house, 1, house_weight, true)};
    h[2].title = strdup("a < b");
    assert_int_equal(sa_heatmaps_write(h, 3, path, &(sa_heatmap_options){0}, NULL, &error), SA_OK);
    char *page[3] = {taken("x-1.svg"), taken("x-2.svg"), taken("x-3.svg")};
    assert_non_null(strstr(page[0], ">maison<"));
    assert_non_null(strstr(page[1], ">(empty: nothing to draw)<"));
    assert_non_null(strstr(page[2], ">a &lt; b<"));
    for (int i = 0; i < 3; i++) {
        free(page[i]);
        sa_heatmap_free(&h[i]);
    }
}

static void large_matrices_have_small_cells(void **state) {
    (void)state;
    enum { N = 200 };
    char *label[N];
    for (int i = 0; i < N; i++)
        label[i] = (char *)(i % 3 ? "mot" : "Donaudampfschifffahrtsgesellschaftskapitän");
    float *weight = calloc(N * N, sizeof *weight);
    for (int i = 0; i < N; i++)
        weight[i * N + i] = 0.5f;
    char path[80];
    snprintf(path, sizeof path, "%s/x.svg", folder);
    sa_heatmap h = made(label, N, label, N, weight, true);
    assert_int_equal(sa_heatmaps_write(&h, 1, path, &(sa_heatmap_options){0}, NULL, &error), SA_OK);
    char *text = taken("x.svg");
    assert_int_equal(count(text, "width=\"12\" height=\"12\""), N);
    assert_int_equal(count(text, "…</text>"), 2 * 67);
    double width = 0, height = 0;
    assert_int_equal(sscanf(strstr(text, " width="), " width=\"%lf\" height=\"%lf\"", &width, &height), 2);
    assert_true(width > 2400 && width < 2800 && height > 2400 && height < 2800);
    free(text);
    free(weight);
    sa_heatmap_free(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_words_whose_rows_keep_their_sums),
        cmocka_unit_test(words_and_texts_without_blanks_stay_as_they_are),
        cmocka_unit_test(weights_that_are_none_count_as_the_nearest),
        cmocka_unit_test(the_largest_weight_of_a_word_is_marked_and_never_that_of_the_end),
        cmocka_unit_test(text_has_blocks_of_grey_and_brackets_around_links),
        cmocka_unit_test(text_in_colours_has_numbers_that_stand_out),
        cmocka_unit_test(text_from_right_to_left_does_not_turn_what_stands_beside_it),
        cmocka_unit_test(text_of_long_sentences_stays_in_its_width),
        cmocka_unit_test(a_picture_has_a_label_for_each_word_and_a_box_for_each_weight),
        cmocka_unit_test(several_pictures_are_numbered_files_where_there_are_no_pages),
        cmocka_unit_test(large_matrices_have_small_cells),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
