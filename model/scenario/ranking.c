#include "model/scenario/ranking.h"

#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/evidence/workload.h"
#include "model/scenario/option.h"

#include <math.h>
#include <string.h>

bool ranking_compares(const struct option *a, const struct option *b) {
  return a->decode_only == b->decode_only;
}

// Whether the cost equals the lowest: the rule for ties.
static bool is_lowest(double cost, double lowest) {
  return arithmetic_compare(cost, lowest) <= 0;
}

size_t ranking_mark(const double *cost, const bool *ranked, size_t count, bool *cheapest) {
  double lowest = INFINITY;
  size_t in_all = 0, marked = 0;
  for (size_t i = 0; i < count; i++) {
    in_all += ranked[i];
    lowest = ranked[i] && cost[i] < lowest ? cost[i] : lowest;
  }
  for (size_t i = 0; i < count; i++) {
    cheapest[i] = in_all >= 2 && ranked[i] && is_lowest(cost[i], lowest);
    marked += cheapest[i];
  }
  return marked;
}

const char *ranking_why_none(size_t option_count, size_t barred, const char *asked,
                             struct arena *arena) {
  if (option_count == 1)
    return "there is only one option";
  return barred ? "the throughputs are not comparable"
                : arena_printf(arena, "fewer than two options %s", asked);
}

static const struct option *baseline_of(const struct scenario *scenario) {
  return &scenario->options[scenario->baseline];
}

// The difference between two options' workloads in a case, or NULL.
static const char *difference_of(const struct option *a, const struct option *b, size_t which_case,
                                 struct arena *arena) {
  return workload_difference(&a->workloads[which_case], &b->workloads[which_case], arena);
}

// The same texts: what is like one is like the other.
static bool is_same(const struct workload *a, const struct workload *b) {
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (a->percentiles[key] != b->percentiles[key] ||
        (a->values[key] != b->values[key] && strcmp(a->values[key], b->values[key]) != 0))
      return false;
  return a->shipped_precision == b->shipped_precision && a->input_tokens == b->input_tokens &&
         a->output_tokens == b->output_tokens && a->promised == b->promised;
}

// The options whose workloads are like the baseline's in a case, which others that are like it too
// may differ from. Those with its very workload, or with that of the option before, are left out:
// of many options most are.
struct likes {
  size_t which_case, count;
  const struct option **options;
};

static struct likes likes_of(const struct scenario *scenario, size_t which_case,
                             struct arena *arena) {
  const struct option *baseline = baseline_of(scenario);
  const struct workload *same = &baseline->workloads[which_case], *before = same;
  struct likes likes = {.which_case = which_case};
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *one = &scenario->options[o];
    const struct workload *its = &one->workloads[which_case];
    if (!ranking_compares(baseline, one) || is_same(its, same) || is_same(its, before))
      continue;
    before = its;
    if (difference_of(baseline, one, which_case, arena))
      continue;
    likes.options = arena_room(arena, likes.options, likes.count, sizeof(struct option *));
    likes.options[likes.count++] = one;
  }
  return likes;
}

// The first of them that differs from this one, in `other`: the difference, or NULL.
static const char *difference_from_others(const struct likes *likes, const struct option *option,
                                          const char **other, struct arena *arena) {
  for (size_t i = 0; i < likes->count; i++) {
    const char *difference = difference_of(likes->options[i], option, likes->which_case, arena);
    *other = likes->options[i]->id;
    if (difference)
      return difference;
  }
  return NULL;
}

static struct fixed_bar bar_in(const struct scenario *scenario, const struct option *option,
                               const struct likes *likes, struct arena *arena) {
  const struct option *baseline = baseline_of(scenario);
  const char *other = "the baseline";
  if (!ranking_compares(option, baseline))
    return (struct fixed_bar){RANK_UPPER_BOUND,
                              option->decode_only
                                  ? "its throughput is decode only, an upper bound"
                                  : "the baseline's throughput is decode only, an upper bound"};
  const char *difference = difference_of(baseline, option, likes->which_case, arena);
  if (!difference)
    difference = difference_from_others(likes, option, &other, arena);
  if (!difference)
    return (struct fixed_bar){RANK_FREE, ""};
  return (struct fixed_bar){
      RANK_UNLIKE,
      arena_printf(arena, "its workload differs from that of %s: %s", other, difference)};
}

