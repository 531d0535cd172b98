/* Pictures all the way: from files through training, a stop, and a model file to captions, scores and weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/safetensors.h"
#include "pictures.h"
#include "toy.h"

#include <math.h>

enum { SIDE = 16, PICTURES = 16, ROW = 1 + 3 * SIDE };

static sa_error error;
static char folder[128];
static const char *const colour[4] = {"red", "green", "blue", "black"};
static const char *const place[4] = {"above left", "above right", "below left", "below right"};

static void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

static void expect_text(const char *part) {
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void caption_of(int i, char text[80]) {
    snprintf(text, 80, "a %s square %s", colour[i % 4], place[i / 4]);
}

static void path_of(int i, char path[256]) {
    snprintf(path, 256, "%s/%d.png", folder, i);
}

/* A square of a colour in a corner. */
static void paint(int i) {
    static const unsigned char rgb[4][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {0, 0, 0}};
    unsigned char rows[SIDE][ROW];
    char path[256];
    png p;
    memset(rows, 255, sizeof rows);
    for (int y = 0; y < SIDE; y++) {
        rows[y][0] = 0;
        for (int x = 0; x < SIDE; x++)
            if (x / 8 == i / 4 % 2 && y / 8 == i / 8)
                memcpy(&rows[y][1 + 3 * x], rgb[i % 4], 3);
    }
    begin_png(&p, SIDE, SIDE, 8, 2);
    end_png(&p, rows, sizeof rows);
    path_of(i, path);
    write_picture(path, p.bytes, p.n);
}

static int make_folder(void **state) {
    (void)state;
    if (!toy_folder(folder))
        return -1;
    char path[2][256], line[256];
    snprintf(path[0], sizeof path[0], "%s/src", folder);
    snprintf(path[1], sizeof path[1], "%s/tgt", folder);
    FILE *source = fopen(path[0], "w"), *target = fopen(path[1], "w");
    for (int i = 0; source && target && i < PICTURES; i++) {
        paint(i);
        path_of(i, line);
        fprintf(source, " %s\t\n", line); /* blanks around a path are not part of it */
        caption_of(i, line);
        fprintf(target, "%s\n", line);
    }
    return source && target && !fclose(source) && !fclose(target) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return toy_remove(folder);
}

static sa_train_options options_of(toy_paths *path, const char *run) {
    sa_train_options toy = toy_options(path, folder, run), o;
    expect_status(sa_train_options_init(&o, "caption", &error), SA_OK);
    o.train_source = o.valid_source = toy.train_source;
    o.train_target = o.valid_target = toy.train_target;
    o.output = toy.output;
    o.model.picture_side = SIDE;
    o.model.dim_emb = o.model.dim_att = o.model.dim_feature = 24;
    o.model.dim_rnn = 32;
    o.dropout = o.dropout_emb = o.label_smoothing = o.average = 0;
    o.doubly_stochastic = 0.1f;
    o.picture_shift = 0;
    o.learning_rate = 0.01f;
    o.warmup = 10;
    o.schedule = SA_SCHEDULE_CONSTANT;
    o.mini_batch = 8;
    o.early_stopping = 0;
    o.threads = 1;
    o.after_epochs = 0;
    o.max_length = 6; /* symbols of captions; pictures have more */
    return o;
}

static sa_model *open_best(const char *run) {
    char path[256];
    sa_model *m;
    snprintf(path, sizeof path, "%s/%s/best.safetensors", folder, run);
    expect_status(sa_model_open(&m, path, &error), SA_OK);
    return m;
}

static void expect_captions(const sa_model *m) {
    char path[PICTURES][256], wanted[80];
    const char *lines[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        path_of(i, path[i]);
        lines[i] = path[i];
    }
    sa_translation *t;
    expect_status(sa_translate(m, lines, PICTURES, NULL, &t, &error), SA_OK);
    for (int i = 0; i < PICTURES; i++) {
        caption_of(i, wanted);
        assert_string_equal(t[i].hypothesis[0].text, wanted);
    }
    sa_translations_free(t, PICTURES);
}

