#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256], path[300];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_safetensors.XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void put_bytes(const void *bytes, size_t n) {
    assert_int_equal(file_write_whole(path, &(file_chunk){bytes, n}, 1, NULL), SA_OK);
}

/* Header length, header and data_size bytes of data. */
static void put_header(const char *json, size_t data_size) {
    static const char zeros[4096];
    assert_true(data_size <= sizeof zeros);
    uint64_t length = strlen(json);
    file_chunk chunks[] = {{&length, 8}, {json, length}, {zeros, data_size}};
    assert_int_equal(file_write_whole(path, chunks, 3, NULL), SA_OK);
}

static sa_error open_fails(void) {
    sa_error e;
    st_file *file;
    assert_int_equal(st_open(&file, path, &e), SA_FORMAT);
    assert_null(file);
    assert_int_equal(strncmp(e.text, path, strlen(path)), 0);
    return e;
}

static void assert_header_fails(const char *json, size_t data_size, const char *reason) {
    put_header(json, data_size);
    sa_error e = open_fails();
    if (!strstr(e.text, reason))
        fail_msg("%s\ngave: %s\nnot:  %s", json, e.text, reason);
}

static st_file *open_header(const char *json, size_t data_size) {
    put_header(json, data_size);
    st_file *file;
    sa_error e;
    if (st_open(&file, path, &e))
        fail_msg("%s: %s", json, e.text);
    return file;
}

static const int8_t i8[3] = {-1, 2, -3};
static const float f32[6] = {1, -2, 3.5F, 0, 5, 6};
static const uint8_t u8[5] = {0, 1, 2, 254, 255};
static const uint16_t bf16[4] = {0x3f80, 0x4000, 0xbf80, 0x7f80};
static const int64_t i64[1] = {INT64_MIN};
static const int32_t i32[8] = {1, 2, 3, 4, 5, 6, 7, INT32_MIN};

static const st_tensor all_types[] = {
    {"bytes.i8", ST_I8, 1, {3}, i8, 3},   {"W \"\xc3\xa9\" \\/\n", ST_F32, 2, {2, 3}, f32, 24},
    {"text", ST_U8, 1, {5}, u8, 5},       {"half", ST_BF16, 2, {4, 1}, bf16, 8},
    {"scalar", ST_I64, 0, {0}, i64, 8},   {"deep", ST_I32, 4, {2, 1, 2, 2}, i32, 32},
    {"none", ST_F32, 2, {0, 7}, NULL, 0},
};
enum { N_ALL = sizeof all_types / sizeof *all_types };
static const st_entry metadata[] = {{"format", "softalign 1"}, {"config", "{\"dim\":3}\n\t\xe2\x82\xac"}, {"", ""}};

static void write_all_types(void) {
    sa_error e;
    if (st_write(path, all_types, N_ALL, metadata, 3, &e))
        fail_msg("%s", e.text);
}

static void all_types_come_back_as_written(void **state) {
    (void)state;
    write_all_types();
    st_file *file;
    sa_error e;
    assert_int_equal(st_open(&file, path, &e), SA_OK);
    assert_string_equal(st_path(file), path);
    assert_int_equal(st_count(file), N_ALL);
    for (int i = 0; i < N_ALL; i++) {
        const st_tensor *wrote = &all_types[i], *t = st_find(file, wrote->name);
        assert_non_null(t);
        assert_string_equal(t->name, wrote->name);
        assert_int_equal(t->dtype, wrote->dtype);
        assert_int_equal(t->rank, wrote->rank);
        assert_memory_equal(t->dim, wrote->dim, sizeof t->dim);
        assert_int_equal(t->bytes, wrote->bytes);
        assert_non_null(t->data);
        if (t->bytes)
            assert_memory_equal(t->data, wrote->data, t->bytes);
    }
    assert_null(st_find(file, "nothing"));
    assert_null(st_find(file, "__metadata__"));
    for (int i = 0; i < 3; i++)
        assert_string_equal(st_metadata(file, metadata[i].key), metadata[i].value);
    assert_null(st_metadata(file, "nothing"));
    st_close(file);
}

