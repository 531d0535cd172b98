/* The model of docs/learn/worked-example.md: hidden size 2, parameters that are multiples of 1/2, two words a side.
 * It translates "red house" as "maison rouge", "red" as "rouge" and "house" as "maison", in both orders of work. */
#ifndef WORKED_MODEL_H
#define WORKED_MODEL_H

#include <softalign.h>

typedef struct worked_parameter {
    const char *name;
    float value[16]; /* row by row */
} worked_parameter;
/* Those that are not 0, which the biases are. */
extern const worked_parameter worked_parameters[];
extern const int worked_parameter_count;
/* The values of one, NULL where all are 0. */
const float *worked_values(const char *name);

/* Free with sa_model_free. */
sa_status worked_model_make(sa_model **out, sa_order order, sa_error *error);

#endif
