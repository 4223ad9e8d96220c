#include "kernels/gpu/host/ranks.h"

#include "kernels/gpu/host/crew.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/prompt.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/launches/exchange.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// How long all ranks may take for a job, and how long the others may take once one is done. Long
// enough for anything that works: what is ended here would never end by itself.
static const double max_s = 900, behind_s = 120;
static const double look_s = 0.1;
// How long ranks have to end with an error once they were told to.
static const double end_s = 60;

struct rank {
  struct decode_state state;
  int device;
};

struct gpu_ranks {
  struct crew *crew;
  struct plan plan; // of rank 0
  int count;
  bool loaded, joined, ended, broken;
  enum decode_status status; // once broken
  char words[512];
  // A job's inputs and results.
  int steps, repeats, position;
  struct decode_prompt prompt;
  double seconds; // of rank 0
  struct gpu_context *contexts[MAX_DECODE_RANKS];
  struct rank rank[];
};

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- failures: the first one ends all

static enum decode_status broken(const struct gpu_ranks *ranks) {
  return failure_keep(ranks->status, ranks->words);
}

static void end_waiting(struct gpu_ranks *ranks) {
  if (ranks->joined && !ranks->ended)
    gpu_driver.part(ranks->contexts, ranks->count, true);
  ranks->ended = true;
}

static void note(struct gpu_ranks *ranks, enum decode_status status, const char *words) {
  if (ranks->broken)
    return;
  ranks->broken = true;
  ranks->status = status;
  snprintf(ranks->words, sizeof ranks->words, "%s", words);
}

static void note_rank(struct gpu_ranks *ranks, int rank, enum decode_status status,
                      const char *words) {
  char text[sizeof ranks->words];
  snprintf(text, sizeof text, "rank %d of %d, device %d: %s", rank, ranks->count,
           ranks->rank[rank].device, words);
  note(ranks, status, text);
}

// A failure to join belongs to no rank, although one does the joining.
static void note_first(struct gpu_ranks *ranks) {
  const int first = crew_first_failed(ranks->crew);
  if (first >= 0 && !ranks->joined && ranks->loaded)
    note(ranks, crew_status(ranks->crew, first), crew_words(ranks->crew, first));
  else if (first >= 0)
    note_rank(ranks, first, crew_status(ranks->crew, first), crew_words(ranks->crew, first));
}

// Ends whatever waits, and records why.
static void give_up(struct gpu_ranks *ranks) {
  int done;
  note_first(ranks);
  end_waiting(ranks);
  const double until_s = now_s() + end_s;
  while (crew_wait(ranks->crew, look_s, &done) != CREW_DONE && now_s() < until_s)
    ;
}

// False once a rank is too far behind the others, or all have taken too long.
static bool in_time(struct gpu_ranks *ranks, double start_s, double first_s, int done) {
  const double now = now_s();
  const bool behind = done > 0 && now - first_s > behind_s;
  if (!behind && now - start_s <= max_s)
    return true;
  note_rank(ranks, crew_first_busy(ranks->crew), DECODE_FAILED,
            behind ? "it does not answer, although others are done" : "it does not answer");
  return false;
}

static bool looks_well(struct gpu_ranks *ranks) {
  if (!ranks->joined || ranks->ended || gpu_driver.look(ranks->contexts, ranks->count) == DECODE_OK)
    return true;
  note(ranks, DECODE_FAILED, gpu_driver.error());
  return false;
}

// All ranks do the job.
static enum decode_status together(struct gpu_ranks *ranks, crew_job *job) {
  if (ranks->broken)
    return broken(ranks);
  const double start_s = now_s();
  double first_s = 0;
  int done = 0;
  enum crew_state state;
  crew_start(ranks->crew, job, ranks);
  while ((state = crew_wait(ranks->crew, look_s, &done)) == CREW_BUSY) {
    first_s = done > 0 && !(first_s > 0) ? now_s() : first_s;
    if (!in_time(ranks, start_s, first_s, done) || !looks_well(ranks))
      break;
  }
  if (state != CREW_DONE || crew_first_failed(ranks->crew) >= 0)
    give_up(ranks);
  return ranks->broken ? broken(ranks) : DECODE_OK;
}

