#include "reports/answers/compare.h"

#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/questions/lateness.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/read_shares.h"
#include "model/simulate/simulation.h"
#include "reports/answers/compare_notes.h"
#include "reports/answers/finance.h"
#include "reports/faces/parts.h"
#include "reports/print/interval.h"
#include "reports/print/style.h"
#include "reports/print/verdict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ON_TERMINAL = FACE_TERMINAL, TO_MACHINES = FACE_CSV | FACE_JSON };

struct comparing {
  const struct scenario *scenario;
  const struct ranking *ranking;
  const struct simulation *simulation; // NULL: there are no ranges
  struct read_shares shares;
  struct arena *arena;
};

// ---- for people

// What a buyer looks for first, and its column heading where options are rows.
static const struct fact {
  const char *item, *brief;
  int weight;
  bool graded;
} facts[] = {
    {"accelerators", "gpus", 3, false},    {"throughput", "output", 4, true},
    {"load_power", "power", 1, true},      {"prefill_power", NULL, 0, true},
    {"list_price", NULL, 0, true},         {"discount", NULL, 0, false},
    {"net_price", "net price", 2, false},  {"rental_rate", NULL, 0, true},
    {"on_demand_rate", NULL, 0, true},     {"reserved_share", NULL, 0, false},
    {"spot_share", NULL, 0, false},        {"spot_rate", NULL, 0, true},
    {"output_price", NULL, 0, true},       {"input_price", NULL, 0, true},
    {"cached_input_price", NULL, 0, true}, {"api_discount", NULL, 0, false},
    {"cache_hit", NULL, 0, true},
};

static const struct fact results[] = {
    {"tco", "TCO", 6, false},
    {"cost_per_mtok", "cost", 9, false},
    {"levelised_cost_per_mtok", "levelized", 5, false},
    {"headroom_least", "headroom", 2, false},
};

enum {
  FACTS = sizeof facts / sizeof facts[0],
  RESULTS = sizeof results / sizeof results[0],
  INTERVAL_WEIGHT = 7,
  MAX_WEIGHT = 9
};

static const struct option *option_at(const struct comparing *comparing, size_t o) {
  return &comparing->scenario->options[o];
}

static struct answer_cell *add_item(const struct comparing *comparing, struct answer_table *table,
                                    int declaration, struct answer_row row) {
  struct answer_cell *cells =
      answer_item_row(table, comparing->scenario, declaration, row, comparing->arena);
  for (size_t o = 0; o < comparing->scenario->option_count; o++)
    if (!item_applies(comparing->scenario, option_at(comparing, o), declaration))
      cells[1 + o] = cell_absent(NULL);
    else if (cells[1 + o].kind == CELL_SERIES) // a price that declines: at the outset
      cells[1 + o] =
          cell_value(option_value(comparing->scenario, option_at(comparing, o), declaration, 0));
  return cells;
}

static void add_grades(const struct comparing *comparing, struct answer_table *table,
                       int declaration) {
  const struct answer_row row = {
      .label = "  evidence", .emphasis = EMPHASIS_FAINT, .faces = ON_TERMINAL};
  struct answer_cell *cells = answer_table_row_of(table, row);
  bool any = false;
  for (size_t o = 0; o < comparing->scenario->option_count; o++) {
    const struct option *option = option_at(comparing, o);
    const char *grade = option_item_grade(comparing->scenario, option, declaration);
    const bool shown = grade && item_applies(comparing->scenario, option, declaration);
    cells[1 + o] = shown ? cell_words(grade) : cell_absent("");
    any |= shown;
  }
  table->row_count -= !any;
}

// A row below the throughputs: how much of its own read bandwidth each device reached; or one below
// the costs: what they were if all had reached as much. Only where records of unlike
// devices are compared, and the second only if they are far apart.
enum share_row { SHARE_REACHED, COST_AT_EQUAL };

