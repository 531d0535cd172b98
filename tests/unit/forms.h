/* Every way to build a model, for tests that go through all of them. */
#ifndef TEST_FORMS_H
#define TEST_FORMS_H

#include "model/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A preset and options as members of a configuration in JSON, with ' for ". Widths are the caller's. */
typedef struct model_form {
    const char *preset, *options;
} model_form;

static const model_form model_forms[] = {
    {"rnnsearch", ""},
    {"rnnsearch", "'decoder_order': 'update-first'"},
    {"rnnsearch", "'reset': 'after'"},
    {"rnnsearch", "'decoder_order': 'update-first', 'reset': 'after'"},
    {"rnnsearch", "'output_rank': 1"},
    {"rnnsearch", "'decoder_order': 'update-first', 'tied_target': true"},
    {"rnnsearch", "'reset': 'after', 'tied_target': true, 'output_rank': 1"},
    {"rnnencdec", ""},
    {"rnnencdec", "'decoder_order': 'update-first'"},
    {"rnnencdec", "'reset': 'after'"},
    {"rnnencdec", "'decoder_order': 'update-first', 'reset': 'after'"},
    {"rnnencdec", "'decoder_order': 'update-first', 'output_rank': 1"},
    {"rnnencdec", "'tied_target': true"},
    {"rnnencdec", "'reset': 'after', 'tied_target': true, 'output_rank': 1"},
    {"seq2seq", "'layers': 1"},
    {"seq2seq", "'layers': 2, 'reverse_source': false"},
    {"seq2seq", "'layers': 3, 'cell': 'lstm-linear', 'tied_target': true"},
    {"seq2seq", "'layers': 2, 'output_rank': 1"},
    {"luong", "'layers': 2"},
    {"luong", "'layers': 1, 'score': 'dot', 'input_feeding': false"},
    {"luong", "'layers': 2, 'score': 'concat', 'reverse_source': false"},
    {"luong", "'layers': 1, 'score': 'location', 'max_location': 3"},
    {"luong", "'layers': 3, 'attention': 'local-m', 'attention_window': 1, 'tied_target': true"},
    {"luong", "'layers': 1, 'attention': 'local-p', 'attention_window': 2, 'score': 'dot', 'cell': 'lstm-linear'"},
    {"luong", "'layers': 1, 'attention': 'local-p', 'attention_window': 1, 'score': 'concat', 'output_rank': 1"},
    {"gnmt", "'layers': 4"},
    {"gnmt", "'layers': 1, 'cell': 'lstm', 'residual_from': 0, 'output_rank': 1"},
    {"gnmt", "'layers': 3, 'cell': 'lstm', 'tied_target': true"},
    {"rnnsearch", "'coverage': 'linguistic'"},
    {"rnnsearch", "'coverage': 'neural', 'dim_coverage': 3"},
    {"rnnsearch", "'coverage': 'fertility', 'decoder_order': 'update-first'"},
    {"rnnsearch", "'coverage': 'neural', 'dim_coverage': 2, 'decoder_order': 'update-first', 'reset': 'after'"},
    {"luong", "'layers': 1, 'coverage': 'fertility'"},
    {"luong", "'layers': 1, 'coverage': 'linguistic', 'score': 'dot', 'input_feeding': false"},
    {"luong", "'layers': 1, 'coverage': 'neural', 'dim_coverage': 2, 'score': 'concat', 'attention': 'local-p', "
              "'attention_window': 2"},
    {"gnmt", "'layers': 1, 'coverage': 'neural', 'dim_coverage': 2, 'residual_from': 0"},
    {"gnmt", "'layers': 3, 'coverage': 'fertility'"},
    {"rnnsearch", "'lexical_model': true"},
    {"rnnsearch", "'lexical_model': true, 'tied_target': true, 'decoder_order': 'update-first'"},
    {"rnnsearch", "'lexical_model': true, 'output_rank': 1, 'coverage': 'linguistic'"},
    {"luong", "'layers': 1, 'lexical_model': true, 'attention': 'local-m', 'attention_window': 1"},
    {"gnmt", "'layers': 2, 'lexical_model': true, 'tied_target': true"},
    {"transformer", "'layers': 1, 'heads': 3, 'tied_source': false, 'tied_target': false"},
    {"transformer",
     "'layers': 2, 'dec_layers': 3, 'heads': 2, 'tied_source': false, 'align_layer': 1, 'align_head': 2"},
    {"transformer", "'layers': 1, 'dec_layers': 2, 'heads': 1"},
    {"transformer-small", "'layers': 2, 'heads': 2, 'output_rank': 1"},
    {"rnnsearch", "'word_encoder': true"},
    {"rnnsearch", "'word_encoder': true, 'attention_weights': 'uniform', 'decoder_order': 'update-first'"},
    {"rnnsearch", "'attention_weights': 'uniform'"},
    {"luong", "'layers': 1, 'attention': 'local-m', 'attention_window': 1, 'attention_weights': 'uniform'"},
    {"luong", "'layers': 1, 'attention': 'local-p', 'attention_window': 1, 'attention_weights': 'uniform'"},
    {"gnmt", "'layers': 1, 'attention_weights': 'uniform'"},
    {"rnnsearch", "'decoder_order': 'conditional'"},
    {"rnnsearch", "'decoder_order': 'conditional', 'reset': 'after', 'decoder_start': 'mean', 'tied_target': true"},
    {"rnnsearch", "'decoder_order': 'conditional', 'coverage': 'neural', 'dim_coverage': 2, 'output_rank': 1"},
    {"rnnsearch", "'decoder_order': 'conditional', 'word_encoder': true, 'reset': 'after', 'layer_norm': 'all'"},
    {"rnnsearch",
     "'decoder_order': 'conditional', 'reset': 'after', 'decoder_start': 'mean', 'layer_norm': 'encoder'"},
    {"rnnsearch", "'decoder_order': 'conditional', 'reset': 'after', 'decoder_start': 'mean', 'layer_norm': 'all'"},
    {"rnnsearch", "'reset': 'after', 'layer_norm': 'all', 'coverage': 'fertility'"},
    {"rnnsearch", "'decoder_order': 'update-first', 'reset': 'after', 'layer_norm': 'all'"},
    {"rnnencdec", "'reset': 'after', 'layer_norm': 'all'"},
    {"rnnencdec", "'decoder_order': 'update-first', 'reset': 'after', 'layer_norm': 'encoder'"},
    {"rnnsearch", "'decoder_order': 'conditional', 'encoder_transition': 1, 'decoder_transition': 2"},
    {"rnnsearch",
     "'decoder_order': 'conditional', 'reset': 'after', 'encoder_transition': 2, 'decoder_transition': 1, "
     "'layer_norm': 'all'"},
    {"rnnencdec", "'decoder_order': 'update-first', 'encoder_transition': 1, 'decoder_transition': 1"},
};
enum { MODEL_FORMS = sizeof model_forms / sizeof *model_forms };

