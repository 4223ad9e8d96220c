// run: a simulation in progress: what it computes for each option, its blocks of draws and
// replicates, and the first draw that went wrong.
#ifndef PERTOKEN_MODEL_SIMULATE_RUN_H
#define PERTOKEN_MODEL_SIMULATE_RUN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/remedy.h"
#include "model/simulate/sampler.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simulate_request; // of simulate.h

// The amounts computed for an option: the simulated item, and the items by which options are
// ranked.
enum {
  RUN_OUTCOME,
  RUN_COST,
  RUN_SHORT, // for an option whose vendor owes a remedy, as are the next two
  RUN_REMEDY,
  RUN_TOKENS,
  RUN_DAMAGES, // for an option with damages for a delay, as is the one before
  RUN_AMOUNT,
  RUN_ITEMS = RUN_AMOUNT + RANKING_AMOUNTS
};

// Shared by all threads.
struct simulation_run {
  const struct simulate_request *request;
  const struct scenario *scenario;   // its own
  const volatile sig_atomic_t *stop; // the request's; may be NULL
  const struct sampler *sampler;
  bool *wanted; // [option_count][RUN_ITEMS] which of these items an option has
  struct simulation_frame frame;
  struct remedies remedies;
  uint64_t blocks, influence_blocks;
  struct arena *arena;
  struct diagnostics *diagnostics;
  uint64_t bad_block; // the first with a value that is not finite; UINT64_MAX: none
  bool bad_influence; // it is in one of the samples for influence
};

bool run_is_stopped(const struct simulation_run *run);

// The replicate to which a block belongs, and the number of the block's first draw in it.
unsigned run_replicate(const struct simulation_run *run, uint64_t block, uint64_t *first_draw);

// The draws of a block that count: all of them, except in the last block.
size_t run_draws_in(const struct simulation_run *run, uint64_t block);

// The first blocks, from which a run determines what its shards have in common, and their draws.
uint64_t run_pilot_blocks(const struct simulation_run *run);
uint64_t run_pilot_draws(const struct simulation_run *run);

// The first block with a value that is not finite. Can be called while threads are running.
uint64_t run_bad_block(const struct simulation_run *run);

#endif