static void add_shares(const struct comparing *comparing, struct answer_table *table,
                       enum share_row which, struct answer_row row) {
  const struct read_shares *shares = &comparing->shares;
  if (!(which == SHARE_REACHED ? shares->beside : shares->apart))
    return;
  struct answer_cell *cells = answer_table_row_of(table, row);
  for (size_t o = 0; o < comparing->scenario->option_count; o++)
    if (shares->counted[o])
      cells[1 + o] = cell_value(which == SHARE_REACHED ? shares->share[o] : shares->cost[o]);
}

static void add_share_reached(const struct comparing *comparing, struct answer_table *table) {
  add_shares(comparing, table, SHARE_REACHED,
             (struct answer_row){.label = "  share of read bandwidth",
                                 .unit = unit_known("%", comparing->arena),
                                 .emphasis = EMPHASIS_FAINT,
                                 .brief = "read share"});
}

static void add_cost_at_equal(const struct comparing *comparing, struct answer_table *table) {
  add_shares(comparing, table, COST_AT_EQUAL,
             (struct answer_row){.label = "  at equal read shares",
                                 .unit = unit_of_item(comparing->scenario, "cost_per_mtok"),
                                 .emphasis = EMPHASIS_FAINT,
                                 .brief = "cost at equal shares"});
}

// A rented option has no price to buy it at, neither list nor net.
static void leave_out_rented(const struct comparing *comparing, struct answer_cell *cells) {
  const int list_price = model_find(comparing->scenario->model, "list_price");
  for (size_t o = 0; o < comparing->scenario->option_count && list_price >= 0; o++)
    if (!item_applies(comparing->scenario, option_at(comparing, o), list_price))
      cells[1 + o] = cell_absent(NULL);
}

// A rent that an option does not pay is a default of zero, and no price.
static void leave_out_unstated(const struct comparing *comparing, struct answer_cell *cells,
                               int declaration) {
  for (size_t o = 0; o < comparing->scenario->option_count; o++)
    if (cells[1 + o].value == 0 &&
        !option_item_grade(comparing->scenario, option_at(comparing, o), declaration))
      cells[1 + o] = cell_absent(NULL);
}

static void add_facts(const struct comparing *comparing, struct answer_table *table) {
  for (size_t i = 0; i < FACTS; i++) {
    const int declaration = model_find(comparing->scenario->model, facts[i].item);
    if (declaration < 0 || item_is_zero(comparing->scenario, declaration))
      continue;
    struct answer_cell *cells =
        add_item(comparing, table, declaration,
                 (struct answer_row){.brief = facts[i].brief, .weight = facts[i].weight});
    if (!strcmp(facts[i].item, "net_price"))
      leave_out_rented(comparing, cells);
    if (facts[i].graded) {
      leave_out_unstated(comparing, cells, declaration);
      add_grades(comparing, table, declaration);
    }
    if (!strcmp(facts[i].item, "throughput"))
      add_share_reached(comparing, table);
  }
}

static void add_categories(const struct comparing *comparing, struct answer_table *table) {
  const struct model *model = comparing->scenario->model;
  bool ruled = true;
  for (int d = 0; d < model->count; d++) {
    if (model->declarations[d].role != ROLE_CATEGORY || item_is_zero(comparing->scenario, d))
      continue;
    add_item(comparing, table, d, (struct answer_row){.ruled = ruled});
    ruled = false;
  }
}

