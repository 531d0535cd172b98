#include "train/run.h"
#include "train/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sa_status measure_bleu(run *r, double *bleu, sa_error *error) {
    const pair_text *text = &r->valid_text;
    sa_translate_options options;
    sa_translate_options_init(&options);
    options.beam_size = r->options.valid_beam;
    options.threads = pool_threads(r->updater.pool);
    sa_translation *out;
    SA_TRY(sa_translate(r->model, (const char *const *)text->source, text->n, &options, &out, error));
    const char **hypotheses = calloc(text->n, sizeof *hypotheses);
    sa_status status = hypotheses ? SA_OK : sa_fail_memory(error, 0);
    if (status == SA_OK) {
        for (size_t i = 0; i < text->n; i++)
            hypotheses[i] = out[i].hypothesis[0].text;
        sa_bleu_options bleu_options;
        sa_bleu_result result;
        sa_bleu_options_init(&bleu_options);
        /* words are what they are; subwords were cut from raw text */
        bleu_options.tokenizer = vocab_type(r->model->target) == SA_VOCAB_WORD ? SA_TOK_NONE : SA_TOK_13A;
        const char *const *references[1] = {(const char *const *)text->target};
        status = sa_bleu(hypotheses, text->n, references, 1, &bleu_options, &result, error);
        *bleu = result.bleu;
    }
    free(hypotheses);
    sa_translations_free(out, text->n);
    return status;
}

/* What "better" means: larger. */
static double value_of(const run *r, double bleu) {
    switch (r->options.early_stopping_metric) {
    case SA_VALID_BLEU:
        return bleu;
    default: /* perplexity orders as cross-entropy does */
        return -r->counters.cross_entropy;
    }
}

bool run_is_better(double value, double cross_entropy, double than_value, double than_cross_entropy) {
    return value > than_value || (value == than_value && cross_entropy < than_cross_entropy);
}

static bool is_best(const run_counters *c, double value) {
    return !c->has_best || run_is_better(value, c->cross_entropy, c->best, c->best_cross_entropy);
}

/* The models of the last validation, made just now: those that the state says are there. Of a run that is taken up
 * again, those that are there already stay. */
static sa_status save_models(run *r, bool resumed, sa_error *error) {
    const run_counters *c = &r->counters;
    char kept[RUN_KEPT_NAME_SIZE];
    const char *names[3];
    int n = 0;
    if (c->best_update == c->update)
        names[n++] = "best.safetensors";
    names[n++] = "last.safetensors";
    if (run_kept_name(r, kept))
        names[n++] = kept;
    bool missing = false;
    for (int i = 0; i < n; i++) {
        bool has = false;
        if (resumed)
            SA_TRY(run_has_model(r, names[i], &has, error));
        if (has)
            names[i] = NULL;
        missing = missing || !has;
    }
    if (missing)
        SA_TRY(updater_swap_average(&r->updater, error));
    for (int i = 0; i < n; i++)
        if (names[i])
            SA_TRY(run_save_model(r, names[i], error));
    if (missing)
        SA_TRY(updater_swap_average(&r->updater, error));
    return run_remove_kept(r, error);
}

sa_status run_complete_models(run *r, sa_error *error) {
    const run_counters *c = &r->counters;
    bool validated = r->options.resume && c->update > 0 && c->validated == c->update;
    return validated ? save_models(r, true, error) : SA_OK;
}

sa_status run_validate(run *r, const char **end, sa_error *error) {
    double nll, bleu = 0;
    long words;
    *end = NULL;
    updater_share(&r->updater);
    if (!run_leads(r)) {
        r->counters.validated = r->counters.update;
        return SA_OK;
    }
    SA_TRY(updater_swap_average(&r->updater, error));
    if (!r->updater.average)
        SA_TRY(updater_pack(&r->updater, error));
    SA_TRY(updater_measure(&r->updater, &r->valid, &nll, &words, error));
    if (!isfinite(nll))
        return sa_fail(
            error, SA_NUMERIC,
            "the loss of the validation text after update %lld is not finite; the saved models are of before. "
            "Begin a new run with a lower --learning-rate or with --clip-norm 1",
            (long long)r->counters.update);
    r->counters.cross_entropy = nll / (double)words;
    r->counters.validated = r->counters.update;
    if (r->model->net.config.attention_weights != SA_WEIGHTS_GIVEN) /* such a model cannot translate by itself */
        SA_TRY(measure_bleu(r, &bleu, error));
    r->counters.bleu = bleu;
    double value = value_of(r, bleu);
    if (is_best(&r->counters, value)) {
        r->counters.has_best = true;
        r->counters.best = value;
        r->counters.best_cross_entropy = r->counters.cross_entropy;
        r->counters.best_update = r->counters.update;
        r->counters.stalled = 0;
    } else
        r->counters.stalled++;
    if (r->options.keep > 0)
        run_keep(r, value);
    bool cut = schedule_cuts(&r->options, r->counters.stalled);
    r->counters.rate_cuts += cut;
    SA_TRY(updater_swap_average(&r->updater, error));
    r->counters.seconds = run_seconds(r);
    /* A resume cuts off the metrics that its state does not know, so they are written first. */
    run_log_validation(r);
    if (cut)
        run_message(r, "no better validation since update %lld: the learning rate falls to %g of its value",
                    (long long)r->counters.best_update,
                    pow((double)r->options.plateau_factor, (double)r->counters.rate_cuts));
    SA_TRY(run_save_state(r, error));
    SA_TRY(save_models(r, false, error));
    run_tell_validation(r);
    if (r->options.early_stopping > 0 && r->counters.stalled >= r->options.early_stopping)
        *end = "early stopping";
    return SA_OK;
}
