/* softalign: training a model from pairs of sentences. Errors, ownership, threads and text are as in softalign.h.
 */
#ifndef SOFTALIGN_TRAINING_H
#define SOFTALIGN_TRAINING_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sa_optimizer { SA_ADADELTA, SA_ADAM, SA_SGD } sa_optimizer;
typedef enum sa_valid_metric { SA_VALID_CROSS_ENTROPY, SA_VALID_PERPLEXITY, SA_VALID_BLEU } sa_valid_metric;
/* How the learning rate goes on once the warm-up, if any, has raised it evenly to its value. */
typedef enum sa_schedule {
    SA_SCHEDULE_CONSTANT, /* stays */
    SA_SCHEDULE_LINEAR,   /* falls evenly to 0 at the first limit (after_...) that is reached */
    SA_SCHEDULE_INV_SQRT, /* times sqrt(warmup / update) (Vaswani et al. 2017, 5.3) */
    SA_SCHEDULE_PLATEAU /* times plateau_factor after each plateau_patience validations in a row without a new best
                         */
} sa_schedule;

typedef struct sa_train_options {
    /* data: two files, or one TSV file in *_source with *_target NULL. "-" and gzip are read as they stand.
     * Training text that can be read only once is copied, without a name, to tmp_dir. */
    const char *train_source, *train_target;
    const char *valid_source, *valid_target; /* NULL: hold out held_out pairs of the training text */
    int held_out;
    const char *output; /* folder of the run */
    const char
        *tmp_dir; /* folder for the file that the training text is made into; NULL: output. Runs can share it */
    bool resume, overwrite;
    bool strict; /* invalid UTF-8 is an error */

    sa_model_config model; /* vocab_* are upper bounds here */
    sa_vocab_type vocab_type;
    bool joint_vocab;
    const char *normalization; /* of characters: "identity", "nfc"; with subwords also SentencePiece's "nfkc",
                                  "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf" */
    float subword_sampling;    /* with subwords: words of the training text are cut otherwise in every epoch. Of BPE
                                  the    share of merges left out, below 1 (Provilkov et al. 2020), of unigram the
                                  exponent of    probabilities (Kudo 2018). 0: off */
    bool protect; /* with subwords: numbers, addresses, placeholders, tags and emoji that both sides have
                     become symbols, which translations copy (sa_model_protects) */

    /* Links of the training text's words (sa_links_parse), line i those of its line i, that the attention of
     * training is drawn to: guided_alignment_weight times their cross-entropy (Chen et al. 2016) joins the loss.
     * NULL: none. */
    const char *guided_alignment;
    float guided_alignment_weight;

    float dropout, dropout_emb;     /* readout and annotations; embeddings. One mask a sentence. */
    float dropout_src, dropout_trg; /* whole words, each position by itself: of texts that are read; of targets */
    float label_smoothing;
    float r_drop; /* above 0: each pair under two dropout masks, and so often their disagreement (Liang et al. 2021)
                   */
    float doubly_stochastic; /* weight of the loss of places not looked at once in all, where a model attends */
    int picture_shift;       /* pictures are moved by up to so many pixels in each direction */

    sa_optimizer optimizer;
    float learning_rate; /* 0: the optimiser's usual one */
    float adadelta_rho, adadelta_epsilon, adam_beta1, adam_beta2, adam_epsilon;
    int warmup; /* updates */
    sa_schedule schedule;
    float plateau_factor;
    int plateau_patience;
    float clip_norm;    /* 0: off */
    bool loss_per_word; /* divide the loss by words, not by sentences */
    float average;      /* exponential moving average of the parameters; 0: off */

    int mini_batch;       /* sentences at most; 0: any number, if mini_batch_words is positive */
    int mini_batch_words; /* target symbols at most, padding and </s> counted; 0: any number */
    bool mini_batch_fit; /* finds both, so that the passes of any minibatch take about `workspace` at most. A resume
                            keeps what was found */
    int workspace;       /* MB, of a million bytes */
    int optimizer_delay; /* minibatches of an update; the last one of an epoch takes what is left */
    int window;          /* minibatches that are sorted together */
    int max_length;      /* symbols, either side; longer pairs are dropped */
    int64_t after_updates; /* 0: no limit; the first limit reached ends the run */
    double after_epochs, after_minutes;

    int64_t valid_freq;                    /* updates; 0: once an epoch */
    sa_valid_metric early_stopping_metric; /* also chooses what "best" is */
    int early_stopping;                    /* patience in validations; 0: off */
    int valid_beam;                        /* beam size of the translations that BLEU is computed of */
    int keep; /* the models of so many best validations stay in the folder, update-U.safetensors; at most 100 */

    /* Above 0, Kim and Rush 2016: so many models are trained first, in folders teacher-1 ... of `output`, as this
     * one would be but for the seed. The text and their translation of it (distilled.source and distilled.target
     * there) are what this one learns from, which has twice as many pairs then. after_minutes are for all: one part
     * for each teacher and two for this one; the translations come on top. after_updates and after_epochs hold for
     * each. Texts are files. At most SA_ENSEMBLE_MAX; a resume needs it again. */
    int self_distillation;

    /* Tests of attention (docs/explain.md); models that are named have this one's vocabularies. A resume needs them
     * again.
     */
    const char *start_from;     /* model whose parameters this one begins with; of the same options. NULL: none */
    const char *attention_from; /* model whose weights of attention are used in place of own ones; NULL: none */
    const char *adversary_of;   /* model to write the same as and look elsewhere than; NULL: none. The loss of a
                                   target   symbol is TVD(p, its p) - adversary_lambda KL(a || its a) */
    float adversary_lambda;     /* above 0 with it, else 0 */

    sa_precision precision; /* default: SA_BF16 where the processor has it, else SA_F32 */
    uint64_t seed;
    int threads;           /* of each process; 0: all cores */
    int shards;            /* pieces of a minibatch; part of the run, not of the machine; at least one a process */
    int64_t progress_freq; /* updates between progress events; 0: about every 10 seconds */
} sa_train_options;

