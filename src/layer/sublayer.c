#include "layer/sublayer.h"

#include "op/linear.h"
#include "op/pointwise.h"

static void declare_norm(sublayer_norm *n, const weight_scope *scope, const char *prefix, int d) {
    n->gain = weight_declare(scope, prefix, "norm.gain", WEIGHT_GAIN, 1, d, 0, USE_PRODUCT);
    n->bias = weight_declare(scope, prefix, "norm.b", WEIGHT_BIAS, 1, d, 0, USE_PRODUCT);
}

void attention_sublayer_declare(attention_sublayer *s, const weight_scope *scope, const char *prefix, int d,
                                int heads) {
    s->heads = heads;
    s->W_q = weight_declare(scope, prefix, "W_q", WEIGHT_MATRIX, 1, d, d, USE_PRODUCT);
    s->W_kv = weight_declare(scope, prefix, "W_kv", WEIGHT_MATRIX, 2, d, d, USE_PRODUCT);
    s->W_o = weight_declare(scope, prefix, "W_o", WEIGHT_MATRIX, 1, d, d, USE_PRODUCT);
    declare_norm(&s->norm, scope, prefix, d);
}

void forward_sublayer_declare(forward_sublayer *s, const weight_scope *scope, const char *prefix, int d,
                              int width) {
    s->W_1 = weight_declare(scope, prefix, "W_1", WEIGHT_MATRIX, 1, width, d, USE_PRODUCT);
    s->b_1 = weight_declare(scope, prefix, "b_1", WEIGHT_BIAS, 1, width, 0, USE_PRODUCT);
    s->W_2 = weight_declare(scope, prefix, "W_2", WEIGHT_MATRIX, 1, d, width, USE_PRODUCT);
    s->b_2 = weight_declare(scope, prefix, "b_2", WEIGHT_BIAS, 1, d, 0, USE_PRODUCT);
    declare_norm(&s->norm, scope, prefix, d);
}

static tensor *connect(tape *t, const sublayer_norm *n, tensor *x, tensor *f, const unit_dropout *dropout) {
    return op_add_norm(t, x, f, n->gain, n->bias, dropout);
}

tensor *attention_sublayer_keys(tape *t, const attention_sublayer *s, tensor *z) {
    return linear(t, z, s->W_kv, NULL);
}

tensor *attention_sublayer_run(tape *t, const attention_sublayer *s, tensor *x, tensor *kv, const tensor *past,
                               const attention_groups *groups, const unit_dropout *dropout, shown_weights *shown) {
    tensor *q = linear_consumed(t, 1, &(linear_term){x, s->W_q}, NULL);
    tensor *c = attention_multihead(t, q, kv, past, groups, s->heads, shown);
    return connect(t, &s->norm, x, linear_consumed(t, 1, &(linear_term){c, s->W_o}, NULL), dropout);
}

tensor *forward_sublayer_run(tape *t, const forward_sublayer *s, tensor *x, const unit_dropout *dropout) {
    tensor *hidden = op_relu(t, linear(t, x, s->W_1, s->b_1));
    return connect(t, &s->norm, x, linear_consumed(t, 1, &(linear_term){hidden, s->W_2}, s->b_2), dropout);
}
