#include "model/simulate/bad_draw.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/vector.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/whatif/response.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const char *describe_draw(const struct simulation_run *run, const double *variables,
                                 size_t which) {
  const struct scenario *scenario = run->scenario;
  const char *text = "";
  for (int v = 0; v < run->sampler->variable_count; v++) {
    const struct range *range = &scenario->ranges[run->sampler->ranges[v]];
    const struct declaration *input = &scenario->model->declarations[range->declaration];
    double value = variables[(size_t)v * VECTOR_BLOCK + which];
    const char *choice = declaration_choice(input, value);
    const bool plain = !strcmp(input->unit.text, "-");
    const char *shown =
        choice ? choice
               : arena_printf(run->arena, "%.6g%s%s", value / unit_factor(&input->unit),
                              plain ? "" : " ", plain ? "" : input->unit.text);
    text = arena_printf(run->arena, "%s%s%s = %s", text, v ? ", " : "", run->sampler->labels[v],
                        shown);
  }
  return text;
}

void bad_draw_report(struct simulation_run *run, struct worker *worker) {
  const struct scenario *scenario = run->scenario;
  const struct simulation_frame *frame = &run->frame;
  const double *variables = response_variable(worker->workspace, 0);
  size_t count = run->bad_influence ? VECTOR_BLOCK : run_draws_in(run, run->bad_block);
  for (int side = SAMPLE_FIRST; side < SAMPLE_SIDES; side++) {
    if (run->bad_influence) {
      sampler_draw(run->sampler, (enum sample_side)side, frame->replicates,
                   run->bad_block * VECTOR_BLOCK, response_variable(worker->workspace, 0));
      worker_find_outcomes(run, worker, worker->outcomes);
    } else
      worker_draw(run, worker, run->bad_block);
    for (size_t i = 0; i < count; i++)
      for (size_t o = 0; o < frame->outcome_count; o++) {
        if (isfinite(worker->outcomes[o * VECTOR_BLOCK + i]))
          continue;
        const char *what = o < frame->option_count
                               ? arena_printf(run->arena, "'%s' of option '%s'", frame->item,
                                              scenario->options[o].id)
                               : arena_printf(run->arena, "the saving against option '%s'",
                                              scenario->options[frame->baseline].id);
        uint64_t draw = run->bad_block * VECTOR_BLOCK + i + 1;
        diagnostics_error(run->diagnostics, (struct place){.source = scenario->source},
                          "%s has no finite value in draw %" PRIu64 "%s: %s", what, draw,
                          run->bad_influence ? " of the sample for influence" : "",
                          describe_draw(run, variables, i));
        return;
      }
  }
}
