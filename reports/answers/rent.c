#include "reports/answers/rent.h"

#include "model/questions/rent.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <string.h>

enum {
  COST_OFFER,
  COST_RATE,
  COST_HOURS,
  COST_BESIDE,
  COST_TOTAL,
  COST_PER_MTOK,
  COST_SAVING,
  COST_INPUT, // from here on only with a prefill rate
  COST_OUTPUT,
  COST_COLUMNS
};

enum { EVEN_OFFER, EVEN_RATE, EVEN_BESIDE, EVEN_UTILIZATION, EVEN_MONTH, EVEN_BELOW, EVEN_COLUMNS };

enum { SOURCE_OFFER, SOURCE_GRADE, SOURCE_DATE, SOURCE_TEXT, SOURCE_COLUMNS };

struct writing {
  const struct scenario *scenario;
  const struct rent_answer *answer;
  const char *own; // its id
  bool is_beside_live, is_use_zero;
  struct arena *arena;
};

static double own_value(const struct writing *writing, const char *item) {
  const struct option *option = &writing->scenario->options[writing->answer->own];
  const int d = model_find(writing->scenario->model, item);
  return d >= 0 && option_has(option, d) ? option_value(writing->scenario, option, d, 0) : NAN;
}

static bool are_near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

// What is paid besides the rent of the same accelerators is the owned option's staff, licences and
// migration, where no item of the user's own says otherwise.
static bool is_beside_known(const struct writing *writing) {
  const struct model *model = writing->scenario->model;
  const double known = own_value(writing, "engineering_total") +
                       own_value(writing, "licence_total") + own_value(writing, "migration_cost");
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].own != OWN_NONE)
      return false;
  for (size_t i = 0; i < writing->answer->count; i++)
    if (writing->answer->costs[i].offer.option < 0 &&
        !are_near(writing->answer->costs[i].beside, known))
      return false;
  return isfinite(known);
}

// The load moves no watts where the idle power follows from the power under load.
static bool is_use_always_zero(const struct writing *writing) {
  const struct option *option = &writing->scenario->options[writing->answer->own];
  const int idle = model_find(writing->scenario->model, "idle_power");
  return writing->answer->use == 0 && idle >= 0 && option->graph->state[idle] >= 0;
}