// Rows below a result: the 5th, 50th and 95th percentiles of the draws.
static void add_interval(const struct comparing *comparing, struct answer_table *table,
                         enum outcome_kind kind, const struct unit *unit, unsigned faces) {
  enum { LEVELS = 3 };
  const bool cost = kind == OUTCOME_COST;
  static const char *const keys[2][LEVELS] = {{"saving_p5", "saving_p50", "saving_p95"},
                                              {"cost_p5", "cost_p50", "cost_p95"}};
  static const char *const labels[LEVELS] = {"  P5", "  Median", "  P95"};
  for (int level = 0; comparing->simulation && level < LEVELS; level++) {
    struct answer_cell *cells = answer_table_row_of(
        table, (struct answer_row){.key = keys[cost][level],
                                   .label = &labels[level][faces == ON_TERMINAL ? 0 : 2],
                                   .unit = unit,
                                   .emphasis = EMPHASIS_FAINT,
                                   .faces = faces,
                                   .json = "options[id=%c].interval.%r",
                                   .brief = cost ? &labels[level][2] : NULL,
                                   .weight = INTERVAL_WEIGHT});
    for (size_t o = 0; o < comparing->scenario->option_count; o++) {
      const struct interval interval = interval_of(comparing->simulation, kind, o);
      const double values[LEVELS] = {interval.low, interval.median, interval.high};
      if (!isnan(values[level]))
        cells[1 + o] = cell_value(values[level] * (cost ? unit_cell_factor(unit) : 1));
    }
  }
}

static const struct fact *result_named(const char *item) {
  static const struct fact nothing = {.brief = NULL};
  for (size_t i = 0; i < RESULTS; i++)
    if (!strcmp(results[i].item, item))
      return &results[i];
  return &nothing;
}

static void add_results(const struct comparing *comparing, struct answer_table *table) {
  const struct model *model = comparing->scenario->model;
  const int cost = model_cost_item(model);
  bool ruled = true;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *item = &model->declarations[d];
    const bool further = item->group == model->declarations[cost].group && item->role == ROLE_NONE;
    if ((item->role != ROLE_HEADLINE && !further) || !scenario_has(comparing->scenario, d) ||
        (further && item_is_zero(comparing->scenario, d)))
      continue;
    const struct fact *result = result_named(item->name);
    struct answer_row row = {.ruled = ruled, .brief = result->brief, .weight = result->weight};
    row.emphasis = d == cost || !strcmp(item->name, "tco") ? EMPHASIS_STRONG : EMPHASIS_NONE;
    struct answer_cell *cells = add_item(comparing, table, d, row);
    ruled = false;
    for (size_t o = 0; d == cost && o < comparing->scenario->option_count; o++)
      if (comparing->ranking->options[o].cheapest) {
        cells[1 + o].starred = true;
        cells[1 + o].emphasis = EMPHASIS_GOOD;
      }
    if (d == cost) {
      add_interval(comparing, table, OUTCOME_COST, &item->unit, ON_TERMINAL);
      add_cost_at_equal(comparing, table);
    }
  }
}

static void add_saving(const struct comparing *comparing, struct answer_table *table,
                       struct answer_row row, bool levelised) {
  struct answer_cell *cells = answer_table_row_of(table, row);
  for (size_t o = 0; o < comparing->scenario->option_count; o++) {
    const struct standing *standing = &comparing->ranking->options[o];
    const double saving = levelised ? standing->saving_levelised : standing->saving;
    if (standing->compared && o != comparing->scenario->baseline)
      cells[1 + o] = (struct answer_cell){
          .value = saving, .grade = grade_name(option_at(comparing, o)->headline_grade)};
  }
}

static void add_savings(const struct comparing *comparing, struct answer_table *table) {
  const struct unit *percent = unit_known("%", comparing->arena);
  const char *baseline = option_brief(option_at(comparing, comparing->scenario->baseline));
  struct answer_row row = {.label = arena_printf(comparing->arena, "Saving against %s", baseline),
                           .unit = percent,
                           .emphasis = EMPHASIS_STRONG,
                           .brief = "saving",
                           .weight = MAX_WEIGHT};
  add_saving(comparing, table, row, false);
  add_interval(comparing, table, OUTCOME_SAVING, percent, ON_TERMINAL);
  row.label = arena_printf(comparing->arena, "%s, levelized", row.label);
  row.emphasis = EMPHASIS_NONE;
  row.brief = NULL;
  add_saving(comparing, table, row, true);
}

// ---- words of each option

// A row of words: the grade at an offset in struct option, or the accelerator if the offset is 0.
struct words {
  struct answer_row row;
  size_t grade;
};

