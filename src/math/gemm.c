#include "math/gemm.h"

#include "math/vecmath.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef SA_REAL_DOUBLE

struct gemm {
    int unused;
};
struct gemm_pack {
    matrix B;
};

sa_status gemm_new(gemm **out, sa_error *error) {
    *out = calloc(1, sizeof **out);
    return *out ? SA_OK : sa_fail_memory(error, sizeof **out);
}
void gemm_free(gemm *g) {
    free(g);
}
void gemm_work_alone(void) {
}
void gemm_set_precision(gemm *g, gemm_precision precision) {
    (void)g, (void)precision;
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
bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, matrix C, bool accumulate) {
    return gemm_run(g, A, B->B, C, accumulate);
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

/* One compiled product. Creating one costs 0.1 to 2 ms, so they are kept by shape. */
typedef struct product {
    int M, K, N;
    long a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed, packed, accumulate, bf16;
    dnnl_primitive_t primitive;
    dnnl_memory_desc_t a, b, c, scratch;
    long uses;
} product;

enum { TABLE_MIN = 256, TABLE_MAX = 4096 };

/* Memory that grows. */
typedef struct buffer {
    void *data;
    size_t size;
} buffer;

struct gemm {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    product *table; /* open addressing */
    size_t n, capacity;
    buffer scratch;
    gemm_precision precision;
    buffer a16, b16; /* operands rounded to bfloat16 */
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
        if (g->table[i].primitive)
            dnnl_primitive_destroy(g->table[i].primitive);
    memset(g->table, 0, g->capacity * sizeof *g->table);
    g->n = 0;
}

void gemm_free(gemm *g) {
    if (!g)
        return;
    if (g->table)
        drop_products(g);
    free(g->table);
    free(g->scratch.data);
    free(g->a16.data);
    free(g->b16.data);
    if (g->stream)
        dnnl_stream_destroy(g->stream);
    if (g->engine)
        dnnl_engine_destroy(g->engine);
    free(g);
}

void gemm_work_alone(void) {
    omp_set_num_threads(1);
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
           p->bf16 == q->bf16;
}

static size_t hash_product(const product *p) {
    uint64_t h = 0;
    const long part[] = {p->M,
                         p->K,
                         p->N,
                         p->a_stride,
                         p->b_stride,
                         p->c_stride,
                         p->a_transposed + 2 * p->b_transposed + 4 * p->packed + 8 * p->accumulate + 16 * p->bf16};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = (h ^ (uint64_t)part[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    return (size_t)h;
}

/* A matmul of oneDNN for those descriptions, with scratch memory that we provide (its own is not for several
 * threads). */
static bool describe_matmul(gemm *g, const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                            const dnnl_memory_desc_t *c, bool accumulate, dnnl_primitive_desc_t *out) {
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t post_ops = NULL;
    bool ok = dnnl_matmul_desc_init(&matmul, a, b, NULL, c) == dnnl_success &&
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

/* oneDNN does not survive it when memory for the code that it generates is refused, so it is asked for before. What
 * is asked for is more than several threads need that compile at once. */
static bool can_compile(void) {
    const size_t bytes = (size_t)16 << 20;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, bytes) == 0;
}

static bool compile_product(gemm *g, product *p, const dnnl_memory_desc_t *packed) {
    dnnl_data_type_t type = p->bf16 ? dnnl_bf16 : dnnl_f32;
    p->a = describe(p->M, p->K, p->a_stride, p->a_transposed, type);
    p->b = packed ? *packed : describe(p->K, p->N, p->b_stride, p->b_transposed, type);
    p->c = describe(p->M, p->N, p->c_stride, false, dnnl_f32);
    dnnl_primitive_desc_t desc;
    if (!can_compile() || !describe_matmul(g, &p->a, &p->b, &p->c, p->accumulate, &desc))
        return false;
    p->scratch = *dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    bool ok = dnnl_primitive_create(&p->primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static product *place_for(gemm *g, const product *key) {
    size_t i = hash_product(key) & (g->capacity - 1);
    while (g->table[i].primitive && !same_product(&g->table[i], key))
        i = (i + 1) & (g->capacity - 1);
    return &g->table[i];
}

static bool grow_table(gemm *g) {
    if (g->capacity >= TABLE_MAX) { /* endless new shapes: start over instead of growing without end */
        drop_products(g);
        return true;
    }
    gemm bigger = *g;
    bigger.capacity *= 2;
    bigger.table = calloc(bigger.capacity, sizeof *bigger.table);
    if (!bigger.table)
        return false;
    for (size_t i = 0; i < g->capacity; i++)
        if (g->table[i].primitive)
            *place_for(&bigger, &g->table[i]) = g->table[i];
    free(g->table);
    *g = bigger;
    return true;
}

static product *find_product(gemm *g, const product *key, const dnnl_memory_desc_t *packed) {
    product *p = place_for(g, key);
    if (p->primitive)
        return p;
    if (g->n >= g->capacity / 2) {
        if (!grow_table(g))
            return NULL;
        p = place_for(g, key);
    }
    product made = *key;
    if (!compile_product(g, &made, packed))
        return NULL;
    g->n++;
    *p = made;
    return p;
}

static bool reserve(buffer *b, size_t bytes) {
    if (bytes <= b->size)
        return true;
    free(b->data);
    b->size = 0;
    bytes = (bytes + 4095) / 4096 * 4096;
    b->data = aligned_alloc(4096, bytes);
    if (!b->data)
        return false;
    b->size = bytes;
    return true;
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

static bool execute(gemm *g, const product *p, const void *a, const void *b, void *c) {
    if (!reserve(&g->scratch, dnnl_memory_desc_get_size(&p->scratch)))
        return false;
    const struct {
        int argument;
        const dnnl_memory_desc_t *desc;
        void *data;
    } part[] = {{DNNL_ARG_SRC, &p->a, (void *)a},
                {DNNL_ARG_WEIGHTS, &p->b, (void *)b},
                {DNNL_ARG_DST, &p->c, c},
                {DNNL_ARG_SCRATCHPAD, &p->scratch, g->scratch.data}};
    dnnl_exec_arg_t argument[4];
    int made = 0;
    while (made < 4 && dnnl_memory_create(&argument[made].memory, part[made].desc, g->engine, part[made].data) ==
                           dnnl_success) {
        argument[made].arg = part[made].argument;
        made++;
    }
    bool ok = made == 4 && dnnl_primitive_execute(p->primitive, g->stream, 4, argument) == dnnl_success;
    while (made > 0)
        dnnl_memory_destroy(argument[--made].memory);
    return ok;
}

static bool multiply(gemm *g, matrix A, matrix B, const gemm_pack *pack, matrix C, bool accumulate) {
    SA_ASSERT(A.cols == B.rows && C.rows == A.rows && C.cols == B.cols && !C.transposed);
    if (C.rows == 0 || C.cols == 0)
        return true;
    bool bf16 = pack ? pack->bf16 : g->precision == GEMM_BF16;
    if (bf16 && (!round_operand(&g->a16, &A) || (!pack && !round_operand(&g->b16, &B))))
        return false;
    product key = {.M = C.rows,
                   .K = A.cols,
                   .N = C.cols,
                   .a_stride = A.stride,
                   .b_stride = pack ? 0 : B.stride,
                   .c_stride = C.stride,
                   .a_transposed = A.transposed,
                   .b_transposed = B.transposed,
                   .packed = pack != NULL,
                   .accumulate = accumulate,
                   .bf16 = bf16};
    product *p = find_product(g, &key, pack ? &pack->desc : NULL);
    if (!p)
        return false;
    p->uses++;
    return execute(g, p, bf16 ? g->a16.data : A.at, pack ? pack->data : bf16 ? g->b16.data : B.at, C.at);
}

void gemm_set_precision(gemm *g, gemm_precision precision) {
    g->precision = precision;
}

bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate) {
    return multiply(g, A, B, NULL, C, accumulate);
}

bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, matrix C, bool accumulate) {
    return multiply(g, A, (matrix){.rows = B->rows, .cols = B->cols}, B, C, accumulate);
}

bool gemm_has_bf16(gemm *g) {
    dnnl_memory_desc_t a = describe(16, 16, 16, false, dnnl_bf16), c = describe(16, 16, 16, false, dnnl_f32);
    dnnl_primitive_desc_t desc;
    if (!describe_matmul(g, &a, &a, &c, false, &desc))
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
    if (describe_matmul(g, &a, &b, &c, false, &desc)) {
        pack->desc = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
        dnnl_primitive_desc_destroy(desc);
        size_t bytes = (dnnl_memory_desc_get_size(&pack->desc) + 4095) / 4096 * 4096;
        pack->data = aligned_alloc(4096, bytes);
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
    bool ok = can_compile() &&
              dnnl_reorder_primitive_desc_create(&desc, &plain, g->engine, &pack->desc, g->engine, NULL) ==
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

static float *filled(const dnnl_memory_desc_t *desc) {
    size_t bytes = (dnnl_memory_desc_get_size(desc) + 4095) / 4096 * 4096;
    float *data = aligned_alloc(4096, bytes);
    for (size_t i = 0; data && i < bytes / sizeof *data; i++)
        data[i] = (float)(i % 7) * 0.25f - 0.75f;
    return data;
}

/* The best time of one product out of as many as fit in a few milliseconds. */
static bool time_product(gemm *g, const product *p, double *best) {
    float *a = filled(&p->a), *b = filled(&p->b), *c = filled(&p->c);
    bool ok = a && b && c && execute(g, p, a, b, c);
    *best = 1e9;
    for (double spent = 0; ok && spent < 0.01;) {
        double start = clock_seconds();
        ok = execute(g, p, a, b, c);
        double time = clock_seconds() - start;
        spent += time;
        *best = time < *best ? time : *best;
    }
    free(a);
    free(b);
    free(c);
    return ok;
}

bool gemm_replay(gemm *g, double *operations, double *seconds) {
    *operations = *seconds = 0;
    for (size_t i = 0; i < g->capacity; i++) {
        const product *p = &g->table[i];
        double best;
        if (!p->primitive || p->uses == 0)
            continue;
        if (!time_product(g, p, &best))
            return false;
        *operations += 2.0 * p->M * p->N * p->K * (double)p->uses;
        *seconds += best * (double)p->uses;
    }
    return true;
}

#endif
