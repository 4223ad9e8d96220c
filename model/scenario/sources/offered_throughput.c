#include "model/scenario/sources/offered_throughput.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/delivery/offer.h"
#include "model/evidence/grade.h"
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

void offered_set(struct resolving *resolving, size_t which_case, const struct offer *offer,
                 const struct offer_guarantee *guarantee, const char *input, double value,
                 struct place place) {
  const int d = model_find(resolving->scenario->model, input);
  const struct figure **at = &resolving_figures(resolving, which_case)[d];
  if (d >= 0 && ((*at)->origin == ORIGIN_NONE || (*at)->origin == ORIGIN_CATALOGUE))
    *at = resolving_keep(resolving, guaranteed(resolving, offer, guarantee, value, place));
}

// Watts of decoding do not belong to a throughput of serving, nor the other way round.
static bool stands_under_another(const struct sources *sources,
                                 const struct offer_guarantee *guarantee) {
  const struct resolving *resolving = sources->resolving;
  return sources_stated(sources) &&
         !resolving_has(resolving,
                        model_find(resolving->scenario->model, offer_guaranteed_input(guarantee)));
}

// The watts of a whole node include its host's, so they are not the accelerators'.
static void apply_guarantee(struct resolving *resolving, size_t which_case,
                            const struct offer *offer, const struct offer_guarantee *guarantee) {
  offered_set(resolving, which_case, offer, guarantee, offer_guaranteed_input(guarantee),
              offer_guaranteed_rate(offer, guarantee), guarantee->tokens_place);
  if (!offer->per_node && !isnan(guarantee->power_w))
    offered_set(resolving, which_case, offer, guarantee, "load_power", guarantee->power_w,
                guarantee->power_place);
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
    if (!guarantee || stands_under_another(sources, guarantee))
      continue;
    if (others && !c)
      diagnostics_error(resolving->diagnostics, quote->place,
                        "the offer %s guarantees %zu rates that match the workload of option '%s': "
                        "state its batch, context, basis or scenario",
                        quote->offer->reference, others + 1, option->id);
    apply_guarantee(resolving, c, quote->offer, guarantee);
    found = true;
  }
  return found;
}
