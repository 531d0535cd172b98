#include "math/gemm.h"

#ifndef SA_REAL_DOUBLE

#include "math/gemm_product.h"
#include "math/vecmath.h"

#include <stdlib.h>
#include <string.h>

/* Of gcc's OpenMP runtime, which oneDNN runs on; clang comes without its header. */
void omp_set_num_threads(int n);

/* Products with many different numbers of rows go through ones of a few: so much longer than this they are cut, so
 * that what is compiled stays few. */
enum { ROW_BLOCK = 64 };

struct gemm {
    products products;
    gemm_precision precision;
    buffer scratch;          /* gemm_scratch */
    matrix held;             /* does not change; at NULL: nothing */
    buffer left, left_scale; /* a left factor rounded; with int8 the scale of each row */
    gemm_precision rounded;  /* what it is rounded to, if it is `held`; else GEMM_F32 */
    buffer right;            /* a right factor rounded */
    buffer sums;             /* of int8 products, before they are scaled */
    buffer a_rows, b_rows;   /* operands of gemm_outer put together */
};

struct gemm_pack {
    int rows, cols;
    gemm_precision precision, type; /* what the numbers are rounded to; what they are: float without instructions */
    packed numbers;
    float *scale;    /* int8: of each column */
    int32_t *offset; /* int8: what rows have too much, being unsigned: 128 times the sum of a column */
};

sa_status gemm_new(gemm **out, sa_error *error) {
    *out = NULL;
    gemm *g = calloc(1, sizeof *g);
    if (!g)
        return sa_fail_memory(error, sizeof *g);
    if (!products_init(&g->products)) {
        gemm_free(g);
        return sa_fail(error, SA_MEMORY, "cannot start oneDNN (not enough memory?)");
    }
    *out = g;
    return SA_OK;
}

void gemm_free(gemm *g) {
    if (!g)
        return;
    products_clear(&g->products);
    buffer *const buffers[] = {&g->scratch, &g->left, &g->left_scale, &g->right, &g->sums, &g->a_rows, &g->b_rows};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        free(buffers[i]->data);
    free(g);
}

void gemm_work_alone(void) {
    omp_set_num_threads(1);
}

void gemm_keep(gemm *g, int most) {
    g->products.most = (size_t)most;
    if (most < GEMM_PRODUCTS_MAX)
        dnnl_set_primitive_cache_capacity(most);
}

void gemm_forget_compiled(void) {
    int capacity = 0;
    dnnl_get_primitive_cache_capacity(&capacity);
    dnnl_set_primitive_cache_capacity(0);
    dnnl_set_primitive_cache_capacity(capacity);
}

void gemm_set_precision(gemm *g, gemm_precision precision) {
    g->precision = precision;
}

gemm_precision gemm_get_precision(const gemm *g) {
    return g->precision;
}

bool gemm_has(gemm *g, gemm_precision precision) {
    return products_have(&g->products, precision);
}

void *gemm_scratch(gemm *g, size_t bytes) {
    return block_reserve(&g->scratch, bytes) ? g->scratch.data : NULL;
}

void gemm_forget_uses(gemm *g) {
    products_forget_uses(&g->products);
}

bool gemm_replay(gemm *g, double *operations, double *seconds) {
    return products_replay(&g->products, operations, seconds);
}

/* ---- operands ---------------------------------------------------------------------------------------- */

void gemm_hold(gemm *g, matrix A) {
    g->held = A;
    g->rounded = GEMM_F32;
}

void gemm_release(gemm *g) {
    gemm_hold(g, (matrix){0});
}

static bool is_held(const gemm *g, matrix A) {
    const matrix *h = &g->held;
    return h->at && h->at == A.at && h->rows == A.rows && h->cols == A.cols && h->stride == A.stride &&
           h->transposed == A.transposed;
}

/* m rounded to bfloat16, dense. */
static bool round_to_bf16(buffer *to, matrix m) {
    long rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    if (!block_reserve(to, (size_t)rows * (size_t)cols * sizeof(uint16_t)))
        return false;
    uint16_t *out = to->data;
    if (m.stride == cols)
        vec_to_bf16(out, m.at, rows * cols);
    else
        for (long i = 0; i < rows; i++)
            vec_to_bf16(out + i * cols, m.at + i * m.stride, cols);
    return true;
}

/* Rows below this are taken for zero: there is no factor that makes 127 of it. */
static const float least_row = 1e-30f;