// ---- what each rank does

static enum decode_status load(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  struct rank *own = &ranks->rank[rank];
  const enum decode_status status = state_load(&own->state, own->device);
  ranks->contexts[rank] = own->state.context;
  return status == DECODE_OK ? prompt_prepare(&own->state) : status;
}

static enum decode_status join(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  return rank > 0 ? DECODE_OK : failure_told(gpu_driver.join(ranks->contexts, ranks->count));
}

static enum decode_status reduce(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  struct decode_state *state = &ranks->rank[rank].state;
  size_t count = 0;
  double seconds = 0;
  struct gpu_launch *launch = gpu_plan_all_reduce(&state->plan, state->base, &count);
  if (!launch)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  // The first ones are not timed: they include waiting until all ranks are there.
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count && status == DECODE_OK; i++)
    status = failure_told(gpu_driver.launch(state->context, &launch[i]));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.timer_start(state->context));
  for (int i = 0; i < ranks->repeats && status == DECODE_OK; i++)
    status = failure_told(gpu_driver.launch(state->context, launch));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.timer_stop(state->context, &seconds));
  if (rank == 0)
    ranks->seconds = seconds / ranks->repeats;
  free(launch);
  return status;
}

static enum decode_status make_step(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  return state_make_step(&ranks->rank[rank].state);
}

static enum decode_status run(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  return state_run(&ranks->rank[rank].state, ranks->steps);
}

static enum decode_status set_position(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  return state_set_position(&ranks->rank[rank].state, ranks->position);
}

static enum decode_status prefill(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  return prompt_take(&ranks->rank[rank].state, &ranks->prompt);
}

static enum decode_status free_step(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  state_free_step(&ranks->rank[rank].state);
  return DECODE_OK;
}

static enum decode_status close_state(void *argument, int rank) {
  struct gpu_ranks *ranks = argument;
  state_close(&ranks->rank[rank].state);
  return DECODE_OK;
}

// ---- the whole

static bool finish(struct gpu_ranks *ranks, crew_job *job) {
  const double until_s = now_s() + end_s;
  int done;
  crew_start(ranks->crew, job, ranks);
  while (crew_wait(ranks->crew, look_s, &done) != CREW_DONE)
    if (now_s() > until_s)
      return false;
  return true;
}

// If a rank never returns from a wait, what it uses is not freed.
void ranks_destroy(struct gpu_ranks *ranks) {
  if (!ranks || (ranks->crew && crew_first_busy(ranks->crew) >= 0))
    return;
  if (ranks->crew && !finish(ranks, free_step))
    return;
  if (ranks->joined)
    gpu_driver.part(ranks->contexts, ranks->count, false);
  if (ranks->crew && !finish(ranks, close_state))
    return;
  if (!ranks->crew || crew_free(ranks->crew))
    free(ranks);
}

static enum decode_status check_devices(const struct decode_request *request) {
  if (request->ranks > MAX_DECODE_RANKS)
    return failure_keep(DECODE_UNSUPPORTED, "at most 64 devices can hold a model together");
  for (int i = 0; i < request->ranks; i++)
    for (int k = 0; k < i; k++)
      if (request->devices[i] == request->devices[k])
        return failure_keep(DECODE_UNSUPPORTED, "each rank needs a device of its own");
  return DECODE_OK;
}

// A plan for the rank's own device, which may not be like the others: the words say which refuses.
static enum decode_status plan_rank(const struct decode_request *request, int rank,
                                    struct plan *out) {
  const int device = request->devices[rank];
  const enum decode_status status = state_plan(device, request, rank, out);
  char words[544];
  if (status != DECODE_UNSUPPORTED || limits_of_request(request))
    return status;
  snprintf(words, sizeof words, "device %d: %s", device, failure_words());
  return failure_keep(status, words);
}

