#include "model/questions/shortfall.h"

#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/delivery/offer_match.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/whatif/variation.h"

#include <math.h>
#include <string.h>

// Compares the vendor's reference, as the file may be a copy.
static bool has_offer(const struct shortfall *shortfall, const struct offer *offer, size_t option) {
  const struct scenario *scenario = shortfall->scenario;
  const struct scenario_offer *own =
      option_offer(scenario, &scenario->options[option], scenario->selected);
  return own && !strcmp(own->offer->vendor, offer->vendor) &&
         !strcmp(own->offer->reference, offer->reference);
}

// The option that the question is about.
static int find_option(struct shortfall *shortfall, const struct shortfall_question *question,
                       struct diagnostics *diagnostics) {
  const struct scenario *scenario = shortfall->scenario;
  const char *offer = offer_reference(question->offer, diagnostics->arena);
  size_t count = 0;
  if (question->option &&
      option_named(scenario, question->option, nowhere, &shortfall->option, diagnostics))
    return -1;
  if (question->option) {
    if (has_offer(shortfall, question->offer, shortfall->option))
      return 0;
    diagnostics_error(diagnostics, nowhere, "option '%s' does not use the offer %s",
                      question->option, offer);
    return -1;
  }
  for (size_t o = 0; o < scenario->option_count; o++)
    if (has_offer(shortfall, question->offer, o)) {
      shortfall->option = o;
      count++;
    }
  if (count == 1)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    count ? "several options use the offer %s: name one with --option"
                          : "no option uses the offer %s: one needs 'quote = FILE'",
                    offer);
  return -1;
}

static bool is_input(const struct shortfall *shortfall, int declaration) {
  const struct option *option = &shortfall->scenario->options[shortfall->option];
  return declaration >= 0 && option->graph->state[declaration] == GRAPH_INPUT;
}

// The name of the input for its throughput.
static const char *throughput_of(const struct shortfall *shortfall) {
  static const char *const names[] = {"throughput", "decode_throughput"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (is_input(shortfall, model_find(shortfall->scenario->model, names[i])))
      return names[i];
  return NULL;
}

struct moved {
  struct variation *variation; // one column
  struct target price;
  int item;
  size_t option;
};

static double cost_at(const struct moved *moved, double price) {
  variation_set(moved->variation, moved->price, 0, price);
  variation_evaluate(moved->variation);
  return variation_item(moved->variation, moved->option, moved->item, 0);
}

// The cost rises with the price.
static double price_for(const struct moved *moved, double cost, double quoted) {
  enum { HALVINGS = 100 };
  double low = 0, high = 2 * quoted;
  if (!(cost_at(moved, low) <= cost && cost <= cost_at(moved, high)))
    return NAN;
  for (int i = 0; i < HALVINGS && high - low > 1e-13 * quoted; i++) {
    const double middle = low + (high - low) / 2;
    if (cost_at(moved, middle) < cost)
      low = middle;
    else
      high = middle;
  }
  return low + (high - low) / 2;
}

// Between the two prices, as discounts are of the list price; 1 for a rent.
static double paid_share(const struct moved *moved, double quoted, double worth) {
  const struct model *model = moved->variation->scenario->model;
  const int list = model_find(model, "list_price"), net = model_find(model, "net_price");
  double lists[2], nets[2];
  for (int i = 0; i < 2; i++) {
    cost_at(moved, i ? worth : quoted);
    lists[i] = list < 0 ? NAN : variation_item(moved->variation, moved->option, list, 0);
    nets[i] = net < 0 ? NAN : variation_item(moved->variation, moved->option, net, 0);
  }
  const double share = (nets[1] - nets[0]) / (lists[1] - lists[0]);
  return isfinite(share) ? share : 1;
}

static int scale(const struct shortfall *shortfall, const struct moved *moved, const char *input,
                 double share, struct diagnostics *diagnostics) {
  struct target target;
  if (share == 1)
    return 0;
  if (target_of_option(shortfall->scenario, shortfall->option, input, nowhere, &target,
                       diagnostics))
    return -1;
  variation_set(moved->variation, target, 0, share * target_value(shortfall->scenario, target));
  return 0;
}

// Leaves out the contract's remedy, which is what the vendor pays for the shortfall, or replaces:
// parity is what the shortfall alone is worth.
static int leave_out_remedy(const struct shortfall *shortfall, const struct moved *moved,
                            struct diagnostics *diagnostics) {
  static const char *const remedies[] = {"remedy", "replacement"};
  for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
    struct target target;
    if (!is_input(shortfall, model_find(shortfall->scenario->model, remedies[i])))
      continue;
    if (target_of_option(shortfall->scenario, shortfall->option, remedies[i], nowhere, &target,
                         diagnostics))
      return -1;
    variation_set(moved->variation, target, 0, 0);
  }
  return 0;
}