static void pictures_are_learnt_by_heart_with_soft_and_with_hard_attention(void **state) {
    (void)state;
    for (int hard = 0; hard < 2; hard++) {
        toy_paths path;
        sa_train_options o = options_of(&path, hard ? "hard" : "soft");
        o.model.hard_attention = hard;
        o.after_updates = 400;
        o.valid_freq = 100;
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        sa_model *m = open_best(o.model.hard_attention ? "hard" : "soft");
        assert_int_equal(sa_model_vocab_type(m, SA_SOURCE), SA_VOCAB_PICTURE);
        expect_captions(m);
        sa_model_free(m);
    }
}

/* Of the model that the test before left. */
static void a_caption_has_a_weight_for_each_place_and_its_score_is_that_of_forced_decoding(void **state) {
    (void)state;
    sa_model *m = open_best("soft");
    char path[256], text[600];
    path_of(6, path);
    const char *line = path;
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.attention = true;
    o.max_length = 5; /* says nothing about pictures */
    sa_translation *t, *again;
    expect_status(sa_translate(m, &line, 1, &o, &t, &error), SA_OK);
    assert_int_equal(t->source_length, 4);
    assert_int_equal(t->pieces, 1);
    assert_false(t->too_long);
    static const char *const names[4] = {"1.1", "1.2", "2.1", "2.2"};
    const sa_hypothesis *h = &t->hypothesis[0];
    for (int j = 0; j < 4; j++)
        assert_string_equal(t->source_symbol[j], names[j]);
    for (int i = 0; i < h->length; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++)
            sum += (double)h->attention[4 * i + j];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    const char *target = h->text;
    o.max_length = 10;
    const sa_model *models = m;
    expect_status(sa_score_pairs(&models, 1, &line, &target, 1, &o, &again, &error), SA_OK);
    assert_int_equal(again->source_length, 4);
    assert_true(fabs(again->hypothesis[0].score - h->score) < 1e-4);
    for (int k = 0; k < 4 * h->length; k++)
        assert_true(fabsf(again->hypothesis[0].attention[k] - h->attention[k]) < 1e-4f);
    sa_translations_free(again, 1);
    snprintf(text, sizeof text, "%s\n%s", path, path); /* two pictures: two lines */
    line = text;
    expect_status(sa_translate(m, &line, 1, &o, &again, &error), SA_OK);
    assert_int_equal(again->pieces, 2);
    assert_int_equal(again->source_length, 8);
    assert_non_null(strchr(again->hypothesis[0].text, '\n'));
    sa_translations_free(again, 1);
    line = "  ";
    expect_status(sa_translate(m, &line, 1, &o, &again, &error), SA_OK);
    assert_string_equal(again->hypothesis[0].text, "");
    sa_translations_free(again, 1);
    sa_translations_free(t, 1);
    sa_model_free(m);
}

static void what_makes_no_sense_with_pictures_is_refused(void **state) {
    (void)state;
    sa_model *m = open_best("soft");
    sa_translate_options t;
    sa_translation *none;
    char path[256];
    path_of(0, path);
    const char *line = path;
    sa_translate_options_init(&t);
    t.replace_unk = true;
    expect_status(sa_translate(m, &line, 1, &t, &none, &error), SA_USAGE);
    expect_text("have no words");
    sa_model_free(m);

    toy_paths paths;
    sa_train_options o = options_of(&paths, "never");
    o.after_updates = 1;
    o.joint_vocab = true;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text("joint-vocab");
    o.joint_vocab = false;
    o.protect = true;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    o.protect = false;
    o.dropout_src = 0.1f;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text("dropout-src");
    o.dropout_src = 0;
    o.model.picture_side = 20;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text("multiple of 8");
    o = toy_options(&paths, folder, "never");
    o.after_updates = 1;
    o.picture_shift = 2;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text("picture-shift");
    expect_status(sa_train_options_init(&o, "rnnencdec", &error), SA_OK);
    o.train_source = paths.source;
    o.train_target = paths.target;
    o.output = paths.output;
    o.doubly_stochastic = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text("doubly-stochastic");
}

