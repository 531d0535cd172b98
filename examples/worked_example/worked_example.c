/* Prints the worked example of docs/learn/worked-example.md: "red house" becomes "maison rouge" in a model of
 * hidden size 2, with every number on the way.
 *
 *   worked_example [look-first|update-first]   the page's numbers; the page has the first
 *   worked_example json                        both orders as JSON, for the Lab
 *
 * What the model computes comes from the library (sa_trace_make). The products of matrices and vectors that lead
 * there are made here, as one would by hand, and every number of the library is held against what follows from
 * them: the program fails where they differ. */
#include "worked_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, D = 4, V = 4 };
static const int source[WORKED_S] = {2, 3, 0}, target[WORKED_T] = {2, 3, 0};
static const char *const target_word[V] = {"</s>", "<unk>", "maison", "rouge"};

static bool failed;

static void hold(const char *what, double library, double by_hand) {
    if (fabs(library - by_hand) < 2e-6)
        return;
    fprintf(stderr, "%s: the library has %.7f, by hand it is %.7f\n", what, library, by_hand);
    failed = true;
}

static void hold_all(const char *what, const float *library, const double *by_hand, int n) {
    for (int k = 0; k < n; k++)
        hold(what, (double)library[k], by_hand[k]);
}

/* y = W x with N rows of W, from row `from` on; x has m numbers. */
static void product(const char *W, int from, const float *x, int m, double *y) {
    const float *w = worked_values(W) + (long)from * m;
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int k = 0; k < m; k++)
            y[i] += (double)w[i * m + k] * (double)x[k];
    }
}

static const float *embedded(const char *side, int id) {
    return worked_values(side) + (long)id * N;
}

/* ---- printing ---------------------------------------------------------------------------------------- */

static double shown(double x) {
    return fabs(x) < 0.00005 ? 0 : x; /* no "-0.0000" */
}

static void print_vector(const char *name, const double *x, int n) {
    printf("  %-20s(", name);
    for (int k = 0; k < n; k++)
        printf("%s%7.4f", k ? ", " : "", shown(x[k]));
    puts(")");
}

static void print_floats(const char *name, const float *x, int n) {
    double y[D];
    for (int k = 0; k < n; k++)
        y[k] = (double)x[k];
    print_vector(name, y, n);
}

static void print_matrix(const char *name, const float *x, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        printf("  %-20s(", i ? "" : name);
        for (int k = 0; k < cols; k++)
            printf("%s%4.1f", k ? ", " : "", (double)x[i * cols + k]);
        puts(")");
    }
}

/* ---- a gated unit ------------------------------------------------------------------------------------ */

/* One step of a unit whose state is called h or s and whose input x or y. */
typedef struct unit_step {
    const char *unit, *state, *input;
    const float *x, *before, *context; /* context: NULL in the encoder */
    const float *z, *r, *candidate, *after;
} unit_step;

/* Prints what input, state and context give to N rows of gates from `from` on, and adds it up. gate: "_z", "_r", or
 * "" for the candidate, to which the state comes through the reset gate. */
static void print_terms(const unit_step *u, const char *gate, int from, const float *state, double *sum) {
    const char *suffix = *gate ? "_zr" : "";
    char name[64], label[32], read[16];
    double part[N];
    snprintf(read, sizeof read, *gate ? "%s" : "(r*%s)", u->state);
    const struct {
        const char *weight, *of;
        const float *x;
        int m;
    } term[] = {{"W", u->input, u->x, N}, {"U", read, state, N}, {"C", "c", u->context, D}};
    sum[0] = sum[1] = 0;
    for (int k = 0; k < 3 && term[k].x; k++) {
        snprintf(name, sizeof name, "%s.%s%s", u->unit, term[k].weight, suffix);
        snprintf(label, sizeof label, "%s%s %s", term[k].weight, gate, term[k].of);
        product(name, from, term[k].x, term[k].m, part);
        print_vector(label, part, N);
        sum[0] += part[0];
        sum[1] += part[1];
    }
}

