#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

/* What a watcher saw of each line. */
typedef struct sight {
    int calls, texts, length;
    char text[400];
} sight;

typedef struct watcher {
    sight of[N];
    int give_up; /* a line, after `patience` calls for it; -1: none */
    int patience;
} watcher;

static bool look(const sa_glimpse *g, void *user) {
    watcher *w = user;
    assert_true(g->line < N);
    assert_int_equal(g->piece, 0);
    sight *s = &w->of[g->line];
    s->calls++;
    assert_true(g->length >= s->length && g->length <= s->calls);
    if (g->text) {
        assert_true(g->length > s->length);
        assert_memory_equal(g->text, s->text, strlen(s->text)); /* it only grows */
        snprintf(s->text, sizeof s->text, "%s", g->text);
        s->texts++;
    }
    s->length = g->length;
    return !((int)g->line == w->give_up && s->calls >= w->patience);
}

static void what_is_certain_begins_the_translation(void **state) {
    (void)state;
    const sa_model *models[] = {model, vague};
    int shown = 0;
    for (int m = 0; m < 2; m++)
        for (int beam = 1; beam <= 5; beam += 2) {
            watcher w = {.give_up = -1};
            sa_translate_options o = usual();
            o.beam_size = beam;
            o.watch = look;
            o.watch_user = &w;
            o.watch_text = true;
            sa_translation *t = translate(models[m], line, N, &o);
            o.watch = NULL;
            sa_translation *unwatched = translate(models[m], line, N, &o);
            for (int i = 0; i < N; i++) {
                expect_same(&t[i], &unwatched[i]);
                assert_memory_equal(t[i].hypothesis[0].text, w.of[i].text, strlen(w.of[i].text));
                assert_true(w.of[i].length < t[i].hypothesis[0].length);
                /* Greedy search is certain of every symbol. */
                assert_true(beam > 1 || w.of[i].length == t[i].hypothesis[0].length - 1);
                shown += beam > 1 ? w.of[i].texts : 0;
            }
            sa_translations_free(t, N);
            sa_translations_free(unwatched, N);
        }
    assert_true(shown > N);
}

static void nothing_is_written_for_who_does_not_read(void **state) {
    (void)state;
    watcher w = {.give_up = -1};
    sa_translate_options o = usual();
    o.watch = look;
    o.watch_user = &w;
    sa_translations_free(translate(model, line, N, &o), N);
    for (int i = 0; i < N; i++)
        assert_true(w.of[i].calls > 0 && w.of[i].texts == 0);
}

static void a_line_that_nobody_wants_ends_and_alters_no_other(void **state) {
    (void)state;
    enum { GIVEN_UP = 3, PATIENCE = 2 };
    for (int sample = 0; sample < 2; sample++) {
        watcher w = {.give_up = GIVEN_UP, .patience = PATIENCE};
        sa_translate_options o = usual();
        o.n_best = 2;
        o.sample = sample;
        o.attention = true;
        sa_translation *whole = translate(vague, line, N, &o);
        o.watch = look;
        o.watch_user = &w;
        sa_translation *t = translate(vague, line, N, &o);
        for (int i = 0; i < N; i++)
            if (i != GIVEN_UP)
                expect_same(&t[i], &whole[i]);
        assert_int_equal(w.of[GIVEN_UP].calls, PATIENCE);
        assert_true(t[GIVEN_UP].n >= 1);
        for (int k = 0; k < t[GIVEN_UP].n; k++)
            assert_true(t[GIVEN_UP].hypothesis[k].length <= PATIENCE);
        sa_translations_free(t, N);
        sa_translations_free(whole, N);
    }
}

static bool count_pieces(const sa_glimpse *g, void *user) {
    bool *seen = user;
    assert_true(g->line == 0 && g->piece >= 0 && g->piece < 3);
    seen[g->piece] = true;
    return true;
}

static void pieces_of_a_line_are_seen_apart(void **state) {
    (void)state;
    char three[300];
    bool seen[3] = {false};
    snprintf(three, sizeof three, "%s\n%s\n%s", text[0], text[1], text[2]);
    const char *lines[] = {three};
    sa_translate_options o = usual();
    o.watch = count_pieces;
    o.watch_user = seen;
    sa_translations_free(translate(model, lines, 1, &o), 1);
    assert_true(seen[0] && seen[1] && seen[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_certain_begins_the_translation),
        cmocka_unit_test(nothing_is_written_for_who_does_not_read),
        cmocka_unit_test(a_line_that_nobody_wants_ends_and_alters_no_other),
        cmocka_unit_test(pieces_of_a_line_are_seen_apart),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
