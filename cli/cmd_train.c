#include "status_line.h"
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct train_arguments {
    sa_train_options run;
    const char *train_tsv, *valid_tsv;
    bool quiet;
} train_arguments;

static const char *const optimizer_names[] = {
    [SA_ADADELTA] = "adadelta", [SA_ADAM] = "adam", [SA_SGD] = "sgd", NULL};
static const char *const operand_names[] = {[SA_F32] = "f32", [SA_BF16] = "bf16", NULL};
static const char *const schedule_names[] = {[SA_SCHEDULE_CONSTANT] = "constant",
                                             [SA_SCHEDULE_LINEAR] = "linear",
                                             [SA_SCHEDULE_INV_SQRT] = "inv-sqrt",
                                             [SA_SCHEDULE_PLATEAU] = "plateau",
                                             NULL};
static const char *const metric_names[] = {[SA_VALID_CROSS_ENTROPY] = "cross-entropy",
                                           [SA_VALID_PERPLEXITY] = "perplexity",
                                           [SA_VALID_BLEU] = "bleu",
                                           NULL};

/* "10e,30m": sets the three limits of a sa_train_options; those not named are off. */
static const char *parse_after(const char *text, void *target) {
    static const char expected[] =
        "a limit like 10e (epochs), 5000u (updates) or 30m (minutes), or several with commas";
    sa_train_options *run = target;
    run->after_epochs = run->after_minutes = 0;
    run->after_updates = 0;
    for (;;) {
        char number[64];
        size_t length = strcspn(text, ",");
        if (length < 2 || length > sizeof number)
            return expected;
        snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
        double value;
        bool overflow;
        if (text[length - 1] == 'u') {
            if (!parse_int64(number, &run->after_updates, &overflow) || run->after_updates < 1)
                return expected;
        } else if (text[length - 1] != 'e' && text[length - 1] != 'm') {
            return expected;
        } else {
            if (!parse_double(number, &value, &overflow) || value <= 0)
                return expected;
            *(text[length - 1] == 'e' ? &run->after_epochs : &run->after_minutes) = value;
        }
        if (text[length] == '\0')
            return NULL;
        text += length + 1;
    }
}

static void show_after(const void *target, char *text, size_t size) {
    const sa_train_options *run = target;
    char part[3][32] = {"", "", ""};
    if (run->after_epochs > 0)
        snprintf(part[0], sizeof *part, ",%.10ge", run->after_epochs);
    if (run->after_updates > 0)
        snprintf(part[1], sizeof *part, ",%lldu", (long long)run->after_updates);
    if (run->after_minutes > 0)
        snprintf(part[2], sizeof *part, ",%.10gm", run->after_minutes);
    char all[96];
    snprintf(all, sizeof all, "%s%s%s", part[0], part[1], part[2]);
    snprintf(text, size, "%s", all[0] == ',' ? all + 1 : "");
}