static enum decode_status make_plans(struct gpu_ranks *ranks,
                                     const struct decode_request *request) {
  enum decode_status status = check_devices(request);
  for (int i = 0; i < request->ranks && status == DECODE_OK; i++) {
    struct rank *rank = &ranks->rank[i];
    rank->device = request->devices[i];
    status = plan_rank(request, i, &rank->state.plan);
  }
  ranks->plan = ranks->rank[0].state.plan;
  return status;
}

enum decode_status ranks_cost(const struct decode_request *request, struct decode_cost *out) {
  enum decode_status status = check_devices(request);
  for (int i = 0; i < request->ranks && status == DECODE_OK; i++) {
    struct plan plan;
    status = plan_rank(request, i, &plan);
    if (status == DECODE_OK && i == 0)
      *out = gpu_plan_cost(&plan);
    if (status == DECODE_OK && plan.bytes > out->resident_bytes)
      out->resident_bytes = plan.bytes;
  }
  return status;
}

// The first all-reduce of either kind sets up connections, which must not happen while a step is
// recorded.
static enum decode_status prepare(struct gpu_ranks *ranks) {
  enum decode_status status = together(ranks, load);
  ranks->loaded = status == DECODE_OK;
  if (status == DECODE_OK)
    status = together(ranks, join);
  ranks->joined = status == DECODE_OK;
  ranks->repeats = 1;
  if (status == DECODE_OK)
    status = together(ranks, reduce);
  return status == DECODE_OK ? together(ranks, make_step) : status;
}

enum decode_status ranks_create(const struct decode_request *request, struct gpu_ranks **out) {
  const size_t count = (size_t)request->ranks;
  struct gpu_ranks *ranks = calloc(1, sizeof *ranks + count * sizeof *ranks->rank);
  if (!ranks)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  ranks->count = request->ranks;
  enum decode_status status = make_plans(ranks, request);
  if (status == DECODE_OK && !*gpu_driver.joined_by())
    status = failure_told(DECODE_NO_DEVICE);
  if (status == DECODE_OK)
    ranks->crew = crew_make(ranks->count, failure_words);
  if (status == DECODE_OK && !ranks->crew)
    status = failure_keep(DECODE_NO_MEMORY, "the system does not provide the ranks' threads");
  if (status == DECODE_OK)
    status = prepare(ranks);
  if (status == DECODE_OK)
    *out = ranks;
  else
    ranks_destroy(ranks);
  return status;
}

enum decode_status ranks_run(struct gpu_ranks *ranks, int steps) {
  ranks->steps = steps;
  return together(ranks, run);
}

// A call that no rank could carry out is refused before it reaches them, and breaks nothing.
enum decode_status ranks_set_position(struct gpu_ranks *ranks, int position) {
  const enum decode_status status =
      ranks->broken ? broken(ranks) : state_check_position(&ranks->rank[0].state, position);
  ranks->position = position;
  return status == DECODE_OK ? together(ranks, set_position) : status;
}

enum decode_status ranks_prefill(struct gpu_ranks *ranks, const struct decode_prompt *prompt) {
  if (ranks->broken)
    return broken(ranks);
  const enum decode_status status = prompt_check(&ranks->rank[0].state, prompt);
  ranks->prompt = *prompt;
  return status == DECODE_OK ? together(ranks, prefill) : status;
}

// Shares differ in their number of rows, and a library need not take all of them.
const char *ranks_prefill_library(const struct gpu_ranks *ranks) {
  const struct decode_state *least = &ranks->rank[0].state;
  for (int i = 1; i < ranks->count; i++)
    if (prompt_library_products(&ranks->rank[i].state) < prompt_library_products(least))
      least = &ranks->rank[i].state;
  return prompt_library(least);
}

