#include "kernels/gpu/host/stage_times.h"

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/wgmma_check.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/tuning.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MIN_LAUNCHES = 32, // at a time: for a stage of one launch, the gaps then count little
  MAX_REPEATS = 1 << 12
};

// A step's launches and their stages.
struct step_launches {
  struct gpu_launch *launches;
  const char *const *what;
  size_t count;
};

static bool is_rounding(const char *what) {
  const size_t length = strlen(what);
  return length >= 5 && strcmp(what + length - 5, "round") == 0;
}

// "layer 3 qkv" is qkv.
static const char *stage_of(const struct step_launches *step, size_t i) {
  while (i + 1 < step->count && is_rounding(step->what[i])) {
    i++;
  }
  const char *what = step->what[i];
  if (strncmp(what, "layer ", 6) != 0) {
    return what;
  }
  const char *space = strchr(what + 6, ' ');
  return space ? space + 1 : what;
}

// Whether the stage's first launch comes before this one.
static bool is_known(const struct step_launches *step, size_t i) {
  for (size_t before = 0; before < i; before++) {
    if (strcmp(stage_of(step, before), stage_of(step, i)) == 0) {
      return true;
    }
  }
  return false;
}

// The stage's launches, copied to `chosen` often enough for a measurement.
static size_t choose(const struct step_launches *step, const char *name, struct gpu_launch *chosen,
                     size_t fewest, int *launches, int *copies) {
  size_t count = 0;
  *launches = 0;
  for (size_t i = 0; i < step->count; i++) {
    if (strcmp(stage_of(step, i), name) == 0) {
      chosen[count++] = step->launches[i];
      *launches += !is_rounding(step->what[i]);
    }
  }
  const size_t once = count;
  for (*copies = 1; count < fewest; ++*copies) {
    memcpy(chosen + count, chosen, once * sizeof *chosen);
    count += once;
  }
  return count;
}

// Seconds per run of the graph, from as many runs as take long enough. The first is not timed.
static enum decode_status time_graph(struct gpu_context *context, struct gpu_graph *graph,
                                     double least_s, double *seconds) {
  enum decode_status status = gpu_driver.graph_run(context, graph, 1);
  double elapsed = 0;
  int repeats = 1;
  for (; status == DECODE_OK; repeats *= 2) {
    status = gpu_driver.timer_start(context);
    if (status == DECODE_OK) {
      status = gpu_driver.graph_run(context, graph, repeats);
    }
    if (status == DECODE_OK) {
      status = gpu_driver.timer_stop(context, &elapsed);
    }
    if (elapsed >= least_s || repeats >= MAX_REPEATS) {
      break;
    }
  }
  *seconds = elapsed / repeats;
  return status;
}

static enum decode_status time_stage(struct gpu_context *context, const struct plan *plan,
                                     const struct step_launches *step, struct gpu_launch *chosen,
                                     double least_s, struct gpu_stage_time *out) {
  int copies = 1;
  const size_t fewest = least_s > 0 ? MIN_LAUNCHES : 1;
  const size_t count = choose(step, out->name, chosen, fewest, &out->launches, &copies);
  struct gpu_graph *graph = NULL;
  enum decode_status status = gpu_driver.graph_make(
      context, chosen, count, plan->device.tuning.step != STEP_LAUNCHES, &graph);
  if (status == DECODE_OK) {
    status = time_graph(context, graph, least_s, &out->seconds);
  }
  gpu_driver.graph_free(context, graph);
  out->seconds /= copies;
  out->bytes = gpu_plan_stage_bytes(plan, out->name);
  return status;
}

enum decode_status gpu_stage_times(struct gpu_context *context, const struct plan *plan, void *base,
                                   double least_s, struct gpu_stage_time *out, size_t *count) {
  struct step_launches step = {.count = 0};
  *count = 0;
  if (plan->streaming)
    return DECODE_OK;
  step.launches = gpu_plan_step(plan, base, &step.count, &step.what);
  struct gpu_launch *chosen = calloc(step.count + 2 * MIN_LAUNCHES, sizeof *chosen);
  enum decode_status status = step.launches && chosen ? DECODE_OK : DECODE_NO_MEMORY;
  if (status == DECODE_OK) {
    status = wgmma_maps(context, step.launches, step.count);
  }
  for (size_t i = 0; i < step.count && status == DECODE_OK && *count < MAX_GPU_STAGES; i++) {
    if (is_known(&step, i)) {
      continue;
    }
    struct gpu_stage_time *stage = &out[(*count)++];
    snprintf(stage->name, sizeof stage->name, "%s", stage_of(&step, i));
    status = time_stage(context, plan, &step, chosen, least_s, stage);
  }
  free(chosen);
  free(step.launches);
  return status;
}
