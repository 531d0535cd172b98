#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture/picture.h"
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

static sa_error error;
static char folder[64], path[128];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/softalign-picture-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void refuse(sa_status status, const char *what) {
    picture p;
    assert_int_equal(picture_read(&p, path, &error), status);
    assert_null(p.rgb);
    assert_ptr_equal(strstr(error.text, path), error.text);
    if (!strstr(error.text, what))
        fail_msg("\"%s\" does not say \"%s\"", error.text, what);
}

/* ---- PNG --------------------------------------------------------------------------------------------- */

static void finish_png(png *p, const void *rows, size_t n) {
    end_png(p, rows, n);
    write_picture(path, p->bytes, p->n);
}

static void expect(int width, int height, const unsigned char *rgb) {
    picture p;
    if (picture_read(&p, path, &error) != SA_OK)
        fail_msg("%s", error.text);
    assert_int_equal(p.width, width);
    assert_int_equal(p.height, height);
    assert_memory_equal(p.rgb, rgb, 3 * (size_t)width * (size_t)height);
    picture_free(&p);
}

static void every_kind_of_png_becomes_rgb_on_white(void **state) {
    (void)state;
    png p;
    begin_png(&p, 2, 1, 8, 2);
    finish_png(&p, "\0\1\2\3\x10\x20\x30", 7);
    expect(2, 1, (const unsigned char *)"\1\2\3\x10\x20\x30");

    begin_png(&p, 2, 1, 8, 0);
    finish_png(&p, "\0\x11\xFF", 3);
    expect(2, 1, (const unsigned char *)"\x11\x11\x11\xFF\xFF\xFF");

    begin_png(&p, 8, 1, 1, 0); /* a bit a pixel */
    finish_png(&p, "\0\xA0", 2);
    expect(8, 1, (const unsigned char *)"\xFF\xFF\xFF\0\0\0\xFF\xFF\xFF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");

    begin_png(&p, 1, 1, 16, 2);
    finish_png(&p, "\0\x12\x34\xFF\xFF\0\0", 7);
    expect(1, 1, (const unsigned char *)"\x12\xFF\0");

    begin_png(&p, 2, 1, 8, 6); /* half of black, nothing of red */
    finish_png(&p, "\0\0\0\0\x80\xFF\0\0\0", 9);
    expect(2, 1, (const unsigned char *)"\x7F\x7F\x7F\xFF\xFF\xFF");

    begin_png(&p, 1, 1, 8, 4);
    finish_png(&p, "\0\x64\xFF", 3);
    expect(1, 1, (const unsigned char *)"\x64\x64\x64");

    begin_png(&p, 2, 1, 8, 3); /* a palette, whose first colour is transparent */
    put_chunk(&p, "PLTE", "\1\2\3\4\5\6", 6);
    put_chunk(&p, "tRNS", "\0", 1);
    finish_png(&p, "\0\0\1", 3);
    expect(2, 1, (const unsigned char *)"\xFF\xFF\xFF\4\5\6");
}

static void a_damaged_png_is_an_error(void **state) {
    (void)state;
    png p;
    begin_png(&p, 2, 2, 8, 2);
    finish_png(&p, "\0\1\2\3\4\5\6\0\1\2\3\4\5\6", 14);
    for (size_t n = 8; n < p.n - 12; n++) { /* what is behind the pixels is not missed: the end mark alone */
        write_picture(path, p.bytes, n);
        refuse(SA_DATA, "not a whole PNG picture");
    }
    for (size_t i = 16; i < p.n - 12; i++) { /* every byte of a chunk counts, its checksum too */
        p.bytes[i] ^= 0x55;
        write_picture(path, p.bytes, p.n);
        picture q;
        sa_status status = picture_read(&q, path, &error);
        assert_true(status == SA_DATA || (status == SA_OK && q.rgb));
        picture_free(&q);
        p.bytes[i] ^= 0x55;
    }
    begin_png(&p, 2, 2, 8, 2); /* a row of two is missing */
    finish_png(&p, "\0\1\2\3\4\5\6", 7);
    refuse(SA_DATA, "not a whole PNG picture");
    begin_png(&p, 2, 1, 8, 3); /* without the palette that it needs */
    finish_png(&p, "\0\0\1", 3);
    refuse(SA_DATA, "not a whole PNG picture");
}

static void sizes_of_nothing_and_of_too_much_are_errors_before_memory_is_asked_for(void **state) {
    (void)state;
    png p;
    begin_png(&p, 0, 0, 8, 2);
    finish_png(&p, "", 0);
    refuse(SA_DATA, "PNG");
    begin_png(&p, 1 << 20, 1 << 20, 8, 2);
    finish_png(&p, "\0", 1);
    refuse(SA_DATA, "1048576 x 1048576 pixels; at most");
    begin_png(&p, 0x7FFFFFFF, 0x7FFFFFFF, 8, 2);
    finish_png(&p, "\0", 1);
    refuse(SA_DATA, "PNG");
}