/* The weights of a text model learn to look everywhere too. */
static void text_models_take_the_doubly_stochastic_loss(void **state) {
    (void)state;
    char path[256];
    double sums[2];
    for (int on = 0; on < 2; on++) {
        toy_paths paths;
        sa_train_options o = toy_options(&paths, folder, on ? "spread" : "as-it-is");
        o.train_source = o.valid_source = o.train_target = o.valid_target = paths.target; /* captions to captions */
        o.doubly_stochastic = on ? 20 : 0;
        o.after_updates = 60;
        o.valid_freq = 60;
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        sa_model *m = open_best(on ? "spread" : "as-it-is");
        caption_of(9, path);
        const char *line = path;
        sa_translate_options t;
        sa_translate_options_init(&t);
        t.attention = true;
        sa_translation *out;
        expect_status(sa_score_pairs((const sa_model *const *)&m, 1, &line, &line, 1, &t, &out, &error), SA_OK);
        sums[on] = 0;
        for (int j = 0; j < out->source_length; j++) {
            double received = 0;
            for (int i = 0; i < out->hypothesis[0].length; i++)
                received += (double)out->hypothesis[0].attention[i * out->source_length + j];
            sums[on] += (1 - received) * (1 - received);
        }
        sa_translations_free(out, 1);
        sa_model_free(m);
    }
    assert_true(sums[1] < sums[0]);
}

/* ---- damage ------------------------------------------------------------------------------------------ */

static void a_bad_picture_is_named_in_training_and_in_translation(void **state) {
    (void)state;
    char list[256], bad[256], good[256];
    snprintf(list, sizeof list, "%s/list", folder);
    snprintf(bad, sizeof bad, "%s/bad.png", folder);
    path_of(3, good);
    sa_model *m = open_best("soft");
    static const struct {
        const char *bytes;
        sa_status status;
        const char *text;
    } damage[] = {{NULL, SA_IO, "No such file"},
                  {"", SA_DATA, "empty"},
                  {"GIF89a", SA_DATA, "neither a PNG nor a JPEG"},
                  {"\x89PNG\r\n\x1a\n", SA_DATA, "not a whole PNG"}};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        remove(bad);
        if (damage[i].bytes)
            write_picture(bad, damage[i].bytes, strlen(damage[i].bytes));
        const char *lines[] = {good, bad};
        sa_translation *t;
        expect_status(sa_translate(m, lines, 2, NULL, &t, &error), damage[i].status);
        assert_null(t);
        expect_text(bad);
        expect_text(damage[i].text);
        FILE *f = fopen(list, "w");
        assert_non_null(f);
        for (int k = 0; k < PICTURES; k++)
            fprintf(f, "%s\n", k == 11 ? bad : good);
        fclose(f);
        toy_paths path;
        sa_train_options o = options_of(&path, "broken");
        o.after_updates = 1;
        o.train_source = list;
        expect_status(sa_train(&o, NULL, NULL, &error), damage[i].status);
        expect_text(bad);
        expect_text(damage[i].text);
    }
    sa_model_free(m);
}

/* ---- features ---------------------------------------------------------------------------------------- */

enum { PLACES = 3, WIDTH = 4 };

/* Rows of numbers that tell the colour and the place of the square apart. */
static void write_features(const char *path, const char *name, int places, float extra) {
    float x[PICTURES][PLACES * WIDTH];
    memset(x, 0, sizeof x);
    for (int i = 0; i < PICTURES; i++) {
        x[i][i % 4] = 1;
        x[i][4 + i / 4] = -0.7f;
        x[i][8] = extra;
    }
    const st_tensor t = {name, ST_F32, 3, {PICTURES, places, PLACES * WIDTH / places}, x, sizeof x};
    expect_status(st_write(path, &t, 1, NULL, 0, &error), SA_OK);
}