// The delivered share that changes the option.
static const struct delivered_rates *find_delivered(const struct shortfall *shortfall,
                                                    const struct shortfall_question *question,
                                                    struct diagnostics *diagnostics) {
  const struct option *option = &shortfall->scenario->options[shortfall->option];
  size_t others;
  const struct offer_guarantee *own =
      offer_guarantee_for(question->offer, &option->workload, &others);
  for (size_t d = 0; d < question->delivered_count; d++)
    if (question->delivered[d].guarantee == own && !others)
      return &question->delivered[d];
  if (question->delivered_count == 1)
    return question->delivered;
  diagnostics_error(
      diagnostics, nowhere,
      "%zu guarantees were measured, but none for the workload of option '%s': name one with --for",
      question->delivered_count, option->id);
  return NULL;
}

const struct shortfall *shortfall_ask(const struct scenario *scenario,
                                      const struct shortfall_question *question,
                                      struct arena *arena, struct diagnostics *diagnostics) {
  struct shortfall *shortfall = arena_alloc(arena, sizeof *shortfall);
  *shortfall = (struct shortfall){.scenario = scenario};
  struct moved moved = {.item = model_require(scenario->model, "cost_per_mtok", diagnostics)};
  if (moved.item < 0 || find_option(shortfall, question, diagnostics))
    return NULL;
  const struct option *option = &scenario->options[shortfall->option];
  const char *throughput = throughput_of(shortfall);
  shortfall->price = option_stated(option, option_price(scenario, option));
  if (!throughput || !is_input(shortfall, shortfall->price)) {
    diagnostics_error(
        diagnostics, nowhere,
        "option '%s' does not set both a throughput and a price, so there is nothing to vary",
        option->id);
    return NULL;
  }
  const struct delivered_rates *delivered = find_delivered(shortfall, question, diagnostics);
  if (!delivered)
    return NULL;
  shortfall->guarantee = delivered->guarantee;
  moved.option = shortfall->option;
  moved.variation = variation_new(scenario, 1, arena);
  if (target_of_option(scenario, shortfall->option,
                       scenario->model->declarations[shortfall->price].name, nowhere, &moved.price,
                       diagnostics) ||
      leave_out_remedy(shortfall, &moved, diagnostics))
    return NULL;
  shortfall->quoted = target_value(scenario, moved.price);
  shortfall->cost = cost_at(&moved, shortfall->quoted);
  const int hour = model_find(scenario->model, "cost_per_gpu_hour");
  shortfall->hour = hour < 0 ? NAN : variation_item(moved.variation, shortfall->option, hour, 0);
  shortfall->count = option_value(scenario, option, model_find(scenario->model, "accelerators"), 0);
  if (scale(shortfall, &moved, throughput, delivered->tokens, diagnostics) ||
      scale(shortfall, &moved, "load_power", delivered->watts, diagnostics))
    return NULL;
  shortfall->worth = price_for(&moved, shortfall->cost, shortfall->quoted);
  shortfall->paid_share = paid_share(&moved, shortfall->quoted, shortfall->worth);
  return shortfall;
}
