#include "layer/lexical.h"

#include "op/linear.h"
#include "op/pointwise.h"

void lexical_declare(lexical_layer *l, const weight_scope *scope, int m) {
    l->W = weight_declare(scope, "lexical", "W", WEIGHT_MATRIX, 1, m, m, USE_PRODUCT);
    l->b = weight_declare(scope, "lexical", "b", WEIGHT_BIAS, 1, m, 0, USE_PRODUCT);
}

tensor *lexical_read(tape *t, const lexical_layer *l, tensor *words) {
    tensor *f = words ? op_tanh(t, words) : tape_fail(t);
    return f ? op_add(t, op_tanh(t, linear(t, f, l->W, l->b)), f) : tape_fail(t);
}
