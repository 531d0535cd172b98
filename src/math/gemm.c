#include "math/gemm.h"

#include "base/block.h"
#include "math/vecmath.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Memory that grows. */
typedef struct buffer {
    void *data;
    size_t size;
} buffer;

static bool reserve(buffer *b, size_t bytes) {
    if (bytes <= b->size)
        return true;
    free(b->data);
    b->size = 0;
    b->data = block_new(bytes);
    if (!b->data)
        return false;
    b->size = bytes;
    return true;
}

#ifdef SA_REAL_DOUBLE

struct gemm {
    buffer scratch;
};
struct gemm_pack {
    matrix B;
};

sa_status gemm_new(gemm **out, sa_error *error) {
    *out = calloc(1, sizeof **out);
    return *out ? SA_OK : sa_fail_memory(error, sizeof **out);
}
void gemm_free(gemm *g) {
    if (g)
        free(g->scratch.data);
    free(g);
}
void gemm_work_alone(void) {
}
void gemm_keep(gemm *g, int products) {
    (void)g, (void)products;
}
void gemm_set_precision(gemm *g, gemm_precision precision) {
    (void)g, (void)precision;
}
gemm_precision gemm_get_precision(const gemm *g) {
    (void)g;
    return GEMM_F32;
}
bool gemm_has_bf16(gemm *g) {
    (void)g;
    return false;
}
bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate) {
    (void)g;
    gemm_plain(A, B, C, accumulate);
    return true;
}
gemm_pack *gemm_pack_new(gemm *g, int rows, int cols) {
    (void)g, (void)rows, (void)cols;
    return calloc(1, sizeof(gemm_pack));
}
bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B) {
    (void)g;
    pack->B = B;
    return true;
}
void gemm_pack_free(gemm_pack *pack) {
    free(pack);
}
bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate) {
    for (long i = 0; bias && i < C.rows; i++)
        memcpy(C.at + i * C.stride, bias, (size_t)C.cols * sizeof *bias);
    return gemm_run(g, A, B->B, C, accumulate || bias);
}
void *gemm_scratch(gemm *g, size_t bytes) {
    return reserve(&g->scratch, bytes) ? g->scratch.data : NULL;
}
void gemm_hold(gemm *g, matrix A) {
    (void)g, (void)A;
}
void gemm_release(gemm *g) {
    (void)g;
}
bool gemm_outer(gemm *g, int n, const matrix *dy, const matrix *x, matrix C, bool accumulate) {
    (void)g;
    for (int i = 0; i < n; i++)
        gemm_plain(matrix_transposed(dy[i]), x[i], C, accumulate || i > 0);
    return true;
}
void gemm_forget_uses(gemm *g) {
    (void)g;
}
bool gemm_replay(gemm *g, double *operations, double *seconds) {
    (void)g;
    *operations = *seconds = 0;
    return true;
}

#else

#include <dnnl.h>

/* Of gcc's OpenMP runtime, which oneDNN runs on; clang comes without its header. */
void omp_set_num_threads(int n);

/* A product that oneDNN compiled, which costs 0.1 to 0.5 ms. */
typedef struct compiled {
    dnnl_primitive_t primitive;
    dnnl_memory_desc_t a, b, c, bias, scratch;
} compiled;

/* Shapes that came up; compiled is NULL where they need no compilation (dnnl_sgemm). */
typedef struct product {
    int M, K, N; /* M 0: a free place */
    long a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed, packed, accumulate, biased, bf16;
    compiled *compiled;
    long uses;
} product;

enum { TABLE_MIN = 256, TABLE_MAX = 1 << 14 };

/* Products with many different numbers of rows go through ones of a few: so much longer than this they are cut, so
 * that what is compiled stays few. */
enum { ROW_BLOCK = 64 };

struct gemm {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    product *table;        /* open addressing */
    size_t n, capacity;    /* shapes in it, places */
    size_t compiled, most; /* of them compiled: now, at most */
    buffer scratch, inner; /* gemm_scratch; oneDNN's */
    gemm_precision precision;
    buffer a16, b16;       /* operands rounded to bfloat16 */
    matrix held;           /* what is in a16 and stays valid; at NULL: nothing */
    buffer a_rows, b_rows; /* operands of gemm_outer put together */
};

struct gemm_pack {
    int rows, cols;
    bool bf16;
    dnnl_memory_desc_t desc;
    void *data;
};

