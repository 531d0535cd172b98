#include "math/gemm_product.h"

#include "base/clock.h"

#ifndef SA_REAL_DOUBLE

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct {
    dnnl_data_type_t a, b, c;
    const char *names[2]; /* part of the name that a fast implementation has */
} types[] = {
    [GEMM_F32] = {dnnl_f32, dnnl_f32, dnnl_f32, {"", ""}},
    [GEMM_BF16] = {dnnl_bf16, dnnl_bf16, dnnl_f32, {"bf16", "bf16"}},
    /* Other instructions for int8 add pairs of products in 16 bits, which saturate. */
    [GEMM_INT8] = {dnnl_u8, dnnl_s8, dnnl_s32, {"vnni", "amx"}},
};

enum { TABLE_MIN = 256, TABLE_MAX = 1 << 14 };

bool products_init(products *p) {
    *p = (products){.capacity = TABLE_MIN, .most = GEMM_PRODUCTS_MAX};
    p->table = calloc(p->capacity, sizeof *p->table);
    return p->table && dnnl_engine_create(&p->engine, dnnl_cpu, 0) == dnnl_success &&
           dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) == dnnl_success;
}

static void free_compiled(compiled *made) {
    dnnl_memory_t const memory[] = {made->at_a, made->at_b, made->at_c, made->at_scratch, made->at_bias};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (memory[i])
            dnnl_memory_destroy(memory[i]);
    if (made->primitive)
        dnnl_primitive_destroy(made->primitive);
    free(made);
}

static void drop_products(products *p) {
    for (size_t i = 0; i < p->capacity; i++)
        if (p->table[i].compiled)
            free_compiled(p->table[i].compiled);
    memset(p->table, 0, p->capacity * sizeof *p->table);
    p->n = p->compiled = 0;
}

void products_clear(products *p) {
    if (p->table)
        drop_products(p);
    free(p->table);
    free(p->scratch.data);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    if (p->engine)
        dnnl_engine_destroy(p->engine);
    *p = (products){0};
}

/* ---- compilation ------------------------------------------------------------------------------------- */

static dnnl_memory_desc_t describe(int rows, int cols, long stride, bool transposed, dnnl_data_type_t type) {
    dnnl_memory_desc_t desc;
    dnnl_dims_t dims = {rows, cols};
    dnnl_dims_t strides = {transposed ? 1 : stride, transposed ? stride : 1};
    dnnl_memory_desc_init_by_strides(&desc, 2, dims, type, strides);
    return desc;
}

/* A matmul of oneDNN for those descriptions, with scratch memory that we provide (its own is not for several
 * threads). */