static void what_is_no_picture_is_an_error_that_says_so(void **state) {
    (void)state;
    static const char *const others[] = {"GIF89a", "<svg/>", "P6 1 1 255", "\x89PN", "\xFF\xD8", "BM"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_picture(path, others[i], strlen(others[i]));
        refuse(SA_DATA, "neither a PNG nor a JPEG");
    }
    write_picture(path, "", 0);
    refuse(SA_DATA, "empty");
    unlink(path);
    refuse(SA_IO, "No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    refuse(SA_IO, "is a folder");
    assert_int_equal(rmdir(path), 0);
}

/* ---- JPEG -------------------------------------------------------------------------------------------- */

static size_t make_jpeg(int width, int height, J_COLOR_SPACE in, J_COLOR_SPACE stored, int channels,
                        const unsigned char *pixel) {
    struct jpeg_compress_struct j;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL, *row = malloc((size_t)(width * channels));
    unsigned long size = 0;
    assert_non_null(row);
    for (int i = 0; i < width * channels; i++)
        row[i] = pixel[i % channels];
    j.err = jpeg_std_error(&errors);
    jpeg_create_compress(&j);
    jpeg_mem_dest(&j, &bytes, &size);
    j.image_width = (JDIMENSION)width;
    j.image_height = (JDIMENSION)height;
    j.input_components = channels;
    j.in_color_space = in;
    jpeg_set_defaults(&j);
    jpeg_set_colorspace(&j, stored);
    jpeg_set_quality(&j, 100, TRUE);
    jpeg_start_compress(&j, TRUE);
    while (j.next_scanline < j.image_height)
        jpeg_write_scanlines(&j, &row, 1);
    jpeg_finish_compress(&j);
    jpeg_destroy_compress(&j);
    write_picture(path, bytes, size);
    free(bytes);
    free(row);
    return size;
}

static void expect_colour(int width, int height, int red, int green, int blue) {
    const int wanted[3] = {red, green, blue};
    picture p;
    if (picture_read(&p, path, &error) != SA_OK)
        fail_msg("%s", error.text);
    assert_int_equal(p.width, width);
    assert_int_equal(p.height, height);
    for (int i = 0; i < 3 * width * height; i++)
        assert_true(abs(p.rgb[i] - wanted[i % 3]) <= 3);
    picture_free(&p);
}

static void every_kind_of_jpeg_becomes_rgb(void **state) {
    (void)state;
    make_jpeg(20, 9, JCS_RGB, JCS_YCbCr, 3, (const unsigned char *)"\xC8\x32\x64");
    expect_colour(20, 9, 200, 50, 100);
    make_jpeg(9, 20, JCS_GRAYSCALE, JCS_GRAYSCALE, 1, (const unsigned char *)"\x46");
    expect_colour(9, 20, 70, 70, 70);
    /* libjpeg leaves Adobe's mark in CMYK files: there the numbers are light */
    make_jpeg(16, 16, JCS_CMYK, JCS_CMYK, 4, (const unsigned char *)"\xFF\x80\x00\xFF");
    expect_colour(16, 16, 255, 128, 0);
    make_jpeg(16, 16, JCS_CMYK, JCS_YCCK, 4, (const unsigned char *)"\xFF\x80\x00\x80");
    expect_colour(16, 16, 128, 64, 0);
}

static void a_jpeg_that_is_cut_short_is_an_error(void **state) {
    (void)state;
    size_t n = make_jpeg(40, 40, JCS_RGB, JCS_YCbCr, 3, (const unsigned char *)"\xC8\x32\x64");
    for (size_t left = n - 3; left > 3; left -= left > 60 ? 31 : 1) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        refuse(SA_DATA, "not a whole JPEG picture");
    }
}

/* ---- scaling ----------------------------------------------------------------------------------------- */

static void a_picture_keeps_its_shape_in_the_middle_of_a_square(void **state) {
    (void)state;
    picture_place wide = picture_fit(200, 100, 64), high = picture_fit(10, 1000, 64), same = picture_fit(7, 7, 64);
    assert_true(wide.x == 0 && wide.y == 16 && wide.width == 64 && wide.height == 32);
    assert_true(high.width == 1 && high.height == 64 && high.x == 31);
    assert_true(same.x == 0 && same.y == 0 && same.width == 64 && same.height == 64);
    assert_int_equal(picture_fit(1 << 26, 1, 64).height, 1);
}

static void pixels_are_means_of_the_area_they_cover(void **state) {
    (void)state;
    unsigned char rgb[3 * 3 * 3], out[3 * 4 * 4];
    for (int i = 0; i < 27; i++)
        rgb[i] = (unsigned char)(i % 9 / 3 * 60);
    picture p = {3, 3, rgb};
    picture_square(&p, 3, out);
    assert_memory_equal(out, rgb, sizeof rgb);
    picture_square(&p, 1, out);
    assert_int_equal(out[0], 60);
    picture_square(&p, 2, out); /* (0 + 60/2) / 1.5, (60/2 + 120) / 1.5 */
    assert_true(out[0] == 20 && out[3] == 100 && out[6] == 20 && out[9] == 100);
    p.height = 1; /* white above and below */
    picture_square(&p, 3, out);
    assert_true(out[0] == 255 && out[9] == 0 && out[12] == 60 && out[15] == 120 && out[18] == 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_png_becomes_rgb_on_white),
        cmocka_unit_test(a_damaged_png_is_an_error),
        cmocka_unit_test(sizes_of_nothing_and_of_too_much_are_errors_before_memory_is_asked_for),
        cmocka_unit_test(what_is_no_picture_is_an_error_that_says_so),
        cmocka_unit_test(every_kind_of_jpeg_becomes_rgb),
        cmocka_unit_test(a_jpeg_that_is_cut_short_is_an_error),
        cmocka_unit_test(a_picture_keeps_its_shape_in_the_middle_of_a_square),
        cmocka_unit_test(pixels_are_means_of_the_area_they_cover),
    };
    return cmocka_run_group_tests_name("picture", tests, make_folder, remove_folder);
}