void ranks_step_form(const struct gpu_ranks *ranks, struct decode_step_form *out) {
  for (int i = 0; i < ranks->count; i++) {
    state_step_form(&ranks->rank[i].state, out);
    if (*out->fallback)
      return;
  }
}

enum decode_status ranks_all_reduce(struct gpu_ranks *ranks, int repeats,
                                    struct decode_all_reduce *out) {
  const struct decode_request *request = &ranks->plan.request;
  ranks->repeats = repeats > 0 ? repeats : 1;
  const enum decode_status status = together(ranks, reduce);
  *out = (struct decode_all_reduce){
      .bytes = (uint64_t)request->batch * (uint64_t)request->shape.hidden * sizeof(float),
      .seconds = ranks->seconds,
  };
  snprintf(out->library, sizeof out->library, "%s", gpu_driver.joined_by());
  return status;
}

// All ranks must have the same tokens, or they do not belong to one model.
enum decode_status ranks_tokens(struct gpu_ranks *ranks, int *out) {
  const size_t batch = (size_t)ranks->plan.request.batch;
  int other[LIMITS_BATCH];
  if (ranks->broken)
    return broken(ranks);
  enum decode_status status = state_tokens(&ranks->rank[0].state, out);
  for (int i = 1; i < ranks->count && status == DECODE_OK; i++) {
    status = state_tokens(&ranks->rank[i].state, other);
    if (status == DECODE_OK && memcmp(out, other, batch * sizeof *out) != 0)
      status = failure_keep(DECODE_FAILED, "the ranks disagree about the tokens");
  }
  return status;
}

// All choose from the same x.
enum decode_status ranks_chosen(struct gpu_ranks *ranks, int *out) {
  const struct plan *plan = &ranks->plan;
  const size_t count = (size_t)plan->request.shape.layers * (size_t)plan->experts.pairs;
  if (ranks->broken)
    return broken(ranks);
  int *other = malloc((count > 0 ? count : 1) * sizeof *other);
  if (!other)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = state_chosen(&ranks->rank[0].state, out);
  for (int i = 1; i < ranks->count && status == DECODE_OK; i++) {
    status = state_chosen(&ranks->rank[i].state, other);
    if (status == DECODE_OK && memcmp(out, other, count * sizeof *out) != 0)
      status = failure_keep(DECODE_FAILED, "the ranks disagree about the experts");
  }
  free(other);
  return status;
}

enum decode_status ranks_touched(struct gpu_ranks *ranks, struct decode_touched *out) {
  return ranks->broken ? broken(ranks) : state_touched(&ranks->rank[0].state, out);
}

static void scatter(const struct gpu_ranks *ranks, int rank, const float *from, float *out) {
  const size_t part = (size_t)ranks->plan.request.shape.vocab;
  for (int row = 0; row < ranks->plan.request.batch; row++)
    memcpy(out + (size_t)row * (size_t)ranks->plan.whole.vocab + (size_t)rank * part,
           from + (size_t)row * part, part * sizeof *out);
}

enum decode_status ranks_logits(struct gpu_ranks *ranks, float *out) {
  const struct decode_request *request = &ranks->plan.request;
  if (ranks->broken)
    return broken(ranks);
  float *part = malloc((size_t)request->batch * (size_t)request->shape.vocab * sizeof *part);
  if (!part)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = DECODE_OK;
  for (int i = 0; i < ranks->count && status == DECODE_OK; i++) {
    status = state_logits(&ranks->rank[i].state, part);
    if (status == DECODE_OK)
      scatter(ranks, i, part, out);
  }
  free(part);
  return status;
}

enum decode_status ranks_set_tokens(struct gpu_ranks *ranks, const int *in) {
  enum decode_status status = ranks->broken
                                  ? broken(ranks)
                                  : state_check_tokens(&ranks->plan, in, ranks->plan.request.batch);
  for (int i = 0; i < ranks->count && status == DECODE_OK; i++)
    status = state_copy_tokens(&ranks->rank[i].state, in);
  return status;
}