sa_status gemm_new(gemm **out, sa_error *error) {
    *out = NULL;
    gemm *g = calloc(1, sizeof *g);
    if (!g)
        return sa_fail_memory(error, sizeof *g);
    g->capacity = TABLE_MIN;
    g->most = GEMM_PRODUCTS_MAX;
    g->table = calloc(g->capacity, sizeof *g->table);
    if (!g->table || dnnl_engine_create(&g->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&g->stream, g->engine, dnnl_stream_default_flags) != dnnl_success) {
        gemm_free(g);
        return sa_fail(error, SA_MEMORY, "cannot start oneDNN (not enough memory?)");
    }
    *out = g;
    return SA_OK;
}

static void drop_products(gemm *g) {
    for (size_t i = 0; i < g->capacity; i++)
        if (g->table[i].compiled) {
            dnnl_primitive_destroy(g->table[i].compiled->primitive);
            free(g->table[i].compiled);
        }
    memset(g->table, 0, g->capacity * sizeof *g->table);
    g->n = g->compiled = 0;
}

void gemm_free(gemm *g) {
    if (!g)
        return;
    if (g->table)
        drop_products(g);
    free(g->table);
    buffer *const buffers[] = {&g->scratch, &g->inner, &g->a16, &g->b16, &g->a_rows, &g->b_rows};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        free(buffers[i]->data);
    if (g->stream)
        dnnl_stream_destroy(g->stream);
    if (g->engine)
        dnnl_engine_destroy(g->engine);
    free(g);
}

void gemm_work_alone(void) {
    omp_set_num_threads(1);
}

void gemm_keep(gemm *g, int products) {
    g->most = (size_t)products;
    if (products < GEMM_PRODUCTS_MAX)
        dnnl_set_primitive_cache_capacity(products);
}

static dnnl_memory_desc_t describe(int rows, int cols, long stride, bool transposed, dnnl_data_type_t type) {
    dnnl_memory_desc_t desc;
    dnnl_dims_t dims = {rows, cols};
    dnnl_dims_t strides = {transposed ? 1 : stride, transposed ? stride : 1};
    dnnl_memory_desc_init_by_strides(&desc, 2, dims, type, strides);
    return desc;
}

static bool same_product(const product *p, const product *q) {
    return p->M == q->M && p->K == q->K && p->N == q->N && p->a_stride == q->a_stride &&
           p->b_stride == q->b_stride && p->c_stride == q->c_stride && p->a_transposed == q->a_transposed &&
           p->b_transposed == q->b_transposed && p->packed == q->packed && p->accumulate == q->accumulate &&
           p->biased == q->biased && p->bf16 == q->bf16;
}