/* Defaults of the preset on this machine; everything else zero. */
SA_API sa_status sa_train_options_init(sa_train_options *options, const char *preset, sa_error *error);

typedef enum sa_train_event_kind {
    SA_EVENT_MESSAGE,    /* text */
    SA_EVENT_UPDATE,     /* after every update, a chance to stop: update only */
    SA_EVENT_PROGRESS,   /* numbers since the last one */
    SA_EVENT_VALIDATION, /* cross_entropy, perplexity, bleu, improved */
    SA_EVENT_DONE        /* text: why it ended */
} sa_train_event_kind;

typedef struct sa_train_event {
    sa_train_event_kind kind;
    const char *text;
    int64_t update;
    double epoch; /* 2.25: a quarter into the third */
    double loss;  /* training loss a target word, natural log */
    double learning_rate, gradient_norm;
    double words_per_second;                /* target words, end marks left out */
    double seconds;                         /* of training, validations included, resumed ones too */
    double seconds_left;                    /* an estimate; negative: unknown */
    double cross_entropy, perplexity, bleu; /* bleu 0 when it was not computed */
    bool improved;
} sa_train_event;

/* Called from the training thread. Anything but 0 ends the run after the current update: the state is saved
 * and sa_train returns SA_STOPPED. While texts are still being read, nothing has been changed, and nothing will be.
 */
typedef int sa_train_callback(const sa_train_event *event, void *user);

/* Before it begins, a message tells how much memory the run will take at most; SA_MEMORY when less is left of the
 * machine's memory, a control group's, or the limits of the process. */
SA_API sa_status sa_train(const sa_train_options *options, sa_train_callback *callback, void *user,
                          sa_error *error);

/* Processes that mpirun started, on one machine or several, train one model when they call sa_train with the same
 * options and read the same files: they share out the shards of every minibatch and sum their gradients. Rank 0
 * validates, writes, and hears of everything; other callbacks get SA_EVENT_UPDATE only, and can stop the run as
 * well. All ranks return the same status; a text that is empty means that rank 0 has it. A program that uses MPI
 * itself has initialised it before, and finalises it; otherwise sa_train does both, which MPI allows once in a
 * process.
 *
 * Which of how many processes this is, by the environment that mpirun made: 0 of 1 when there was none. */
SA_API void sa_train_ranks(int *rank, int *size);

/* How fast training is, measured. */
typedef struct sa_train_bench {
    double parameters;
    double words_per_second; /* target words, end marks left out */
    double updates_per_second;
    double gflops_done;     /* billions of product operations a second, of whole updates */
    double gflops_products; /* the same products, each by itself, on the same threads */
    double share;           /* gflops_done / gflops_products */
    double peak_megabytes;  /* most resident memory of this process so far */
    double pairs, words;    /* of the text: pairs that are not dropped, and their target words */
} sa_train_bench;

/* Trains on `batches` minibatches of the text's first window, evenly chosen, `passes` times after a warm-up, and
 * keeps each one's best time (other load only adds time). The model's vocabulary sizes are taken as they are, even
 * where the text has fewer words. Writes no files; output, validation text and limits are not looked at. */
SA_API sa_status sa_bench_train(const sa_train_options *options, int batches, int passes, sa_train_bench *out,
                                sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