static void print_gate(const unit_step *u, const char *gate, int from, const float *value) {
    double sum[N];
    char label[32];
    print_terms(u, gate, from, u->before, sum);
    for (int k = 0; k < N; k++)
        hold("a gate", (double)value[k], 1 / (1 + exp(-sum[k])));
    snprintf(label, sizeof label, "%s = sigmoid(sum)", gate + 1);
    print_floats(label, value, N);
}

static void print_unit(const unit_step *u) {
    float reset[N];
    double sum[N];
    char label[32];
    print_gate(u, "_z", 0, u->z);
    print_gate(u, "_r", N, u->r);
    for (int k = 0; k < N; k++)
        reset[k] = u->r[k] * u->before[k];
    print_terms(u, "", 0, reset, sum);
    for (int k = 0; k < N; k++) {
        double z = (double)u->z[k], c = (double)u->candidate[k];
        hold("a candidate", c, tanh(sum[k]));
        hold("a state", (double)u->after[k], (1 - z) * (double)u->before[k] + z * c);
    }
    snprintf(label, sizeof label, "%s~ = tanh(sum)", u->state);
    print_floats(label, u->candidate, N);
    snprintf(label, sizeof label, "(1-z)*%s + z*%s~", u->state, u->state);
    print_floats(label, u->after, N);
}

/* ---- the encoder ------------------------------------------------------------------------------------- */

static void print_words(const sa_trace *t) {
    char name[32];
    for (int j = 0; j < WORKED_S; j++) {
        snprintf(name, sizeof name, "x_%d  %s", j + 1, t->source_symbol[j]);
        print_floats(name, embedded("source.embedding", source[j]), N);
    }
}

static void print_direction(const sa_trace *t, bool backward) {
    static const float zero[N];
    const sa_trace_unit *u = &t->unit[backward];
    for (int i = 0; i < WORKED_S; i++) {
        int j = backward ? WORKED_S - 1 - i : i, before = backward ? j + 1 : j - 1;
        printf("%s%s, position %d: %s\n", i ? "\n" : "", backward ? "backward" : "forward", j + 1,
               t->source_symbol[j]);
        print_unit(&(unit_step){.unit = u->name,
                                .state = "h",
                                .input = "x",
                                .x = embedded("source.embedding", source[j]),
                                .before = i ? u->state + before * N : zero,
                                .z = u->update + j * N,
                                .r = u->reset + j * N,
                                .candidate = u->candidate + j * N,
                                .after = u->state + j * N});
    }
}

static void print_annotations(const sa_trace *t) {
    double s[N];
    char name[32];
    for (int j = 0; j < WORKED_S; j++) {
        snprintf(name, sizeof name, "h_%d  %s", j + 1, t->source_symbol[j]);
        print_floats(name, t->annotations + j * D, D);
    }
    product("decoder.initial.W_s", 0, t->unit[1].state, N, s);
    print_vector("W_s h<-_1", s, N);
    for (int k = 0; k < N; k++)
        hold("s_0", (double)t->start[k], tanh(s[k]));
    print_floats("s_0 = tanh", t->start, N);
}

/* ---- a step of the decoder --------------------------------------------------------------------------- */

/* One step: its trace, that of the step before (NULL: there is none), and the word before it. */
typedef struct decoder_step {
    const sa_trace *now, *before;
    const float *y; /* embedded */
    bool looks_first;
} decoder_step;

static const float *state_before(const decoder_step *d) {
    return d->before ? d->before->step->state : d->now->start;
}