const struct fixed_bar *ranking_fixed_bars(const struct scenario *scenario, struct arena *arena) {
  struct fixed_bar *bars = arena_array(arena, scenario->option_count, sizeof *bars);
  const struct likes likes = likes_of(scenario, scenario->selected, arena);
  for (size_t o = 0; o < scenario->option_count; o++)
    bars[o] = bar_in(scenario, &scenario->options[o], &likes, arena);
  return bars;
}

const struct fixed_bar *ranking_lasting_bars(const struct scenario *scenario, struct arena *arena) {
  struct fixed_bar *bars = arena_array(arena, scenario->option_count, sizeof *bars);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct likes likes = likes_of(scenario, c, arena);
    for (size_t o = 0; o < scenario->option_count; o++) {
      if (bars[o].bar != RANK_FREE)
        continue;
      bars[o] = bar_in(scenario, &scenario->options[o], &likes, arena);
      if (bars[o].bar != RANK_FREE && c)
        bars[o].why = arena_printf(arena, "in case %s %s", scenario->case_labels[c], bars[o].why);
    }
  }
  return bars;
}

// ---- what depends on amounts

const struct ranking_amount ranking_amounts[RANKING_AMOUNTS] = {
    {.item = "demand_met",
     .bar = RANK_UNMET,
     .limit = 1 - 1e-9,
     .shown = 0.999,
     .before = "at worst it serves ",
     .after = " % of the demand",
     .beside = "ramp",
     .beside_words = ", its ramp included"},
    {.item = "site_excess",
     .bar = RANK_SITE,
     .at_most = true,
     .limit = 1e-9,
     .shown = 0.001,
     .before = "its peak exceeds the site power by ",
     .after = " %"},
};

int ranking_amount_of(const struct scenario *scenario, const struct option *option,
                      const struct ranking_amount *amount) {
  const int item = model_find(scenario->model, amount->item);
  return item >= 0 && option_has(option, item) ? item : -1;
}

bool ranking_holds(const struct ranking_amount *amount, double value) {
  return amount->at_most ? value <= amount->limit : value >= amount->limit;
}

const char *ranking_words(const struct ranking_amount *amount, double value, struct arena *arena) {
  const double shown = amount->at_most ? fmax(value, amount->shown) : fmin(value, amount->shown);
  return arena_printf(arena, "%s%.1f%s", amount->before, arithmetic_round(100 * shown, 1),
                      amount->after);
}

static bool any_has(const struct scenario *scenario, enum rank_bar bar) {
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    for (size_t o = 0; o < scenario->option_count && ranking_amounts[a].bar == bar; o++)
      if (ranking_amount_of(scenario, &scenario->options[o], &ranking_amounts[a]) >= 0)
        return true;
  return false;
}

const char *ranking_asked(const struct scenario *scenario) {
  if (!any_has(scenario, RANK_SITE))
    return "serve the demand";
  return any_has(scenario, RANK_UNMET) ? "serve the demand within the site power"
                                       : "stay within the site power";
}

static const char *amount_words(const struct scenario *scenario, const struct option *option,
                                const struct ranking_amount *amount, double value,
                                struct arena *arena) {
  const int beside = amount->beside ? model_find(scenario->model, amount->beside) : -1;
  const bool is_said = beside >= 0 && option_value(scenario, option, beside, 0) > 0;
  return arena_printf(arena, "%s%s", ranking_words(amount, value, arena),
                      is_said ? amount->beside_words : "");
}

// The first amount that is beyond its limit.
static enum rank_bar amount_bar(const struct scenario *scenario, const struct option *option,
                                const char **why, struct arena *arena) {
  for (size_t a = 0; a < RANKING_AMOUNTS; a++) {
    const struct ranking_amount *amount = &ranking_amounts[a];
    const int item = ranking_amount_of(scenario, option, amount);
    const double value = item < 0 ? amount->limit : option_value(scenario, option, item, 0);
    if (ranking_holds(amount, value))
      continue;
    *why = amount_words(scenario, option, amount, value, arena);
    return amount->bar;
  }
  return RANK_FREE;
}

