/* Several product engines measured at the same time, each on a thread of its own. */
#ifndef MATH_GEMM_TEAM_H
#define MATH_GEMM_TEAM_H

#include "base/thread.h"
#include "math/gemm.h"

/* As gemm_replay, for n engines on as many threads of the team: operations of all together, seconds as long as the
 * threads take that share them. */
sa_status gemm_replay_team(gemm *const *engines, int n, pool *team, double *operations, double *seconds,
                           sa_error *error);

#endif