/* Each row in steps of its own, from -127 to 127, shifted by 128. */
static bool round_to_uint8(buffer *to, buffer *scales, matrix m) {
    if (!block_reserve(to, (size_t)m.rows * (size_t)m.cols) ||
        !block_reserve(scales, (size_t)m.rows * sizeof(float)))
        return false;
    uint8_t *out = to->data;
    float *scale = scales->data;
    for (long i = 0; i < m.rows; i++) {
        const float *row = m.at + i * m.stride;
        float largest = vec_max_abs(row, m.cols);
        bool empty = largest <= least_row; /* not when it is NaN, which becomes the scale */
        vec_to_uint8(out + i * m.cols, row, empty ? 0 : 127 / largest, m.cols);
        scale[i] = empty ? 0 : largest / 127;
    }
    return true;
}

/* A, rounded and dense, in g->left (and g->left_scale). */
static bool round_left(gemm *g, matrix A, gemm_precision type) {
    bool held = is_held(g, A);
    if (held && g->rounded == type)
        return true;
    g->rounded = GEMM_F32;
    bool ok = type == GEMM_INT8 ? round_to_uint8(&g->left, &g->left_scale, A) : round_to_bf16(&g->left, A);
    if (ok && held)
        g->rounded = type;
    return ok;
}

static matrix dense(matrix m) {
    m.stride = m.transposed ? m.rows : m.cols;
    return m;
}

/* ---- products ---------------------------------------------------------------------------------------- */

static product describe_product(matrix A, matrix B, matrix C, bool accumulate, gemm_precision type) {
    return (product){.M = C.rows,
                     .K = A.cols,
                     .N = C.cols,
                     .a_stride = A.stride,
                     .b_stride = B.stride,
                     .c_stride = C.stride,
                     .a_transposed = A.transposed,
                     .b_transposed = B.transposed,
                     .accumulate = accumulate,
                     .type = type};
}

bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate) {
    SA_ASSERT(A.cols == B.rows && C.rows == A.rows && C.cols == B.cols && !C.transposed);
    if (C.rows == 0 || C.cols == 0)
        return true;
    if (g->precision == GEMM_BF16) {
        if (!round_left(g, A, GEMM_BF16) || !round_to_bf16(&g->right, B))
            return false;
        product key = describe_product(dense(A), dense(B), C, accumulate, GEMM_BF16);
        return product_run(&g->products, &key, NULL, g->left.data, g->right.data, NULL, C.at);
    }
    product key = describe_product(A, B, C, accumulate, GEMM_F32);
    return product_run_sgemm(&g->products, &key, A.at, B.at, C.at);
}

static product describe_packed(matrix A, matrix C, bool accumulate, const real *bias, gemm_precision type) {
    product key = describe_product(A, (matrix){0}, C, accumulate, type);
    key.packed = true;
    key.biased = bias;
    return key;
}

/* Some rows of A and C; of A, when rounded, those in g->left. */
static bool run_rows(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate, int from,
                     int rows) {
    if (rows == 0)
        return true;
    if (B->type == GEMM_BF16)
        A = dense(A);
    long skip = from * (A.transposed ? 1 : A.stride);
    const void *a = A.at + skip;
    if (B->type == GEMM_BF16)
        a = (const uint16_t *)g->left.data + skip;
    A.rows = C.rows = rows;
    C.at += (long)from * C.stride;
    product key = describe_packed(A, C, accumulate, bias, B->type);
    return product_run(&g->products, &key, &B->numbers, a, NULL, bias, C.at);
}

/* So many rows that their sums stay in the cache between the product and the scaling. */
static int rows_in_cache(int cols) {
    enum { CACHED = 512 << 10, LEAST = 16 };
    int rows = CACHED / (int)sizeof(int32_t) / cols;
    return rows < LEAST ? LEAST : rows < ROW_BLOCK ? rows / LEAST * LEAST : ROW_BLOCK;
}

/* The sums are whole numbers: a row's do not depend on how many rows there are. They lie where the results go, or
 * apart where those are added to. */
static bool run_int8(gemm *g, matrix A, const gemm_pack *B, const float *bias, matrix C, bool accumulate) {
    SA_ASSERT(!A.transposed);
    int most = rows_in_cache(C.cols);
    bool apart = accumulate || C.stride != C.cols;
    const float *left_scale = g->left_scale.data;
    if (apart && !block_reserve(&g->sums, (size_t)most * (size_t)C.cols * sizeof(int32_t)))
        return false;
    for (int from = 0; from < C.rows; from += most) {
        matrix a = dense(A), c = dense(C);
        a.rows = c.rows = C.rows - from < most ? C.rows - from : most;
        float *out = C.at + (long)from * C.stride;
        char *sums = apart ? g->sums.data : (void *)out;
        product key = describe_packed(a, c, false, NULL, GEMM_INT8);
        if (!product_run(&g->products, &key, &B->numbers, (const uint8_t *)g->left.data + (long)from * A.cols, NULL,
                         NULL, sums))
            return false;
        for (long i = 0; i < c.rows; i++, out += C.stride)
            vec_from_int32(out, sums + i * C.cols * (long)sizeof(int32_t), B->offset, B->scale,
                           left_scale[from + i], accumulate ? out : bias, C.cols);
    }
    return true;
}

bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate) {
    SA_ASSERT(!(bias && accumulate));
    SA_ASSERT(A.cols == B->rows && C.rows == A.rows && C.cols == B->cols && !C.transposed);
    if (C.rows == 0 || C.cols == 0)
        return true;
    if (B->type != GEMM_F32 && !round_left(g, A, B->type))
        return false;
    if (B->type == GEMM_INT8)
        return run_int8(g, A, B, bias, C, accumulate);
    int rest = C.rows > ROW_BLOCK ? C.rows % ROW_BLOCK : 0;
    return run_rows(g, A, B, bias, C, accumulate, 0, C.rows - rest) &&
           run_rows(g, A, B, bias, C, accumulate, C.rows - rest, rest);
}

/* ---- weight gradients -------------------------------------------------------------------------------- */

/* The inner dimension is padded to a multiple of this with zeros, so that few products need be compiled. */
enum { INNER_BLOCK = 32 };

static long count_rows(int n, const matrix *m) {
    long rows = 0;
    for (int i = 0; i < n; i++)
        rows += m[i].rows;
    return rows;
}

/* The rows of all pieces one behind the other, dense; rounded, and padded with rows of zeros. */
static bool join_rows(buffer *to, int n, const matrix *m, long rows, bool bf16) {
    size_t cols = (size_t)m[0].cols, size = bf16 ? sizeof(uint16_t) : sizeof(real);
    if (!block_reserve(to, (size_t)rows * cols * size))
        return false;
    char *out = to->data;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m[i].rows; k++, out += cols * size) {
            const real *from = m[i].at + k * m[i].stride;
            if (bf16)
                vec_to_bf16((uint16_t *)(void *)out, from, (long)cols);
            else
                memcpy(out, from, cols * size);
        }
    memset(out, 0, (size_t)((char *)to->data + (size_t)rows * cols * size - out));
    return true;
}

static bool outer_bf16(gemm *g, int n, const matrix *dy, const matrix *x, matrix C, bool accumulate) {
    long rows = (count_rows(n, dy) + INNER_BLOCK - 1) / INNER_BLOCK * INNER_BLOCK;
    bool held = n == 1 && rows == dy[0].rows && is_held(g, dy[0]);
    if (!(held ? round_left(g, dy[0], GEMM_BF16) : join_rows(&g->a_rows, n, dy, rows, true)) ||
        !join_rows(&g->b_rows, n, x, rows, true))
        return false;
    matrix A = {.rows = C.rows, .cols = (int)rows, .stride = C.rows, .transposed = true};
    matrix B = {.rows = (int)rows, .cols = C.cols, .stride = C.cols};
    product key = describe_product(A, B, C, accumulate, GEMM_BF16);
    return product_run(&g->products, &key, NULL, held ? g->left.data : g->a_rows.data, g->b_rows.data, NULL, C.at);
}

bool gemm_outer(gemm *g, int n, const matrix *dy, const matrix *x, matrix C, bool accumulate) {
    SA_ASSERT(n >= 1 && !C.transposed);
    for (int i = 0; i < n; i++)
        SA_ASSERT(dy[i].rows == x[i].rows && dy[i].cols == C.rows && x[i].cols == C.cols && !dy[i].transposed &&
                  !x[i].transposed);
    if (g->precision == GEMM_BF16)
        return outer_bf16(g, n, dy, x, C, accumulate);
    if (n == 1)
        return gemm_run(g, matrix_transposed(dy[0]), x[0], C, accumulate);
    long rows = count_rows(n, dy);
    if (!join_rows(&g->a_rows, n, dy, rows, false) || !join_rows(&g->b_rows, n, x, rows, false))
        return false;
    return gemm_run(g, matrix_transposed(matrix_of(g->a_rows.data, (int)rows, C.rows, C.rows)),
                    matrix_of(g->b_rows.data, (int)rows, C.cols, C.cols), C, accumulate);
}

/* ---- packs ------------------------------------------------------------------------------------------- */

/* More rows could make a sum leave 32 bits. */
enum { INT8_ROWS_MAX = INT32_MAX / (255 * 127) };

