/* src/op/attention_multihead.c. */
#include "check.h"

#include "op/attention_multihead.h"

/* Rows in no order; a group without queries; in the causal form as many queries as keys. */
enum { ROWS = 7, N = 9, D = 6, S = 4 };
static const int query[ROWS] = {3, 0, 6, 1, 5, 2, 4}, query_at[] = {0, 2, 2, 6, 7};
static const int key[N] = {8, 1, 2, 0, 4, 5, 7, 6, 3}, key_at[] = {0, 3, 4, 8, 9};
static const int causal_at[] = {0, 1, 5, 7};

typedef struct look_form {
    int heads, head;
    bool causal, shown;
} look_form;
static look_form form;
static shown_weights shown;

static attention_groups groups(void) {
    if (form.causal)
        return (attention_groups){3, query, causal_at, key, causal_at, true};
    return (attention_groups){4, query, query_at, key, key_at, false};
}

static void build(check *c) {
    const attention_groups g = groups();
    tensor *q = check_tensor_consumed(c, c->x[0]), *kv = check_tensor(c, c->x[1]);
    shown = (shown_weights){form.head, S, NULL};
    check_output(c, attention_multihead(c->tape, q, kv, NULL, &g, form.heads, form.shown ? &shown : NULL));
    if (form.shown)
        check_output(c, shown.weights);
}

static double energy(const check *c, int i, int k, int head) {
    int w = D / form.heads;
    double e = 0;
    for (int u = head * w; u < (head + 1) * w; u++)
        e += c->x[0]->value[i * D + u] * c->x[1]->value[k * 2 * D + u];
    return e / sqrt(w);
}

/* The equations of the header, written down once more: query number r of a group. */
static void compare_query(const check *c, const attention_groups *g, int group, int r) {
    int i = g->query[g->query_at[group] + r], first = g->key_at[group], K = g->key_at[group + 1] - first;
    int Q = g->query_at[group + 1] - g->query_at[group], n = g->causal ? K - Q + r + 1 : K, w = D / form.heads;
    double all[S] = {0};
    for (int head = 0; head < form.heads; head++) {
        double a[S], sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[j] = exp(energy(c, i, g->key[first + j], head));
        for (int u = head * w; u < (head + 1) * w; u++) {
            double context = 0;
            for (int j = 0; j < n; j++)
                context += a[j] / sum * c->x[1]->value[g->key[first + j] * 2 * D + D + u];
            assert_true(fabs(c->output[0]->data[i * D + u] - context) < 1e-13);
        }
        for (int j = 0; j < n; j++)
            all[j] += form.head == 0 ? a[j] / sum / form.heads : form.head == head + 1 ? a[j] / sum : 0;
    }
    for (int j = 0; form.shown && j < S; j++)
        assert_true(fabs(shown.weights->data[i * S + j] - (j < n ? all[j] : 0)) < 1e-13);
}

static void declare(check *c, look_form f) {
    form = f;
    check_begin(c);
    c->x[0] = check_input(c, 2, (int[]){ROWS, D});
    c->x[1] = check_input(c, 2, (int[]){N, 2 * D});
}

static void gradients_match_for_every_form(void **state) {
    (void)state;
    static const look_form forms[] = {{1, 0, false, false}, {2, 0, false, true}, {3, 2, false, true},
                                      {1, 0, true, false},  {3, 0, true, true},  {6, 6, true, true}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        check c;
        declare(&c, forms[k]);
        check_gradients(&c, build);
        const attention_groups g = groups();
        for (int group = 0; group < g.n; group++)
            for (int r = 0; r < g.query_at[group + 1] - g.query_at[group]; r++)
                compare_query(&c, &g, group, r);
        check_end(&c);
    }
}

static void a_query_that_nothing_depends_on_gets_zeros(void **state) {
    (void)state;
    check c;
    declare(&c, (look_form){2, 0, true, true});
    check_prepare(&c);
    check_run(&c, build, true);
    tape_backward(c.tape);
    for (int k = 0; k < ROWS * D; k++)
        assert_true(c.x[0]->tensor->grad[k] == 0);
    assert_false(c.x[1]->tensor->has_grad);
    check_end(&c);
}

/* One query at a time, with the keys before it in the past, gives what all queries together give. */
static void a_past_gives_what_one_pass_gives(void **state) {
    (void)state;
    enum { T = 5 };
    static const int order[T] = {0, 1, 2, 3, 4}, whole[2] = {0, T}, one[2] = {0, 1};
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){T, D});
    c.x[1] = check_input(&c, 2, (int[]){T, 2 * D});
    check_prepare(&c);
    tape *t = c.tape;
    tape_reset(t, false);
    real *q = c.x[0]->value, *kv = c.x[1]->value;
    const attention_groups all = {1, order, whole, order, whole, true};
    const tensor *together =
        attention_multihead(t, tape_wrap(t, T, D, q), tape_wrap(t, T, 2 * D, kv), NULL, &all, 2, NULL);
    assert_non_null(together);
    for (int i = 0; i < T; i++) {
        const int keys[2] = {0, i + 1};
        const attention_groups step = {1, order, one, order, keys, true};
        tensor *own = tape_wrap(t, 1, 2 * D, kv + i * 2 * D), *past = tape_wrap(t, i, 2 * D, kv);
        const tensor *alone = attention_multihead(t, tape_wrap(t, 1, D, q + i * D), own, past, &step, 2, NULL);
        assert_non_null(alone);
        assert_memory_equal(alone->data, together->data + i * D, D * sizeof(real));
    }
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_every_form),
        cmocka_unit_test(a_query_that_nothing_depends_on_gets_zeros),
        cmocka_unit_test(a_past_gives_what_one_pass_gives),
    };
    return cmocka_run_group_tests_name("multihead", tests, NULL, NULL);
}
