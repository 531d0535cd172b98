#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "math/gemm.h"
#include "math/gemm_library.h"
#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gemm *new_engine(void) {
    sa_error e;
    gemm *g;
    if (gemm_new(&g, &e) != SA_OK)
        fail_msg("%s", e.text);
    return g;
}

/* A matrix of random numbers whose rows are `gap` wider than they need be. */
static matrix draw(rng *random, int rows, int cols, bool transposed, int gap) {
    int lines = transposed ? cols : rows, width = (transposed ? rows : cols) + gap;
    float *at = malloc((size_t)lines * (size_t)width * sizeof *at);
    assert_non_null(at);
    for (int i = 0; i < lines * width; i++)
        at[i] = (float)(2 * rng_uniform(random) - 1);
    return (matrix){at, rows, cols, width, transposed};
}

static matrix copy(matrix m) {
    size_t bytes = (size_t)m.rows * (size_t)m.stride * sizeof *m.at;
    float *at = malloc(bytes);
    assert_non_null(at);
    m.at = memcpy(at, m.at, bytes);
    return m;
}

/* Values within the rounding of a sum of K products of numbers below 1; the gaps between rows untouched. */
static void compare(matrix got, matrix wanted, matrix before, int K) {
    for (int i = 0; i < got.rows; i++)
        for (long j = 0; j < got.stride; j++) {
            long at = i * got.stride + j;
            if (j >= got.cols)
                assert_true(got.at[at] == before.at[at]);
            else if (!(fabsf(got.at[at] - wanted.at[at]) <= 2e-7f * (float)(K + 4)))
                fail_msg("%d x %d, K %d: %g instead of %g", got.rows, got.cols, K, (double)got.at[at],
                         (double)wanted.at[at]);
        }
}

static void to_bf16_and_back(matrix m) {
    long n = (m.transposed ? m.cols : m.rows) * m.stride;
    for (long i = 0; i < n; i++) {
        uint16_t half;
        vec_to_bf16(&half, &m.at[i], 1);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&m.at[i], &bits, sizeof bits);
    }
}

typedef struct form {
    bool a_transposed, b_transposed, accumulate, packed;
    int a_gap, b_gap, c_gap;
} form;

static void check_product(gemm *g, rng *random, int M, int K, int N, form f) {
    matrix A = draw(random, M, K, f.a_transposed, f.a_gap), B = draw(random, K, N, f.b_transposed, f.b_gap);
    matrix before = draw(random, M, N, false, f.c_gap), C = copy(before), plain = copy(before);
    gemm_plain(A, B, plain, f.accumulate);
    if (f.packed) {
        gemm_pack *pack = gemm_pack_new(g, K, N);
        assert_true(pack && gemm_pack_fill(g, pack, B));
        memset(B.at, 0, sizeof *B.at); /* a pack has numbers of its own */
        assert_true(gemm_run_packed(g, A, pack, NULL, C, f.accumulate));
        gemm_pack_free(pack);
    } else
        assert_true(gemm_run(g, A, B, C, f.accumulate));
    compare(C, plain, before, K);
    free(A.at);
    free(B.at);
    free(before.at);
    free(C.at);
    free(plain.at);
}

/* One engine for all: products that differ in one respect only must not be taken for each other. */
static void products_of_every_form_are_those_of_three_loops(void **state) {
    (void)state;
    static const int sizes[] = {1, 3, 17, 64, 131};
    enum { N_SIZES = sizeof sizes / sizeof *sizes, M_MOST = 17 };
    gemm *g = new_engine();
    rng random = rng_at(1, 0, 0, 0);
    int gaps = 0;
    for (int M = 1; M <= M_MOST; M++)
        for (int k = 0; k < N_SIZES; k++)
            for (int way = 0; way < 16; way++, gaps++)
                for (int again = 0; again < 2; again++) { /* with one of the gaps changed */
                    int gap = again ? gaps ^ 1 << gaps % 3 : gaps;
                    check_product(g, &random, M, sizes[k], sizes[(k + M) % N_SIZES],
                                  (form){way & 1, way & 2, way & 4, way & 8, gap & 1, gap & 2, gap & 4});
                }
    gemm_free(g);
}

