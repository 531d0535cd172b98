/* A model with its vocabularies and its file: what sa_model is. */
#ifndef MODEL_MODEL_FILE_H
#define MODEL_MODEL_FILE_H

#include "base/safetensors.h"
#include "model/model.h"
#include "text/vocab.h"

#include <pthread.h>

/* Of the file; a newer one is refused with both numbers named. 2: weights may be quantized. */
enum { MODEL_FORMAT = 2 };

struct sa_model {
    model net;
    vocab *source, *target; /* the same one when joint; NULL when planned */
    st_file *file;          /* keeps the values mapped; NULL when planned or training */
    void *widened;          /* matrices of a quantized file in 32 bits; NULL: they are as the file has them */

    pthread_mutex_t lock; /* guards spare */
    tape **spare;         /* workspaces that no translation is using */
    int n_spare;
};

/* The configuration as JSON text, keys sorted; the caller frees. NULL without memory. */
char *model_config_json(const sa_model_config *config);
/* Reads it back; what is missing keeps the preset's default. source names the file in messages. */
sa_status model_config_parse(sa_model_config *config, const char *json, const char *source, sa_error *error);

/* An empty model that the caller fills; sa_model_free frees whatever is in it. */
sa_status model_file_new(sa_model **out, sa_error *error);
/* Writes parameters, vocabularies, configuration and the training summary (JSON text). */
sa_status model_file_save(const sa_model *m, const char *training, const char *path, sa_error *error);
/* The same tensors and texts for a caller that adds more of its own to one file. Arrays have room for
 * MODEL_FILE_EXTRA more; vocab_bytes hold what two of the tensors point to. Free with model_file_parts_free. */
enum { MODEL_FILE_EXTRA = 16 };
typedef struct model_file_parts {
    st_tensor *tensor;
    int n;
    st_entry entry[MODEL_FILE_EXTRA];
    int n_entries;
    char *config;
    strbuf vocab_bytes[2];
} model_file_parts;
sa_status model_file_parts_make(model_file_parts *out, const sa_model *m, sa_error *error);
void model_file_parts_free(model_file_parts *parts);

/* Configuration, vocabularies and checked parameter tensors of an open file, declared but without values. */
sa_status model_file_read(sa_model *m, const st_file *file, sa_error *error);
/* The tensor of parameter p in the file, its type and shape checked, for training: SA_DATA when it is quantized. */
sa_status model_file_find(const st_file *file, const param *p, const st_tensor **out, sa_error *error);

/* Points all parameters at their values in m->file, checked, whatever types the weights have there. */
sa_status model_file_map(sa_model *m, sa_error *error);
/* Rounds and packs the weights that the parameters have, to translate with. SA_AS_STORED: float, unless m->file
 * says otherwise. */
sa_status model_prepare(sa_model *m, const sa_model_options *options, sa_error *error);
/* The types of quantized weights. */
typedef struct weight_type {
    const char *name; /* "int8": the metadata "precision" of a file; the first type, float, is not named there */
    st_dtype dtype;
    gemm_precision precision;
} weight_type;
/* NULL: no such type. */
const weight_type *weight_type_of(sa_precision precision);

/* A workspace for translating with the model, and back. */
sa_status model_borrow_tape(const sa_model *shared, tape **out, sa_error *error);
void model_return_tape(const sa_model *shared, tape *t);

#endif
