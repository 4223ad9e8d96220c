#include "reports/answers/cases.h"

#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/resolution/resolution.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct listing {
  const struct scenario *const *cases;
  const struct ranking **rankings; // [count]
  size_t count;
  int cost, levelised; // cost_per_mtok, levelised_cost_per_mtok
  struct arena *arena;
};

static const char *case_label(const struct listing *listing, size_t c) {
  return listing->cases[c]->case_labels[c];
}

// A case: its label for people, its id for programs.
static struct answer_cell case_cell(const struct listing *listing, size_t c) {
  const char *id = listing->cases[c]->cases[c], *label = case_label(listing, c);
  return (struct answer_cell){.text = id, .shown = label, .brief = label_brief(id, label)};
}

static double item_of(const struct listing *listing, size_t c, size_t option, int item) {
  const struct scenario *scenario = listing->cases[c];
  return option_value(scenario, &scenario->options[option], item, 0);
}

static double cost_of(const struct listing *listing, size_t c, size_t option) {
  return item_of(listing, c, option, listing->cost);
}

static double levelised_of(const struct listing *listing, size_t c, size_t option) {
  return item_of(listing, c, option, listing->levelised);
}

// All that tie for the cheapest: their labels for people, their ids for programs.
static struct answer_cell cheapest_cell(const struct listing *listing, size_t c) {
  const struct ranking *ranking = listing->rankings[c];
  const char *ids = "", *labels = "";
  for (size_t o = 0; o < ranking->option_count; o++)
    if (ranking->options[o].cheapest) {
      ids = joined(ids, listing->cases[c]->options[o].id, listing->arena);
      labels = options_joined(listing->cases[c], labels, listing->cases[c]->options[o].label,
                              listing->arena);
    }
  if (ranking->cheapest_count > 1)
    labels = arena_printf(listing->arena, "%s (equal)", labels);
  struct answer_cell nobody = cell_nothing();
  nobody.otherwise = "not ranked";
  return ranking->cheapest_count ? (struct answer_cell){.text = ids, .shown = labels} : nobody;
}

// The weakest grade among the options that the verdict names.
static const char *weakest_of_verdict(const struct listing *listing, size_t c) {
  const struct scenario *scenario = listing->cases[c];
  enum grade weakest = (enum grade)0;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (ranking_names(scenario, listing->rankings[c], o))
      weakest = grade_weaker(weakest, scenario->options[o].headline_grade);
  return grade_name(weakest);
}

static struct answer_cell against_cell(const struct option *option) {
  return (struct answer_cell){.text = option->id, .shown = option->label};
}

static void add_verdict(const struct listing *listing, struct answer_table *table, size_t c) {
  const struct scenario *scenario = listing->cases[c];
  const struct ranking *ranking = listing->rankings[c];
  const bool won = ranking->cheapest >= 0, compared = ranking->against >= 0;
  ANSWER_ROW(table, case_cell(listing, c), cheapest_cell(listing, c),
             won ? cell_value(cost_of(listing, c, (size_t)ranking->cheapest)) : cell_nothing(),
             compared ? cell_value(ranking->saving) : cell_nothing(),
             compared ? against_cell(&scenario->options[ranking->against]) : cell_nothing(),
             won ? cell_words(weakest_of_verdict(listing, c)) : cell_nothing(),
             *ranking->why_none ? cell_words(ranking->why_none) : cell_nothing());
}

static struct answer_cell cost_cell(const struct listing *listing, size_t c, size_t option) {
  struct answer_cell cell = cell_value(cost_of(listing, c, option));
  cell.grade = grade_name(listing->cases[c]->options[option].headline_grade);
  cell.emphasis = listing->rankings[c]->options[option].cheapest ? EMPHASIS_GOOD : EMPHASIS_NONE;
  return cell;
}

static struct answer_cell levelised_cell(const struct listing *listing, size_t c, size_t option) {
  struct answer_cell cell = cell_value(levelised_of(listing, c, option));
  cell.grade = grade_name(listing->cases[c]->options[option].headline_grade);
  return cell;
}

static bool has_saving(const struct listing *listing, size_t c, size_t option) {
  return listing->rankings[c]->options[option].compared && option != listing->cases[c]->baseline;
}

static struct answer_cell saving_cell(const struct listing *listing, size_t c, size_t option) {
  return has_saving(listing, c, option) ? cell_value(listing->rankings[c]->options[option].saving)
                                        : cell_nothing();
}

static struct answer_cell saving_levelised_cell(const struct listing *listing, size_t c,
                                                size_t option) {
  return has_saving(listing, c, option)
             ? cell_value(listing->rankings[c]->options[option].saving_levelised)
             : cell_nothing();
}

static bool any_saving(const struct listing *listing) {
  for (size_t c = 0; c < listing->count; c++)
    for (size_t o = 0; o < listing->cases[c]->option_count; o++)
      if (has_saving(listing, c, o))
        return true;
  return false;
}

