#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw/canvas.h"
#include "draw/png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const canvas_colour black = {0, 0, 0, 255}, red = {255, 0, 0, 128}, none = {0};

static char folder[] = "/tmp/softalign.XXXXXX", path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/x.svg", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static canvas *opened(void) {
    canvas *c;
    sa_error error;
    assert_int_equal(canvas_open(&c, path, &error), SA_OK);
    return c;
}

/* What was written; the caller frees it. */
static char *finished(canvas *c) {
    sa_error error;
    assert_int_equal(canvas_finish(c, &error), SA_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_true(text && fread(text, 1, 65535, file) > 0);
    fclose(file);
    return text;
}

static void svg_holds_what_was_drawn_in_its_order(void **state) {
    (void)state;
    canvas *c = opened();
    canvas_page(c, 200, 100.5);
    canvas_box(c, (canvas_rect){1, 2.25, 3.006, 4}, (canvas_paint){.fill = red});
    canvas_path(c, (canvas_point[]){{0, 0}, {-1.5, 2}}, 2, false,
                (canvas_paint){.line = black, .width = 0.5, .dash = 3});
    canvas_text(c, &(canvas_label){"a < b & c", .x = 5, .y = 6, .size = 11, .colour = black, .angle = -45});
    char *text = finished(c);
    assert_string_equal(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"200\" "
        "height=\"100.5\" viewBox=\"0 0 200 100.5\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<rect x=\"1\" y=\"2.25\" width=\"3.01\" height=\"4\" fill=\"#ff0000\" fill-opacity=\"0.5\"/>\n"
        "<path d=\"M0 0L-1.5 2\" fill=\"none\" stroke=\"#000000\" stroke-width=\"0.5\" "
        "stroke-dasharray=\"3\" stroke-linejoin=\"round\"/>\n"
        "<text x=\"5\" y=\"6\" font-size=\"11\" text-anchor=\"start\" fill=\"#000000\" "
        "transform=\"rotate(-45 5 6)\">a &lt; b &amp; c</text>\n"
        "</svg>\n");
    free(text);
}

static void the_anchor_of_text_from_right_to_left_is_as_seen_on_the_page(void **state) {
    (void)state;
    canvas *c = opened();
    canvas_page(c, 100, 100);
    canvas_text(c, &(canvas_label){"قطة", .size = 11, .colour = black, .anchor = CANVAS_END});
    canvas_text(c, &(canvas_label){"(קיצור)", .size = 11, .colour = black, .anchor = CANVAS_START});
    canvas_text(c, &(canvas_label){"猫", .size = 11, .colour = black, .anchor = CANVAS_END});
    char *text = finished(c);
    assert_non_null(strstr(text, "text-anchor=\"start\" direction=\"rtl\" fill=\"#000000\">قطة<"));
    assert_non_null(strstr(text, "text-anchor=\"end\" direction=\"rtl\" fill=\"#000000\">(קיצור)<"));
    assert_non_null(strstr(text, "text-anchor=\"end\" fill=\"#000000\">猫<"));
    free(text);
    assert_true(canvas_is_rtl("12 قطة") && !canvas_is_rtl("12 cats قطة") && !canvas_is_rtl("12,5") &&
                !canvas_is_rtl("猫 قطة"));
}

static void labels_lose_what_would_disturb(void **state) {
    static const struct {
        const char *text, *clean;
    } row[] = {
        {"plain wörd", "plain wörd"},
        {"e\u0301\u200D👩🏽", "e\u0301\u200D👩🏽"},
        {"\x1B[31mred\n", "\uFFFD[31mred\uFFFD"},
        {"a\tb", "a b"},
        {"\u202Eevil\u2069", "\uFFFDevil\uFFFD"},
        {"caf\xE9", "caf\uFFFD"},
        {"  ", "␣␣"},
        {"\u3000", "␣"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        strbuf out = {0};
        canvas_clean(row[i].text, &out);
        assert_string_equal(out.data ? out.data : "", row[i].clean);
        strbuf_free(&out);
    }
}

static void a_label_that_is_too_wide_is_cut_between_letters(void **state) {
    (void)state;
    canvas *c = opened();
    strbuf out = {0};
    canvas_fit(c, "Straße", 10, 100, &out);
    assert_string_equal(out.data, "Straße");
    strbuf_clear(&out);
    canvas_fit(c, "Rindfleischetikettierung", 10, 60, &out);
    assert_true(strncmp(out.data, "Rindfl", 6) == 0 && strcmp(out.data + out.length - 3, "…") == 0);
    assert_true(canvas_text_width(c, out.data, 10, false) <= 60);
    strbuf_clear(&out);
    /* A mark goes with its letter: "xe…" would show another one. */
    canvas_fit(c, "xe\u0301e\u0301e\u0301e\u0301", 10, 23, &out);
    assert_string_equal(out.data, "xe\u0301…");
    strbuf_clear(&out);
    char *endless = calloc(1, 1000001);
    memset(endless, 'i', 1000000);
    canvas_fit(c, endless, 10, 60, &out);
    assert_true(out.length < 100 && canvas_text_width(c, out.data, 10, false) <= 60);
    free(endless);
    strbuf_free(&out);
    canvas_abandon(c);
}

static void an_image_becomes_a_png_that_unpacks_to_its_rows(void **state) {
    (void)state;
    const unsigned char rgba[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const canvas_image_data image = {rgba, 2, 2};
    strbuf file = {0};
    png_encode(&image, &file);
    const unsigned char *at = (const unsigned char *)file.data;
    assert_memory_equal(at, "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\2\0\0\0\2\x08\6\0\0\0", 29);
    assert_memory_equal(at + 37, "IDAT", 4);
    unsigned char rows[18];
    uLongf size = sizeof rows;
    assert_int_equal(uncompress(rows, &size, at + 41, at[36]), Z_OK);
    assert_int_equal(size, 18);
    assert_memory_equal(rows, "\0\1\2\3\4\5\6\7\x8\0\x9\xA\xB\xC\xD\xE\xF\x10", 18);
    assert_memory_equal(at + file.length - 12, "\0\0\0\0IEND\xAE\x42\x60\x82", 12);
    strbuf_free(&file);

    canvas *c = opened();
    canvas_page(c, 10, 10);
    canvas_image(c, &image, (canvas_rect){1, 1, 8, 8}, false);
    char *text = finished(c);
    assert_non_null(strstr(
        text, "<image x=\"1\" y=\"1\" width=\"8\" height=\"8\" "
              "style=\"image-rendering:optimizeSpeed;image-rendering:pixelated\" preserveAspectRatio=\"none\" "
              "xlink:href=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAAB"));
    free(text);
}

static void what_cannot_be_a_picture_is_refused(void **state) {
    (void)state;
    canvas *c;
    sa_error error;
    assert_int_equal(canvas_open(&c, "x.jpeg", &error), SA_USAGE);
    assert_true(c == NULL && strstr(error.text, ".svg, .png or .pdf"));
    assert_int_equal(canvas_open(&c, ".svg", &error), SA_USAGE);
    assert_true(canvas_has_pages("x.PDF") && !canvas_has_pages("x.svg") && !canvas_has_pages("x"));
}

static void a_picture_is_in_place_when_it_is_finished_and_not_before(void **state) {
    (void)state;
    unlink(path);
    canvas *c = opened();
    canvas_page(c, 10, 10);
    canvas_box(c, (canvas_rect){1, 1, 2, 2}, (canvas_paint){.fill = black, .line = none});
    assert_int_equal(access(path, F_OK), -1);
    free(finished(c));
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    c = opened();
    canvas_page(c, 10, 10);
    canvas_abandon(c);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);

    sa_error error;
    char elsewhere[80];
    snprintf(elsewhere, sizeof elsewhere, "%s/none/x.svg", folder);
    assert_int_equal(canvas_open(&c, elsewhere, &error), SA_OK);
    canvas_page(c, 10, 10);
    assert_int_equal(canvas_finish(c, &error), SA_IO);
    assert_non_null(strstr(error.text, elsewhere));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svg_holds_what_was_drawn_in_its_order),
        cmocka_unit_test(the_anchor_of_text_from_right_to_left_is_as_seen_on_the_page),
        cmocka_unit_test(labels_lose_what_would_disturb),
        cmocka_unit_test(a_label_that_is_too_wide_is_cut_between_letters),
        cmocka_unit_test(an_image_becomes_a_png_that_unpacks_to_its_rows),
        cmocka_unit_test(what_cannot_be_a_picture_is_refused),
        cmocka_unit_test(a_picture_is_in_place_when_it_is_finished_and_not_before),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