/* Row j of the table, which adds its share to the context. */
static void print_position(const sa_trace *t, int j, const double *query, double total, double *context) {
    const sa_trace_step *step = t->step;
    const float *keys = step->keys + j * N, *sum = step->sum + j * N, *squashed = step->squashed + j * N;
    double by_hand[N], e = 0;
    product("attention.U_a", 0, t->annotations + j * D, D, by_hand);
    hold_all("U_a h", keys, by_hand, N);
    for (int k = 0; k < N; k++) {
        double y = tanh(query[k] + by_hand[k]);
        hold("tanh", (double)squashed[k], y);
        e += (double)worked_values("attention.v_a")[k] * y;
    }
    hold("an energy", (double)step->energy[j], e);
    hold("a weight", (double)step->weights[j], exp((double)step->energy[j]) / total);
    printf("  %d ", j + 1);
    const float *const part[] = {keys, sum, squashed};
    for (int k = 0; k < 3; k++)
        printf(" (%7.4f, %7.4f)", shown((double)part[k][0]), shown((double)part[k][1]));
    printf(" %8.4f %8.4f %8.4f\n", shown((double)step->energy[j]), exp((double)step->energy[j]),
           (double)step->weights[j]);
    for (int k = 0; k < D; k++)
        context[k] += (double)step->weights[j] * (double)t->annotations[j * D + k];
}

static void print_look(const decoder_step *d) {
    const sa_trace_step *step = d->now->step;
    double q[N], total = 0, c[D] = {0};
    product("attention.W_a", 0, d->looks_first ? step->state : state_before(d), N, q);
    hold_all("W_a s", step->query, q, N);
    print_floats("W_a s", step->query, N);
    for (int j = 0; j < WORKED_S; j++)
        total += exp((double)step->energy[j]);
    puts("  j  U_a h_j            sum                tanh                    e_j exp(e_j)  alpha_j");
    for (int j = 0; j < WORKED_S; j++)
        print_position(d->now, j, q, total, c);
    printf("  %-59s%9.4f\n", "sum", total);
    hold_all("the context", step->context, c, D);
    print_floats("c = sum alpha_j h_j", step->context, D);
}

/* In look-first the word before and the context that it was written from come into the state now. */
static void print_update(const decoder_step *d) {
    const sa_trace_step *step = d->now->step;
    if (step->n_units == 0) {
        print_floats("s = s_0", step->state, N);
        return;
    }
    const sa_trace_unit *u = &step->unit[0];
    print_unit(&(unit_step){.unit = u->name,
                            .state = "s",
                            .input = "y",
                            .x = d->y,
                            .before = state_before(d),
                            .context = d->looks_first ? d->before->step->context : step->context,
                            .z = u->update,
                            .r = u->reset,
                            .candidate = u->candidate,
                            .after = u->state});
}

static double probability(const sa_trace_step *step, const char *word) {
    for (int k = 0; k < step->n_next; k++)
        if (strcmp(step->next[k].symbol, word) == 0)
            return step->next[k].p;
    return -1;
}

static void print_scores(const sa_trace_step *step) {
    double score[V], total = 0;
    for (int v = 0; v < V; v += N)
        product("output.W_o", v, step->readout, N, score + v);
    for (int v = 0; v < V; v++)
        total += exp(score[v]);
    puts("  word       W_o t exp(W_o t)       p");
    for (int v = 0; v < V; v++) {
        double p = probability(step, target_word[v]);
        hold("a probability", p, exp(score[v]) / total);
        printf("  %-8s%8.4f   %8.4f %7.4f\n", target_word[v], shown(score[v]), exp(score[v]), p);
    }
}

static void print_readout(const decoder_step *d) {
    const sa_trace_step *step = d->now->step;
    const struct {
        const char *label, *weight;
        const float *x;
        int m;
    } term[] = {{"U_o s", "readout.U_o", step->state, N},
                {"V_o y", "readout.V_o", d->y, N},
                {"C_o c", "readout.C_o", step->context, D}};
    double sum[2 * N] = {0}, part[2 * N];
    for (int k = 0; k < 3; k++) {
        for (int half = 0; half < 2; half++)
            product(term[k].weight, half * N, term[k].x, term[k].m, part + half * N);
        print_vector(term[k].label, part, 2 * N);
        for (int i = 0; i < 2 * N; i++)
            sum[i] += part[i];
    }
    hold_all("what goes into maxout", step->before_maxout, sum, 2 * N);
    print_floats("t~ = sum", step->before_maxout, 2 * N);
    for (int k = 0; k < N; k++)
        hold("maxout", (double)step->readout[k], fmax(sum[2 * k], sum[2 * k + 1]));
    print_floats("t = maxout", step->readout, N);
    print_scores(step);
}

