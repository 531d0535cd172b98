#include "model/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const vocab_type_names[] = {"word", "bpe", "unigram", "picture", "features"};
enum { VOCAB_TYPES = sizeof vocab_type_names / sizeof *vocab_type_names };

sa_status model_file_new(sa_model **out, sa_error *error) {
    *out = NULL;
    sa_model *m = calloc(1, sizeof *m);
    if (!m)
        return sa_fail_memory(error, sizeof *m);
    if (pthread_mutex_init(&m->lock, NULL)) {
        free(m);
        return sa_fail_memory(error, 0);
    }
    *out = m;
    return SA_OK;
}

void sa_model_free(sa_model *m) {
    if (!m)
        return;
    for (int i = 0; i < m->n_spare; i++)
        tape_free(m->spare[i]);
    free(m->spare);
    pthread_mutex_destroy(&m->lock);
    model_clear(&m->net);
    if (m->target != m->source)
        vocab_free(m->target);
    vocab_free(m->source);
    free(m->widened);
    st_close(m->file);
    free(m);
}

sa_status model_file_parts_make(model_file_parts *out, const sa_model *m, sa_error *error) {
    *out = (model_file_parts){0};
    const params *p = &m->net.params;
    out->tensor = calloc((size_t)p->n + 2 + MODEL_FILE_EXTRA, sizeof *out->tensor);
    out->config = model_config_json(&m->net.config);
    if (!out->tensor || !out->config)
        return sa_fail_memory(error, 0);
    for (int i = 0; i < p->n; i++) {
        const param *q = p->at[i];
        out->tensor[out->n++] = (st_tensor){
            q->name, ST_F32, q->rank, {q->dim[0], q->dim[1]}, q->value, (size_t)param_count(q) * sizeof(real)};
    }
    const vocab *side[2] = {m->source, m->target};
    const char *const name[2] = {"vocab.source", "vocab.target"}, *const type[2] = {"vocab.source.type",
                                                                                    "vocab.target.type"};
    for (int k = 0; k < 2; k++) {
        out->entry[out->n_entries++] = (st_entry){type[k], vocab_type_names[vocab_type(side[k])]};
        if (k == 1 && side[1] == side[0])
            break; /* joint: stored once */
        SA_TRY(vocab_save(side[k], &out->vocab_bytes[k], error));
        out->tensor[out->n++] = (st_tensor){name[k],
                                            ST_U8,
                                            1,
                                            {(int64_t)out->vocab_bytes[k].length},
                                            out->vocab_bytes[k].data,
                                            out->vocab_bytes[k].length};
    }
    out->entry[out->n_entries++] = (st_entry){"config", out->config};
    out->entry[out->n_entries++] = (st_entry){"format", "softalign 1"};
    return SA_OK;
}

void model_file_parts_free(model_file_parts *parts) {
    free(parts->tensor);
    free(parts->config);
    strbuf_free(&parts->vocab_bytes[0]);
    strbuf_free(&parts->vocab_bytes[1]);
}

sa_status model_file_save(const sa_model *m, const char *training, const char *path, sa_error *error) {
    model_file_parts parts;
    sa_status status = model_file_parts_make(&parts, m, error);
    if (status == SA_OK) {
        parts.entry[parts.n_entries++] = (st_entry){"training", training};
        status = st_write(path, parts.tensor, parts.n, parts.entry, parts.n_entries, error);
    }
    model_file_parts_free(&parts);
    return status;
}

static sa_status read_vocab(vocab **out, const st_file *file, const char *name, sa_error *error) {
    char key[32];
    snprintf(key, sizeof key, "%s.type", name);
    const char *type = st_metadata(file, key);
    const st_tensor *bytes = st_find(file, name);
    if (!type || !bytes || bytes->dtype != ST_U8)
        return sa_fail(error, SA_FORMAT, "%s: no %s inside; is this a model of softalign?", st_path(file), name);
    for (int k = 0; k < VOCAB_TYPES; k++)
        if (!strcmp(type, vocab_type_names[k])) {
            sa_status status = vocab_load(out, (sa_vocab_type)k, bytes->data, bytes->bytes, error);
            if (status != SA_OK && error) {
                char text[sizeof error->text];
                snprintf(text, sizeof text, "%s", error->text);
                sa_fail(error, status, "%s: %s: %.900s", st_path(file), name, text);
            }
            return status;
        }
    return sa_fail(error, SA_FORMAT, "%s: unknown vocabulary type \"%s\"", st_path(file), type);
}

static sa_status check_format(const st_file *file, sa_error *error) {
    const char *format = st_metadata(file, "format");
    if (!format || strncmp(format, "softalign ", 10))
        return sa_fail(error, SA_FORMAT, "%s: a safetensors file, but not a model of softalign", st_path(file));
    int version = atoi(format + 10);
    if (version < 1 || version > MODEL_FORMAT)
        return sa_fail(error, SA_FORMAT, "%s: model format %s; this program (%s) reads up to %d: use a newer one",
                       st_path(file), format + 10, SA_VERSION, MODEL_FORMAT);
    return SA_OK;
}

