#include "model/draft/room.h"

#include "base/arena.h"
#include "model/draft/request.h"
#include "model/draft/template.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static bool has_lengths(const struct drafting *drafting) {
  return drafting->workload.input_tokens > 0 && drafting->workload.output_tokens > 0;
}

static double context_of(const struct drafting *drafting) {
  return has_lengths(drafting) ? drafting->workload.input_tokens + drafting->workload.output_tokens
                               : MEMORY_CONTEXT;
}

// The number of accelerators that hold the model. 0 if it is unknown, or if no number is enough:
// *fits tells which.
static int needed(const struct drafting *drafting, const struct memory_model *model, size_t i,
                  bool *fits) {
  const char *precision = drafting->workload.precision;
  const struct fit_terms terms = {.context = context_of(drafting),
                                  .kv = MEMORY_KV,
                                  .memory_share = MEMORY_SHARE,
                                  .chunk = MEMORY_CHUNK,
                                  .nodes = SPAN_ANY};
  struct fit_device device;
  *fits = true;
  if (memory_bits(precision) <= 0 ||
      !fit_device_of(drafting->tables.accelerators, drafting->accelerators[i], &device))
    return 0;
  const int accelerators = fit_find(model, precision, &device, &terms).accelerators;
  *fits = accelerators > 0;
  return accelerators;
}

int draft_room_find(struct drafting *drafting) {
  const struct memory_model model = memory_model_of(drafting->tables.models, drafting->model);
  const size_t count = drafting->request->accelerator_count;
  drafting->needed = arena_array(drafting->arena, count + 1, sizeof *drafting->needed);
  for (size_t i = 0; i < count; i++) {
    bool fits;
    drafting->needed[i] = needed(drafting, &model, i, &fits);
    if (!fits)
      return drafting_refuse(
          drafting, arena_printf(drafting->arena,
                                 "%s in %s does not fit into the memory of '%s', not even over %d "
                                 "nodes",
                                 drafting->workload.model, drafting->workload.precision,
                                 drafting_cell(drafting, i, "id"), MAX_SPAN));
  }
  return 0;
}

void draft_room_add(struct drafting *drafting, struct draft_section *section, size_t i) {
  const char *count = drafting->request->count;
  struct arena *arena = drafting->arena;
  if (!count || strtod(count, NULL) >= drafting->needed[i])
    return;
  draft_missing_add(
      &drafting->lines, section, "accelerators", arena_printf(arena, "%d", drafting->needed[i]),
      arena_printf(arena, "%s in %s does not fit into the memory of %s %s, it needs %d",
                   drafting->workload.model, drafting->workload.precision, count,
                   drafting_cell(drafting, i, "id"), drafting->needed[i]),
      arena_printf(
          arena,
          "In place of %s: the fewest that hold a request of %.0f tokens, by pertoken fit. "
          "To replace it: another accelerator, or a precision with fewer bits",
          count, context_of(drafting)));
}

void draft_room_terms(struct drafting *drafting) {
  bool known = true;
  for (size_t i = 0; i < drafting->request->accelerator_count; i++)
    known &= drafting->needed[i] > 0;
  if (!known || has_lengths(drafting) || drafting->request->question == DRAFT_OWN_OR_API)
    return;
  draft_line_add(&drafting->lines, draft_section_add(&drafting->lines, "fit", ""), "context",
                 arena_printf(drafting->arena, "%d", MEMORY_CONTEXT),
                 "For pertoken fit: tokens of input and output that a request holds. Replace with "
                 "your own.");
}