// Whether any levelized cost differs from the cost: without a discount rate none does.
static bool any_discounts(const struct listing *listing) {
  for (size_t c = 0; c < listing->count; c++)
    for (size_t o = 0; o < listing->cases[c]->option_count; o++)
      if (fabs(levelised_of(listing, c, o) - cost_of(listing, c, o)) >
          1e-12 * fabs(cost_of(listing, c, o)))
        return true;
  return false;
}

static struct answer_cell evidence_cell(const struct listing *listing, size_t c, size_t option) {
  return cell_words(grade_name(listing->cases[c]->options[option].headline_grade));
}

// A table with a row for each case and a column for each option.
static struct answer_table *add_options(const struct listing *listing, struct answer *answer,
                                        const char *key, const char *title, const struct unit *unit,
                                        struct answer_cell (*cell)(const struct listing *, size_t,
                                                                   size_t)) {
  const struct scenario *scenario = answer->scenario;
  struct answer_table *table = answer_push(answer, answer_table_new(key, title, listing->arena));
  ANSWER_COLUMN(table, .key = "case", .title = "Case");
  for (size_t o = 0; o < scenario->option_count; o++)
    ANSWER_COLUMN(table, .key = scenario->options[o].id,
                  .title = option_brief(&scenario->options[o]), .unit = unit, .align = ALIGN_RIGHT);
  for (size_t c = 0; c < listing->count; c++) {
    struct answer_cell *cells = answer_table_row(table);
    cells[0] = case_cell(listing, c);
    for (size_t o = 0; o < scenario->option_count; o++)
      cells[1 + o] = cell(listing, c, o);
  }
  return table;
}

// The costs and savings of all options. Programs always have the levelized ones, people where they
// differ.
static void add_costs(const struct listing *listing, struct answer *answer) {
  const struct scenario *scenario = answer->scenario;
  const char *against = scenario->options[scenario->baseline].label;
  const struct unit *usd = unit_of_item(scenario, "cost_per_mtok");
  const struct unit *percent = unit_known("%", listing->arena);
  const bool discounts = any_discounts(listing);
  add_options(listing, answer, "cost", "Cost per million output tokens", usd, cost_cell);
  struct answer_table *levelised =
      add_options(listing, answer, "levelised", "Levelized cost per million output tokens", usd,
                  levelised_cell);
  if (!discounts)
    levelised->faces = FACE_CSV | FACE_JSON;
  if (!any_saving(listing))
    return;
  add_options(listing, answer, "saving", arena_printf(listing->arena, "Saving against %s", against),
              percent, saving_cell);
  levelised = add_options(listing, answer, "saving_levelised",
                          arena_printf(listing->arena, "Saving against %s, levelized", against),
                          percent, saving_levelised_cell);
  if (!discounts)
    levelised->faces = FACE_CSV | FACE_JSON;
}

// The reason why an option is not ranked in a case in which others are; "" if it is, or none is.
static const char *bar_of(const struct listing *listing, size_t c, size_t option) {
  const struct ranking *ranking = listing->rankings[c];
  return *ranking->why_none ? "" : ranking->options[option].why_not;
}

static struct answer_cell bar_cell(const struct listing *listing, size_t c, size_t option) {
  const char *why = bar_of(listing, c, option);
  return *why ? cell_words(why) : cell_nothing();
}

// Notes why nobody is ranked in a case, or who is not: together if it is so in every case.
static void note_bars(const struct listing *listing, struct answer *answer) {
  for (size_t c = 0; c < listing->count; c++)
    if (*listing->rankings[c]->why_none)
      answer_note(answer, "Not ranked: ", "%s: %s", case_label(listing, c),
                  listing->rankings[c]->why_none);
  for (size_t o = 0; o < answer->scenario->option_count; o++) {
    const char *label = answer->scenario->options[o].label, *first = bar_of(listing, 0, o);
    bool same = *first != 0;
    for (size_t c = 1; c < listing->count; c++)
      same &= !strcmp(bar_of(listing, c, o), first);
    if (same)
      answer_note(answer, "Not ranked: ", "every case: %s: %s", label, first);
    for (size_t c = 0; c < listing->count && !same; c++)
      if (*bar_of(listing, c, o))
        answer_note(answer, "Not ranked: ", "%s: %s: %s", case_label(listing, c), label,
                    bar_of(listing, c, o));
  }
}

// A note for each case in which the discount rate decides which option is the cheapest.
static void note_turns(const struct listing *listing, struct answer *answer) {
  for (size_t c = 0; c < listing->count; c++) {
    const struct ranking *ranking = listing->rankings[c];
    if (ranking->turned_to < 0)
      continue;
    const struct option *options = listing->cases[c]->options;
    answer_note(answer, "Levelized: ", "%s: %s costs least, %s undiscounted",
                case_label(listing, c), options[ranking->turned_to].label,
                options[ranking->cheapest].label);
  }
}

