/* Traces of the worked example, and all of them as JSON. */
#ifndef WORKED_JSON_H
#define WORKED_JSON_H

#include "worked_model.h"

#include <softalign/trace.h>

enum { WORKED_S = 3, WORKED_T = 3 };

/* Traces "red house" and "maison rouge", each step for itself, in an order of work. Free with worked_trace_free,
 * after a failure too. */
sa_status worked_trace(sa_trace *step[WORKED_T], sa_order order, sa_error *error);
void worked_trace_free(sa_trace *step[WORKED_T]);

/* {"parameters": {NAME: [[...]]}, "orders": {"look-first": a trace with gates and "steps", "update-first": ...}} */
sa_status worked_json_print(sa_error *error);

#endif
