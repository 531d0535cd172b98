/* A small language and a small model for tests that train: "the red dog sees a cat today" becomes "oggi vede il
 * cane rosso un gatto": the adverb and the verb come first, adjectives follow their nouns. */
#ifndef TOY_H
#define TOY_H

#include <softalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOY_PAIRS = 100 };

static inline void toy_pair(int i, char source[80], char target[80]) {
    static const char *const article[][2] = {{"the", "il"}, {"a", "un"}};
    static const char *const adjective[][2] = {
        {"red", "rosso"}, {"big", "grande"}, {"old", "vecchio"}, {"wet", "bagnato"}};
    static const char *const noun[][2] = {
        {"dog", "cane"}, {"cat", "gatto"}, {"horse", "cavallo"}, {"bear", "orso"}};
    static const char *const verb[][2] = {{"sees", "vede"}, {"hears", "sente"}, {"likes", "ama"}};
    static const char *const adverb[][2] = {{"today", "oggi"}, {"here", "qui"}, {"now", "ora"}};
    int k =
        (int)(i * 131L % 1152); /* 131 has no factor in common with the number of sentences: no two are the same */
    int a = k % 2, j = k / 2 % 4, n = k / 8 % 4, v = k / 32 % 3, b = k / 96 % 4, w = k / 384 % 3;
    snprintf(source, 80, "%s %s %s %s %s %s %s", article[a][0], adjective[j][0], noun[n][0], verb[v][0],
             article[!a][0], noun[b][0], adverb[w][0]);
    snprintf(target, 80, "%s %s %s %s %s %s %s", adverb[w][1], verb[v][1], article[a][1], noun[n][1],
             adjective[j][1], article[!a][1], noun[b][1]);
}

/* Writes the first n pairs to folder/src and folder/tgt. */
static inline bool toy_write(const char *folder, int n) {
    char path[2][256], line[2][80];
    FILE *file[2];
    snprintf(path[0], sizeof path[0], "%s/src", folder);
    snprintf(path[1], sizeof path[1], "%s/tgt", folder);
    file[0] = fopen(path[0], "w");
    file[1] = fopen(path[1], "w");
    bool ok = file[0] && file[1];
    for (int i = 0; ok && i < n; i++) {
        toy_pair(i, line[0], line[1]);
        ok = fprintf(file[0], "%s\n", line[0]) > 0 && fprintf(file[1], "%s\n", line[1]) > 0;
    }
    for (int k = 0; k < 2; k++)
        ok = file[k] && fclose(file[k]) == 0 && ok;
    return ok;
}

/* BLEU of the model's translations of the toy language; -1 when it cannot translate. */
static inline double toy_bleu(const char *model_path) {
    static char text[2][TOY_PAIRS][80];
    const char *source[TOY_PAIRS], *target[TOY_PAIRS], *found[TOY_PAIRS];
    const char *const *references[] = {target};
    sa_model *m = NULL;
    sa_translation *t = NULL;
    sa_bleu_result result;
    for (int i = 0; i < TOY_PAIRS; i++) {
        toy_pair(i, text[0][i], text[1][i]);
        source[i] = text[0][i];
        target[i] = text[1][i];
    }
    bool ok =
        sa_model_open(&m, model_path, NULL) == SA_OK && sa_translate(m, source, TOY_PAIRS, NULL, &t, NULL) == SA_OK;
    for (int i = 0; ok && i < TOY_PAIRS; i++)
        found[i] = t[i].hypothesis[0].text;
    ok = ok && sa_bleu(found, TOY_PAIRS, references, 1, NULL, &result, NULL) == SA_OK;
    sa_translations_free(t, TOY_PAIRS);
    sa_model_free(m);
    return ok ? result.bleu : -1;
}

/* Options that learn the toy language in seconds: the paper's unit, words, one thread, validated on what it was
 * trained on. The paths live in `path`. */
typedef struct toy_paths {
    char source[256], target[256], output[256];
} toy_paths;

static inline sa_train_options toy_options(toy_paths *path, const char *folder, const char *run) {
    sa_train_options o;
    sa_train_options_init(&o, "small", NULL);
    snprintf(path->source, sizeof path->source, "%s/src", folder);
    snprintf(path->target, sizeof path->target, "%s/tgt", folder);
    snprintf(path->output, sizeof path->output, "%s/%s", folder, run);
    o.train_source = o.valid_source = path->source;
    o.train_target = o.valid_target = path->target;
    o.output = path->output;
    o.vocab_type = SA_VOCAB_WORD;
    o.model.vocab_source = o.model.vocab_target = 100;
    o.model.dim_emb = o.model.dim_maxout = o.model.dim_att = 24;
    o.model.dim_rnn = o.model.dim_dec = 32;
    o.model.order = SA_LOOK_FIRST;
    o.model.reset = SA_RESET_BEFORE;
    o.model.decoder_start = SA_START_BACKWARD;
    o.model.layer_norm = SA_NORM_NONE;
    o.dropout = o.dropout_emb = o.dropout_src = o.dropout_trg = o.r_drop = o.label_smoothing = o.average = 0;
    o.learning_rate = 0.01f;
    o.warmup = 10;
    o.schedule = SA_SCHEDULE_CONSTANT;
    o.mini_batch = 20;
    o.early_stopping = 0;
    o.precision = SA_F32;
    o.threads = 1;
    return o;
}

/* Makes a folder for the test; toy_remove deletes it with all that is in it. */
static inline bool toy_folder(char folder[128]) {
    const char *root = getenv("TMPDIR");
    snprintf(folder, 128, "%s/toy.XXXXXX", root && *root ? root : "/tmp");
    return mkdtemp(folder) != NULL;
}

static inline int toy_remove(const char *folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
