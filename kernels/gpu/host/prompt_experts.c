#include "kernels/gpu/host/prompt_experts.h"

#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static size_t list_bytes(const struct plan *plan) {
  return ITEMS_OFFSET + (size_t)plan->experts.items * sizeof(struct expert_item);
}

static enum decode_status take_memory(struct prompt_experts *experts, const struct plan *plan) {
  if (!experts->read)
    experts->read = malloc(list_bytes(plan));
  if (!experts->runs)
    experts->runs = malloc((size_t)plan->experts.items * sizeof *experts->runs);
  return experts->read && experts->runs
             ? DECODE_OK
             : failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
}

// Adds an expert's items from the item-th on: to a run of our own tiles that is the last, if they
// are for these, or as a run of its own.
static void add_expert(struct prompt_experts *experts, const struct expert_run *run) {
  struct expert_run *last = experts->run_count > 0 ? &experts->runs[experts->run_count - 1] : NULL;
  if (last && !last->library && !run->library)
    last->items += run->items;
  else
    experts->runs[experts->run_count++] = *run;
  experts->by_library |= run->library;
}

// An expert's items are neighbors, and so are their slots.
static void divide(struct prompt_experts *experts, const struct expert_item *items, int item_count,
                   int library_count) {
  experts->run_count = 0;
  experts->by_library = false;
  for (int i = 0; i < item_count;) {
    struct expert_run run = {.item = i, .expert = items[i].expert, .first = items[i].first};
    for (; i < item_count && items[i].expert == run.expert; i++) {
      run.count += items[i].count;
      run.items++;
    }
    run.library = run.count >= library_count;
    add_expert(experts, &run);
  }
}

enum decode_status prompt_experts_read(struct prompt_experts *experts,
                                       const struct decode_state *state, int layer) {
  const struct plan *plan = &state->prompt;
  enum decode_status status = take_memory(experts, plan);
  if (status != DECODE_OK || experts->layer == layer)
    return status;
  status = failure_told(gpu_driver.copy_out(
      state->context, experts->read, (const char *)state->base + plan->region[REGION_ITEMS].offset,
      list_bytes(plan)));
  if (status != DECODE_OK)
    return status;
  int count;
  memcpy(&count, experts->read, sizeof count);
  divide(experts, (const void *)((const char *)experts->read + ITEMS_OFFSET), count,
         plan->experts.library_count);
  experts->layer = layer;
  return DECODE_OK;
}

void prompt_experts_free(struct prompt_experts *experts) {
  free(experts->runs);
  free(experts->read);
}
