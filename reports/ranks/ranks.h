// ranks: the processes that mpirun or srun started together, which share the draws of a simulation.
//
// MPI is behind a plugin, lib/pertoken/mpi/ranks.so, which is loaded only if the environment says
// that there are several processes. A run on n ranks is n shards, merged, so the results are
// identical to the last bit.
#ifndef PERTOKEN_REPORTS_RANKS_RANKS_H
#define PERTOKEN_REPORTS_RANKS_RANKS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/simulate/part.h"
#include "model/simulate/simulate.h"
#include "reports/ranks/plugin.h"

struct ranks {
  int rank, size;                    // 0 and 1 for a process that runs alone
  const struct ranks_plugin *plugin; // NULL for a process that runs alone
};

// Error: several processes, and no plugin for them. Returns 0 or -1.
int ranks_join(struct ranks *ranks, struct arena *arena, struct diagnostics *diagnostics);

// Takes part in a run, as one of its shards.
void ranks_share(const struct ranks *ranks, struct simulate_request *request);

// The lowest-numbered process that failed, whose errors are shown, or `size` if none did. Every
// process calls it.
int ranks_first_failure(const struct ranks *ranks, bool failed);

// Merges all shards of the run into rank 0's part. Returns 0, or -1 after an error.
int ranks_merge(const struct ranks *ranks, struct simulation_part *part, struct arena *arena,
                struct diagnostics *diagnostics);

void ranks_leave(const struct ranks *ranks);

#endif