enum {
  HEADLINE = offsetof(struct option, headline_grade),
  THROUGHPUT = offsetof(struct option, throughput_grade),
  POWER = offsetof(struct option, power_grade),
  PRICE = offsetof(struct option, price_grade)
};

// Throughput and power of a token API are unknown.
static struct answer_cell grade_cell(const struct option *option, size_t place) {
  enum grade grade;
  memcpy(&grade, (const char *)option + place, sizeof grade);
  const bool known = !option->provider || (place != THROUGHPUT && place != POWER);
  return known ? cell_words(grade_name(grade)) : cell_value(NAN);
}

static const struct words first_words[] = {{{.label = "Accelerator", .brief = "accelerator"}, 0}};

static const struct words last_words[] = {
    {{.label = "Weakest evidence that matters", .brief = "evidence", .weight = MAX_WEIGHT},
     HEADLINE},
    {{.brief = "throughput", .faces = FACE_TURNED}, THROUGHPUT},
    {{.brief = "power", .faces = FACE_TURNED}, POWER},
    {{.brief = "price", .faces = FACE_TURNED}, PRICE},
};

static struct answer_cell words_of(const struct option *option, size_t grade_place) {
  if (grade_place)
    return grade_cell(option, grade_place);
  return cell_words(option_runs_on(option));
}

static void add_words(const struct comparing *comparing, struct answer_table *table,
                      const struct words *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct answer_cell *cells = answer_table_row_of(table, words[i].row);
    for (size_t o = 0; o < comparing->scenario->option_count; o++)
      cells[1 + o] = words_of(option_at(comparing, o), words[i].grade);
  }
}

static struct answer_table figures_table(const struct comparing *comparing) {
  const struct scenario *scenario = comparing->scenario;
  struct answer_table table = answer_table_of_options("figures", NULL, scenario, comparing->arena);
  add_words(comparing, &table, first_words, COUNT(first_words));
  add_facts(comparing, &table);
  add_categories(comparing, &table);
  add_results(comparing, &table);
  if (scenario->option_count > 1)
    add_savings(comparing, &table);
  add_words(comparing, &table, last_words, COUNT(last_words));
  table.faces = ON_TERMINAL;
  table.turns = true;
  return table;
}

// ---- late delivery

// A row for an item of lateness, on the terminal alone: programs have it among all inputs and
// items.
static void add_late_item(const struct comparing *comparing, struct answer_table *table,
                          const char *name) {
  const int declaration = model_find(comparing->scenario->model, name);
  if (declaration >= 0 && scenario_has(comparing->scenario, declaration))
    add_item(comparing, table, declaration,
             (struct answer_row){.faces = FACE_TERMINAL | FACE_TURNED});
}

static void add_late_row(const struct comparing *comparing, struct answer_table *table,
                         enum lateness_amount amount, const struct lateness *of,
                         const bool *is_late) {
  const struct scenario *scenario = comparing->scenario;
  const struct lateness_words *words = &lateness_words[amount];
  bool any = false;
  for (size_t o = 0; o < scenario->option_count; o++)
    any |= is_late[o] && !isnan(of[o].amounts[amount]);
  if (!any)
    return;
  const struct unit *unit =
      unit_known(model_unit_text(scenario->model, words->unit), comparing->arena);
  struct answer_cell *cells = answer_table_row_of(
      table, (struct answer_row){.key = words->key, .label = words->label, .unit = unit});
  for (size_t o = 0; o < scenario->option_count; o++) {
    const double value = of[o].amounts[amount];
    cells[1 + o] = is_late[o] && !isnan(value) ? cell_value(value) : cell_absent(NULL);
    cells[1 + o].digits = words->digits;
  }
}