static void features_of_a_file_are_sources_too(void **state) {
    (void)state;
    char list[256], file[256], line[PICTURES][300], wanted[80];
    const char *lines[PICTURES];
    snprintf(list, sizeof list, "%s/rows", folder);
    snprintf(file, sizeof file, "%s/f.safetensors", folder);
    write_features(file, "features", PLACES, 0.25f);
    FILE *f = fopen(list, "w");
    assert_non_null(f);
    for (int i = 0; i < PICTURES; i++) {
        snprintf(line[i], sizeof line[i], "%s:%d", file, i);
        lines[i] = line[i];
        fprintf(f, "%s\n", line[i]);
    }
    fclose(f);
    toy_paths path;
    sa_train_options o = options_of(&path, "features");
    o.train_source = o.valid_source = list;
    o.model.picture_side = 0; /* nothing to scale */
    o.model.features = PLACES;
    o.model.dim_feature = WIDTH;
    o.after_updates = 300;
    o.valid_freq = 100;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    sa_model *m = open_best("features");
    assert_int_equal(sa_model_vocab_type(m, SA_SOURCE), SA_VOCAB_FEATURES);
    sa_translate_options t;
    sa_translate_options_init(&t);
    t.attention = true;
    sa_translation *out;
    expect_status(sa_translate(m, lines, PICTURES, &t, &out, &error), SA_OK);
    for (int i = 0; i < PICTURES; i++) {
        caption_of(i, wanted);
        assert_string_equal(out[i].hypothesis[0].text, wanted);
        assert_int_equal(out[i].source_length, PLACES);
        assert_string_equal(out[i].source_symbol[2], "3");
    }
    sa_translations_free(out, PICTURES);

    static const struct {
        const char *row, *text;
    } wrong[] = {{":16", "16 rows, from 0"}, {":-1", "FILE:ROW"}, {":1x", "FILE:ROW"},
                 {"", "FILE:ROW"},           {":", "FILE:ROW"},   {"x:1", "No such file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line[0], sizeof line[0], "%s%s", file, wrong[i].row);
        assert_int_not_equal(sa_translate(m, lines, 1, NULL, &out, &error), SA_OK);
        expect_text(wrong[i].text);
    }
    snprintf(line[0], sizeof line[0], "%s:0", file);
    write_features(file, "other", PLACES, 0);
    expect_status(sa_translate(m, lines, 1, NULL, &out, &error), SA_DATA);
    expect_text("no tensor \"features\"");
    write_features(file, "features", 2, 0);
    expect_status(sa_translate(m, lines, 1, NULL, &out, &error), SA_DATA);
    expect_text("where the model reads 3 x 4");
    write_features(file, "features", PLACES, NAN);
    expect_status(sa_translate(m, lines, 1, NULL, &out, &error), SA_DATA);
    expect_text("not finite");
    write_features(file, "features", PLACES, 3.4028234e38f); /* rounding up would make it infinite */
    expect_status(sa_translate(m, lines, 1, NULL, &out, &error), SA_OK);
    sa_translations_free(out, 1);
    sa_model_free(m);
}

/* ---- the same bits ----------------------------------------------------------------------------------- */

static int stop_at_five(const sa_train_event *event, void *user) {
    (void)user;
    return event->kind == SA_EVENT_UPDATE && event->update == 5;
}

static char *read_file(const char *run, const char *name, size_t *n) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    FILE *file = fopen(path, "r");
    char *bytes = malloc(1 << 22);
    assert_true(file && bytes);
    *n = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static bool same_file(const char *run, const char *other, const char *name) {
    size_t n, m;
    char *a = read_file(run, name, &n), *b = read_file(other, name, &m);
    bool same = n == m && memcmp(a, b, n) == 0;
    free(a);
    free(b);
    return same;
}

/* Draws of places, the baseline that they are compared with, and moved pictures: all follow from the seed. */
static void a_run_gives_the_same_bytes_after_a_stop_and_with_two_threads(void **state) {
    (void)state;
    static const char *const run[3] = {"whole", "stopped", "other-seed"};
    for (int k = 0; k < 3; k++) {
        toy_paths path;
        sa_train_options o = options_of(&path, run[k]);
        o.model.hard_attention = true;
        o.dropout = o.dropout_emb = 0.1f;
        o.picture_shift = 2;
        o.after_updates = 12;
        o.valid_freq = 6;
        o.shards = 3;
        o.threads = k == 1 ? 2 : 1;
        o.seed = k == 2 ? 2 : 1;
        if (k == 1) {
            expect_status(sa_train(&o, stop_at_five, NULL, &error), SA_STOPPED);
            o.resume = true;
        }
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    }
    assert_true(same_file("whole", "stopped", "best.safetensors"));
    assert_true(same_file("whole", "stopped", "last.safetensors"));
    assert_false(same_file("whole", "other-seed", "last.safetensors"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_learnt_by_heart_with_soft_and_with_hard_attention),
        cmocka_unit_test(a_caption_has_a_weight_for_each_place_and_its_score_is_that_of_forced_decoding),
        cmocka_unit_test(what_makes_no_sense_with_pictures_is_refused),
        cmocka_unit_test(text_models_take_the_doubly_stochastic_loss),
        cmocka_unit_test(a_bad_picture_is_named_in_training_and_in_translation),
        cmocka_unit_test(features_of_a_file_are_sources_too),
        cmocka_unit_test(a_run_gives_the_same_bytes_after_a_stop_and_with_two_threads),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