static const char *words(const struct writing *writing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *words(const struct writing *writing, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = arena_vprintf(writing->arena, format, arguments);
  va_end(arguments);
  return text;
}

static struct decision_cell rate_cell(const struct writing *writing, const struct rent_cost *cost) {
  const struct rent_offer *offer = &cost->offer;
  if (offer->option >= 0)
    return cell_live(offer->rate, words(writing, "[%s.rental_rate]",
                                        writing->scenario->options[offer->option].id));
  if (offer->in_usd)
    return cell_live(offer->rate,
                     words(writing, "[=%s]/[%s.exchange_rate]", offer->typed, writing->own));
  return cell_live(offer->rate, words(writing, "[=%s]", offer->typed));
}

static struct decision_cell beside_cell(const struct writing *writing,
                                        const struct rent_cost *cost) {
  if (cost->offer.option >= 0 || !writing->is_beside_live)
    return cell_value(cost->beside);
  return cell_live(cost->beside, words(writing,
                                       "[%s.engineering_total]+[%s.licence_total]+"
                                       "[%s.migration_cost]",
                                       writing->own, writing->own, writing->own));
}

// Accelerator-hours: of the horizon, as far as they are used or committed to.
static const char *hours_formula(const struct writing *writing, const struct rent_cost *cost) {
  const char *own = writing->own;
  const bool whole_terms = cost->offer.term > 0 && !are_near(cost->paid, writing->answer->hours);
  if (cost->offer.option >= 0 || whole_terms || !(writing->answer->tco > 0))
    return NULL;
  return cost->offer.hours == RENT_HOURS_USED
             ? words(writing,
                     "[%s.tokens_total]/[%s.tokens_per_gpu]*[%s.utilization]*"
                     "[%s.availability]",
                     own, own, own, own)
             : words(writing, "[%s.tco]/[%s.cost_per_gpu_hour]", own, own);
}

static void fill_cost(const struct writing *writing, size_t i, struct decision_cell *row) {
  const struct rent_cost *cost = &writing->answer->costs[i];
  const char *own = writing->own;
  const int r = 1 + (int)i;
  row[COST_OFFER] = cell_words(cost->offer.title);
  row[COST_RATE] = rate_cell(writing, cost);
  row[COST_HOURS] = cell_live(cost->paid, hours_formula(writing, cost));
  row[COST_BESIDE] = beside_cell(writing, cost);
  row[COST_TOTAL] = cell_live(cost->cost, words(writing, "[@%d,%d]*[@%d,%d]+[@%d,%d]", r, COST_RATE,
                                                r, COST_HOURS, r, COST_BESIDE));
  row[COST_PER_MTOK] =
      cell_live(cost->cost_per_mtok, writing->answer->tco > 0
                                         ? words(writing, "[%s.cost_per_mtok]*[@%d,%d]/[%s.tco]",
                                                 own, r, COST_TOTAL, own)
                                         : NULL);
  row[COST_SAVING] =
      cell_live(cost->saving, words(writing, "1-[%s.tco]/[@%d,%d]", own, r, COST_TOTAL));
}

// The two prices that add up: of the same accelerators, in proportion to the owned option's.
static void fill_split(const struct writing *writing, size_t i, struct decision_cell *row) {
  const struct rent_cost *cost = &writing->answer->costs[i];
  const bool twin = cost->offer.option < 0 && writing->answer->tco > 0;
  const int r = 1 + (int)i;
  const double prices[] = {cost->per_input, cost->per_output};
  static const char *const items[] = {"cost_per_mtok_input", "cost_per_mtok_output"};
  for (size_t k = 0; k < 2; k++)
    row[COST_INPUT + k] =
        cell_live(prices[k], twin ? words(writing, "[%s.%s]*[@%d,%d]/[%s.tco]", writing->own,
                                          items[k], r, COST_TOTAL, writing->own)
                                  : NULL);
}

static void fill_own(const struct writing *writing, struct decision_cell *row) {
  const struct rent_answer *answer = writing->answer;
  const char *own = writing->own;
  row[COST_OFFER] = cell_words(words(writing, "owning %s", own));
  row[COST_RATE] =
      cell_live(answer->tco / answer->hours, words(writing, "[%s.cost_per_gpu_hour]", own));
  row[COST_HOURS] = cell_live(
      answer->hours,
      answer->tco > 0 ? words(writing, "[%s.tco]/[%s.cost_per_gpu_hour]", own, own) : NULL);
  row[COST_TOTAL] = cell_live(answer->tco, words(writing, "[%s.tco]", own));
  row[COST_PER_MTOK] = cell_live(answer->cost_per_mtok, words(writing, "[%s.cost_per_mtok]", own));
  if (!answer->has_split)
    return;
  row[COST_INPUT] = cell_live(own_value(writing, "cost_per_mtok_input"),
                              words(writing, "[%s.cost_per_mtok_input]", own));
  row[COST_OUTPUT] = cell_live(own_value(writing, "cost_per_mtok_output"),
                               words(writing, "[%s.cost_per_mtok_output]", own));
}

static const struct unit *item_unit(const struct writing *writing, const char *item) {
  const struct model *model = writing->scenario->model;
  return &model->declarations[model_find(model, item)].unit;
}

static struct decision_table cost_table(const struct writing *writing) {
  struct arena *arena = writing->arena;
  const struct decision_column columns[COST_COLUMNS] = {
      [COST_OFFER] = {"offer", "Offer", NULL},
      [COST_RATE] = {"rate", "Rate", item_unit(writing, "rental_rate")},
      [COST_HOURS] = {"paid_hours", "Paid", unit_known("h", arena)},
      [COST_BESIDE] = {"beside", "Besides", item_unit(writing, "tco")},
      [COST_TOTAL] = {"cost", "Cost", item_unit(writing, "tco")},
      [COST_PER_MTOK] = {"cost_per_mtok", "Per Mtok", item_unit(writing, "cost_per_mtok")},
      [COST_INPUT] = {"cost_per_mtok_input", "Input", item_unit(writing, "cost_per_mtok")},
      [COST_OUTPUT] = {"cost_per_mtok_output", "Output", item_unit(writing, "cost_per_mtok")},
      [COST_SAVING] = {"saving", "Owning saves", unit_known("%", arena)},
  };
  const size_t count = writing->answer->has_split ? COST_COLUMNS : COST_INPUT;
  struct decision_table table =
      decision_table_new("cost", "The same tokens over the horizon", columns, count,
                         1 + writing->answer->count, arena);
  fill_own(writing, decision_row(&table));
  for (size_t i = 0; i < writing->answer->count; i++) {
    struct decision_cell *row = decision_row(&table);
    fill_cost(writing, i, row);
    if (writing->answer->has_split)
      fill_split(writing, i, row);
  }
  table.note =
      "Paid: accelerator-hours; on demand only those in which tokens are made. Besides the "
      "rent: engineers, licences, migration and own items.";
  return table;
}

static struct decision_cell utilization_cell(const struct writing *writing,
                                             const struct rent_cost *cost, int r) {
  const char *own = writing->own;
  const bool whole_terms = cost->offer.term > 0 && !are_near(cost->paid, writing->answer->hours);
  if (isnan(cost->break_even_utilization))
    return cell_words(cost->owning_always ? "always" : "never");
  if (!cost->is_closed || !writing->is_use_zero || cost->offer.option >= 0 || whole_terms)
    return cell_value(cost->break_even_utilization);
  return cell_live(
      cost->break_even_utilization,
      cost->offer.hours == RENT_HOURS_USED
          ? words(writing,
                  "([%s.tco]-[@%d,%d])*[%s.tokens_per_gpu]/([@%d,%d]*[%s.tokens_total]*"
                  "[%s.availability])",
                  own, r, EVEN_BESIDE, own, r, EVEN_RATE, own, own)
          : words(writing, "[%s.utilization]*[%s.cost_per_gpu_hour]*(1-[@%d,%d]/[%s.tco])/[@%d,%d]",
                  own, own, r, EVEN_BESIDE, own, r, EVEN_RATE));
}

static const char *below_formula(const struct writing *writing, const struct rent_cost *cost,
                                 int r) {
  const char *own = writing->own, *hours = hours_formula(writing, cost);
  if (!hours)
    return NULL;
  return cost->offer.hours == RENT_HOURS_USED
             ? words(writing,
                     "([%s.tco]-[@%d,%d])*[%s.tokens_per_gpu]/([%s.tokens_total]*"
                     "[%s.utilization]*[%s.availability])",
                     own, r, EVEN_BESIDE, own, own, own, own)
             : words(writing, "[%s.cost_per_gpu_hour]*(1-[@%d,%d]/[%s.tco])", own, r, EVEN_BESIDE,
                     own);
}

static void fill_even(const struct writing *writing, size_t i, struct decision_cell *row) {
  const struct rent_cost *cost = &writing->answer->costs[i];
  const int r = (int)i;
  row[EVEN_OFFER] = cell_words(cost->offer.title);
  row[EVEN_RATE] = rate_cell(writing, cost);
  row[EVEN_BESIDE] = beside_cell(writing, cost);
  row[EVEN_UTILIZATION] = utilization_cell(writing, cost, r);
  row[EVEN_MONTH] =
      isnan(cost->break_even_month) ? cell_words("never") : cell_value(cost->break_even_month);
  row[EVEN_BELOW] = cell_live(cost->break_even_rate, below_formula(writing, cost, r));
}

static struct decision_table even_table(const struct writing *writing) {
  struct arena *arena = writing->arena;
  const size_t rows = writing->answer->count;
  const struct decision_column columns[EVEN_COLUMNS] = {
      [EVEN_OFFER] = {"offer", "Offer", NULL},
      [EVEN_RATE] = {"rate", "Rate", item_unit(writing, "rental_rate")},
      [EVEN_BESIDE] = {"beside", "Besides", item_unit(writing, "tco")},
      [EVEN_UTILIZATION] = {"break_even_utilization", "From load", unit_known("%", arena)},
      [EVEN_MONTH] = {"break_even_month", "After", unit_known("month", arena)},
      [EVEN_BELOW] = {"break_even_rate", "Renting below", item_unit(writing, "rental_rate")},
  };
  struct decision_table table =
      decision_table_new("break_even", "When owning pays", columns, EVEN_COLUMNS, rows, arena);
  for (size_t i = 0; i < rows; i++)
    fill_even(writing, i, decision_row(&table));
  table.note = "From load: the owned fleet's utilization above which it costs less, renting "
               "following the tokens; over 100 % is never, 0 and less always. After: the month in "
               "which the cash paid for owning falls below that for renting, nothing credited. "
               "Renting costs less below the last rate.";
  return table;
}

static struct decision_table source_table(const struct writing *writing) {
  const size_t rows = writing->answer->count;
  const struct decision_column columns[SOURCE_COLUMNS] = {
      [SOURCE_OFFER] = {"offer", "Offer", NULL},
      [SOURCE_GRADE] = {"grade", "Evidence", NULL},
      [SOURCE_DATE] = {"date", "As of", NULL},
      [SOURCE_TEXT] = {"source", "Source", NULL},
  };
  struct decision_table table = decision_table_new("offers", "Where the rates come from", columns,
                                                   SOURCE_COLUMNS, rows, writing->arena);
  for (size_t i = 0; i < rows; i++) {
    const struct rent_offer *offer = &writing->answer->costs[i].offer;
    struct decision_cell *row = decision_row(&table);
    row[SOURCE_OFFER] = cell_words(offer->title);
    row[SOURCE_GRADE] = cell_words(grade_name(offer->grade));
    row[SOURCE_DATE] = cell_words(*offer->date ? offer->date : "-");
    row[SOURCE_TEXT] = cell_words(*offer->origin ? offer->origin : "own assumption");
  }
  return table;
}

// ---- the words

static const struct rent_cost *cheapest(const struct rent_answer *answer) {
  const struct rent_cost *best = &answer->costs[0];
  for (size_t i = 1; i < answer->count; i++)
    if (answer->costs[i].cost < best->cost)
      best = &answer->costs[i];
  return best;
}

static const char *percent(const struct writing *writing, double share) {
  return words(writing, "%.3g %%", 100 * share);
}

static const char *pays_text(const struct writing *writing, const struct rent_cost *cost) {
  if (cost->owning_always)
    return "at every utilization";
  if (cost->owning_never)
    return "at no utilization";
  return words(writing, "above %s utilization", percent(writing, cost->break_even_utilization));
}

static const char *cash_text(const struct writing *writing, const struct rent_cost *cost) {
  const double month_h = conversion_table[CONVERT_HOURS_PER_YEAR].value / 12;
  if (isnan(cost->break_even_month))
    return "its cash is never recovered within the horizon";
  return words(writing, "its cash is recovered after %.3g months",
               cost->break_even_month / month_h);
}

static const char *answer_text(const struct writing *writing) {
  const struct rent_cost *best = cheapest(writing->answer);
  const char *offer =
      words(writing, "the cheapest rent (%s, %s)", best->offer.title, best->offer.typed);
  const char *verdict = best->saving > 0
                            ? words(writing, "Own: %s costs %s less than %s.", writing->own,
                                    percent(writing, best->saving), offer)
                            : words(writing, "Rent: %s costs %s less than owning %s.", offer,
                                    percent(writing, 1 - 1 / (1 - best->saving)), writing->own);
  return words(writing, "%s Against it owning pays %s, and %s.", verdict, pays_text(writing, best),
               cash_text(writing, best));
}

// A commitment pays above the utilization at which the hours used would cost as much.
static const char *commitment_text(const struct writing *writing, const struct rent_cost *fixed) {
  const struct rent_answer *answer = writing->answer;
  for (size_t i = 0; i < answer->count; i++) {
    const struct rent_cost *used = &answer->costs[i];
    if (used->offer.hours != RENT_HOURS_USED || used->offer.option != fixed->offer.option)
      continue;
    const double share = fixed->rental / used->rental * own_value(writing, "utilization");
    return share > 1 ? words(writing, "%s never beats %s.", fixed->offer.title, used->offer.title)
                     : words(writing, "%s beats %s above %s utilization.", fixed->offer.title,
                             used->offer.title, percent(writing, share));
  }
  return NULL;
}

static const char *six_digits(const struct writing *writing, double value) {
  return number_significant(value, 6, writing->arena);
}

static const char *offer_text(const struct writing *writing, const struct rent_cost *cost) {
  return words(writing, "%s: %s accelerators, %s accelerator-hours at %s (%s).", cost->offer.title,
               six_digits(writing, cost->accelerators), six_digits(writing, cost->paid),
               cost->offer.typed, *cost->offer.source ? cost->offer.source : "own assumption");
}

static struct texts reasons_of(const struct writing *writing) {
  const struct rent_answer *answer = writing->answer;
  struct arena *arena = writing->arena;
  const char *currency = writing->scenario->model->currency;
  struct texts reasons = {0};
  texts_add(&reasons, arena, "Owning %s costs %s %s for %s Mtok: %s %s an accelerator-hour.",
            writing->own, six_digits(writing, answer->tco), currency,
            six_digits(writing, 1e-6 * answer->tokens),
            six_digits(writing, answer->tco / answer->hours), currency);
  if (isnan(answer->use))
    texts_add(&reasons, arena,
              "Its cost is not affine in the utilization: the break-even was searched for.");
  else
    texts_add(&reasons, arena,
              "Of this, %s %s grows with the utilization; the break-even is utilization x (fixed - "
              "besides) / (rent - growing).",
              six_digits(writing, answer->use), currency);
  for (size_t i = 0; i < answer->count; i++) {
    const struct rent_cost *cost = &answer->costs[i];
    const bool is_commitment = cost->offer.hours == RENT_AROUND_THE_CLOCK && cost->offer.option < 0;
    const char *commitment = is_commitment ? commitment_text(writing, cost) : NULL;
    texts_add(&reasons, arena, "%s", offer_text(writing, cost));
    if (commitment)
      texts_add(&reasons, arena, "%s", commitment);
  }
  return reasons;
}

// Dated over a year ago, or not dated at all.
static struct texts warnings_of(const struct writing *writing) {
  const struct rent_answer *answer = writing->answer;
  struct texts warnings = {0};
  struct date today, of;
  date_parse(writing->scenario->date, &today);
  for (size_t i = 0; i < answer->count; i++) {
    const struct rent_offer *offer = &answer->costs[i].offer;
    if (date_parse(offer->date, &of) && date_is_stale(of, today))
      texts_add(&warnings, writing->arena,
                "the rate of '%s' is stale: it is of %s, over 12 months before %s", offer->title,
                offer->date, writing->scenario->date);
    if (offer->term > 0 && !are_near(answer->costs[i].paid, answer->hours) && offer->option < 0)
      texts_add(&warnings, writing->arena, "'%s' is paid for whole terms, beyond the horizon",
                offer->title);
  }
  return warnings;
}

static struct decision decide_one(const struct scenario *scenario, const struct rent_answer *answer,
                                  struct arena *arena) {
  struct writing writing = {.scenario = scenario,
                            .answer = answer,
                            .own = scenario->options[answer->own].id,
                            .arena = arena};
  writing.is_beside_live = is_beside_known(&writing);
  writing.is_use_zero = is_use_always_zero(&writing);
  struct decision_table *tables = arena_array(arena, 3, sizeof *tables);
  tables[0] = cost_table(&writing);
  tables[1] = even_table(&writing);
  tables[2] = source_table(&writing);
  return (struct decision){.kind = "rent",
                           .name = answer->name,
                           .title = words(&writing, "Rent or own: %s", writing.own),
                           .answer = answer_text(&writing),
                           .tables = tables,
                           .table_count = 3,
                           .reasons = reasons_of(&writing),
                           .warnings = warnings_of(&writing)};
}

bool rent_asked(const struct scenario *scenario) {
  return rent_is_asked(scenario);
}

int decide_rent(const struct scenario *scenario, const char *only, struct decisions *decisions,
                struct arena *arena, struct diagnostics *diagnostics) {
  const struct rent_answers *answers = rent_ask(scenario, only, arena, diagnostics);
  if (!answers)
    return -1;
  struct decision *list = arena_array(arena, answers->count + 1, sizeof *list);
  for (size_t i = 0; i < answers->count; i++)
    list[i] = decide_one(scenario, &answers->list[i], arena);
  *decisions = (struct decisions){list, answers->count};
  return 0;
}