sa_status model_file_read(sa_model *m, const st_file *file, sa_error *error) {
    SA_TRY(check_format(file, error));
    const char *json = st_metadata(file, "config");
    if (!json)
        return sa_fail(error, SA_FORMAT, "%s: no configuration inside", st_path(file));
    sa_model_config config;
    SA_TRY(model_config_parse(&config, json, st_path(file), error));
    SA_TRY(read_vocab(&m->source, file, "vocab.source", error));
    if (st_find(file, "vocab.target"))
        SA_TRY(read_vocab(&m->target, file, "vocab.target", error));
    else
        m->target = m->source;
    if (vocab_size(m->source) != config.vocab_source || vocab_size(m->target) != config.vocab_target)
        return sa_fail(error, SA_FORMAT,
                       "%s: vocabularies of %d and %d symbols, but the configuration says %d and %d", st_path(file),
                       vocab_size(m->source), vocab_size(m->target), config.vocab_source, config.vocab_target);
    source_shape shape = model_source_shape(&config);
    int length = vocab_length(m->source);
    if (vocab_length(m->target) || (length ? length + 1 : 0) != shape.length ||
        (length && vocab_type(m->source) != shape.type))
        return sa_fail(error, SA_FORMAT, "%s: vocabularies of another kind than the configuration says",
                       st_path(file));
    sa_status status = model_declare(&m->net, &config, error);
    return status == SA_USAGE ? sa_fail(error, SA_FORMAT, "%s: impossible configuration", st_path(file)) : status;
}

sa_status model_file_find(const st_file *file, const param *p, const st_tensor **out, sa_error *error) {
    const char *precision = st_metadata(file, "precision");
    if (precision)
        return sa_fail(
            error, SA_DATA,
            "%s: its weights were quantized to %.16s, for translating; training needs the model that was "
            "quantized",
            st_path(file), precision);
    const st_tensor *found = st_find(file, p->name);
    if (!found)
        return sa_fail(error, SA_FORMAT, "%s: tensor %s is missing", st_path(file), p->name);
    bool same = found->dtype == ST_F32 && found->rank == p->rank && found->dim[0] == p->dim[0] &&
                (p->rank == 1 || found->dim[1] == p->dim[1]);
    if (!same)
        return sa_fail(error, SA_FORMAT, "%s: tensor %s has not the shape and type that the configuration asks for",
                       st_path(file), p->name);
    *out = found;
    return SA_OK;
}

sa_status sa_model_plan(sa_model **out, const sa_model_config *config, sa_error *error) {
    sa_model *m;
    *out = NULL;
    SA_TRY(model_file_new(&m, error));
    sa_status status = model_declare(&m->net, config, error);
    if (status != SA_OK) {
        sa_model_free(m);
        return status;
    }
    *out = m;
    return SA_OK;
}

sa_status sa_model_show_attention(sa_model *m, int layer, int head, sa_error *error) {
    sa_model_config c = m->net.config;
    if (!sa_model_config_has(&c, "align-layer"))
        return sa_fail(error, SA_USAGE,
                       "a model of the preset %s has no layers and heads of attention to choose from", c.preset);
    c.align_layer = layer;
    c.align_head = head;
    SA_TRY(model_check(&c, error));
    m->net.config = c;
    return SA_OK;
}

sa_status model_borrow_tape(const sa_model *shared, tape **out, sa_error *error) {
    sa_model *m = (sa_model *)shared; /* the list is not part of what callers see as read-only */
    *out = NULL;
    pthread_mutex_lock(&m->lock);
    if (m->n_spare)
        *out = m->spare[--m->n_spare];
    pthread_mutex_unlock(&m->lock);
    return *out ? SA_OK : tape_new(out, m->net.params.n, 4 << 20, error);
}

void model_return_tape(const sa_model *shared, tape *t) {
    sa_model *m = (sa_model *)shared;
    pthread_mutex_lock(&m->lock);
    tape **spare = realloc(m->spare, (size_t)(m->n_spare + 1) * sizeof *spare);
    if (spare) {
        m->spare = spare;
        spare[m->n_spare++] = t;
    }
    pthread_mutex_unlock(&m->lock);
    if (!spare)
        tape_free(t);
}

const sa_model_config *sa_model_get_config(const sa_model *m) {
    return &m->net.config;
}

int sa_model_parameter_count(const sa_model *m) {
    return m->net.params.n;
}

sa_parameter sa_model_parameter(const sa_model *m, int index) {
    const param *p = m->net.params.at[index];
    return (sa_parameter){p->name, p->rank, {p->dim[0], p->dim[1]}, param_count(p)};
}

static const vocab *vocab_of(const sa_model *m, sa_side side) {
    return side == SA_SOURCE ? m->source : m->target;
}

sa_vocab_type sa_model_vocab_type(const sa_model *m, sa_side side) {
    const vocab *v = vocab_of(m, side);
    return v ? vocab_type(v) : SA_VOCAB_WORD;
}

int sa_model_vocab_size(const sa_model *m, sa_side side) {
    const vocab *v = vocab_of(m, side);
    return v ? vocab_size(v) : 0;
}

const char *sa_model_vocab_piece(const sa_model *m, sa_side side, int id) {
    const vocab *v = vocab_of(m, side);
    return v && id >= 0 && id < vocab_size(v) ? vocab_shown(v, id) : NULL;
}

const char *sa_model_normalization(const sa_model *m) {
    return m->source ? vocab_normalization(m->source) : NULL;
}

bool sa_model_protects(const sa_model *m) {
    return m->source && vocab_protects(m->source) && vocab_protects(m->target);
}

const char *sa_model_metadata(const sa_model *m, const char *key) {
    return m->file ? st_metadata(m->file, key) : NULL;
}