// "GB200 costs 0.1336 to 0.4007 USD per million output tokens in 3 cases."
static const char *sentence_of_one(const struct listing *listing, const struct scenario *scenario) {
  const struct unit *unit = &scenario->model->declarations[listing->cost].unit;
  double range[2] = {INFINITY, -INFINITY};
  for (size_t c = 0; c < listing->count; c++) {
    range[0] = fmin(range[0], cost_of(listing, c, 0));
    range[1] = fmax(range[1], cost_of(listing, c, 0));
  }
  const struct scale scale = number_scale(unit, range, 2, listing->arena);
  const char *least = number_scaled(range[0], scale, listing->arena);
  const char *most = number_scaled(range[1], scale, listing->arena);
  const bool same = !strcmp(least, most);
  return arena_printf(
      listing->arena, "%s costs %s%s%s %.*s per million output tokens in %zu case%s.",
      scenario->options[0].label, least, same ? "" : " to ", same ? "" : most,
      (int)strcspn(scale.unit, "/"), scale.unit, listing->count, listing->count == 1 ? "" : "s");
}

// "mi325x is the cheapest in 3 of 4 cases, h200 in 1"
static const char *sentence_of(const struct listing *listing, const struct scenario *scenario) {
  const char *text = "";
  size_t undecided = 0;
  if (scenario->option_count == 1)
    return sentence_of_one(listing, scenario);
  for (size_t o = 0; o < scenario->option_count; o++) {
    size_t won = 0;
    for (size_t c = 0; c < listing->count; c++)
      won += listing->rankings[c]->options[o].cheapest;
    if (won)
      text = arena_printf(
          listing->arena, "%s%s%s in %zu", text,
          *text ? options_between(scenario) : "Cheapest: ", scenario->options[o].label, won);
  }
  for (size_t c = 0; c < listing->count; c++)
    undecided += listing->rankings[c]->cheapest < 0;
  if (undecided)
    text = arena_printf(listing->arena, "%s%s in %zu", text, *text ? ", none" : "Not ranked",
                        undecided);
  return arena_printf(listing->arena, "%s of %zu case%s.", text, listing->count,
                      listing->count == 1 ? "" : "s");
}

const struct scenario *const *cases_read(const struct scenario *scenario, struct arena *arena,
                                         struct diagnostics *diagnostics) {
  const struct scenario **cases =
      arena_array(arena, scenario->case_count, sizeof(struct scenario *));
  for (size_t c = 0; c < scenario->case_count; c++) {
    cases[c] =
        c == scenario->selected ? scenario : scenario_in_case(scenario, c, arena, diagnostics);
    if (!cases[c])
      return NULL;
  }
  return cases;
}

struct answer cases_answer(const struct scenario *scenario, const struct scenario *const *cases,
                           struct arena *arena) {
  struct listing listing = {.cases = cases,
                            .count = scenario->case_count,
                            .cost = model_cost_item(scenario->model),
                            .levelised = model_find(scenario->model, "levelised_cost_per_mtok"),
                            .arena = arena};
  listing.rankings = arena_array(arena, listing.count, sizeof(const struct ranking *));
  for (size_t c = 0; c < listing.count; c++)
    listing.rankings[c] = ranking_of(cases[c], arena);
  struct answer answer = answer_new("compare", "cases", "All cases side by side", scenario, arena);
  answer.sentence = sentence_of(&listing, scenario);
  answer.stamp = scenario_lasting_stamp(scenario, arena);
  struct answer_table *table = ANSWER_TABLE(
      &answer, "cases", NULL, {"case", "Case", NULL}, {"cheapest", "Cheapest", NULL},
      {"cost", "Cost", "USD/Mtok"}, {"saving", "Saving", "%"}, {"against", "Against", NULL},
      {"evidence", "Weakest evidence", NULL}, {"why_none", "Why not ranked", NULL});
  table->columns[table->column_count - 1].faces = FACE_CSV | FACE_JSON;
  if (scenario->option_count == 1)
    table->faces = FACE_CSV | FACE_JSON; // nothing is ranked
  for (size_t c = 0; c < listing.count; c++)
    add_verdict(&listing, table, c);
  add_costs(&listing, &answer);
  add_options(&listing, &answer, "evidence", "Weakest evidence that matters", NULL, evidence_cell);
  if (scenario->option_count > 1)
    answer.tables[answer.table_count - 1].faces = FACE_CSV | FACE_JSON; // people read the verdict's
  if (scenario->option_count > 1) {
    add_options(&listing, &answer, "not_ranked", NULL, NULL, bar_cell)->faces =
        FACE_CSV | FACE_JSON;
    note_bars(&listing, &answer);
  }
  note_turns(&listing, &answer);
  if (scenario->range_count)
    answer_note(
        &answer, "",
        "All figures use the base values; simulate --case NAME draws the ranges of one case.");
  return answer;
}
