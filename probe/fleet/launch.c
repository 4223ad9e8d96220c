#include "probe/fleet/launch.h"

#include "base/digits.h"
#include "base/source.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The names of one launcher's variables; the key is what distinguishes one launch from another.
struct launcher {
  const char *rank, *size, *per_node;
  const char *key[4];
  const char *one_per_node; // how to ask for that
};

static const struct launcher launchers[] = {
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
     "mpirun --map-by ppr:1:node"},
    {"SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_STEP_TASKS_PER_NODE",
     {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"},
     "srun --ntasks-per-node=1"},
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

const char *launch_variable(const char *name) {
  const char *text = getenv(name);
  return text ? text : "";
}

static int read_number(const char *name, int low, int high, int *out,
                       struct diagnostics *diagnostics) {
  const char *text = launch_variable(name);
  uint64_t value;
  if (!is_whole_number(text, (uint64_t)low, (uint64_t)high, &value)) {
    diagnostics_error(diagnostics, nowhere, "%s is '%s', expected a number from %d to %d", name,
                      text, low, high);
    return -1;
  }
  *out = (int)value;
  return 0;
}

// "1", or Slurm's "1(x8)": numbers of processes, each with the number of nodes that have as many.
static bool is_one_per_node(const char *text) {
  for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
    if (at[0] != '1' || !strchr(",(", at[1]))
      return false;
  return true;
}

static const char *key_of(const struct launcher *launcher, struct arena *arena) {
  const char *text = launcher->rank;
  for (size_t i = 0; i < sizeof launcher->key / sizeof launcher->key[0]; i++)
    text = arena_printf(arena, "%s|%s", text, launch_variable(launcher->key[i]));
  return arena_copy_n(arena, source_sha256(source_from_text("launch", text, arena), arena), 16);
}

static int read_launcher(const struct launcher *launcher, struct launch *launch,
                         struct arena *arena, struct diagnostics *diagnostics) {
  if (read_number(launcher->size, 1, MAX_LAUNCH, &launch->size, diagnostics) ||
      read_number(launcher->rank, 0, launch->size - 1, &launch->rank, diagnostics))
    return -1;
  if (!is_one_per_node(launch_variable(launcher->per_node))) {
    diagnostics_error(diagnostics, nowhere,
                      "several processes were started on one node, but each measures the whole "
                      "node: start one with %s",
                      launcher->one_per_node);
    return -1;
  }
  launch->key = key_of(launcher, arena);
  return 0;
}

// A batch script runs only on the first node: without srun, only that one would be measured.
static int read_alone(struct launch *launch, struct arena *arena, struct diagnostics *diagnostics) {
  const char *nodes = launch_variable("SLURM_JOB_NUM_NODES");
  *launch = (struct launch){0, 1, NULL, NULL};
  launch->key = arena_printf(arena, "%016lx", (unsigned long)getpid());
  if (!*nodes || !strcmp(nodes, "1"))
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "this job has %s nodes, but the probe was started on one of them: start it "
                    "with srun --ntasks-per-node=1",
                    nodes);
  return -1;
}

static const char *name_of_node(struct arena *arena) {
  char name[HOST_NAME_MAX + 1] = "";
  const char *node = launch_variable("SLURMD_NODENAME");
  if (*node)
    return node;
  gethostname(name, sizeof name - 1);
  return arena_copy(arena, name);
}

int launch_read(struct launch *launch, struct arena *arena, struct diagnostics *diagnostics) {
  size_t i = 0;
  while (i < LAUNCHERS && !*launch_variable(launchers[i].size))
    i++;
  const int result = i < LAUNCHERS ? read_launcher(&launchers[i], launch, arena, diagnostics)
                                   : read_alone(launch, arena, diagnostics);
  launch->node = name_of_node(arena);
  return result;
}