static void print_step(const decoder_step *d, int i) {
    static const char *const title[2] = {"look", "state"};
    for (int part = 0; part < 2; part++) {
        bool look = (part == 0) != d->looks_first;
        printf("step %d: %s\n", i + 1, title[!look]);
        (look ? print_look : print_update)(d);
        puts("");
    }
    printf("step %d: word\n", i + 1);
    print_readout(d);
    printf("%s", i + 1 < WORKED_T ? "\n" : "");
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void print_parameters(void) {
    static const struct {
        const char *name, *shown;
        int rows, cols;
    } list[] = {{"encoder.forward.W_zr", "-> W_z; W_r", 4, N},
                {"encoder.forward.U_zr", "-> U_z; U_r", 4, N},
                {"encoder.forward.W", "-> W", N, N},
                {"encoder.forward.U", "-> U", N, N},
                {"encoder.backward.W_zr", "<- W_z; W_r", 4, N},
                {"encoder.backward.U_zr", "<- U_z; U_r", 4, N},
                {"encoder.backward.W", "<- W", N, N},
                {"encoder.backward.U", "<- U", N, N},
                {"decoder.initial.W_s", "W_s", N, N},
                {"attention.W_a", "W_a", N, N},
                {"attention.U_a", "U_a", N, D},
                {"attention.v_a", "v_a", 1, N},
                {"decoder.gru.W_zr", "decoder W_z; W_r", 4, N},
                {"decoder.gru.U_zr", "decoder U_z; U_r", 4, N},
                {"decoder.gru.C_zr", "decoder C_z; C_r", 4, D},
                {"decoder.gru.W", "decoder W", N, N},
                {"decoder.gru.U", "decoder U", N, N},
                {"decoder.gru.C", "decoder C", N, D},
                {"readout.U_o", "U_o", 4, N},
                {"readout.V_o", "V_o", 4, N},
                {"readout.C_o", "C_o", 4, D},
                {"output.W_o", "W_o", V, N}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        print_matrix(list[k].shown, worked_values(list[k].name), list[k].rows, list[k].cols);
}

static void print_example(sa_trace *const *step, bool looks_first) {
    static const float zero[N];
    print_parameters();
    puts("");
    print_words(step[0]);
    for (int backward = 0; backward < 2; backward++) {
        puts("");
        print_direction(step[0], backward);
    }
    puts("");
    print_annotations(step[0]);
    puts("");
    for (int i = 0; i < WORKED_T; i++) {
        const decoder_step d = {.now = step[i],
                                .before = i ? step[i - 1] : NULL,
                                .y = i ? embedded("target.embedding", target[i - 1]) : zero,
                                .looks_first = looks_first};
        print_step(&d, i);
    }
}

static sa_status print_order(sa_order order, sa_error *error) {
    sa_trace *step[WORKED_T];
    sa_status status = worked_trace(step, order, error);
    if (status == SA_OK)
        print_example(step, order == SA_LOOK_FIRST);
    worked_trace_free(step);
    return status;
}

int main(int argc, char **argv) {
    const char *what = argc == 2 ? argv[1] : argc == 1 ? "look-first" : "";
    sa_error error = {0};
    if (strcmp(what, "look-first") == 0 || strcmp(what, "update-first") == 0)
        print_order(*what == 'l' ? SA_LOOK_FIRST : SA_UPDATE_FIRST, &error);
    else if (strcmp(what, "json") == 0)
        worked_json_print(&error);
    else {
        fprintf(stderr, "Usage: worked_example [look-first|update-first|json]\n");
        return 2;
    }
    if (error.status != SA_OK)
        fprintf(stderr, "worked_example: %s\n", error.text);
    return error.status != SA_OK || failed || fflush(stdout) != 0;
}