static void tensors_lie_by_descending_type_then_in_the_order_given(void **state) {
    (void)state;
    write_all_types();
    st_file *file;
    assert_int_equal(st_open(&file, path, NULL), SA_OK);
    const int order[N_ALL] = {4, 1, 5, 6, 3, 0, 2};
    const int places[N_ALL] = {0, 8, 32, 64, 64, 72, 75};
    const char *start = st_at(file, 0)->data;
    assert_int_equal((uintptr_t)start % 64, 0);
    for (int i = 0; i < N_ALL; i++) {
        const st_tensor *wrote = &all_types[order[i]], *t = st_find(file, wrote->name);
        assert_int_equal((const char *)t->data - start, places[i]);
        assert_int_equal((uintptr_t)t->data % 8, places[i] % 8);
        if (i)
            assert_true((const char *)st_at(file, i)->data >= (const char *)st_at(file, i - 1)->data);
    }
    st_close(file);
}

static void the_bytes_are_those_of_the_public_format(void **state) {
    (void)state;
    const st_tensor tensors[] = {{"b", ST_U8, 1, {2}, "xy", 2}, {"a", ST_F32, 2, {1, 2}, f32, 8}};
    const st_entry entry = {"k", "v"};
    assert_int_equal(st_write(path, tensors, 2, &entry, 1, NULL), SA_OK);
    const char *json =
        "{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[8,10]}}";
    char expected[8 + 184 + 10];
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\xb8\0\0\0\0\0\0\0", 8); /* 184, so that the data start at 192 = 3 * 64 */
    memcpy(expected + 8, json, strlen(json));
    memcpy(expected + 192, f32, 8);
    memcpy(expected + 200, "xy", 2);
    file_mapping mapping;
    assert_int_equal(file_map(&mapping, path, NULL), SA_OK);
    assert_int_equal(mapping.size, sizeof expected);
    assert_memory_equal(mapping.data, expected, sizeof expected);
    file_unmap(&mapping);
}

static void the_same_input_gives_the_same_bytes(void **state) {
    (void)state;
    file_mapping first, second;
    write_all_types();
    assert_int_equal(file_map(&first, path, NULL), SA_OK);
    write_all_types();
    assert_int_equal(file_map(&second, path, NULL), SA_OK);
    assert_ptr_not_equal(first.data, second.data);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    file_unmap(&first);
    file_unmap(&second);
}

static void a_file_without_tensors_is_fine(void **state) {
    (void)state;
    assert_int_equal(st_write(path, NULL, 0, NULL, 0, NULL), SA_OK);
    st_file *file;
    assert_int_equal(st_open(&file, path, NULL), SA_OK);
    assert_int_equal(st_count(file), 0);
    assert_null(st_find(file, "a"));
    assert_null(st_metadata(file, "a"));
    st_close(file);
}

static void many_tensors_are_all_found(void **state) {
    (void)state;
    enum { N = 3000 };
    static st_tensor tensors[N];
    static char names[N][16];
    static int32_t values[N];
    for (int i = 0; i < N; i++) {
        values[i] = i;
        snprintf(names[i], sizeof names[i], "t%d", i * 7919 % N);
        tensors[i] = (st_tensor){names[i], ST_I32, 1, {1}, &values[i], 4};
    }
    assert_int_equal(st_write(path, tensors, N, NULL, 0, NULL), SA_OK);
    st_file *file;
    assert_int_equal(st_open(&file, path, NULL), SA_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(*(const int32_t *)st_find(file, names[i])->data, i);
        assert_string_equal(st_at(file, i)->name, names[i]);
    }
    st_close(file);
}

static void every_cut_is_an_error(void **state) {
    (void)state;
    write_all_types();
    file_mapping whole;
    assert_int_equal(file_map(&whole, path, NULL), SA_OK);
    for (size_t size = 0; size < whole.size; size++) {
        put_bytes(whole.data, size);
        sa_error e = open_fails();
        if (size >= 16)
            assert_non_null(strstr(e.text, "cut short"));
    }
    file_unmap(&whole);
}

static void a_byte_too_many_is_an_error(void **state) {
    (void)state;
    assert_header_fails("{}", 1, "1 bytes after the last tensor");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 7, "5 bytes after");
}

/* Reads all that an opened file offers, so that a sanitizer sees a span outside the mapping. */
static void touch(const st_file *file) {
    volatile unsigned char byte = 0;
    for (int i = 0; i < st_count(file); i++) {
        const st_tensor *t = st_at(file, i);
        assert_ptr_equal(st_find(file, t->name), t);
        for (size_t k = 0; k < t->bytes; k++)
            byte = ((const unsigned char *)t->data)[k];
    }
    (void)byte;
}

