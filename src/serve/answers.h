/* Results of search as JSON. NULL without memory; *error says more where that is not the reason. */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include "serve/search_job.h"

/* {"translations":[...]}, {"scores":[...]}, {"alignments":[...]} of a job that is done; of a job that is not, what
 * is there. */
json_t *answer_translations(const search_job *j, sa_error *error);
json_t *answer_scores(const search_job *j, sa_error *error);
json_t *answer_alignments(const search_job *j, sa_error *error);

#endif