// The table of delays, if an option has one: what it costs, what would make up for it, and what the
// contract pays.
static void add_lateness(const struct comparing *comparing, struct answer *answer) {
  const struct scenario *scenario = comparing->scenario;
  struct lateness *of = arena_array(comparing->arena, scenario->option_count, sizeof *of);
  bool *is_late = arena_array(comparing->arena, scenario->option_count, sizeof *is_late);
  bool any = false;
  for (size_t o = 0; o < scenario->option_count; o++)
    any |= is_late[o] = lateness_of(scenario, o, &of[o], comparing->arena);
  if (!any)
    return;
  struct answer_table table =
      answer_table_of_options("late", "Late delivery", scenario, comparing->arena);
  add_late_item(comparing, &table, "delivery_delay");
  add_late_item(comparing, &table, "late_share");
  for (int amount = 0; amount < LATENESS_AMOUNTS; amount++)
    add_late_row(comparing, &table, (enum lateness_amount)amount, of, is_late);
  add_late_item(comparing, &table, "delay_covered");
  table.json = "options[id=%c].late.%r";
  table.json_units = "units.%r";
  table.by_columns = true;
  answer_push(answer, table);
}

// ---- for programs

// Whether the declaration is one of the option's line items. Computed ones are, except checks; so
// are accelerators and throughput when they are given.
static bool is_item(const struct comparing *comparing, size_t option, int declaration) {
  const struct declaration *item = &comparing->scenario->model->declarations[declaration];
  return option_at(comparing, option)->graph->state[declaration] != GRAPH_INPUT ||
         !strcmp(item->name, "accelerators") || !strcmp(item->name, "throughput");
}

enum as_what { AS_ITEM, AS_FURTHER_INPUT, AS_INPUT };

// A declaration's row, for the options in which it is of this kind; none if there are no such
// options.
static void add_machine_row(const struct comparing *comparing, struct answer_table *table,
                            int declaration, enum as_what what) {
  const struct scenario *scenario = comparing->scenario;
  struct answer_cell *cells =
      answer_item_row(table, scenario, declaration,
                      (struct answer_row){.faces = what == AS_FURTHER_INPUT ? FACE_CSV : 0,
                                          .sourced = what == AS_INPUT},
                      comparing->arena);
  bool any = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = option_at(comparing, o);
    const bool item = is_item(comparing, o, declaration);
    const bool input = option->graph->state[declaration] == GRAPH_INPUT;
    if (what == AS_ITEM ? !item : what == AS_INPUT ? !input : item)
      cells[1 + o] = cell_absent(NULL);
    else if (what == AS_INPUT)
      cells[1 + o].grade =
          grade_name(option_figure(scenario, option, scenario->selected, declaration)->grade);
    any |= cells[1 + o].kind != CELL_ABSENT;
  }
  for (size_t o = 0; o < scenario->option_count && any && what == AS_ITEM; o++)
    if (option_at(comparing, o)->provider && !option_has(option_at(comparing, o), declaration))
      cells[1 + o] = cell_value(NAN); // of hardware, which other options have
  table->row_count -= !any;
}

static struct answer_table items_table(const struct comparing *comparing) {
  const struct model *model = comparing->scenario->model;
  struct answer_table table =
      answer_table_of_options("items", NULL, comparing->scenario, comparing->arena);
  for (int d = 0; d < model->count; d++) {
    if (model->declarations[d].role == ROLE_CHECK)
      continue;
    add_machine_row(comparing, &table, d, AS_ITEM);
    add_machine_row(comparing, &table, d, AS_FURTHER_INPUT);
  }
  table.json = "options[id=%c].items.%r";
  table.json_units = "units.%r";
  table.faces = TO_MACHINES;
  table.by_columns = true;
  return table;
}

static struct answer_table inputs_table(const struct comparing *comparing) {
  const struct model *model = comparing->scenario->model;
  struct answer_table table =
      answer_table_of_options("inputs", NULL, comparing->scenario, comparing->arena);
  for (int d = 0; d < model->count; d++)
    add_machine_row(comparing, &table, d, AS_INPUT);
  table.json = "options[id=%c].inputs.%r";
  table.faces = FACE_JSON;
  return table;
}