static void flipped_bytes_give_an_error_or_a_readable_file(void **state) {
    (void)state;
    write_all_types();
    file_mapping whole;
    assert_int_equal(file_map(&whole, path, NULL), SA_OK);
    unsigned char *copy = malloc(whole.size);
    assert_non_null(copy);
    const unsigned char flips[] = {0x01, 0x80, 0xff};
    int errors = 0;
    for (size_t i = 0; i < 300 * sizeof flips; i++) {
        memcpy(copy, whole.data, whole.size);
        copy[i / sizeof flips] ^= flips[i % sizeof flips];
        put_bytes(copy, whole.size);
        st_file *file;
        sa_error e;
        sa_status status = st_open(&file, path, &e);
        if (status == SA_OK)
            touch(file);
        else
            assert_int_equal(status, SA_FORMAT);
        errors += status != SA_OK;
        st_close(file);
    }
    assert_true(errors > 600); /* what is left: letters of names and values, blanks in the JSON */
    free(copy);
    file_unmap(&whole);
}

#define TENSOR(name, type, shape, begin, end)                                                                      \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void spans_that_overlap_or_leave_a_gap_are_errors(void **state) {
    (void)state;
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "0", "4") "," TENSOR("b", "U8", "[4]", "2", "6") "}", 6,
                        "overlap");
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "0", "4") "," TENSOR("b", "U8", "[4]", "0", "4") "}", 4,
                        "overlap");
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "0", "4") "," TENSOR("b", "U8", "[4]", "5", "9") "}", 9,
                        "gap");
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "1", "5") "}", 5, "gap");
    assert_header_fails("{" TENSOR("a", "U8", "[8]", "0", "8") "," TENSOR("e", "U8", "[0]", "4", "4") "}", 8,
                        "overlap");
    assert_header_fails("{" TENSOR("a", "U8", "[2]", "4", "2") "}", 4, "begin, end");
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "-4", "0") "}", 4, "begin, end");
    assert_header_fails("{" TENSOR("a", "U8", "[4]", "0", "4") "}", 3, "cut short");
    assert_header_fails("{" TENSOR("a", "U8", "[9223372036854775807]", "0", "9223372036854775807") "}", 3,
                        "cut short");
}

static void files_of_other_writers_are_read(void **state) {
    (void)state;
    /* Out of order, an empty tensor between, blanks after the JSON, an entry that is not known. */
    st_file *file = open_header("{" TENSOR("b", "U8", "[2]", "4", "6") ",\"__metadata__\":{}," //
                                TENSOR("e", "U8", "[3,0]", "4", "4") ",\"a\":{\"x\":1,\"dtype\":\"U8\",\"shape\":"
                                                                     "[2,2],\"data_offsets\":[0,4]}}  \n ",
                                6);
    assert_int_equal(st_count(file), 3);
    assert_string_equal(st_at(file, 0)->name, "a");
    assert_string_equal(st_at(file, 1)->name, "e");
    assert_string_equal(st_at(file, 2)->name, "b");
    st_close(file);
}

static void data_that_are_not_aligned_to_their_type_are_an_error(void **state) {
    (void)state;
    const char *json = "{" TENSOR("a", "F32", "[1]", "0", "4") "}";
    char padded[128];
    for (int blanks = 0; blanks < 8; blanks++) {
        snprintf(padded, sizeof padded, "%s%*s", json, blanks, "");
        if (strlen(padded) % 4)
            assert_header_fails(padded, 4, "aligned");
        else
            st_close(open_header(padded, 4));
    }
}

static void shapes_that_do_not_fit_their_span_are_errors(void **state) {
    (void)state;
    const char *reason = "do not make up its span";
    assert_header_fails("{" TENSOR("a", "U8", "[3]", "0", "4") "}", 4, reason);
    assert_header_fails("{" TENSOR("a", "F32", "[4]", "0", "4") "}", 4, reason);
    assert_header_fails("{" TENSOR("a", "F32", "[]", "0", "8") "}", 8, reason);
    assert_header_fails("{" TENSOR("a", "U8", "[0]", "0", "4") "}", 4, reason);
    /* Products that come out right in 64 bits once they have wrapped. */
    assert_header_fails("{" TENSOR("a", "U8", "[4294967296,4294967296]", "0", "0") "}", 0, reason);
    assert_header_fails("{" TENSOR("a", "F32", "[4611686018427387905]", "0", "4") "}", 4, reason);
    assert_header_fails("{" TENSOR("a", "U8", "[4294967296,4294967296,0]", "0", "0") "}", 0, reason);
    const char *whole = "whole numbers from 0 up", *list = "list of at most 4";
    assert_header_fails("{" TENSOR("a", "U8", "[-1,-4]", "0", "4") "}", 4, whole);
    assert_header_fails("{" TENSOR("a", "U8", "[4.0]", "0", "4") "}", 4, whole);
    assert_header_fails("{" TENSOR("a", "U8", "[\"4\"]", "0", "4") "}", 4, whole);
    assert_header_fails("{" TENSOR("a", "U8", "[1,1,1,1,4]", "0", "4") "}", 4, list);
    assert_header_fails("{" TENSOR("a", "U8", "4", "0", "4") "}", 4, list);
    assert_header_fails("{" TENSOR("a", "U8", "[99999999999999999999]", "0", "4") "}", 4, "no valid JSON");
}

