#include "model/scenario/resolution/offer_warnings.h"

#include "base/texts.h"
#include "model/cost/model.h"
#include "model/delivery/offer.h"
#include "model/delivery/offer_match.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/tiers.h"
#include "model/scenario/sources/quoted_sums.h"

#include <stdbool.h>
#include <stddef.h>

// The option whose offer is compared with what it uses.
struct subject {
  const struct scenario *scenario;
  struct option *option;
  struct arena *arena;
};

// A case whose offer owes none has 0 beside cases in which one is owed.
static bool has_remedy(const struct subject *subject) {
  const struct figure *remedy = option_figure_stated(subject->scenario, subject->option, "remedy");
  return figure_exists(remedy) &&
         (remedy->origin != ORIGIN_CATALOGUE || remedy->value > 0 ||
          option_amount(subject->scenario, subject->option, "replacement") > 0);
}

// Whether the option's rate was found elsewhere, rather than stated.
static bool found_rate(const struct subject *subject) {
  static const char *const rates[] = {"throughput", "decode_throughput"};
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
    if (option_figure_stated(subject->scenario, subject->option, rates[i])->origin ==
        ORIGIN_CATALOGUE)
      return true;
  return false;
}

// An offer's guarantees count only for their own workloads, and so does its remedy for slow
// accelerators.
static void warn_of_guarantees(const struct subject *subject, const struct offer *offer) {
  const struct option *option = subject->option;
  const char *name = offer_reference(offer, subject->arena);
  size_t others = 0;
  const struct offer_guarantee *guarantee = offer_guarantee_for(offer, &option->workload, &others);
  const struct texts mismatches = offer_mismatches(offer, &option->workload, subject->arena);
  const bool lacks_remedy =
      offer_promises_remedy(offer) && option_is_owned(option) && !has_remedy(subject);
  if (!guarantee && mismatches.count && found_rate(subject))
    texts_add(&subject->option->warnings, subject->arena,
              "no guarantee of the offer %s is used%s: %s", name,
              lacks_remedy ? ", and its remedy does not count" : "",
              texts_joined_by(&mismatches, "; ", subject->arena));
  else if (lacks_remedy)
    texts_add(
        &subject->option->warnings, subject->arena,
        "the remedy of the offer %s does not count: %s of its guarantees of tokens/s is for the "
        "workload and the load of this throughput",
        name, guarantee && others ? "more than one" : "none");
}

// The slower its accelerators, the less such an option costs; and a remedy is owed only once an
// acceptance has found what is assumed here.
static void warn_of_credit(const struct subject *subject) {
  const double share = option_amount(subject->scenario, subject->option, "remedy_share");
  const double credit = option_amount(subject->scenario, subject->option, "remedy_total");
  const double total = option_amount(subject->scenario, subject->option, "tco");
  const bool turns = total < 0 && total - credit >= 0;
  if (credit < 0 && (share > 1 || turns))
    texts_add(&subject->option->warnings, subject->arena,
              "the vendor's remedy is %.4g %% of the hardware price%s: 'remedy_limit' caps it",
              100 * share, turns ? ", and turns the total cost negative" : "");
  else if (credit < 0)
    texts_add(&subject->option->warnings, subject->arena,
              "the vendor's remedy, %.4g %% of the hardware price, is counted as received: the "
              "throughput is %.4g %% below its guarantee",
              100 * share, 100 * option_amount(subject->scenario, subject->option, "shortfall"));
}

// Warns that damages for a delay count in the cost: what a contract owes is no more cash in hand
// than a remedy.
static void warn_of_damages(const struct subject *subject) {
  if (option_amount(subject->scenario, subject->option, "damages_total") < 0)
    texts_add(
        &subject->option->warnings, subject->arena,
        "the vendor's damages for the delay, %.4g %% of the price of what is late, are counted "
        "as received",
        100 * option_amount(subject->scenario, subject->option, "damages_share"));
}

// An input's figure; of one that follows volume tiers in some case, that of the first tier.
static const struct figure *figure_given(const struct subject *subject, const char *name) {
  const struct model *model = subject->scenario->model;
  const int d = model_find(model, name);
  const char *tier =
      model->declarations[d].tiers ? tiers_input(model, d, 0, 0, subject->arena) : name;
  const struct figure *figure = option_figure_stated(subject->scenario, subject->option, tier);
  return figure_exists(figure) ? figure
                               : option_figure_stated(subject->scenario, subject->option, name);
}

// Inputs that the offer gives, but that the option takes from elsewhere.
static const char *typed_over(const struct subject *subject, const struct offer *offer) {
  const struct texts given = offer_given(offer, &subject->option->workload, subject->arena);
  struct texts names = {0};
  for (size_t i = 0; i < given.count; i++) {
    const struct figure *figure = figure_given(subject, given.list[i]);
    if (figure_exists(figure) && figure->place.source != offer->source)
      texts_add(&names, subject->arena, "%s", given.list[i]);
  }
  return texts_joined(&names, subject->arena);
}

static bool has_sums(const struct subject *subject) {
  const struct model *model = subject->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (quoted_sums_is_sum(model, d) &&
        option_amount(subject->scenario, subject->option, model->declarations[d].name) > 0)
      return true;
  return false;
}

static void warn_of_terms(const struct subject *subject, const struct offer *offer) {
  const struct scenario *scenario = subject->scenario;
  const struct option *option = subject->option;
  const char *name = offer_reference(offer, subject->arena);
  const struct texts missing = offer_not_included(offer, subject->arena);
  const char *typed = typed_over(subject, offer);
  const double count = option_amount(scenario, option, "accelerators_bought");
  if (offer_has_expired(offer, scenario->date))
    texts_add(&subject->option->warnings, subject->arena, "the offer %s expired on %s, before %s",
              name, offer->valid_until, scenario->date);
  if (missing.count)
    texts_add(&subject->option->warnings, subject->arena, "the offer %s has no line for: %s", name,
              texts_joined(&missing, subject->arena));
  if (*typed)
    texts_add(&subject->option->warnings, subject->arena, "not taken from the offer %s: %s", name,
              typed);
  warn_of_guarantees(subject, offer);
  if (count != offer->accelerators)
    texts_add(&subject->option->warnings, subject->arena,
              "the offer %s covers %s; this option buys %g at its prices%s", name,
              text_counted((size_t)offer->accelerators, "accelerator", subject->arena), count,
              has_sums(subject) ? ", and pays its fixed sums in proportion" : "");
}

void offer_warn(const struct scenario *scenario, struct option *option, struct arena *arena) {
  const struct subject subject = {scenario, option, arena};
  const struct scenario_offer *quote = option_offer(scenario, option, scenario->selected);
  if (quote)
    warn_of_terms(&subject, quote->offer);
  warn_of_credit(&subject);
  warn_of_damages(&subject);
}