static struct texts words_in(const char *text, struct arena *arena) {
  struct texts words = {0};
  for (const char *at = text; *at; at += strspn(at, ", ")) {
    const size_t length = strcspn(at, ",");
    texts_add(&words, arena, "%s", arena_copy_n(arena, at, length));
    at += length;
  }
  return words;
}

// The further fields of each option in JSON.
static void add_options(const struct comparing *comparing, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "options", NULL, {"id", "", NULL}, {"accelerator", "", NULL},
                   {"grade", "", NULL}, {"grades.throughput", "", NULL}, {"grades.power", "", NULL},
                   {"grades.price", "", NULL}, {"decode_only", "", NULL},
                   {"not_included", "", NULL}, {"warnings", "", NULL}, {"label", "", NULL});
  table->json = "options[id=%r].%c";
  table->faces = FACE_JSON;
  for (size_t o = 0; o < comparing->scenario->option_count; o++) {
    const struct option *option = option_at(comparing, o);
    ANSWER_ROW(table, cell_option(option),
               option->provider ? cell_value(NAN) : cell_words(option->accelerator),
               grade_cell(option, HEADLINE), grade_cell(option, THROUGHPUT),
               grade_cell(option, POWER), grade_cell(option, PRICE), cell_flag(option->decode_only),
               cell_list(words_in(option->not_included, comparing->arena)),
               cell_list(option->warnings), cell_words(option->label));
  }
}

static void add_workloads(const struct comparing *comparing, struct answer *answer) {
  struct heading headings[1 + WORKLOAD_KEYS] = {{"id", "", NULL}};
  for (size_t key = 0; key < WORKLOAD_KEYS; key++)
    headings[1 + key] = (struct heading){workload_key_names[key], "", NULL};
  struct answer_table *table =
      answer_add_table(answer, "workloads", NULL, headings, 1 + WORKLOAD_KEYS);
  table->json = "options[id=%r].workload.%c";
  table->faces = FACE_JSON;
  for (size_t o = 0; o < comparing->scenario->option_count; o++) {
    struct answer_cell *cells = answer_table_row(table);
    cells[0] = cell_words(option_at(comparing, o)->id);
    for (enum workload_key key = 0; key < WORKLOAD_KEYS; key++) {
      const char *value = option_workload(option_at(comparing, o), key);
      cells[1 + key] = *value ? cell_words(value) : (struct answer_cell){.kind = CELL_EMPTY};
    }
  }
}

// The judge's verdict, as fractions and text.
static struct answer_table verdict_table(const struct comparing *comparing) {
  const struct unit *plain = unit_known("-", comparing->arena);
  struct answer_table table =
      answer_table_of_options("verdict", NULL, comparing->scenario, comparing->arena);
  add_saving(comparing, &table,
             (struct answer_row){.key = "saving",
                                 .label = "Saving against the baseline",
                                 .unit = plain,
                                 .json = "saving.%c"},
             false);
  add_saving(comparing, &table,
             (struct answer_row){.key = "saving_levelised",
                                 .label = "Saving against the baseline, levelized",
                                 .unit = plain,
                                 .json = "saving_levelised.%c"},
             true);
  add_interval(comparing, &table, OUTCOME_COST, unit_of_item(comparing->scenario, "cost_per_mtok"),
               TO_MACHINES);
  add_interval(comparing, &table, OUTCOME_SAVING, plain, TO_MACHINES);
  add_shares(comparing, &table, SHARE_REACHED,
             (struct answer_row){.key = "read_bandwidth_share",
                                 .label = "Share of its own read bandwidth",
                                 .unit = plain,
                                 .json = "options[id=%c].%r"});
  add_shares(comparing, &table, COST_AT_EQUAL,
             (struct answer_row){.key = "cost_at_equal_shares",
                                 .label = "Cost at equal shares of read bandwidth",
                                 .unit = unit_of_item(comparing->scenario, "cost_per_mtok"),
                                 .json = "options[id=%c].%r"});
  for (int what = 0; what < 3; what++) {
    static const struct answer_row rows[] = {
        {.key = "ranked", .label = "Ranked", .faces = FACE_CSV},
        {.key = "cheapest", .label = "The cheapest, or one of them", .faces = FACE_CSV},
        {.key = "not_ranked", .faces = FACE_JSON, .json = "not_ranked.%c"}};
    struct answer_cell *cells = answer_table_row_of(&table, rows[what]);
    for (size_t o = 0; o < comparing->scenario->option_count; o++) {
      const struct standing *standing = &comparing->ranking->options[o];
      if (what < 2)
        cells[1 + o] = cell_flag(what ? standing->cheapest : standing->ranked);
      else if (!standing->ranked)
        cells[1 + o] = cell_words(standing->why_not);
    }
  }
  table.json = "%r.%c";
  table.faces = TO_MACHINES;
  table.by_columns = true;
  return table;
}