static struct standing standing_of(const struct scenario *scenario, const struct option *option,
                                   const struct fixed_bar *fixed, struct arena *arena) {
  struct standing standing = {
      .bar = fixed->bar, .why_not = fixed->why, .saving = NAN, .saving_levelised = NAN};
  standing.compared = standing.bar != RANK_UPPER_BOUND;
  if (standing.bar == RANK_FREE)
    standing.bar = amount_bar(scenario, option, &standing.why_not, arena);
  standing.ranked = standing.bar == RANK_FREE;
  if (standing.compared && option != baseline_of(scenario)) {
    standing.saving = option_saving(scenario, option, "cost_per_mtok");
    standing.saving_levelised = option_saving(scenario, option, "levelised_cost_per_mtok");
  }
  return standing;
}

bool ranking_is_eligible(const struct standing *standing) {
  return standing->bar == RANK_FREE || standing->bar >= RANK_UNMET;
}

static size_t eligible_count(const struct ranking *ranking) {
  size_t eligible = 0;
  for (size_t o = 0; o < ranking->option_count; o++)
    eligible += ranking_is_eligible(&ranking->options[o]);
  return eligible;
}

bool ranking_may_rank(const struct ranking *ranking) {
  return eligible_count(ranking) > 1;
}

const char *ranking_why_nobody(const struct ranking *ranking, struct arena *arena) {
  return ranking_why_none(ranking->option_count, ranking->option_count - eligible_count(ranking),
                          ranking->asked, arena);
}

static int against_of(const struct scenario *scenario, const struct standing *options,
                      const double *costs) {
  int against = -1;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!options[o].ranked || options[o].cheapest)
      continue;
    if (o == scenario->baseline)
      return (int)o;
    if (against < 0 || costs[o] < costs[against])
      against = (int)o;
  }
  return against;
}

// The options in the light of one cost, and which of the ranked ones have the lowest.
struct marked {
  double *costs;
  bool *cheapest;
  size_t cheapest_count;
  int first; // of the cheapest; -1: none
};

typedef double cost_function(const struct scenario *scenario, const struct option *option);

static double cost(const struct scenario *scenario, const struct option *option) {
  return option_value(scenario, option, model_cost_item(scenario->model), 0);
}

static double levelised_cost(const struct scenario *scenario, const struct option *option) {
  return option_value(scenario, option, model_find(scenario->model, "levelised_cost_per_mtok"), 0);
}

double ranking_cost_without_credit(const struct scenario *scenario, const struct option *option) {
  static const char *const credits[] = {"remedy_total", "damages_total"};
  const int tokens = model_find(scenario->model, "tokens_total");
  double owed = 0;
  for (size_t i = 0; i < sizeof credits / sizeof credits[0] && tokens >= 0; i++) {
    const int credit = model_find(scenario->model, credits[i]);
    if (credit >= 0 && option_has(option, credit))
      owed += option_value(scenario, option, credit, 0);
  }
  // If nothing is owed, not a bit of the cost changes, and ties stay ties.
  return owed == 0 ? cost(scenario, option)
                   : cost(scenario, option) - owed / option_value(scenario, option, tokens, 0);
}

static struct marked mark_by(const struct scenario *scenario, const struct standing *options,
                             cost_function *cost_of, struct arena *arena) {
  const size_t count = scenario->option_count;
  bool *ranked = arena_array(arena, 2 * count, sizeof *ranked);
  struct marked marked = {arena_array(arena, count, sizeof(double)), ranked + count, 0, -1};
  for (size_t o = 0; o < count; o++) {
    marked.costs[o] = cost_of(scenario, &scenario->options[o]);
    ranked[o] = options[o].ranked;
  }
  marked.cheapest_count = ranking_mark(marked.costs, ranked, count, marked.cheapest);
  for (size_t o = count; o-- > 0;)
    marked.first = marked.cheapest[o] ? (int)o : marked.first;
  return marked;
}

