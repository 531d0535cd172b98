/* Jobs that the library's search and forced decoding do. */
#ifndef SERVE_SEARCH_JOB_H
#define SERVE_SEARCH_JOB_H

#include "serve/hosted.h"
#include "serve/job.h"

typedef struct search_job {
    job job;
    sa_translate_options options; /* its pointers are not looked at */
    sa_alignment_options links;
    char **text;            /* of each unit: what is translated; of a pair the source */
    char **target;          /* of each pair; NULL when translating */
    char **prefix;          /* of each text; it and each may be NULL */
    sa_translation *result; /* of each, when the job is done and not cancelled */
} search_job;

extern const job_kind translate_kind, score_kind;

/* A job of n texts; the texts are to be set with search_job_set before it is submitted. SA_USAGE when options do
 * not go with the model. */
sa_status search_job_new(search_job **out, const job_kind *kind, const hosted_model *model,
                         const sa_translate_options *options, size_t n, sa_error *error);
/* Copies the texts of unit i, as a file's reader would hand them out: a carriage return before a line end is
 * dropped, any other is a blank, so is what marks byte order at the start. target and prefix may be NULL. */
sa_status search_job_set(search_job *j, size_t i, const char *text, const char *target, const char *prefix,
                         sa_error *error);

#endif
