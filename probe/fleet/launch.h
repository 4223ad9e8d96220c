// launch: which of how many processes this one is, one per node, according to the environment of
// Slurm's srun or Open MPI's mpirun. Nothing is linked with either.
//
// From Slurm, the variables of a step are used (srun's manual, "OUTPUT ENVIRONMENT VARIABLES",
// 22.05); from Open MPI, OMPI_COMM_WORLD_* (its FAQ, "Running MPI jobs") and PMIX_NAMESPACE (PMIx
// standard 4.0). A process of mpirun inside a Slurm job belongs to mpirun.
#ifndef PERTOKEN_PROBE_FLEET_LAUNCH_H
#define PERTOKEN_PROBE_FLEET_LAUNCH_H

#include "base/arena.h"
#include "base/diagnostics.h"

struct launch {
  int rank, size;   // 0 of 1: started by itself
  const char *node; // the launcher's name for this machine, or else its host name
  const char *key;  // 16 hex digits: the same in all processes of a launch, and in no other launch
};

enum { MAX_LAUNCH = 100000 };

// Errors: several processes on one node; one process of a job with several nodes; invalid numbers.
// Returns 0 or -1.
int launch_read(struct launch *launch, struct arena *arena, struct diagnostics *diagnostics);

// A variable of the environment; "" if it is not set.
const char *launch_variable(const char *name);

#endif