// The first of the cheapest by another cost, if none of the cheapest is one of those; or -1.
static int turned_to(const struct scenario *scenario, const struct standing *options,
                     cost_function *cost_of, struct arena *arena) {
  const struct marked marked = mark_by(scenario, options, cost_of, arena);
  for (size_t o = 0; o < scenario->option_count; o++)
    if (marked.cheapest[o] && options[o].cheapest)
      return -1;
  return marked.first;
}

static const struct ranking *rank(const struct scenario *scenario, const struct fixed_bar *bars,
                                  struct arena *arena) {
  const size_t count = scenario->option_count;
  struct standing *options = arena_array(arena, count, sizeof *options);
  for (size_t o = 0; o < count; o++)
    options[o] = standing_of(scenario, &scenario->options[o], &bars[o], arena);
  const struct marked marked = mark_by(scenario, options, cost, arena);
  for (size_t o = 0; o < count; o++)
    options[o].cheapest = marked.cheapest[o];
  struct ranking *ranking = arena_alloc(arena, sizeof *ranking);
  *ranking = (struct ranking){.options = options,
                              .option_count = count,
                              .asked = ranking_asked(scenario),
                              .cheapest = marked.first,
                              .cheapest_count = marked.cheapest_count,
                              .against = -1,
                              .turned_to = turned_to(scenario, options, levelised_cost, arena),
                              .without_credit =
                                  turned_to(scenario, options, ranking_cost_without_credit, arena)};
  ranking->why_none = ranking->cheapest_count ? "" : ranking_why_nobody(ranking, arena);
  if (ranking->cheapest >= 0)
    ranking->against = against_of(scenario, options, marked.costs);
  if (ranking->against >= 0)
    ranking->saving = cost_saving(marked.costs[ranking->cheapest], marked.costs[ranking->against]);
  return ranking;
}

const struct ranking *ranking_of(const struct scenario *scenario, struct arena *arena) {
  return rank(scenario, ranking_fixed_bars(scenario, arena), arena);
}

const struct ranking *ranking_lasting(const struct scenario *scenario, struct arena *arena) {
  return rank(scenario, ranking_lasting_bars(scenario, arena), arena);
}

bool ranking_names(const struct scenario *scenario, const struct ranking *ranking, size_t option) {
  const int cost = model_cost_item(scenario->model);
  const size_t against = (size_t)ranking->against;
  const struct standing *standing = &ranking->options[option];
  if (standing->cheapest || ranking->against < 0 || !standing->ranked)
    return standing->cheapest;
  return (option == scenario->baseline || against != scenario->baseline) &&
         is_lowest(option_value(scenario, &scenario->options[option], cost, 0),
                   option_value(scenario, &scenario->options[against], cost, 0));
}

// The order of options: ranked before compared before neither.
static int place_of(const struct standing *standing) {
  return standing->ranked ? 0 : standing->compared ? 1 : 2;
}

static bool is_before(const struct scenario *scenario, const struct ranking *ranking, size_t a,
                      size_t b) {
  const int cost = model_cost_item(scenario->model);
  const int places = place_of(&ranking->options[a]) - place_of(&ranking->options[b]);
  if (places)
    return places < 0;
  return arithmetic_compare(option_value(scenario, &scenario->options[a], cost, 0),
                            option_value(scenario, &scenario->options[b], cost, 0)) < 0;
}

bool ranking_is_alternative(const struct ranking *ranking, size_t option, size_t other) {
  return other != option && ranking->options[option].compared && ranking->options[other].compared;
}

int ranking_alternative(const struct scenario *scenario, const struct ranking *ranking,
                        size_t option) {
  int best = -1;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (ranking_is_alternative(ranking, option, o) &&
        (best < 0 || is_before(scenario, ranking, o, (size_t)best)))
      best = (int)o;
  return best;
}

size_t ranking_contender(const struct scenario *scenario) {
  struct arena scratch = {NULL};
  const struct ranking *ranking = ranking_of(scenario, &scratch);
  size_t best = scenario->baseline;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (o != scenario->baseline &&
        (best == scenario->baseline || is_before(scenario, ranking, o, best)))
      best = o;
  arena_free(&scratch);
  return best;
}