gemm_pack *gemm_pack_plan(gemm *g, int rows, int cols) {
    gemm_pack *pack = calloc(1, sizeof *pack);
    if (!pack)
        return NULL;
    pack->rows = rows;
    pack->cols = cols;
    pack->precision = g->precision;
    pack->type = gemm_has(g, g->precision) ? g->precision : GEMM_F32;
    if (pack->type == GEMM_INT8 && rows > INT8_ROWS_MAX)
        pack->type = GEMM_F32;
    bool ok = packed_init(&pack->numbers, &g->products, pack->type, rows, cols);
    if (ok && pack->type == GEMM_INT8) {
        pack->scale = block_new((size_t)cols * sizeof *pack->scale);
        pack->offset = block_new((size_t)cols * sizeof *pack->offset);
        ok = pack->scale && pack->offset;
    }
    if (ok)
        return pack;
    gemm_pack_free(pack);
    return NULL;
}

size_t gemm_pack_bytes(const gemm_pack *pack) {
    return packed_bytes(&pack->numbers);
}

bool gemm_pack_place(gemm_pack *pack, void *memory) {
    return packed_place(&pack->numbers, memory);
}

gemm_pack *gemm_pack_new(gemm *g, int rows, int cols) {
    gemm_pack *pack = gemm_pack_plan(g, rows, cols);
    if (!pack || gemm_pack_place(pack, NULL))
        return pack;
    gemm_pack_free(pack);
    return NULL;
}

void gemm_pack_free(gemm_pack *pack) {
    if (!pack)
        return;
    packed_clear(&pack->numbers);
    free(pack->scale);
    free(pack->offset);
    free(pack);
}

/* W as the pack has it, in g->right. */
static bool convert(gemm *g, gemm_pack *pack, const narrow *W, narrow *out) {
    size_t line = narrow_bytes(pack->type, W->cols);
    float *row = block_reserve(&g->sums, (size_t)W->cols * sizeof *row) ? g->sums.data : NULL;
    if (!row || !block_reserve(&g->right, line * (size_t)W->rows))
        return false;
    *out = (narrow){pack->type, W->rows, W->cols, g->right.data, NULL};
    for (int j = 0; j < W->rows; j++) {
        narrow_read(W, j, row);
        if (W->type != pack->precision && pack->type != pack->precision)
            narrow_round(pack->precision, row, W->cols);
        float scale = narrow_write(pack->type, row, W->cols, (char *)g->right.data + (size_t)j * line);
        if (pack->scale)
            pack->scale[j] = scale;
    }
    return true;
}

static void sum_columns(gemm_pack *pack, const narrow *W) {
    const int8_t *row = W->at;
    for (int j = 0; j < W->rows; j++, row += W->cols) {
        int32_t sum = 0;
        for (int k = 0; k < W->cols; k++)
            sum += row[k];
        pack->offset[j] = 128 * sum;
    }
}

bool gemm_pack_fill_narrow(gemm *g, gemm_pack *pack, const narrow *W) {
    SA_ASSERT(W->cols == pack->rows && W->rows == pack->cols);
    narrow from = *W;
    bool as_it_is = W->type == pack->type || (W->type == GEMM_F32 && pack->type == GEMM_BF16);
    if (W->type == GEMM_F32 && pack->type == GEMM_F32)
        as_it_is = pack->precision == GEMM_F32;
    if (!as_it_is && !convert(g, pack, W, &from))
        return false;
    if (as_it_is && pack->scale)
        memcpy(pack->scale, W->scale, (size_t)W->rows * sizeof *pack->scale);
    if (pack->offset)
        sum_columns(pack, &from);
    return packed_fill(&pack->numbers, &g->products, from.at, from.type,
                       (matrix){.rows = pack->rows, .cols = pack->cols, .stride = pack->rows, .transposed = true});
}

bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B) {
    SA_ASSERT(B.rows == pack->rows && B.cols == pack->cols);
    if (pack->type == pack->precision && pack->type != GEMM_INT8)
        return packed_fill(&pack->numbers, &g->products, B.at, GEMM_F32, B);
    if (B.transposed && B.stride == B.rows)
        return gemm_pack_fill_narrow(g, pack, &(narrow){GEMM_F32, B.cols, B.rows, B.at, NULL});
    real *lines = malloc((size_t)B.rows * (size_t)B.cols * sizeof *lines);
    if (!lines)
        return false;
    for (long j = 0; j < B.cols; j++)
        for (long k = 0; k < B.rows; k++)
            lines[j * B.rows + k] = B.transposed ? B.at[j * B.stride + k] : B.at[k * B.stride + j];
    bool ok = gemm_pack_fill_narrow(g, pack, &(narrow){GEMM_F32, B.cols, B.rows, lines, NULL});
    free(lines);
    return ok;
}

#endif