/* Both operands rounded first: the same product of three loops. */
static void products_in_bfloat16_round_their_operands_and_nothing_else(void **state) {
    (void)state;
    enum { M = 9, K = 67, N = 35 };
    gemm *g = new_engine();
    rng random = rng_at(5, 0, 0, 0);
    if (!gemm_has(g, GEMM_BF16)) {
        gemm_free(g);
        skip();
    }
    for (int way = 0; way < 16; way++) {
        matrix A = draw(&random, M, K, way & 1, way & 8 ? 3 : 0), B = draw(&random, K, N, way & 2, way & 8 ? 3 : 0);
        matrix C = draw(&random, M, N, false, 2), before = copy(C), plain = copy(C), exact = copy(C),
               in_float = copy(C);
        bool packed = way & 4;
        gemm_plain(A, B, exact, true);
        gemm_set_precision(g, GEMM_BF16);
        gemm_pack *pack = packed ? gemm_pack_new(g, K, N) : NULL;
        if (packed) {
            assert_true(pack && gemm_pack_fill(g, pack, B));
            gemm_set_precision(g, GEMM_F32); /* a pack keeps the one that it was made with */
            assert_true(gemm_run_packed(g, A, pack, NULL, C, true));
        } else
            assert_true(gemm_run(g, A, B, C, true));
        gemm_set_precision(g, GEMM_F32); /* and products in float go on beside them */
        assert_true(gemm_run(g, A, B, in_float, true));
        compare(in_float, exact, before, K);
        to_bf16_and_back(A);
        to_bf16_and_back(B);
        gemm_plain(A, B, plain, true);
        compare(C, plain, before, K);
        bool rounded = false;
        for (int i = 0; i < M * C.stride; i++)
            rounded = rounded || fabsf(C.at[i] - exact.at[i]) > 1e-4f;
        assert_true(rounded);
        gemm_pack_free(pack);
        matrix *const all[] = {&A, &B, &C, &before, &plain, &exact, &in_float};
        for (int k = 0; k < 7; k++)
            free(all[k]->at);
    }
    gemm_free(g);
}

/* What gemm_plain itself is: C = A B with A 2 x 3 given transposed. */
static void three_loops_multiply(void **state) {
    (void)state;
    float a[] = {1, 4, 2, 5, 3, 6}, b[] = {7, 8, 9, 10, 11, 12}, c[] = {1, 1, 1, 1};
    matrix A = matrix_transposed(matrix_of(a, 3, 2, 2)), B = matrix_of(b, 3, 2, 2), C = matrix_of(c, 2, 2, 2);
    gemm_plain(A, B, C, true);
    assert_memory_equal(c, ((float[]){59, 65, 140, 155}), sizeof c);
    gemm_plain(A, B, C, false);
    assert_memory_equal(c, ((float[]){58, 64, 139, 154}), sizeof c);
    gemm_plain(A, matrix_transposed(matrix_of(b, 2, 3, 3)), C, false); /* B = (7 10; 8 11; 9 12) */
    assert_memory_equal(c, ((float[]){50, 68, 122, 167}), sizeof c);
}

/* What gemm.h says of int8: whole numbers from -127 to 127, their sums exact, and scales. */
static void plain_int8(matrix A, matrix B, const float *bias, matrix C, bool accumulate) {
    int K = A.cols;
    int8_t *q = malloc((size_t)K * (size_t)B.cols);
    float *u = malloc((size_t)B.cols * sizeof *u), *column = malloc((size_t)K * sizeof *column);
    assert_true(q && u && column);
    for (int j = 0; j < B.cols; j++) {
        for (int k = 0; k < K; k++)
            column[k] = B.transposed ? B.at[j * B.stride + k] : B.at[k * B.stride + j];
        u[j] = narrow_write(GEMM_INT8, column, K, q + (long)j * K);
    }
    for (int i = 0; i < A.rows; i++) {
        const float *a = A.at + i * A.stride;
        float *c = C.at + i * C.stride, largest = vec_max_abs(a, K), v = largest / 127;
        for (int j = 0; j < B.cols; j++) {
            long sum = 0;
            for (int k = 0; largest > 0 && k < K; k++)
                sum += lrintf(a[k] * (127 / largest)) * q[(long)j * K + k];
            c[j] = (float)sum * (u[j] * v) + (accumulate ? c[j] : bias ? bias[j] : 0);
        }
    }
    free(q);
    free(u);
    free(column);
}

