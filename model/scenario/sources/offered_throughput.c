#include "model/scenario/sources/offered_throughput.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static struct figure guaranteed(const struct resolving *resolving, const struct offer *offer,
                                const struct offer_guarantee *guarantee, double value,
                                struct place place) {
  return (struct figure){.origin = ORIGIN_CATALOGUE,
                         .value = value,
                         .place = place,
                         .grade = GRADE_QUOTED,
                         .source = arena_printf(resolving->arena, "%s, guarantee %s",
                                                offer_reference(offer, resolving->arena),
                                                guarantee->name),
                         .date = offer->date};
}

static void set_figure(struct resolving *resolving, size_t which_case, const char *input,
                       struct figure figure) {
  const int d = model_find(resolving->scenario->model, input);
  const struct figure **at = &resolving_figures(resolving, which_case)[d];
  if (d >= 0 && ((*at)->origin == ORIGIN_NONE || (*at)->origin == ORIGIN_CATALOGUE))
    *at = resolving_keep(resolving, figure);
}

// The watts of a whole node are its host's too, and so no accelerator's.
static void apply_guarantee(struct resolving *resolving, size_t which_case,
                            const struct offer *offer, const struct offer_guarantee *guarantee) {
  const double share = offer->per_node ? offer_accelerators_per_node(offer) : 1;
  const bool decodes = !strcmp(guarantee->workload.values[WORKLOAD_BASIS], "decode");
  set_figure(resolving, which_case, decodes ? "decode_throughput" : "throughput",
             guaranteed(resolving, offer, guarantee, rate_per_hour(guarantee->tokens_per_s) / share,
                        guarantee->tokens_place));
  if (!offer->per_node && !isnan(guarantee->power_w))
    set_figure(resolving, which_case, "load_power",
               guaranteed(resolving, offer, guarantee, guarantee->power_w, guarantee->power_place));
}

bool offered_throughput_apply(const struct sources *sources) {
  struct resolving *resolving = sources->resolving;
  const struct option *option = sources->option;
  bool found = false;
  if (sources->evidence || sources->request.power_limit_w > 0)
    return false;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct scenario_offer *quote = option_offer(resolving->scenario, option, c);
    size_t others = 0;
    const struct offer_guarantee *guarantee =
        quote ? offer_guarantee_for(quote->offer, &option->workload, &others) : NULL;
    if (!guarantee)
      continue;
    if (others && !c)
      diagnostics_error(resolving->diagnostics, quote->place,
                        "the offer %s guarantees %zu rates that fit the workload of option '%s': "
                        "say its batch, context, basis or scenario",
                        quote->offer->reference, others + 1, option->id);
    apply_guarantee(resolving, c, quote->offer, guarantee);
    found = true;
  }
  return found;
}