static void unknown_types_are_errors_that_name_the_known_ones(void **state) {
    (void)state;
    assert_header_fails("{" TENSOR("a", "F16", "[2]", "0", "4") "}", 4, "F32, BF16, I8, U8, I32, I64");
    assert_header_fails("{" TENSOR("a", "f32", "[1]", "0", "4") "}", 4, "none of F32");
    assert_header_fails("{" TENSOR("a", "", "[1]", "0", "4") "}", 4, "none of F32");
}

static void hostile_headers_are_errors(void **state) {
    (void)state;
    const char *tensor = TENSOR("a", "U8", "[4]", "0", "4");
    char twice[300];
    snprintf(twice, sizeof twice, "{%s,%s}", tensor, tensor);
    assert_header_fails(twice, 4, "duplicate");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
                        "duplicate");
    assert_header_fails("{\"a\":[]}", 0, "no type");
    assert_header_fails("{\"a\":null}", 0, "no type");
    assert_header_fails("{\"a\":{\"dtype\":1,\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "no type");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", 4, "shape");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "data_offsets");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4,4]}}", 4, "data_offsets");
    assert_header_fails("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4.5]}}", 4, "data_offsets");
    assert_header_fails("{\"__metadata__\":{\"a\":1}}", 0, "object of strings");
    assert_header_fails("{\"__metadata__\":\"a\"}", 0, "object of strings");
    assert_header_fails("{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, "no valid JSON");
    assert_header_fails("{\"\xff\":{}}", 0, "no valid JSON");
    assert_header_fails("{} {}", 0, "no valid JSON");
    assert_header_fails("{", 0, "not a model");
    assert_header_fails("{ ", 0, "no valid JSON");
}

static void deep_nesting_is_an_error(void **state) {
    (void)state;
    enum { DEEP = 200000 };
    char *json = malloc(DEEP + 1);
    assert_non_null(json);
    memset(json, '[', DEEP);
    memcpy(json, "{\"a\":", 5);
    json[DEEP] = 0;
    assert_header_fails(json, 0, "no valid JSON");
    free(json);
}

static void names_in_messages_are_short_and_printable(void **state) {
    (void)state;
    char json[5000] = "{\"\\u001b[2J\xc2\x9b";
    memset(json + strlen(json), 'n', 4000);
    strcat(json, "\":{}}");
    put_header(json, 0);
    sa_error e = open_fails();
    assert_non_null(strstr(e.text, "\"?[2J??nnn"));
    assert_non_null(strstr(e.text, "...\": has no type"));
    assert_true(strlen(e.text) < 500);
}

static void other_kinds_of_file_are_named(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *name;
    } kinds[] = {
        {"", 0, "empty"},
        {"PK\3\4zip", 7, "ZIP"},
        {"PK\3\4\24\0\0\0\10\0\0\0!\0", 14, "ZIP"},
        {"\x1f\x8b\10\0\0\0\0\0\0\3", 10, "gzip"},
        {"<!DOCTYPE html><html><title>404</title></html>", 47, "HTML"},
        {"\xef\xbb\xbf \n<HTML>", 11, "HTML"},
        {"version https://git-lfs.example/spec/v1\noid sha256:0\n", 53, "Git LFS"},
        {"the house\nis red\n", 17, "plain text"},
        {"{\"a\": 1}\n", 9, "plain text"},
        {"short", 5, "plain text"},
        {"\x80\2}q\0(X\3\0\0\0abc", 14, "pickle"},
        {"\x80\4\x95\10\0\0\0\0\0\0\0", 11, "pickle"},
        {"\1\2\3", 3, "only 3 bytes"},
        {"\0\0\0\0\0\0\0\0\0\0", 10, "zero bytes"},
        {"\0\0\0\0\0\0\0\2{}", 10, "swapped byte order"},
        {"\377\377\377\377\377\377\377\177{}", 10, "read: 9223372036854775807"},
        {"\1\341\365\5\0\0\0\0{}", 10, "read: 100000001"},
        {"\0\341\365\5\0\0\0\0{}", 10, "cut short: 99999998 bytes"},
        {"\2\0\0\0\0\0\0\0[]", 10, "not a model"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        put_bytes(kinds[i].bytes, kinds[i].n);
        sa_error e = open_fails();
        if (!strstr(e.text, kinds[i].name))
            fail_msg("%s: %s", kinds[i].name, e.text);
    }
}