/* The columns of B rounded, and nothing else: int8 without instructions for it. */
static void plain_rounded(matrix A, matrix B, const float *bias, matrix C, bool accumulate) {
    matrix lines = {calloc((size_t)B.cols * (size_t)B.rows, sizeof(float)), B.cols, B.rows, B.rows, false};
    assert_non_null(lines.at);
    for (long j = 0; j < B.cols; j++) {
        for (long k = 0; k < B.rows; k++)
            lines.at[j * B.rows + k] = B.transposed ? B.at[j * B.stride + k] : B.at[k * B.stride + j];
        narrow_round(GEMM_INT8, lines.at + j * B.rows, B.rows);
    }
    for (long i = 0; bias && i < C.rows; i++)
        memcpy(C.at + i * C.stride, bias, (size_t)C.cols * sizeof *bias);
    gemm_plain(A, matrix_transposed(lines), C, accumulate || bias);
    free(lines.at);
}

/* way: bits of the form of the product. */
static void check_int8(gemm *g, rng *random, int M, int K, int N, int way) {
    matrix A = draw(random, M, K, false, way & 1 ? 3 : 0), B = draw(random, K, N, way & 2, way & 1 ? 2 : 0);
    matrix before = draw(random, M, N, false, way & 4 ? 5 : 0), C = copy(before), plain = copy(before);
    matrix bias = draw(random, 1, N, false, 0);
    bool accumulate = way & 8;
    const float *plus = way & 16 && !accumulate ? bias.at : NULL;
    gemm_set_precision(g, GEMM_INT8);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    assert_true(pack && gemm_pack_fill(g, pack, B));
    gemm_set_precision(g, GEMM_F32);           /* a pack keeps the one that it was made with */
    memset(A.at, 0, sizeof *A.at * (size_t)K); /* there is nothing to scale in the first row */
    assert_true(gemm_run_packed(g, A, pack, plus, C, accumulate));
    if (gemm_has(g, GEMM_INT8))
        plain_int8(A, B, plus, plain, accumulate);
    else
        plain_rounded(A, B, plus, plain, accumulate);
    compare(C, plain, before, K);
    for (int j = 0; j < N; j++)
        assert_true(C.at[j] == (accumulate ? before.at[j] : plus ? plus[j] : 0));
    gemm_pack_free(pack);
    matrix *const all[] = {&A, &B, &before, &C, &plain, &bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
}

static void products_in_int8_are_exact_sums_of_whole_numbers_scaled(void **state) {
    (void)state;
    static const int shape[][3] = {{1, 67, 35}, {9, 64, 64}, {83, 131, 17}, {3, 1, 1}, {40, 16, 9000}};
    gemm *g = new_engine();
    rng random = rng_at(11, 0, 0, 0);
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int way = 0; way < 32; way++)
            check_int8(g, &random, shape[i][0], shape[i][1], shape[i][2], way);
    gemm_free(g);
}

/* Instructions that add pairs of products in 16 bits would not get beyond 32767. */
static void the_largest_whole_numbers_do_not_saturate(void **state) {
    (void)state;
    enum { K = 4096, N = 48 };
    gemm *g = new_engine();
    gemm_set_precision(g, GEMM_INT8);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    float *a = malloc(K * sizeof *a), *b = malloc(sizeof *b * K * N), c[N];
    assert_true(pack && a && b);
    for (int i = 0; i < K * N; i++)
        b[i] = 127;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < K; i++)
            a[i] = (float)(127 * sign);
        assert_true(gemm_pack_fill(g, pack, matrix_of(b, K, N, N)));
        assert_true(gemm_run_packed(g, matrix_of(a, 1, K, K), pack, NULL, matrix_of(c, 1, N, N), false));
        for (int j = 0; j < N; j++)
            assert_true(fabsf(c[j] / (float)(K * 127 * 127 * sign) - 1) <= 1e-4f); /* where the sum is of floats */
    }
    gemm_pack_free(pack);
    free(a);
    free(b);
    gemm_free(g);
}

static void nan_and_infinity_stay_in_their_row_in_int8(void **state) {
    (void)state;
    enum { M = 3, K = 20, N = 4 };
    gemm *g = new_engine();
    gemm_set_precision(g, GEMM_INT8);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    rng random = rng_at(12, 0, 0, 0);
    matrix A = draw(&random, M, K, false, 0), B = draw(&random, K, N, false, 0), C = draw(&random, M, N, false, 0);
    A.at[3] = NAN;
    A.at[2 * K + 5] = INFINITY;
    assert_true(pack && gemm_pack_fill(g, pack, B) && gemm_run_packed(g, A, pack, NULL, C, false));
    for (int j = 0; j < N; j++)
        assert_true(isnan(C.at[j]) && isfinite(C.at[N + j]) && !isfinite(C.at[2 * N + j]));
    gemm_pack_free(pack);
    free(A.at);
    free(B.at);
    free(C.at);
    gemm_free(g);
}

