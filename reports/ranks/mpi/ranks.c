// The plugin for processes started by mpirun or srun; see reports/ranks/plugin.h.
#include "reports/ranks/plugin.h"

#include <limits.h>
#include <mpi.h>

ranks_plugin_function pertoken_ranks;

static int join(int *rank, int *size) {
  int provided;
  return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
                 MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS ||
                 MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS
             ? -1
             : 0;
}

static int least(int *number) {
  return MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS
             ? 0
             : -1;
}

static int reduce_one(void *values, size_t count, MPI_Datatype type, MPI_Op operation) {
  int rank;
  if (count > INT_MAX || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
    return -1;
  const void *from = rank == 0 ? MPI_IN_PLACE : values;
  void *to = rank == 0 ? values : NULL;
  return MPI_Reduce(from, to, (int)count, type, operation, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 0
                                                                                             : -1;
}

static int reduce(uint64_t *sums, size_t sum_count, double *lows, double *highs, size_t end_count) {
  return reduce_one(sums, sum_count, MPI_UINT64_T, MPI_SUM) ||
                 reduce_one(lows, end_count, MPI_DOUBLE, MPI_MIN) ||
                 reduce_one(highs, end_count, MPI_DOUBLE, MPI_MAX)
             ? -1
             : 0;
}

static void leave(void) {
  MPI_Finalize();
}

const struct ranks_plugin *pertoken_ranks(void) {
  static const struct ranks_plugin plugin = {RANKS_ABI, join, least, reduce, leave};
  return &plugin;
}
