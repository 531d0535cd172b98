/* The module softalign-mpi.so: a transport by MPI. Failures inside MPI end all ranks, as is MPI's default. */
#include "base/error.h"
#include "ranks/transport.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct joined {
    MPI_Comm comm;
    int rank, size;
    bool ours; /* MPI was started here, not by the program that uses the library */
    int *piece, *part, *part_start;
} joined;

static void mpi_leave(void *self) {
    joined *j = self;
    bool ours = j->ours;
    if (j->comm != MPI_COMM_NULL)
        MPI_Comm_free(&j->comm);
    free(j->piece);
    free(j);
    if (ours)
        MPI_Finalize();
}

static const char *mpi_join(void **self, int *rank, int *size) {
    int initialized, finalized, level;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (finalized)
        return "MPI was ended in this process, and cannot be started again: a program that trains more than once "
               "calls "
               "MPI_Init and MPI_Finalize itself";
    if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
        return "MPI cannot be started";
    joined *j = calloc(1, sizeof *j);
    if (!j)
        MPI_Abort(MPI_COMM_WORLD, 1);
    j->ours = !initialized;
    MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
    MPI_Comm_rank(j->comm, &j->rank);
    MPI_Comm_size(j->comm, &j->size);
    j->piece = calloc(3 * (size_t)j->size, sizeof *j->piece);
    if (!j->piece)
        MPI_Abort(MPI_COMM_WORLD, 1);
    j->part = j->piece + j->size;
    j->part_start = j->part + j->size;
    *self = j;
    *rank = j->rank;
    *size = j->size;
    return NULL;
}

static void mpi_exchange(void *self, const void *data, const int *start, void *parts) {
    joined *j = self;
    int own = start[j->rank + 1] - start[j->rank];
    for (int k = 0; k < j->size; k++) {
        j->piece[k] = start[k + 1] - start[k];
        j->part[k] = own;
        j->part_start[k] = k * own;
    }
    MPI_Alltoallv(data, j->piece, start, MPI_BYTE, parts, j->part, j->part_start, MPI_BYTE, j->comm);
}

static void mpi_gather(void *self, void *data, const int *start) {
    joined *j = self;
    for (int k = 0; k < j->size; k++)
        j->piece[k] = start[k + 1] - start[k];
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, j->piece, start, MPI_BYTE, j->comm);
}

extern SA_API const transport softalign_transport;
const transport softalign_transport = {
    .version = SA_VERSION,
    .join = mpi_join,
    .exchange = mpi_exchange,
    .gather = mpi_gather,
    .leave = mpi_leave,
};
