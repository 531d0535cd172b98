#include "decode/translate_options.h"

#include "decode/shortlist.h"

#include <float.h>
#include <math.h>

void sa_translate_options_init(sa_translate_options *options) {
    *options = (sa_translate_options){.beam_size = 5,
                                      .n_best = 1,
                                      .normalize = 1,
                                      .max_length_factor = 2,
                                      .temperature = 1,
                                      .seed = 1,
                                      .max_length = 1000,
                                      .mini_batch = 32,
                                      .threads = 0};
}

static sa_status check_counts(const sa_translate_options *o, sa_error *error) {
    enum { MOST_HYPOTHESES = 1000, MOST = 1000000 };
    const struct {
        const char *name;
        int value, least, most;
    } count[] = {{"beam size", o->beam_size, 1, MOST_HYPOTHESES},
                 {"n-best", o->n_best, 1, o->sample ? MOST_HYPOTHESES : o->beam_size},
                 {"min-length", o->min_length, 0, MOST},
                 {"no-repeat-ngram", o->no_repeat_ngram, 0, MOST},
                 {"top-k", o->top_k, 0, INT32_MAX},
                 {"max-length", o->max_length, 1, INT32_MAX - 1},
                 {"mini-batch", o->mini_batch, 1, MOST},
                 {"threads", o->threads, 0, MOST}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].value < count[i].least || count[i].value > count[i].most)
            return sa_fail(error, SA_USAGE, "%s is %d; it must be from %d to %d", count[i].name, count[i].value,
                           count[i].least, count[i].most);
    return SA_OK;
}

static sa_status check_numbers(const sa_translate_options *o, sa_error *error) {
    const struct {
        const char *name;
        float value;
        bool positive;
    } number[] = {{"normalize", o->normalize, false},
                  {"length-penalty", o->length_penalty, false},
                  {"coverage-penalty", o->coverage_penalty, false},
                  {"max-length-factor", o->max_length_factor, true},
                  {"temperature", o->temperature, true}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        float x = number[i].value;
        if (!(number[i].positive ? x > 0 : x >= 0) || x > FLT_MAX)
            return sa_fail(error, SA_USAGE, "%s is %g; it must be a number %s", number[i].name, (double)x,
                           number[i].positive ? "above 0" : "of at least 0");
    }
    return SA_OK;
}

sa_status translate_options_check(const sa_translate_options *o, const ensemble *models, sa_error *error) {
    SA_TRY(check_counts(o, error));
    SA_TRY(check_numbers(o, error));
    if (o->protect == SA_PROTECT_ON && !sa_model_protects(models->owner))
        return sa_fail(error, SA_USAGE,
                       "this model cannot protect numbers, addresses and tags: it was trained without --protect");
    if (o->replace_unk && vocab_length(models->owner->source))
        return sa_fail(error, SA_USAGE, "sources of this model have no words to put in the place of unknown ones");
    if (o->shortlist && (o->shortlist->vocab_size[SA_SOURCE] != vocab_size(models->owner->source) ||
                         o->shortlist->vocab_size[SA_TARGET] != vocab_size(models->owner->target)))
        return sa_fail(error, SA_USAGE, "the shortlist is for a model with other vocabularies");
    if (o->dictionary && !o->replace_unk)
        return sa_fail(error, SA_USAGE, "a dictionary is for replacing unknown words, which was not asked for");
    if ((o->replace_unk || o->coverage_penalty > 0) && !ensemble_attends(models))
        return sa_fail(error, SA_USAGE,
                       "%s needs attention, and this model has none: its decoder sees one vector of the whole "
                       "sentence",
                       o->replace_unk ? "replacing unknown words" : "a coverage penalty");
    return SA_OK;
}