static bool describe_matmul(products *p, const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
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
    ok = ok && dnnl_primitive_desc_create(out, &matmul, attr, p->engine, NULL) == dnnl_success;
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

static bool make_primitive(products *p, const product *key, const dnnl_memory_desc_t *bias, compiled *made) {
    dnnl_primitive_desc_t desc;
    if (!can_compile() || !describe_matmul(p, &made->a, &made->b, &made->c, bias, key->accumulate, &desc))
        return false;
    made->scratch = *dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    bool ok = dnnl_primitive_create(&made->primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static bool make_handle(products *p, const dnnl_memory_desc_t *desc, dnnl_memory_t *out) {
    return dnnl_memory_create(out, desc, p->engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static compiled *compile(products *p, const product *key, const packed *pack) {
    compiled *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->a = describe(key->M, key->K, key->a_stride, key->a_transposed, types[key->type].a);
    made->b = pack ? pack->desc : describe(key->K, key->N, key->b_stride, key->b_transposed, types[key->type].b);
    made->c = describe(key->M, key->N, key->c_stride, false, types[key->type].c);
    dnnl_memory_desc_t bias = describe(1, key->N, key->N, false, dnnl_f32);
    bool ok = make_primitive(p, key, key->biased ? &bias : NULL, made) && make_handle(p, &made->a, &made->at_a) &&
              (pack || make_handle(p, &made->b, &made->at_b)) && make_handle(p, &made->c, &made->at_c) &&
              make_handle(p, &made->scratch, &made->at_scratch) &&
              (!key->biased || make_handle(p, &bias, &made->at_bias));
    if (!ok) {
        free_compiled(made);
        return NULL;
    }
    p->compiled++;
    return made;
}

static bool ask_for(products *p, gemm_precision type) {
    dnnl_memory_desc_t a = describe(16, 16, 16, false, types[type].a),
                       b = describe(16, 16, 16, false, types[type].b);
    dnnl_memory_desc_t c = describe(16, 16, 16, false, types[type].c);
    dnnl_primitive_desc_t desc;
    if (!describe_matmul(p, &a, &b, &c, NULL, false, &desc))
        return false;
    const char *name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    bool fast = strstr(name, types[type].names[0]) || strstr(name, types[type].names[1]);
    dnnl_primitive_desc_destroy(desc);
    return fast;
}

bool products_have(products *p, gemm_precision type) {
    if (!p->fast[type])
        p->fast[type] = ask_for(p, type) ? 1 : -1;
    return p->fast[type] > 0;
}

/* ---- table ------------------------------------------------------------------------------------------- */

static bool same_product(const product *p, const product *q) {
    return p->M == q->M && p->K == q->K && p->N == q->N && p->a_stride == q->a_stride &&
           p->b_stride == q->b_stride && p->c_stride == q->c_stride && p->a_transposed == q->a_transposed &&
           p->b_transposed == q->b_transposed && p->packed == q->packed && p->accumulate == q->accumulate &&
           p->biased == q->biased && p->type == q->type;
}

static size_t hash_product(const product *p) {
    uint64_t h = 0;
    const long part[] = {p->M,
                         p->K,
                         p->N,
                         p->a_stride,
                         p->b_stride,
                         p->c_stride,
                         p->a_transposed + 2 * p->b_transposed + 4 * p->packed + 8 * p->accumulate +
                             16 * p->biased + 32 * (long)p->type};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = (h ^ (uint64_t)part[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    return (size_t)h;
}

static product *place_for(products *p, const product *key) {
    size_t i = hash_product(key) & (p->capacity - 1);
    while (p->table[i].M && !same_product(&p->table[i], key))
        i = (i + 1) & (p->capacity - 1);
    return &p->table[i];
}

static bool grow_table(products *p) {
    products bigger = *p;
    bigger.capacity *= 2;
    bigger.table = calloc(bigger.capacity, sizeof *bigger.table);
    if (!bigger.table)
        return false;
    for (size_t i = 0; i < p->capacity; i++)
        if (p->table[i].M)
            *place_for(&bigger, &p->table[i]) = p->table[i];
    free(p->table);
    *p = bigger;
    return true;
}

/* The place of a shape, new ones added; NULL without memory. */
static product *find_product(products *p, const product *key) {
    product *found = place_for(p, key);
    if (found->M)
        return found;
    if (p->n >= TABLE_MAX / 2) /* endless new shapes: start over instead of growing without end */
        drop_products(p);
    else if (p->n >= p->capacity / 2 && !grow_table(p))
        return NULL;
    found = place_for(p, key);
    p->n++;
    *found = *key;
    return found;
}

/* ---- running ----------------------------------------------------------------------------------------- */

static bool point(dnnl_memory_t memory, const void *at) {
    return dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)at) == dnnl_success;
}

static bool execute(products *p, const compiled *made, const packed *pack, const void *a, const void *b,
                    const float *bias, void *c) {
    if (!block_reserve(&p->scratch, dnnl_memory_desc_get_size(&made->scratch)) || !point(made->at_a, a) ||
        (!pack && !point(made->at_b, b)) || !point(made->at_c, c) || !point(made->at_scratch, p->scratch.data) ||
        (bias && !point(made->at_bias, bias)))
        return false;
    const dnnl_exec_arg_t argument[] = {{DNNL_ARG_SRC, made->at_a},
                                        {DNNL_ARG_WEIGHTS, pack ? pack->memory : made->at_b},
                                        {DNNL_ARG_DST, made->at_c},
                                        {DNNL_ARG_SCRATCHPAD, made->at_scratch},
                                        {DNNL_ARG_BIAS, made->at_bias}};
    enum { ARGUMENTS = sizeof argument / sizeof *argument };
    return dnnl_primitive_execute(made->primitive, p->stream, bias ? ARGUMENTS : ARGUMENTS - 1, argument) ==
           dnnl_success;
}

bool product_run(products *p, const product *key, const packed *pack, const void *a, const void *b,
                 const float *bias, void *c) {
    product *found = find_product(p, key);
    if (found && !found->compiled && p->compiled >= p->most) { /* the same for what takes memory */
        drop_products(p);
        found = find_product(p, key);
    }
    if (!found || (!found->compiled && !(found->compiled = compile(p, key, pack))))
        return false;
    found->uses++;
    return execute(p, found->compiled, pack, a, b, bias, c);
}

static bool run_sgemm(const product *p, const float *a, const float *b, float *c) {
    return dnnl_sgemm(p->a_transposed ? 'T' : 'N', p->b_transposed ? 'T' : 'N', p->M, p->N, p->K, 1, a, p->a_stride,
                      b, p->b_stride, p->accumulate ? 1 : 0, c, p->c_stride) == dnnl_success;
}

bool product_run_sgemm(products *p, const product *key, const float *a, const float *b, float *c) {
    product *found = find_product(p, key);
    if (!found)
        return false;
    found->uses++;
    return run_sgemm(found, a, b, c);
}

/* ---- packs ------------------------------------------------------------------------------------------- */

bool packed_init(packed *m, products *p, gemm_precision type, int rows, int cols) {
    enum { TYPICAL_ROWS = 64 }; /* the layout chosen came out the same for every row count tried */
    *m = (packed){0};
    dnnl_memory_desc_t a = describe(TYPICAL_ROWS, rows, rows, false, types[type].a), b;
    dnnl_memory_desc_t c = describe(TYPICAL_ROWS, cols, cols, false, types[type].c);
    dnnl_dims_t dims = {rows, cols};
    dnnl_memory_desc_init_by_tag(&b, 2, dims, types[type].b, dnnl_format_tag_any);
    dnnl_primitive_desc_t desc;
    if (!describe_matmul(p, &a, &b, &c, NULL, false, &desc))
        return false;
    m->desc = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    dnnl_primitive_desc_destroy(desc);
    return dnnl_engine_create(&m->engine, dnnl_cpu, 0) == dnnl_success;
}

size_t packed_bytes(const packed *m) {
    return dnnl_memory_desc_get_size(&m->desc);
}

bool packed_place(packed *m, void *data) {
    m->own = !data;
    m->data = data ? data : block_new(packed_bytes(m));
    return m->data && dnnl_memory_create(&m->memory, &m->desc, m->engine, m->data) == dnnl_success;
}

void packed_clear(packed *m) {
    if (m->memory)
        dnnl_memory_destroy(m->memory);
    if (m->engine)
        dnnl_engine_destroy(m->engine);
    if (m->own)
        free(m->data);
    *m = (packed){0};
}

bool packed_fill(packed *m, products *p, const void *at, gemm_precision from, matrix shape) {
    dnnl_memory_desc_t plain = describe(shape.rows, shape.cols, shape.stride, shape.transposed, types[from].b);
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_memory_t source = NULL, target = NULL;
    bool ok =
        can_compile() &&
        dnnl_reorder_primitive_desc_create(&desc, &plain, p->engine, &m->desc, p->engine, NULL) == dnnl_success &&
        dnnl_primitive_create(&reorder, desc) == dnnl_success &&
        dnnl_memory_create(&source, &plain, p->engine, (void *)(uintptr_t)at) == dnnl_success &&
        dnnl_memory_create(&target, &m->desc, p->engine, m->data) == dnnl_success;
    if (ok) {
        dnnl_exec_arg_t argument[2] = {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}};
        ok = dnnl_primitive_execute(reorder, p->stream, 2, argument) == dnnl_success;
    }
    if (source)
        dnnl_memory_destroy(source);
    if (target)
        dnnl_memory_destroy(target);
    if (reorder)
        dnnl_primitive_destroy(reorder);
    if (desc)
        dnnl_primitive_desc_destroy(desc);
    return ok;
}

/* ---- measurement ------------------------------------------------------------------------------------- */

void products_forget_uses(products *p) {
    for (size_t i = 0; i < p->capacity; i++)
        p->table[i].uses = 0;
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

static bool run_once(products *p, const product *x, const packed *pack, const float *const operand[3], float *c) {
    if (x->compiled)
        return execute(p, x->compiled, pack, operand[0], operand[1], x->biased ? operand[2] : NULL, c);
    return run_sgemm(x, operand[0], operand[1], c);
}

/* The best time of one product out of as many as fit in a few milliseconds. */
static bool time_product(products *p, const product *x, double *best) {
    const compiled *made = x->compiled;
    float *a = filled(operand_bytes(made ? &made->a : NULL, x->a_transposed ? x->K : x->M, x->a_stride));
    float *b = filled(operand_bytes(made ? &made->b : NULL, x->b_transposed ? x->N : x->K, x->b_stride));
    float *c = filled(operand_bytes(made ? &made->c : NULL, x->M, x->c_stride));
    float *bias = filled((size_t)x->N * sizeof *bias);
    packed pack = {0};
    bool ok = a && b && c && bias;
    if (ok && x->packed)
        ok = packed_init(&pack, p, x->type, x->K, x->N) && packed_place(&pack, b);
    const float *const operand[3] = {a, b, bias};
    *best = 1e9;
    for (double spent = 0; ok && spent < 0.01;) {
        double start = clock_seconds();
        ok = run_once(p, x, x->packed ? &pack : NULL, operand, c);
        double time = clock_seconds() - start;
        spent += time;
        *best = time < *best ? time : *best;
    }
    packed_clear(&pack);
    free(a);
    free(b);
    free(c);
    free(bias);
    return ok;
}

bool products_replay(products *p, double *operations, double *seconds) {
    *operations = *seconds = 0;
    for (size_t i = 0; i < p->capacity; i++) {
        const product *x = &p->table[i];
        double best;
        if (!x->M || x->uses == 0)
            continue;
        if (!time_product(p, x, &best))
            return false;
        *operations += 2.0 * x->M * x->N * x->K * (double)x->uses;
        *seconds += best * (double)x->uses;
    }
    return true;
}

#endif