static struct answer_table document_table(const struct comparing *comparing) {
  const struct scenario *scenario = comparing->scenario;
  const int horizon = model_find(scenario->model, "horizon");
  struct texts cheapest = {0};
  for (size_t o = 0; o < scenario->option_count; o++)
    if (comparing->ranking->options[o].cheapest)
      texts_add(&cheapest, comparing->arena, "%s", option_at(comparing, o)->id);
  struct answer_table table = answer_table_of_facts(comparing->arena);
  answer_fact(&table, "scenario.horizon",
              cell_in(option_value(scenario, &scenario->options[0], horizon, 0),
                      unit_of_item(scenario, "horizon")));
  answer_fact(&table, "scenario.date", cell_words(scenario->date));
  answer_fact(&table, "scenario.currency", cell_words(scenario->model->currency));
  answer_fact(&table, "baseline", cell_words(option_at(comparing, scenario->baseline)->id));
  answer_fact(&table, "cheapest", cell_list(cheapest));
  if (*comparing->ranking->why_none)
    answer_fact(&table, "why_none", cell_words(comparing->ranking->why_none));
  answer_fact(&table, "mixed", cell_flag(scenario->mixed));
  if (scenario->mixed)
    answer_fact(&table, "mixed_reason", cell_words(scenario->mixed_reason));
  return table;
}

struct answer compare_answer(const struct scenario *scenario, const struct simulation *simulation,
                             struct arena *arena) {
  static const struct csv_field fields[] = {
      {"option", CSV_COLUMN}, {"accelerator", CSV_ABOUT}, {"case", CSV_CASE},
      {"item", CSV_ROW},      {"label", CSV_LABEL},       {"unit", CSV_UNIT},
      {"period", CSV_PERIOD}, {"value", CSV_VALUE},       {"grade", CSV_GRADE}};
  const struct comparing comparing = {.scenario = scenario,
                                      .ranking = ranking_of(scenario, arena),
                                      .simulation = simulation,
                                      .shares = read_shares_of(scenario, arena),
                                      .arena = arena};
  struct answer answer = answer_new("compare", "options", NULL, scenario, arena);
  answer.sentence =
      arena_printf(arena, "%s.", verdict_text(scenario, comparing.ranking, simulation, arena));
  answer.schema = 1;
  answer.csv = fields;
  answer.csv_count = COUNT(fields);
  answer_push(&answer, figures_table(&comparing));
  add_options(&comparing, &answer); // first, so that JSON lists them in the scenario's order
  add_lateness(&comparing, &answer);
  answer_push(&answer, items_table(&comparing));
  answer_push(&answer, inputs_table(&comparing));
  answer_push(&answer, verdict_table(&comparing));
  answer_push(&answer, document_table(&comparing));
  answer_push(&answer, finance_difference(scenario, arena))->faces = FACE_JSON;
  add_workloads(&comparing, &answer);
  compare_notes(&answer, scenario, comparing.ranking, simulation, arena);
  return answer;
}
