#include "cli.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const weights_names[] = {[SA_WEIGHTS_LEARNED] = "learned", [SA_WEIGHTS_UNIFORM] = "uniform", NULL};
const char *const order_names[] = {
    [SA_LOOK_FIRST] = "look-first", [SA_UPDATE_FIRST] = "update-first", [SA_CONDITIONAL] = "conditional", NULL};
const char *const start_names[] = {[SA_START_BACKWARD] = "backward", [SA_START_MEAN] = "mean", NULL};
const char *const norm_names[] = {
    [SA_NORM_NONE] = "none", [SA_NORM_ENCODER] = "encoder", [SA_NORM_ALL] = "all", NULL};
const char *const reset_names[] = {[SA_RESET_BEFORE] = "before", [SA_RESET_AFTER] = "after", NULL};
const char *const init_names[] = {"paper", "glorot", "uniform", NULL};
const char *const cell_names[] = {[SA_CELL_LSTM] = "lstm", [SA_CELL_LSTM_LINEAR] = "lstm-linear", NULL};
const char *const attention_names[] = {
    [SA_ATTEND_GLOBAL] = "global", [SA_ATTEND_LOCAL_M] = "local-m", [SA_ATTEND_LOCAL_P] = "local-p", NULL};
const char *const score_names[] = {[SA_SCORE_DOT] = "dot",
                                   [SA_SCORE_GENERAL] = "general",
                                   [SA_SCORE_CONCAT] = "concat",
                                   [SA_SCORE_LOCATION] = "location",
                                   NULL};
const char *const coverage_names[] = {[SA_COVERAGE_NONE] = "none",
                                      [SA_COVERAGE_LINGUISTIC] = "linguistic",
                                      [SA_COVERAGE_FERTILITY] = "fertility",
                                      [SA_COVERAGE_NEURAL] = "neural",
                                      NULL};
const char *const no_yes_names[] = {"no", "yes", NULL};
const char *const precision_names[] = {
    [SA_F32] = "f32", [SA_BF16] = "bf16", [SA_INT8] = "int8", [SA_AS_STORED] = "stored", NULL};
const char *const vocab_type_names[] = {
    [SA_VOCAB_WORD] = "word", [SA_VOCAB_BPE] = "bpe", [SA_VOCAB_UNIGRAM] = "unigram", NULL};
const char *const vocab_kind_names[] = {[SA_VOCAB_WORD] = "word",
                                        [SA_VOCAB_BPE] = "bpe",
                                        [SA_VOCAB_UNIGRAM] = "unigram",
                                        [SA_VOCAB_PICTURE] = "picture",
                                        [SA_VOCAB_FEATURES] = "features"};
const char *const symmetrization_names[] = {[SA_INTERSECTION] = "intersection",
                                            [SA_UNION] = "union",
                                            [SA_AVERAGE] = "average",
                                            [SA_GROW_DIAG] = "grow-diag",
                                            [SA_GROW_DIAG_FINAL] = "grow-diag-final",
                                            [SA_GROW_DIAG_FINAL_AND] = "grow-diag-final-and",
                                            NULL};

static bool parse_size(const char *text, int *size) {
    int64_t value;
    bool overflow;
    if (!parse_int64(text, &value, &overflow) || value < 1 || value > INT_MAX)
        return false;
    *size = (int)value;
    return true;
}

const char *parse_vocab_size(const char *text, void *target) {
    sa_model_config *config = target;
    char first[32];
    size_t length = strcspn(text, ",");
    int source, other;
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    if (!parse_size(first, &source) || !parse_size(text[length] == ',' ? text + length + 1 : first, &other))
        return "a number of symbols from 1, or two with a comma between";
    config->vocab_source = source;
    config->vocab_target = other;
    return NULL;
}

void show_vocab_size(const void *target, char *text, size_t size) {
    const sa_model_config *config = target;
    if (config->vocab_source == config->vocab_target)
        snprintf(text, size, "%d", config->vocab_source);
    else
        snprintf(text, size, "%d,%d", config->vocab_source, config->vocab_target);
}

const char *parse_model_path(const char *text, void *target) {
    model_list *list = target;
    if (list->n == SA_ENSEMBLE_MAX)
        return "one of as many models as can work together (16)";
    list->path[list->n++] = text;
    return NULL;
}

const char *parse_attention(const char *text, void *target) {
    attention_choice *choice = target;
    char layer[32];
    size_t length = strcspn(text, ".");
    snprintf(layer, sizeof layer, "%.*s", (int)(length < sizeof layer ? length : 0), text);
    *choice = (attention_choice){.made = true};
    if (!parse_size(layer, &choice->layer) ||
        (text[length] == '.' && !parse_size(text + length + 1, &choice->head)))
        return "a layer, or a layer and a head with a point between, counted from 1";
    return NULL;
}

sa_status attention_choose(const attention_choice *choice, sa_model *model, sa_error *error) {
    return choice->made ? sa_model_show_attention(model, choice->layer, choice->head, error) : SA_OK;
}

void show_nothing(const void *target, char *text, size_t size) {
    (void)target;
    snprintf(text, size, "%s", "");
}

sa_status models_open(model_list *list, sa_error *error) {
    for (int i = 0; i < list->n; i++) {
        sa_status status = sa_model_open_with(&list->model[i], list->path[i], &list->options, error);
        if (status == SA_OK)
            status = attention_choose(&list->attention, list->model[i], error);
        if (status != SA_OK)
            return status;
    }
    return SA_OK;
}

void models_close(model_list *list) {
    for (int i = 0; i < list->n; i++)
        sa_model_free(list->model[i]);
}

void write_in_row(FILE *output, const char *text) {
    static const char bars[] = "|||";
    while (*text != '\0') {
        size_t length = strcspn(text, "|\n\r");
        fwrite(text, 1, length, output);
        text += length;
        if (strncmp(text, bars, strlen(bars)) == 0) {
            fputs("&#124;&#124;&#124;", output);
            text += strlen(bars);
        } else if (*text != '\0') {
            fputc(*text == '|' ? '|' : ' ', output);
            text++;
        }
    }
}

/* A symbol that is a protected item may have blanks, which would be read as the end of it. */
static void write_symbol(FILE *output, const char *text, bool in_row) {
    char *copy = strdup(text);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if (strchr(" \t\n\r", *c) != NULL)
            *c = '_';
    if (in_row)
        write_in_row(output, copy != NULL ? copy : "");
    else
        fputs(copy != NULL ? copy : "", output);
    free(copy);
}

void write_word_scores(FILE *output, const sa_hypothesis *h, bool in_row) {
    fputs(in_row ? " ||| " : "\t", output);
    for (int i = 0; i < h->length; i++) {
        if (i > 0)
            fputc(' ', output);
        write_symbol(output, h->symbol[i], in_row);
        fprintf(output, ":%.6f", h->word_score[i]);
    }
}

const char *input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}