/* What a file has in a type, and the floats that were rounded to it, fill a pack of that type alike. */
static void check_stored(gemm *g, rng *random, gemm_precision stored, gemm_precision precision) {
    enum { M = 5, K = 37, N = 21 };
    matrix A = draw(random, M, K, false, 0), W = draw(random, N, K, false, 0);
    matrix C = draw(random, M, N, false, 0), other = copy(C);
    float numbers[K * N], scale[N];
    for (int j = 0; j < N; j++)
        scale[j] = narrow_write(stored, W.at + j * K, K, (char *)numbers + narrow_bytes(stored, K) * (size_t)j);
    const narrow file = {stored, N, K, numbers, narrow_scaled(stored) ? scale : NULL};
    for (int j = 0; stored != precision && j < N; j++)
        narrow_round(stored, W.at + j * K, K);
    gemm_set_precision(g, precision);
    gemm_pack *pack = gemm_pack_new(g, K, N), *from_file = gemm_pack_new(g, K, N);
    assert_true(pack && from_file && gemm_pack_fill(g, pack, matrix_transposed(W)) &&
                gemm_pack_fill_narrow(g, from_file, &file));
    assert_true(gemm_run_packed(g, A, pack, NULL, C, false) &&
                gemm_run_packed(g, A, from_file, NULL, other, false));
    assert_memory_equal(C.at, other.at, sizeof(float) * M * N);
    gemm_pack_free(pack);
    gemm_pack_free(from_file);
    matrix *const all[] = {&A, &W, &C, &other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
}

static void a_pack_of_stored_numbers_is_that_of_the_numbers(void **state) {
    (void)state;
    gemm *g = new_engine();
    rng random = rng_at(13, 0, 0, 0);
    for (int stored = GEMM_F32; stored <= GEMM_INT8; stored++)
        for (int precision = GEMM_F32; precision <= GEMM_INT8; precision++)
            check_stored(g, &random, stored, precision);
    gemm_free(g);
}

static void a_pack_filled_again_holds_the_new_numbers(void **state) {
    (void)state;
    enum { K = 33, N = 20 };
    gemm *g = new_engine();
    rng random = rng_at(2, 0, 0, 0);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    assert_non_null(pack);
    for (int i = 0; i < 3; i++) {
        matrix A = draw(&random, 4, K, false, 0), B = draw(&random, K, N, i == 1, 0);
        matrix C = draw(&random, 4, N, false, 0), before = copy(C), plain = copy(C);
        assert_true(gemm_pack_fill(g, pack, B) && gemm_run_packed(g, A, pack, NULL, C, false));
        gemm_plain(A, B, plain, false);
        compare(C, plain, before, K);
        matrix *const all[] = {&A, &B, &C, &before, &plain};
        for (int k = 0; k < 5; k++)
            free(all[k]->at);
    }
    gemm_pack_free(pack);
    gemm_free(g);
}

/* More shapes than the table of compiled products starts with (it grows) and than it ever holds (it starts over).
 */
static void products_stay_right_when_the_table_grows_and_starts_over(void **state) {
    (void)state;
    gemm *g = new_engine();
    rng random = rng_at(3, 0, 0, 0);
    for (int i = 0; i < 4200; i++) {
        check_product(g, &random, 1 + i % 13, 1 + i / 13 % 19, 1 + i / 247, (form){0});
        if (i % 50 == 0) /* one compiled long ago */
            check_product(g, &random, 1, 1, 1, (form){0});
    }
    gemm_free(g);
}

static void products_stay_right_when_few_are_kept(void **state) {
    (void)state;
    rng random = rng_at(4, 0, 0, 0);
    gemm *g = new_engine();
    gemm_keep(g, 3);
    for (int i = 0; i < 40; i++)
        check_product(g, &random, 1 + i % 7, 3, 4, (form){0});
    gemm_free(g);
}

static void nothing_times_nothing_is_left_alone(void **state) {
    (void)state;
    gemm *g = new_engine();
    float a[4] = {1, 2, 3, 4}, c[4] = {5, 6, 7, 8};
    assert_true(gemm_run(g, matrix_of(a, 0, 2, 2), matrix_of(a, 2, 2, 2), matrix_of(c, 0, 2, 2), false));
    assert_true(gemm_run(g, matrix_of(a, 2, 2, 2), matrix_of(a, 2, 0, 2), matrix_of(c, 2, 0, 2), false));
    assert_memory_equal(c, ((float[]){5, 6, 7, 8}), sizeof c);
    gemm_free(g);
}

static void infinities_and_nan_pass_through(void **state) {
    (void)state;
    gemm *g = new_engine();
    float a[2] = {INFINITY, 1}, b[2] = {1, NAN}, c[4];
    assert_true(gemm_run(g, matrix_of(a, 2, 1, 1), matrix_of(b, 1, 2, 2), matrix_of(c, 2, 2, 2), false));
    assert_true(isinf(c[0]) && isnan(c[1]) && c[2] == 1 && isnan(c[3]));
    gemm_free(g);
}

static bool rows_are_exact(void) {
    return strncmp(gemm_library_describe().isa, "avx512", strlen("avx512")) == 0;
}

/* Every row by itself, and among all others: the widths of the presets, and odd ones. */
static void compare_rows(gemm *g, rng *random, int K, int N) {
    enum { ROWS = 83 };
    static const int rows[] = {1, 2, 5, 16, 17, 40, ROWS};
    matrix A = draw(random, ROWS, K, false, 0), B = draw(random, K, N, true, 0);
    matrix C = draw(random, ROWS, N, false, 0), all = copy(C);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    assert_true(pack && gemm_pack_fill(g, pack, B));
    for (int k = sizeof rows / sizeof *rows - 1; k >= 0; k--) {
        matrix a = A, c = C;
        a.rows = c.rows = rows[k];
        a.at += (long)(ROWS - rows[k]) * K; /* the last rows */
        c.at += (long)(ROWS - rows[k]) * N;
        assert_true(gemm_run_packed(g, a, pack, NULL, c, false));
        if (rows[k] == ROWS)
            memcpy(all.at, C.at, (size_t)ROWS * (size_t)N * sizeof *C.at);
        for (long i = (long)(ROWS - rows[k]) * N; i < (long)ROWS * N; i++)
            if (C.at[i] != all.at[i])
                fail_msg("K %d, N %d: row %ld differs when %d rows are computed", K, N, i / N, rows[k]);
    }
    gemm_pack_free(pack);
    free(A.at);
    free(B.at);
    free(C.at);
    free(all.at);
}

static void with_a_pack_a_row_does_not_depend_on_the_others_on_avx512(void **state) {
    (void)state;
    static const int shape[][2] = {{1000, 2000}, {2000, 3000}, {620, 1000}, {256, 1536}, {512, 256},
                                   {500, 4001},  {256, 8000},  {37, 111},   {1, 3},      {19, 61}};
    gemm *g = new_engine();
    rng random = rng_at(4, 0, 0, 0);
    for (int precision = GEMM_F32; precision <= GEMM_INT8; precision++) {
        gemm_set_precision(g, precision);
        bool exact = precision == GEMM_INT8 && gemm_has(g, GEMM_INT8); /* wherever it is int8 */
        for (size_t i = 0; (exact || rows_are_exact()) && i < sizeof shape / sizeof *shape; i++)
            compare_rows(g, &random, shape[i][0], shape[i][1]);
    }
    gemm_free(g);
}

static void a_bias_is_added_to_every_row(void **state) {
    (void)state;
    enum { M = 130, K = 21, N = 37 };
    gemm *g = new_engine();
    rng random = rng_at(9, 0, 0, 0);
    matrix A = draw(&random, M, K, false, 0), B = draw(&random, K, N, true, 0),
           bias = draw(&random, 1, N, false, 0);
    matrix C = draw(&random, M, N, false, 0), plain = copy(C), before = copy(C);
    for (int i = 0; i < M; i++)
        memcpy(plain.at + (long)i * N, bias.at, sizeof(float) * N);
    gemm_plain(A, B, plain, true);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    assert_true(pack && gemm_pack_fill(g, pack, B));
    assert_true(gemm_run_packed(g, A, pack, bias.at, C, false));
    compare(C, plain, before, K);
    gemm_pack_free(pack);
    matrix *const all[] = {&A, &B, &bias, &C, &plain, &before};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
    gemm_free(g);
}

/* Pieces that lie apart, alone, and held; on top of what is there. */
static void check_outer(gemm *g, rng *random, bool bf16, int n, bool accumulate, bool hold) {
    enum { M = 70, N = 33, PIECES = 3 };
    static const int rows[PIECES] = {64, 1, 40};
    matrix dy[PIECES], x[PIECES], C = draw(random, M, N, false, 0), before = copy(C), plain = copy(C);
    int K = 0;
    for (int i = 0; i < n; i++) {
        dy[i] = draw(random, rows[i], M, false, i);
        x[i] = draw(random, rows[i], N, false, 2);
        K += rows[i];
    }
    gemm_set_precision(g, bf16 ? GEMM_BF16 : GEMM_F32);
    if (hold)
        gemm_hold(g, dy[0]);
    for (int again = 0; again < 2; again++) { /* what is held serves twice */
        memcpy(C.at, before.at, sizeof(float) * M * N);
        assert_true(gemm_outer(g, n, dy, x, C, accumulate));
    }
    gemm_release(g);
    for (int i = 0; i < n; i++) {
        if (bf16) {
            to_bf16_and_back(dy[i]);
            to_bf16_and_back(x[i]);
        }
        gemm_plain(matrix_transposed(dy[i]), x[i], plain, accumulate || i > 0);
        free(dy[i].at);
        free(x[i].at);
    }
    compare(C, plain, before, K);
    free(C.at);
    free(before.at);
    free(plain.at);
}

static void weight_gradients_add_up_over_pieces(void **state) {
    (void)state;
    gemm *g = new_engine();
    rng random = rng_at(7, 0, 0, 0);
    for (int way = 0; way < 8; way++)
        for (int n = 1; n <= 3; n++)
            if (!(way & 1) || gemm_has(g, GEMM_BF16))
                check_outer(g, &random, way & 1, n, way & 2, way & 4);
    gemm_free(g);
}

/* A held factor is read by packed products as well, and rounded again when another one came between. */
static void check_held(gemm *g, gemm_precision precision) {
    enum { M = 100, K = 40, N = 24 };
    rng random = rng_at(8, 0, 0, 0);
    matrix A = draw(&random, M, K, false, 0), other = draw(&random, M, K, false, 0);
    matrix B = draw(&random, K, N, false, 0), C = draw(&random, M, N, false, 0), wanted = copy(C);
    gemm_set_precision(g, precision);
    gemm_pack *pack = gemm_pack_new(g, K, N);
    assert_true(pack && gemm_pack_fill(g, pack, B));
    assert_true(gemm_run_packed(g, A, pack, NULL, wanted, false));
    gemm_hold(g, A);
    assert_true(gemm_run_packed(g, A, pack, NULL, C, false));
    A.at[0] += 100; /* not seen: it was rounded before */
    assert_true(gemm_run_packed(g, A, pack, NULL, C, false));
    assert_memory_equal(C.at, wanted.at, sizeof(float) * M * N);
    assert_true(gemm_run_packed(g, other, pack, NULL, C, false) && gemm_run_packed(g, A, pack, NULL, C, false));
    assert_true(C.at[0] != wanted.at[0]);
    gemm_pack_free(pack);
    matrix *const all[] = {&A, &other, &B, &C, &wanted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
    gemm_release(g);
}

static void what_is_held_is_rounded_once(void **state) {
    (void)state;
    gemm *g = new_engine();
    for (int precision = GEMM_BF16; precision <= GEMM_INT8; precision++)
        if (gemm_has(g, precision))
            check_held(g, precision);
    gemm_free(g);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_loops_multiply),
        cmocka_unit_test(products_of_every_form_are_those_of_three_loops),
        cmocka_unit_test(products_in_bfloat16_round_their_operands_and_nothing_else),
        cmocka_unit_test(products_in_int8_are_exact_sums_of_whole_numbers_scaled),
        cmocka_unit_test(the_largest_whole_numbers_do_not_saturate),
        cmocka_unit_test(nan_and_infinity_stay_in_their_row_in_int8),
        cmocka_unit_test(a_pack_of_stored_numbers_is_that_of_the_numbers),
        cmocka_unit_test(a_pack_filled_again_holds_the_new_numbers),
        cmocka_unit_test(products_stay_right_when_the_table_grows_and_starts_over),
        cmocka_unit_test(products_stay_right_when_few_are_kept),
        cmocka_unit_test(nothing_times_nothing_is_left_alone),
        cmocka_unit_test(infinities_and_nan_pass_through),
        cmocka_unit_test(a_bias_is_added_to_every_row),
        cmocka_unit_test(weight_gradients_add_up_over_pieces),
        cmocka_unit_test(what_is_held_is_rounded_once),
        cmocka_unit_test(with_a_pack_a_row_does_not_depend_on_the_others_on_avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