static const option train_options[] = {
    OPT_SECTION("Data and output"),
    OPT_PAIR("train", 't', "SRC TGT", train_arguments, run.train_source, run.train_target,
             "two files of training text, plain or gzip: line i of TGT is the translation of line i of SRC"),
    OPT_STRING("train-tsv", 0, "FILE", train_arguments, train_tsv,
               "the same in one file: source, tab, target on each line"),
    OPT_PAIR("valid", 0, "SRC TGT", train_arguments, run.valid_source, run.valid_target,
             "two files of validation text, never trained on"),
    OPT_STRING("valid-tsv", 0, "FILE", train_arguments, valid_tsv, "the same in one file"),
    OPT_NUMBER("held-out", 0, "N", train_arguments, run.held_out, AT_LEAST(0),
               "without validation text: pairs taken out of the training text for it"),
    OPT_STRING("output", 'o', "DIR", train_arguments, run.output,
               "folder of the run (required): best.safetensors is the model to use"),
    OPT_FLAG("resume", 0, train_arguments, run.resume, "go on with the run in the output folder where it stopped"),
    OPT_FLAG("overwrite", 0, train_arguments, run.overwrite, "replace a run that is in the output folder"),
    OPT_STRING(
        "tmp-dir", 0, "DIR", train_arguments, run.tmp_dir,
        "folder, which runs can share, for the file of ids that the training text is made into once; without "
        "it that is train.corpus in the output folder"),
    OPT_FLAG("strict", 0, train_arguments, run.strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', train_arguments, quiet, "print errors only"),
    OPT_SECTION("Vocabulary"),
    OPT_ENUM("vocab-type", 0, "TYPE", train_arguments, run.vocab_type, vocab_type_names,
             "how text is cut into symbols"),
    OPT_NUMBER(
        "subword-sampling", 0, "P", train_arguments, run.subword_sampling, AT_LEAST(0),
        "cut words of the training text otherwise in every epoch: of bpe leave out merges with probability P, "
        "of unigram draw segmentations by their probability to the power of P; 0: off"),
    OPT_FLAG("joint-vocab", 0, train_arguments, run.joint_vocab, "one vocabulary for both languages"),
    OPT_STRING(
        "normalization", 0, "RULE", train_arguments, run.normalization,
        "what is done to characters first: identity (nothing), nfc; with bpe and unigram also nfkc, nmt_nfkc, "
        "nfkc_cf or nmt_nfkc_cf. The model does the same to what it translates"),
    OPT_FLAG(
        "protect", 0, train_arguments, run.protect,
        "with bpe and unigram: numbers, addresses, placeholders like {name} and %1$s, tags and emoji that both "
        "sides of a pair have become symbols, and translations then copy such things from the source"),
    OPT_SECTION("Model"),
    OPT_NAME("preset", 0, "NAME", train_arguments, run.model.preset, NULL, sa_model_presets,
             "the model and its usual options, which all other options then change, wherever they stand"),
    MODEL_OPTIONS(train_arguments, run.model),
    OPT_SECTION("Regularization"),
    OPT_NUMBER("dropout", 0, "P", train_arguments, run.dropout, FRACTION,
               "share of annotations and readout units dropped, one mask a sentence"),
    OPT_NUMBER("dropout-emb", 0, "P", train_arguments, run.dropout_emb, FRACTION,
               "share of embedding units dropped"),
    OPT_NUMBER("dropout-src", 0, "P", train_arguments, run.dropout_src, FRACTION,
               "share of source words whose whole embedding is dropped, each position by itself"),
    OPT_NUMBER("dropout-trg", 0, "P", train_arguments, run.dropout_trg, FRACTION,
               "the same of target words as they are read; what is to be written stays"),
    OPT_STRING("guided-alignment", 0, "FILE", train_arguments, run.guided_alignment,
               "draw attention to links of the training text's words: line i has those of pair i, i-j with blanks "
               "between, source first, counted from 0 at blanks"),
    OPT_NUMBER("guided-alignment-weight", 0, "X", train_arguments, run.guided_alignment_weight, AT_LEAST(0),
               "what their cross-entropy counts in the loss beside that of the words"),
    OPT_NUMBER(
        "self-distillation", 0, "N", train_arguments, run.self_distillation, BETWEEN(0, SA_ENSEMBLE_MAX),
        "first train N models, in DIR/teacher-1 ..., and learn from the text and from their translation of it: "
        "the best for small texts. Minutes of --after are for all: a part for each teacher, two for the last; 0: "
        "off"),
    OPT_NUMBER("label-smoothing", 0, "P", train_arguments, run.label_smoothing, FRACTION,
               "probability taken from the right word and spread over all"),
    OPT_NUMBER("r-drop", 0, "X", train_arguments, run.r_drop, AT_LEAST(0),
               "learn every pair under two dropout masks at once, and X times that both write alike (in "
               "Kullback-Leibler divergence): doubles the work of an update, against learning by heart"),
    OPT_NUMBER(
        "doubly-stochastic", 0, "X", train_arguments, run.doubly_stochastic, AT_LEAST(0),
        "weight of the mean, over places of the source, of (1 - attention received in all)^2 in the loss of a "
        "sentence"),
    OPT_NUMBER("picture-shift", 0, "N", train_arguments, run.picture_shift, AT_LEAST(0),
               "each time that a picture is seen it is moved by up to N pixels in each direction"),
    OPT_NUMBER("average", 0, "D", train_arguments, run.average, FRACTION,
               "decay of an exponential moving average of the parameters, which is what is validated and saved; it "
               "reaches "
               "back some 1 / (1 - D) updates ('softalign average' is for models of epochs apart); 0: off"),
    OPT_SECTION("Optimization"),
    OPT_ENUM("optimizer", 0, "NAME", train_arguments, run.optimizer, optimizer_names, "rule of the updates"),
    OPT_NUMBER("learning-rate", 0, "X", train_arguments, run.learning_rate, AT_LEAST(0),
               "factor of the updates; 0: the optimizer's usual one"),
    OPT_NUMBER("warmup", 0, "N", train_arguments, run.warmup, AT_LEAST(0),
               "updates over which the learning rate grows to its value"),
    OPT_ENUM(
        "schedule", 0, "NAME", train_arguments, run.schedule, schedule_names,
        "how the learning rate goes on: constant stays, linear falls to 0 at the end given by --after, inv-sqrt "
        "falls as 1/sqrt(update), plateau is lowered when validation gets no better"),
    OPT_NUMBER("plateau-factor", 0, "X", train_arguments, run.plateau_factor, FRACTION,
               "what the plateau schedule multiplies the learning rate by"),
    OPT_NUMBER("plateau-patience", 0, "N", train_arguments, run.plateau_patience, AT_LEAST(1),
               "validations in a row without a new best before it does so, again after each N"),
    OPT_NUMBER("clip-norm", 0, "X", train_arguments, run.clip_norm, AT_LEAST(0),
               "gradients of a larger norm are scaled down to it; 0: off"),
    OPT_FLAG("loss-per-word", 0, train_arguments, run.loss_per_word, "divide the loss by words, not by sentences"),
    OPT_NUMBER("adadelta-rho", 0, "X", train_arguments, run.adadelta_rho, FRACTION, "decay of Adadelta's averages"),
    OPT_NUMBER("adadelta-epsilon", 0, "X", train_arguments, run.adadelta_epsilon, POSITIVE,
               "what Adadelta adds under its roots"),
    OPT_NUMBER("adam-beta1", 0, "X", train_arguments, run.adam_beta1, FRACTION, "decay of Adam's first average"),
    OPT_NUMBER("adam-beta2", 0, "X", train_arguments, run.adam_beta2, FRACTION, "decay of Adam's second average"),
    OPT_NUMBER("adam-epsilon", 0, "X", train_arguments, run.adam_epsilon, POSITIVE,
               "what Adam adds to its divisor"),
    OPT_SECTION("Minibatches and length of the run"),
    OPT_NUMBER(
        "mini-batch", 0, "N", train_arguments, run.mini_batch, AT_LEAST(1),
        "sentences of an update, at most; without it there is no such bound where --mini-batch-words is given"),
    OPT_NUMBER("mini-batch-words", 0, "N", train_arguments, run.mini_batch_words, AT_LEAST(0),
               "target symbols of an update, at most: its sentences times the longest of them; 0: no such bound"),
    OPT_FLAG(
        "mini-batch-fit", 0, train_arguments, run.mini_batch_fit,
        "find the size of minibatches, in place of --mini-batch: as many sentences as --workspace holds, fewer "
        "where they are long"),
    OPT_NUMBER(
        "workspace", 0, "MB", train_arguments, run.workspace, AT_LEAST(1),
        "memory for a minibatch that --mini-batch-fit makes, in millions of bytes; parameters and what belongs "
        "to them are not part of it"),
    OPT_NUMBER("optimizer-delay", 0, "N", train_arguments, run.optimizer_delay, AT_LEAST(1),
               "minibatches of an update: the effect of one N times as large, in the memory of one"),
    OPT_NUMBER("window", 0, "N", train_arguments, run.window, AT_LEAST(1),
               "minibatches that are sorted by length together"),
    OPT_NUMBER("max-length", 0, "N", train_arguments, run.max_length, AT_LEAST(1),
               "symbols a side; pairs with more on either side are left out"),
    OPT_CUSTOM(
        "after", 0, "LIMITS", train_arguments, run, parse_after, show_after,
        "when to end: 10e (epochs), 5000u (updates), 30m (minutes), or several with commas, of which the first "
        "reached counts"),
    OPT_SECTION("Tests of attention (docs/explain.md); a resume needs them again"),
    OPT_STRING("start-from", 0, "FILE", train_arguments, run.start_from,
               "begin with the parameters of a model of the same options and vocabularies"),
    OPT_STRING(
        "attention-from", 0, "FILE", train_arguments, run.attention_from,
        "look where that model looks, of the same vocabularies, instead of learning it; what comes out cannot "
        "translate by itself, and needs --early-stopping-metric cross-entropy"),
    OPT_STRING("adversary-of", 0, "FILE", train_arguments, run.adversary_of,
               "learn to write what that model writes, and to look elsewhere"),
    OPT_NUMBER(
        "adversary-lambda", 0, "X", train_arguments, run.adversary_lambda, AT_LEAST(0),
        "how much looking elsewhere counts, in Kullback-Leibler divergence, against total variation distance of "
        "what is written"),
    OPT_SECTION("Validation"),
    OPT_NUMBER("valid-freq", 0, "N", train_arguments, run.valid_freq, AT_LEAST(0),
               "updates between validations; 0: once an epoch"),
    OPT_NUMBER("early-stopping", 0, "N", train_arguments, run.early_stopping, AT_LEAST(0),
               "end after N validations in a row that are not better than the best; 0: off"),
    OPT_ENUM("early-stopping-metric", 0, "NAME", train_arguments, run.early_stopping_metric, metric_names,
             "what better and best mean"),
    OPT_NUMBER("valid-beam", 0, "N", train_arguments, run.valid_beam, AT_LEAST(1),
               "beam size of the translations that BLEU is computed of"),
    OPT_NUMBER(
        "keep", 0, "N", train_arguments, run.keep, BETWEEN(0, 100),
        "the models of the N best validations stay in the output folder, update-U.safetensors after update U, "
        "for 'softalign average'"),
    OPT_SECTION("Machine and reproducibility"),
    OPT_ENUM(
        "precision", 0, "TYPE", train_arguments, run.precision, operand_names,
        "what matrix products round their operands to; bf16 is faster, and the default where the processor has "
        "it"),
    OPT_NUMBER("seed", 0, "N", train_arguments, run.seed, ANY, "start of all random numbers"),
    OPT_NUMBER("threads", 0, "N", train_arguments, run.threads, AT_LEAST(0),
               "threads that work in each process; 0: one for each core; the result does not depend on it"),
    OPT_NUMBER(
        "shards", 0, "N", train_arguments, run.shards, AT_LEAST(1),
        "pieces that a minibatch is cut into, and so the most threads of use, those of all processes counted"),
    OPT_NUMBER("progress-freq", 0, "N", train_arguments, run.progress_freq, AT_LEAST(0),
               "updates between lines of progress; 0: about every 10 seconds"),
    OPT_END,
};

/* ---- signals ----------------------------------------------------------------------------------------- */

static volatile sig_atomic_t signal_received;
static volatile sig_atomic_t signals_are_typed; /* the terminal shows ^C, after which a new line begins */
static volatile sig_atomic_t signals_are_told;  /* by this process, rank 0 of several */

/* SIGUSR1 is what mpirun passes on to its processes, and some batch systems send before their time is over. */
static const struct {
    int number;
    const char *name;
} signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

static const char *signal_name(int number) {
    for (int i = 0; i < N_SIGNALS; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "a signal";
}

static void on_signal(int number) {
    static const char text[] = "\nsoftalign: stopping after this update; a second signal ends at once\n";
    int start = signals_are_typed ? 0 : 1;
    if (signal_received != 0)
        _exit(128 + number);
    signal_received = number;
    if (!signals_are_told)
        return;
    ssize_t ignored = write(STDERR_FILENO, text + start, sizeof text - 1 - (size_t)start);
    (void)ignored;
}

static void catch_signals(void) {
    signal(SIGPIPE, SIG_IGN); /* training goes on when nobody reads its progress any more */
    for (int i = 0; i < N_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        struct sigaction old;
        sigemptyset(&action.sa_mask);
        /* A background job whose shell ignores Ctrl-C for it goes on ignoring it. */
        if (sigaction(signals[i].number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i].number, &action, NULL);
    }
}

/* ---- progress ---------------------------------------------------------------------------------------- */

typedef struct reporter {
    const train_arguments *a;
    status_line line;
} reporter;

static void report_progress(reporter *r, const sa_train_event *e) {
    char text[256], used[32], left[48] = "";
    format_duration(e->seconds, used, sizeof used);
    if (e->seconds_left >= 0) {
        format_duration(e->seconds_left, left, sizeof left);
        strcat(left, " left");
    }
    snprintf(text, sizeof text, "epoch %.2f  update %lld  loss %.4f  norm %.2f  rate %g  %.0f words/s  %s%s%s",
             e->epoch, (long long)e->update, e->loss, e->gradient_norm, e->learning_rate, e->words_per_second, used,
             left[0] != '\0' ? ", " : "", left);
    status_line_show(&r->line, text);
}

static void report_validation(reporter *r, const sa_train_event *e) {
    char text[256], bleu[32] = "";
    if (r->a->run.early_stopping_metric == SA_VALID_BLEU || e->bleu > 0)
        snprintf(bleu, sizeof bleu, "  BLEU %.2f", e->bleu);
    snprintf(text, sizeof text, "validation  epoch %.2f  update %lld  cross-entropy %.4f  perplexity %.2f%s%s",
             e->epoch, (long long)e->update, e->cross_entropy, e->perplexity, bleu,
             e->improved ? "  (best so far)" : "");
    status_line_print(&r->line, text);
}

static int on_event(const sa_train_event *event, void *user) {
    reporter *r = user;
    if (!r->a->quiet) {
        if (event->kind == SA_EVENT_PROGRESS)
            report_progress(r, event);
        else if (event->kind == SA_EVENT_VALIDATION)
            report_validation(r, event);
        else if (event->text != NULL)
            status_line_print(&r->line, event->text);
    }
    return signal_received != 0;
}

/* ---- the subcommand ---------------------------------------------------------------------------------- */

/* Whether --mini-batch is among the arguments. a holds the defaults. */
static int look_for_mini_batch(const train_arguments *a, int argc, char **argv, bool *given) {
    train_arguments copy = *a;
    copy.run.mini_batch = 0; /* which cannot be given */
    int status = options_preview(&command_train, &copy, argc, argv);
    *given = copy.run.mini_batch > 0;
    return status;
}

/* The preset gives the defaults that the other options change. */
static int read_arguments(train_arguments *a, int argc, char **argv) {
    sa_error error;
    char preset[sizeof a->run.model.preset];
    *a = (train_arguments){0};
    if (sa_train_options_init(&a->run, sa_model_presets()[0], &error) != SA_OK)
        return cli_library_error(&error);
    int n;
    int status = options_preview(&command_train, a, argc, argv);
    if (status != CLI_GO_ON)
        return status;
    memcpy(preset, a->run.model.preset, sizeof preset);
    *a = (train_arguments){0};
    if (sa_train_options_init(&a->run, preset, &error) != SA_OK)
        return cli_library_error(&error);
    bool given;
    status = look_for_mini_batch(a, argc, argv, &given);
    if (status == CLI_GO_ON)
        status = options_parse(&command_train, a, argc, argv, &n);
    if (a->run.mini_batch_words > 0 && !given)
        a->run.mini_batch = 0;
    return status;
}

/* One text in a TSV file instead of two: the library is told by a second file that is NULL. */
static int choose_text(const char *tsv, const char **source, const char **target, const char *name) {
    if (tsv == NULL)
        return CLI_GO_ON;
    if (*source != NULL)
        return cli_usage_error(&command_train, "--%s and --%s-tsv exclude each other", name, name);
    *source = tsv;
    *target = NULL;
    return CLI_GO_ON;
}

static int check_arguments(train_arguments *a) {
    sa_train_options *run = &a->run;
    int status = choose_text(a->train_tsv, &run->train_source, &run->train_target, "train");
    if (status == CLI_GO_ON)
        status = choose_text(a->valid_tsv, &run->valid_source, &run->valid_target, "valid");
    if (status != CLI_GO_ON)
        return status;
    if (run->train_source == NULL)
        return cli_usage_error(&command_train, "no training text: --train SRC TGT or --train-tsv FILE is missing");
    if (run->output == NULL)
        return cli_usage_error(&command_train, "no folder for the run: -o DIR is missing");
    if (run->resume && run->overwrite)
        return cli_usage_error(&command_train, "--resume and --overwrite exclude each other");
    if (run->joint_vocab && run->model.vocab_source != run->model.vocab_target)
        return cli_usage_error(&command_train, "--joint-vocab takes one --vocab-size, not two");
    return CLI_GO_ON;
}

static int train_run(int argc, char **argv) {
    train_arguments a;
    int status = read_arguments(&a, argc, argv);
    if (status == CLI_GO_ON)
        status = check_arguments(&a);
    if (status != CLI_GO_ON)
        return status;
    reporter r = {.a = &a};
    int rank, ranks;
    sa_train_ranks(&rank, &ranks);
    signals_are_told = rank == 0;
    signals_are_typed = isatty(STDERR_FILENO);
    status_line_begin(&r.line);
    catch_signals();
    sa_error error;
    sa_status trained = sa_train(&a.run, on_event, &r, &error);
    if (r.line.open)
        fputc('\n', stderr);
    if (trained != SA_OK && error.text[0] == '\0')
        return CLI_OK; /* rank 0 says what it was, and its exit status is the one that counts */
    if (trained == SA_STOPPED && signal_received != 0) {
        cli_message("stopped by %s: %s", signal_name(signal_received), error.text);
        return 128 + signal_received;
    }
    return trained == SA_OK ? CLI_OK : cli_library_error(&error);
}

const command command_train = {
    .name = "train",
    .summary = "learn a model from sentences and their translations",
    .synopsis = "--train SRC TGT -o DIR [OPTION]...",
    .about =
        "Learns to translate from pairs of sentences and writes a folder with the best model found "
        "(best.safetensors), the newest one (last.safetensors) and all that is needed to go on "
        "(state.safetensors). The same options, seed and shards give the same model, with any number of threads, "
        "and after a stop and --resume too.\n"
        "Ctrl-C, SIGTERM or SIGUSR1 ends the run after the current update and saves it; a second one ends at "
        "once.\n"
        "Started by mpirun, several processes share out the shards and train one model: they need the same "
        "arguments "
        "and the same files. mpirun passes SIGUSR1 on.",
    .examples = "  softalign train --train corpus.en corpus.fr --valid dev.en dev.fr -o run\n"
                "  softalign train --preset rnnsearch --train-tsv pairs.tsv.gz -o paper --after 10e,600m\n"
                "  mpirun -n 2 softalign train --train corpus.en corpus.fr -o run\n",
    .options = train_options,
    .run = train_run,
};
