#include "math/gemm_team.h"

#include <stdlib.h>

typedef struct replay {
    double operations, seconds;
    bool ok;
} replay;

typedef struct replay_job {
    gemm *const *engines;
    replay *of;
} replay_job;

static void replay_task(void *argument, int task, int worker) {
    (void)worker;
    replay_job *job = argument;
    replay *r = &job->of[task];
    r->ok = gemm_replay(job->engines[task], &r->operations, &r->seconds);
}

sa_status gemm_replay_team(gemm *const *engines, int n, pool *team, double *operations, double *seconds,
                           sa_error *error) {
    replay_job job = {engines, calloc((size_t)n, sizeof(replay))};
    *operations = *seconds = 0;
    if (!job.of)
        return sa_fail_memory(error, (size_t)n * sizeof(replay));
    pool_run(team, n, replay_task, &job);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok = ok && job.of[i].ok;
        *operations += job.of[i].operations;
        *seconds += job.of[i].seconds / pool_threads(team);
    }
    free(job.of);
    return ok ? SA_OK : sa_fail_memory(error, 0);
}
