#include "model/scenario/sources/published_throughput.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/delivery/offer_match.h"
#include "model/evidence/catalog.h"
#include "model/evidence/curve.h"
#include "model/evidence/published_curve.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/user_rate.h"

#include <math.h>
#include <string.h>

static struct lack published_at_rate(const struct sources *sources, struct evidence *evidence) {
  struct option *option = sources->option;
  struct curve *curve = arena_alloc(sources->arena, sizeof *curve);
  const char *why = published_curve(&sources->request, curve, evidence, sources->arena);
  const struct lack lack =
      why ? sources_lack(sources, SELECT_EVIDENCE, why) : user_rate_choose(sources, curve);
  if (lack.kind)
    return lack;
  evidence->tokens_per_s = option->choice.tokens_per_s;
  evidence->load_power_w = option->choice.load_power;
  evidence->node_power_w = NAN;
  evidence->power_grade = user_rate_power_grade(option, evidence->grade);
  evidence->grade = user_rate_grade(option, evidence->grade);
  evidence->id =
      arena_printf(sources->arena, "%s..%s", curve->ids[0], curve->ids[curve->count - 1]);
  evidence->power_source = user_rate_power_words(sources, evidence->source);
  evidence->source = user_rate_words(sources, evidence->source);
  return (struct lack){.kind = LACK_NONE};
}

struct lack published_throughput_choose(const struct sources *sources, struct evidence *evidence) {
  if (workload_chooses_batch(&sources->option->workload))
    return published_at_rate(sources, evidence);
  return sources_lack(sources, SELECT_EVIDENCE,
                      evidence_choose(&sources->request, evidence, sources->arena));
}

// What keeps the option's guarantees from giving its rate comes before what is published.
static struct lack with_mismatches(const struct sources *sources, struct lack lack) {
  const struct scenario_offer *quote = option_offer(sources->scenario, sources->option, 0);
  const struct texts mismatches =
      quote ? offer_mismatches(quote->offer, &sources->option->workload, sources->arena)
            : (struct texts){0};
  if (mismatches.count)
    lack.why = arena_printf(sources->arena, "no guarantee of the offer %s is used: %s; %s",
                            offer_reference(quote->offer, sources->arena),
                            texts_joined_by(&mismatches, "; ", sources->arena), lack.why);
  return lack;
}

// Finds the published evidence. Returns false, and reports it, if there is none.
static bool find_published(const struct sources *sources, struct evidence *evidence) {
  if (!catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT))
    return false;
  const struct lack lack = published_throughput_choose(sources, evidence);
  if (lack.kind)
    sources_report(sources, with_mismatches(sources, lack));
  return !lack.kind;
}

static const char *why_not(const struct sources *its, const void *chosen) {
  const struct evidence *evidence = chosen;
  struct evidence other;
  const struct lack lack = published_throughput_choose(its, &other);
  if (lack.kind || !strcmp(other.id, evidence->id))
    return lack.kind ? lack.why : NULL;
  return arena_printf(its->arena,
                      "requests of these lengths have another published throughput, %s, than those "
                      "of the base case, %s: give '%s.throughput' in the case",
                      other.id, evidence->id, its->option->id);
}

void published_throughput_apply(const struct sources *sources) {
  struct option *option = sources->option;
  struct workload *workload = &option->workload;
  // A throughput counts output tokens of serving, unless the workload says otherwise.
  if (!*workload->values[WORKLOAD_TOKENS])
    workload->values[WORKLOAD_TOKENS] = "output";
  if (!*workload->values[WORKLOAD_BASIS])
    workload->values[WORKLOAD_BASIS] = "serving";
  struct evidence *evidence = arena_alloc(sources->arena, sizeof *evidence);
  if (!find_published(sources, evidence)) {
    resolving_pretend(sources->resolving, "throughput");
    return;
  }
  sources_check_cases(sources, why_not, evidence);
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    if (*evidence->workload.values[k] && (k != WORKLOAD_BATCH || !option->curve))
      workload->values[k] = evidence->workload.values[k];
  workload_take_lengths(workload, evidence->workload.input_tokens,
                        evidence->workload.output_tokens);
  option->evidence = option->watts_of = evidence;
  sources_found_for_lengths(sources->resolving, evidence->grade, "throughput");
  resolving_fill(
      sources->resolving, sources->throughput,
      figure_found(rate_per_hour(evidence->tokens_per_s), evidence->place, evidence->grade,
                   arena_printf(sources->arena, "%s: %s", evidence->id, evidence->source),
                   evidence->date));
}

bool published_throughput_exists(const struct sources *sources) {
  struct evidence_request request = sources->request;
  struct evidence evidence;
  request.wanted = "";
  if (strcmp(sources->option->workload.values[WORKLOAD_BASIS], "decode") != 0)
    return false;
  return catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT) &&
         !evidence_choose(&request, &evidence, sources->arena);
}
