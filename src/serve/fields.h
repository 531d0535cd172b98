/* Options of a request: members of a JSON object that set members of a structure. */
#ifndef SERVE_FIELDS_H
#define SERVE_FIELDS_H

#include <jansson.h>
#include <softalign/explanation.h>

typedef enum field_kind { FIELD_BOOL, FIELD_INT, FIELD_UINT64, FIELD_FLOAT, FIELD_DOUBLE } field_kind;

typedef struct field {
    const char *name; /* in JSON; NULL ends a table */
    field_kind kind;
    size_t offset;
} field;

extern const field search_fields[]; /* of sa_translate_options, as translate's options are called, with _ for - */
extern const field score_fields[];  /* the same, as far as they matter to a given translation */
extern const field alignment_fields[]; /* of sa_alignment_options */
extern const field explain_fields[];   /* of sa_explain_options */

/* Sets what the object names. SA_USAGE where a value is not of the field's kind; whether it is a good one, others
 * check. */
sa_status fields_read(const field *table, json_t *object, void *target, sa_error *error);
/* Whether two structures are equal in all fields of a table. */
bool fields_equal(const field *table, const void *a, const void *b);
/* SA_USAGE when the object has a member that is in none of n tables, nor among the names, which NULL ends: an
 * option that would do nothing is an error. */
sa_status fields_known(json_t *object, const field *const *tables, int n, const char *const *names,
                       sa_error *error);

#endif
