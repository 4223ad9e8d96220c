#include "reports/ranks/ranks.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/source.h"
#include "model/simulate/part.h"
#include "model/simulate/part_numbers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The number of processes started together, from the environment of Open MPI's mpirun, of MPICH's
// and other PMI launchers, and of srun with PMIx; the last counts only if the process has a PMIx
// rank.
static int started_together(void) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  if (!size)
    size = getenv("PMI_SIZE");
  if (!size && getenv("PMIX_RANK"))
    size = getenv("SLURM_STEP_NUM_TASKS");
  return size ? atoi(size) : 1;
}

static const struct ranks_plugin *load(struct arena *arena, struct diagnostics *diagnostics) {
  const char *folder = installation_plugins(arena);
  const char *path = folder ? arena_printf(arena, "%s/mpi/ranks.so", folder) : NULL;
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
  void *symbol = library ? dlsym(library, RANKS_PLUGIN) : NULL;
  ranks_plugin_function *entry = NULL;
  memcpy(&entry, &symbol, sizeof entry); // C cannot convert a data pointer to a function pointer
  const struct ranks_plugin *plugin = entry ? entry() : NULL;
  if (plugin && plugin->abi == RANKS_ABI)
    return plugin;
  const char *why = !path     ? "there is no folder of plugins"
                    : library ? "a plugin of another version"
                              : dlerror();
  diagnostics_error(diagnostics, nowhere,
                    "started as one of %d processes, but this pertoken is built without MPI: start "
                    "one, or split the run with --shard (%s)",
                    started_together(), why);
  return NULL;
}

int ranks_join(struct ranks *ranks, struct arena *arena, struct diagnostics *diagnostics) {
  *ranks = (struct ranks){.rank = 0, .size = 1};
  if (started_together() < 2)
    return 0;
  ranks->plugin = load(arena, diagnostics);
  if (!ranks->plugin)
    return -1;
  if (!ranks->plugin->join(&ranks->rank, &ranks->size))
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "MPI could not be started");
  return -1;
}

void ranks_share(const struct ranks *ranks, struct simulate_request *request) {
  request->shard = (unsigned)ranks->rank;
  request->shards = (unsigned)ranks->size;
  if (ranks->rank)
    request->progress = NULL;
}

int ranks_first_failure(const struct ranks *ranks, bool failed) {
  int first = failed ? ranks->rank : ranks->size;
  if (ranks->plugin && ranks->plugin->least(&first))
    return 0;
  return first;
}

// Whether the parts of all processes have the same number of values.
static bool are_alike(const struct ranks *ranks, size_t count) {
  int least = (int)count, most = -(int)count;
  return !ranks->plugin->least(&least) && !ranks->plugin->least(&most) && least == -most;
}

int ranks_merge(const struct ranks *ranks, struct simulation_part *part, struct arena *arena,
                struct diagnostics *diagnostics) {
  if (!ranks->plugin)
    return 0;
  struct simulation_numbers numbers = simulation_part_numbers(part, arena);
  if (!are_alike(ranks, numbers.sum_count)) {
    diagnostics_error(diagnostics, nowhere,
                      "the processes do not simulate the same scenario in the same way");
    return -1;
  }
  if (ranks->plugin->reduce(numbers.sums, numbers.sum_count, numbers.lows, numbers.highs,
                            numbers.end_count)) {
    diagnostics->machine_failed = true;
    diagnostics_error(diagnostics, nowhere, "MPI failed to combine the results");
    return -1;
  }
  return ranks->rank ? 0 : simulation_part_set(part, &numbers, diagnostics);
}

void ranks_leave(const struct ranks *ranks) {
  if (ranks->plugin)
    ranks->plugin->leave();
}