/* Those whose sources are no text. */
static const model_form picture_forms[] = {
    {"caption", "'picture_side': 16"},
    {"caption", "'picture_side': 16, 'hard_attention': true, 'output_rank': 1"},
    {"caption", "'picture_side': 8, 'tied_target': true"},
    {"caption", "'features': 3"},
};
enum { PICTURE_FORMS = sizeof picture_forms / sizeof *picture_forms };

/* Widths of a model; of those that the form's preset has. */
typedef struct form_widths {
    int vocab_source, vocab_target, emb, rnn, dec, att, maxout, rank;
    int model, ffn; /* of a Transformer; model divides by 2 and 3 */
} form_widths;

static inline void set_width(sa_model_config *c, const char *option, int *field, int width) {
    if (sa_model_config_has(c, option))
        *field = width;
}

/* What has to be as wide as the embeddings is so. */
static inline void fit_tied(sa_model_config *c) {
    if (c->output_rank)
        c->output_rank = c->dim_emb;
    else if (sa_model_config_has(c, "dim-maxout"))
        c->dim_maxout = c->dim_emb;
    else if (sa_model_config_has(c, "dim-rnn") && !model_source_shape(c).length)
        c->dim_rnn = c->dim_emb;
}

static inline sa_model_config form_config(const model_form *f, const form_widths *w) {
    char text[512];
    sa_model_config c;
    sa_error e;
    snprintf(text, sizeof text, "{'preset': '%s'%s%s}", f->preset, *f->options ? ", " : "", f->options);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (model_config_parse(&c, text, "forms.h", &e) != SA_OK) {
        fprintf(stderr, "%s: %s\n", text, e.text);
        abort();
    }
    if (model_source_shape(&c).length == 0)
        c.vocab_source = w->vocab_source;
    c.vocab_target = w->vocab_target;
    c.dim_emb = sa_model_config_has(&c, "heads") ? w->model : w->emb;
    set_width(&c, "dim-ffn", &c.dim_ffn, w->ffn);
    if (c.tied_source)
        c.vocab_source = c.vocab_target;
    set_width(&c, "dim-feature", &c.dim_feature, 4 * w->att);
    set_width(&c, "dim-rnn", &c.dim_rnn, w->rnn);
    set_width(&c, "dim-dec", &c.dim_dec, w->dec);
    set_width(&c, "dim-att", &c.dim_att, w->att);
    set_width(&c, "dim-maxout", &c.dim_maxout, w->maxout);
    c.output_rank = c.output_rank ? w->rank : 0;
    if (c.tied_target)
        fit_tied(&c);
    return c;
}

static inline void form_name(const model_form *f, char *text, size_t size) {
    snprintf(text, size, "%s %s", f->preset, f->options);
}

#endif