static void folders_devices_and_missing_files_are_named(void **state) {
    (void)state;
    const char *paths[] = {folder, "/dev/null", "/nosuch.safetensors"};
    const char *reasons[] = {"folder", "device", "No such file"};
    for (size_t i = 0; i < 3; i++) {
        st_file *file;
        sa_error e;
        assert_int_equal(st_open(&file, paths[i], &e), SA_IO);
        assert_null(file);
        assert_non_null(strstr(e.text, reasons[i]));
        assert_non_null(strstr(e.text, paths[i]));
    }
}

static void assert_write_fails(const st_tensor *tensors, int n, const st_entry *entries, int n_entries,
                               sa_status status, const char *reason) {
    sa_error e;
    assert_int_equal(st_write(path, tensors, n, entries, n_entries, &e), status);
    assert_int_equal(strncmp(e.text, path, strlen(path)), 0);
    if (!strstr(e.text, reason))
        fail_msg("%s, not: %s", e.text, reason);
}

static void what_cannot_be_stored_is_refused_and_the_old_file_stays(void **state) {
    (void)state;
    write_all_types();
    const st_tensor twice[] = {{"a", ST_U8, 1, {2}, "xy", 2}, {"a", ST_I8, 1, {2}, "xy", 2}};
    assert_write_fails(twice, 2, NULL, 0, SA_USAGE, "two entries are named \"a\"");
    const st_tensor wrong[] = {
        {"size", ST_F32, 1, {2}, f32, 7},         {"negative", ST_U8, 1, {-2}, "xy", 2},
        {"rank", ST_U8, 5, {1, 1, 1, 1}, "x", 1}, {"type", (st_dtype)6, 1, {1}, "x", 1},
        {"__metadata__", ST_U8, 1, {1}, "x", 1},  {"huge", ST_I64, 2, {INT64_MAX, 2}, "x", 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_write_fails(&wrong[i], 1, NULL, 0, SA_USAGE, wrong[i].name);
    const st_tensor bad_name = {"\xc3(", ST_U8, 1, {1}, "x", 1};
    assert_write_fails(&bad_name, 1, NULL, 0, SA_DATA, "UTF-8");
    const st_entry bad_value = {"k", "\xff"}, bad_key = {"\xff", "v"}, same[] = {{"k", "1"}, {"k", "2"}};
    assert_write_fails(NULL, 0, &bad_value, 1, SA_DATA, "UTF-8");
    assert_write_fails(NULL, 0, &bad_key, 1, SA_DATA, "UTF-8");
    assert_write_fails(NULL, 0, same, 2, SA_USAGE, "two entries are named \"k\"");
    assert_write_fails(NULL, ST_MAX_TENSORS + 1, NULL, 0, SA_USAGE, "at most 100000");
    st_file *file;
    assert_int_equal(st_open(&file, path, NULL), SA_OK);
    assert_int_equal(st_count(file), N_ALL);
    st_close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_come_back_as_written),
        cmocka_unit_test(tensors_lie_by_descending_type_then_in_the_order_given),
        cmocka_unit_test(the_bytes_are_those_of_the_public_format),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(a_file_without_tensors_is_fine),
        cmocka_unit_test(many_tensors_are_all_found),
        cmocka_unit_test(every_cut_is_an_error),
        cmocka_unit_test(a_byte_too_many_is_an_error),
        cmocka_unit_test(flipped_bytes_give_an_error_or_a_readable_file),
        cmocka_unit_test(spans_that_overlap_or_leave_a_gap_are_errors),
        cmocka_unit_test(files_of_other_writers_are_read),
        cmocka_unit_test(data_that_are_not_aligned_to_their_type_are_an_error),
        cmocka_unit_test(shapes_that_do_not_fit_their_span_are_errors),
        cmocka_unit_test(unknown_types_are_errors_that_name_the_known_ones),
        cmocka_unit_test(hostile_headers_are_errors),
        cmocka_unit_test(deep_nesting_is_an_error),
        cmocka_unit_test(names_in_messages_are_short_and_printable),
        cmocka_unit_test(other_kinds_of_file_are_named),
        cmocka_unit_test(folders_devices_and_missing_files_are_named),
        cmocka_unit_test(what_cannot_be_stored_is_refused_and_the_old_file_stays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