static size_t hash_product(const product *p) {
    uint64_t h = 0;
    const long part[] = {p->M,
                         p->K,
                         p->N,
                         p->a_stride,
                         p->b_stride,
                         p->c_stride,
                         p->a_transposed + 2 * p->b_transposed + 4 * p->packed + 8 * p->accumulate + 16 * p->bf16 +
                             32 * p->biased};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = (h ^ (uint64_t)part[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    return (size_t)h;
}

/* A matmul of oneDNN for those descriptions, with scratch memory that we provide (its own is not for several
 * threads). */
static bool describe_matmul(gemm *g, const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                            const dnnl_memory_desc_t *c, const dnnl_memory_desc_t *bias, bool accumulate,
                            dnnl_primitive_desc_t *out) {
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t post_ops = NULL;
    bool ok = dnnl_matmul_desc_init(&matmul, a, b, bias, c) == dnnl_success &&
              dnnl_primitive_attr_create(&attr) == dnnl_success &&
              dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success;
    if (ok && accumulate)
        ok = dnnl_post_ops_create(&post_ops) == dnnl_success &&
             dnnl_post_ops_append_sum(post_ops, 1.0f) == dnnl_success &&
             dnnl_primitive_attr_set_post_ops(attr, post_ops) == dnnl_success;
    ok = ok && dnnl_primitive_desc_create(out, &matmul, attr, g->engine, NULL) == dnnl_success;
    if (post_ops)
        dnnl_post_ops_destroy(post_ops);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return ok;
}

static compiled *compile_product(gemm *g, const product *p, const dnnl_memory_desc_t *packed) {
    dnnl_data_type_t type = p->bf16 ? dnnl_bf16 : dnnl_f32;
    compiled *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->a = describe(p->M, p->K, p->a_stride, p->a_transposed, type);
    made->b = packed ? *packed : describe(p->K, p->N, p->b_stride, p->b_transposed, type);
    made->c = describe(p->M, p->N, p->c_stride, false, dnnl_f32);
    made->bias = describe(1, p->N, p->N, false, dnnl_f32);
    dnnl_primitive_desc_t desc;
    if (!describe_matmul(g, &made->a, &made->b, &made->c, p->biased ? &made->bias : NULL, p->accumulate, &desc)) {
        free(made);
        return NULL;
    }
    made->scratch = *dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    bool ok = dnnl_primitive_create(&made->primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    g->compiled += ok;
    if (ok)
        return made;
    free(made);
    return NULL;
}

static product *place_for(gemm *g, const product *key) {
    size_t i = hash_product(key) & (g->capacity - 1);
    while (g->table[i].M && !same_product(&g->table[i], key))
        i = (i + 1) & (g->capacity - 1);
    return &g->table[i];
}

static bool grow_table(gemm *g) {
    gemm bigger = *g;
    bigger.capacity *= 2;
    bigger.table = calloc(bigger.capacity, sizeof *bigger.table);
    if (!bigger.table)
        return false;
    for (size_t i = 0; i < g->capacity; i++)
        if (g->table[i].M)
            *place_for(&bigger, &g->table[i]) = g->table[i];
    free(g->table);
    *g = bigger;
    return true;
}

/* The place of a shape, new ones added; NULL without memory. */
static product *find_product(gemm *g, const product *key) {
    product *p = place_for(g, key);
    if (p->M)
        return p;
    if (g->n >= TABLE_MAX / 2) /* endless new shapes: start over instead of growing without end */
        drop_products(g);
    else if (g->n >= g->capacity / 2 && !grow_table(g))
        return NULL;
    p = place_for(g, key);
    g->n++;
    *p = *key;
    return p;
}

/* m rounded to bfloat16, dense, in *to: *m describes that afterwards. */
static bool round_operand(buffer *to, matrix *m) {
    long rows = m->transposed ? m->cols : m->rows, cols = m->transposed ? m->rows : m->cols;
    if (!reserve(to, (size_t)rows * (size_t)cols * sizeof(uint16_t)))
        return false;
    uint16_t *out = to->data;
    if (m->stride == cols)
        vec_to_bf16(out, m->at, rows * cols);
    else
        for (long i = 0; i < rows; i++)
            vec_to_bf16(out + i * cols, m->at + i * m->stride, cols);
    m->stride = cols;
    return true;
}

/* bias: NULL where the product was compiled without. */
static bool execute(gemm *g, const compiled *p, const void *a, const void *b, const real *bias, void *c) {
    if (!reserve(&g->inner, dnnl_memory_desc_get_size(&p->scratch)))
        return false;
    const struct {
        int argument;
        const dnnl_memory_desc_t *desc;
        void *data;
    } part[] = {{DNNL_ARG_SRC, &p->a, (void *)a},
                {DNNL_ARG_WEIGHTS, &p->b, (void *)b},
                {DNNL_ARG_DST, &p->c, c},
                {DNNL_ARG_SCRATCHPAD, &p->scratch, g->inner.data},
                {DNNL_ARG_BIAS, &p->bias, (void *)bias}};
    enum { PARTS = sizeof part / sizeof *part };
    dnnl_exec_arg_t argument[PARTS];
    int made = 0, wanted = bias ? PARTS : PARTS - 1;
    while (made < wanted && dnnl_memory_create(&argument[made].memory, part[made].desc, g->engine,
                                               part[made].data) == dnnl_success) {
        argument[made].arg = part[made].argument;
        made++;
    }
    bool ok = made == wanted && dnnl_primitive_execute(p->primitive, g->stream, wanted, argument) == dnnl_success;
    while (made > 0)
        dnnl_memory_destroy(argument[--made].memory);
    return ok;
}

static product describe_product(matrix A, matrix B, bool packed, matrix C, bool accumulate, bool bf16) {
    return (product){.M = C.rows,
                     .K = A.cols,
                     .N = C.cols,
                     .a_stride = A.stride,
                     .b_stride = packed ? 0 : B.stride,
                     .c_stride = C.stride,
                     .a_transposed = A.transposed,
                     .b_transposed = B.transposed,
                     .packed = packed,
                     .accumulate = accumulate,
                     .bf16 = bf16};
}

/* By a compiled product; a, b: the operands as they are read. */
static bool multiply_compiled(gemm *g, const product *key, const gemm_pack *pack, const void *a, const void *b,
                              const real *bias, real *c) {
    product *p = find_product(g, key);
    if (p && !p->compiled && g->compiled >= g->most) { /* the same for what takes memory */
        drop_products(g);
        p = find_product(g, key);
    }
    if (!p || (!p->compiled && !(p->compiled = compile_product(g, key, pack ? &pack->desc : NULL))))
        return false;
    p->uses++;
    return execute(g, p->compiled, a, b, bias, c);
}

static bool run_sgemm(const product *p, const float *a, const float *b, float *c) {
    return dnnl_sgemm(p->a_transposed ? 'T' : 'N', p->b_transposed ? 'T' : 'N', p->M, p->N, p->K, 1, a, p->a_stride,
                      b, p->b_stride, p->accumulate ? 1 : 0, c, p->c_stride) == dnnl_success;
}

void gemm_set_precision(gemm *g, gemm_precision precision) {
    g->precision = precision;
}

gemm_precision gemm_get_precision(const gemm *g) {
    return g->precision;
}

void *gemm_scratch(gemm *g, size_t bytes) {
    return reserve(&g->scratch, bytes) ? g->scratch.data : NULL;
}

void gemm_hold(gemm *g, matrix A) {
    matrix rounded = A;
    g->held = (matrix){0};
    if (g->precision == GEMM_BF16 && round_operand(&g->a16, &rounded))
        g->held = A;
}

void gemm_release(gemm *g) {
    g->held = (matrix){0};
}

static bool is_held(const gemm *g, matrix A) {
    const matrix *h = &g->held;
    return h->at && h->at == A.at && h->rows == A.rows && h->cols == A.cols && h->stride == A.stride &&
           h->transposed == A.transposed;
}

bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate) {
    SA_ASSERT(A.cols == B.rows && C.rows == A.rows && C.cols == B.cols && !C.transposed);
    if (C.rows == 0 || C.cols == 0)
        return true;
    if (g->precision == GEMM_BF16) {
        gemm_release(g);
        if (!round_operand(&g->a16, &A) || !round_operand(&g->b16, &B))
            return false;
        product key = describe_product(A, B, false, C, accumulate, true);
        return multiply_compiled(g, &key, NULL, g->a16.data, g->b16.data, NULL, C.at);
    }
    product key = describe_product(A, B, false, C, accumulate, false);
    product *p = find_product(g, &key);
    if (!p)
        return false;
    p->uses++;
    return run_sgemm(p, A.at, B.at, C.at);
}

/* Some rows of A and C. */
static bool run_packed_rows(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate,
                            int from, int rows) {
    if (rows == 0)
        return true;
    if (B->bf16)
        A.stride = A.transposed ? A.rows : A.cols;
    long skip = from * (A.transposed ? 1 : A.stride);
    const void *a = A.at + skip;
    if (B->bf16)
        a = (const uint16_t *)g->a16.data + skip;
    A.rows = C.rows = rows;
    C.at += (long)from * C.stride;
    product key = describe_product(A, (matrix){0}, true, C, accumulate, B->bf16);
    key.biased = bias;
    return multiply_compiled(g, &key, B, a, B->data, bias, C.at);
}

bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate) {
    SA_ASSERT(!(bias && accumulate));
    SA_ASSERT(A.cols == B->rows && C.rows == A.rows && C.cols == B->cols && !C.transposed);
    if (C.rows == 0 || C.cols == 0)
        return true;
    matrix rounded = A;
    if (B->bf16 && !is_held(g, A)) {
        gemm_release(g);
        if (!round_operand(&g->a16, &rounded))
            return false;
    }
    int rest = C.rows > ROW_BLOCK ? C.rows % ROW_BLOCK : 0;
    return run_packed_rows(g, A, B, bias, C, accumulate, 0, C.rows - rest) &&
           run_packed_rows(g, A, B, bias, C, accumulate, C.rows - rest, rest);
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
    if (!reserve(to, (size_t)rows * cols * size))
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
    if ((!held && !join_rows(&g->a_rows, n, dy, rows, true)) || !join_rows(&g->b_rows, n, x, rows, true))
        return false;
    matrix A = {.rows = C.rows, .cols = (int)rows, .stride = C.rows, .transposed = true};
    matrix B = {.rows = (int)rows, .cols = C.cols, .stride = C.cols};
    product key = describe_product(A, B, false, C, accumulate, true);
    return multiply_compiled(g, &key, NULL, held ? g->a16.data : g->a_rows.data, g->b_rows.data, NULL, C.at);
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

bool gemm_has_bf16(gemm *g) {
    dnnl_memory_desc_t a = describe(16, 16, 16, false, dnnl_bf16), c = describe(16, 16, 16, false, dnnl_f32);
    dnnl_primitive_desc_t desc;
    if (!describe_matmul(g, &a, &a, &c, NULL, false, &desc))
        return false;
    const char *name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    bool fast = strstr(name, "bf16") != NULL; /* not the reference implementation */
    dnnl_primitive_desc_destroy(desc);
    return fast;
}

gemm_pack *gemm_pack_new(gemm *g, int rows, int cols) {
    enum { TYPICAL_ROWS = 64 }; /* the layout chosen came out the same for every row count tried */
    gemm_pack *pack = calloc(1, sizeof *pack);
    if (!pack)
        return NULL;
    pack->rows = rows;
    pack->cols = cols;
    pack->bf16 = g->precision == GEMM_BF16;
    dnnl_data_type_t type = pack->bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_memory_desc_t a = describe(TYPICAL_ROWS, rows, rows, false, type), b;
    dnnl_memory_desc_t c = describe(TYPICAL_ROWS, cols, cols, false, dnnl_f32);
    dnnl_dims_t dims = {rows, cols};
    dnnl_memory_desc_init_by_tag(&b, 2, dims, type, dnnl_format_tag_any);
    dnnl_primitive_desc_t desc;
    if (describe_matmul(g, &a, &b, &c, NULL, false, &desc)) {
        pack->desc = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
        dnnl_primitive_desc_destroy(desc);
        pack->data = block_new(dnnl_memory_desc_get_size(&pack->desc));
    }
    if (pack->data)
        return pack;
    gemm_pack_free(pack);
    return NULL;
}

bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B) {
    SA_ASSERT(B.rows == pack->rows && B.cols == pack->cols);
    dnnl_memory_desc_t plain = describe(B.rows, B.cols, B.stride, B.transposed, dnnl_f32);
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_memory_t from = NULL, to = NULL;
    bool ok = dnnl_reorder_primitive_desc_create(&desc, &plain, g->engine, &pack->desc, g->engine, NULL) ==
                  dnnl_success &&
              dnnl_primitive_create(&reorder, desc) == dnnl_success &&
              dnnl_memory_create(&from, &plain, g->engine, B.at) == dnnl_success &&
              dnnl_memory_create(&to, &pack->desc, g->engine, pack->data) == dnnl_success;
    if (ok) {
        dnnl_exec_arg_t argument[2] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
        ok = dnnl_primitive_execute(reorder, g->stream, 2, argument) == dnnl_success;
    }
    if (from)
        dnnl_memory_destroy(from);
    if (to)
        dnnl_memory_destroy(to);
    if (reorder)
        dnnl_primitive_destroy(reorder);
    if (desc)
        dnnl_primitive_desc_destroy(desc);
    return ok;
}

void gemm_pack_free(gemm_pack *pack) {
    if (!pack)
        return;
    free(pack->data);
    free(pack);
}

void gemm_forget_uses(gemm *g) {
    for (size_t i = 0; i < g->capacity; i++)
        g->table[i].uses = 0;
}

static double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *filled(size_t bytes) {
    float *data = block_new(bytes);
    for (size_t i = 0; data && i < bytes / sizeof *data; i++)
        data[i] = (float)(i % 7) * 0.25f - 0.75f;
    return data;
}

static size_t operand_bytes(const dnnl_memory_desc_t *desc, long lines, long stride) {
    return desc ? dnnl_memory_desc_get_size(desc) : (size_t)(lines * stride) * sizeof(float);
}

/* The best time of one product out of as many as fit in a few milliseconds. */
static bool time_product(gemm *g, const product *p, double *best) {
    const compiled *made = p->compiled;
    float *a = filled(operand_bytes(made ? &made->a : NULL, p->a_transposed ? p->K : p->M, p->a_stride));
    float *b = filled(operand_bytes(made ? &made->b : NULL, p->b_transposed ? p->N : p->K, p->b_stride));
    float *c = filled(operand_bytes(made ? &made->c : NULL, p->M, p->c_stride));
    float *bias = filled((size_t)p->N * sizeof *bias);
    bool ok = a && b && c && bias;
    *best = 1e9;
    for (double spent = 0; ok && spent < 0.01;) {
        double start = clock_seconds();
        ok = made ? execute(g, made, a, b, p->biased ? bias : NULL, c) : run_sgemm(p, a, b, c);
        double time = clock_seconds() - start;
        spent += time;
        *best = time < *best ? time : *best;
    }
    free(a);
    free(b);
    free(c);
    free(bias);
    return ok;
}

bool gemm_replay(gemm *g, double *operations, double *seconds) {
    *operations = *seconds = 0;
    for (size_t i = 0; i < g->capacity; i++) {
        const product *p = &g->table[i];
        double best;
        if (!p->M || p->uses == 0)
            continue;
        if (!time_product(g, p, &best))
            return false;
        *operations += 2.0 * p->M * p->N * p->K * (double)p->uses;
        *seconds += best * (double)p->uses;
    }
    return true;
}

#endif
