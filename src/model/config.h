/* The fields of a configuration in one table, by which files are read and written, values checked, and told which
 * of them a preset reads. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "base/error.h"

#include <stddef.h>

typedef enum config_id {
    CONFIG_VOCAB_SOURCE,
    CONFIG_VOCAB_TARGET,
    CONFIG_DIM_EMB,
    CONFIG_DIM_RNN,
    CONFIG_DIM_DEC,
    CONFIG_DIM_ATT,
    CONFIG_DIM_MAXOUT,
    CONFIG_OUTPUT_RANK,
    CONFIG_ORDER,
    CONFIG_RESET,
    CONFIG_DECODER_START,
    CONFIG_LAYER_NORM,
    CONFIG_ENCODER_TRANSITION,
    CONFIG_DECODER_TRANSITION,
    CONFIG_TIED_TARGET,
    CONFIG_TIED_SOURCE,
    CONFIG_LAYERS,
    CONFIG_CELL,
    CONFIG_RESIDUAL_FROM,
    CONFIG_REVERSE_SOURCE,
    CONFIG_ATTENTION,
    CONFIG_ATTENTION_WINDOW,
    CONFIG_SCORE,
    CONFIG_MAX_LOCATION,
    CONFIG_INPUT_FEEDING,
    CONFIG_COVERAGE,
    CONFIG_DIM_COVERAGE,
    CONFIG_LEXICAL_MODEL,
    CONFIG_HEADS,
    CONFIG_DIM_FFN,
    CONFIG_DEC_LAYERS,
    CONFIG_ALIGN_LAYER,
    CONFIG_ALIGN_HEAD,
    CONFIG_ATTENTION_WEIGHTS,
    CONFIG_WORD_ENCODER,
    CONFIG_PICTURE_SIDE,
    CONFIG_FEATURES,
    CONFIG_DIM_FEATURE,
    CONFIG_HARD_ATTENTION,
    CONFIG_INIT,
    CONFIG_INIT_SCALE,
    CONFIG_FIELDS
} config_id;

#define CONFIG_BIT(id) ((uint64_t)1 << CONFIG_##id)

typedef enum config_type { CONFIG_INT, CONFIG_FLOAT, CONFIG_BOOL, CONFIG_ENUM, CONFIG_NAME } config_type;

typedef struct config_field {
    const char *name; /* in files; in options with - for _ */
    config_type type;
    size_t offset; /* in sa_model_config */
    double least, most;
    const char *const *names; /* NULL-terminated: of an enum's values, or those that a name may be */
} config_field;

extern const config_field config_fields[CONFIG_FIELDS];

/* The field that users know by this name; CONFIG_FIELDS: none. */
config_id config_find(const char *option);
/* Whether all fields that are among `reads` have values that they may have, and all others none but the default's
 * or 0: an option that does nothing is a mistake. */
sa_status config_check(const sa_model_config *c, uint64_t reads, const sa_model_config *defaults, sa_error *error);

#endif
