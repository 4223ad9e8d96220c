#include "reports/answers/simulation.h"

#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/units.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct telling {
  const struct simulation *simulation;
  const struct unit *cost, *percent, *plain;
  struct arena *arena;
};

static const char *const kinds[] = {[OUTCOME_COST] = "cost", [OUTCOME_SAVING] = "saving"};

// The unit for numbers that are already in it.
static const struct unit *unit_as_is(const char *text, struct arena *arena) {
  struct unit *unit = arena_alloc(arena, sizeof *unit);
  *unit = *unit_known(text, arena);
  unit->text = text;
  unit->conversion = (struct conversion){.power = {0}};
  unit->percents = 0;
  return unit;
}

static const struct unit *unit_of(const struct telling *telling, enum outcome_kind kind) {
  return kind == OUTCOME_COST ? telling->cost : telling->percent;
}

static const char *option_of(const struct telling *telling, const struct outcome *outcome) {
  return telling->simulation->options[outcome->option];
}

// The label for people, in sentences and in tables.
static const char *label_of(const struct telling *telling, size_t option) {
  return telling->simulation->labels[option];
}

static const char *brief_of(const struct telling *telling, size_t option) {
  return label_brief(telling->simulation->options[option], label_of(telling, option));
}

// ---- for people

// The outcomes of a kind, and their number.
static size_t outcomes_of(const struct telling *telling, enum outcome_kind kind,
                          const struct outcome ***list) {
  size_t count = 0;
  *list = arena_array(telling->arena, telling->simulation->outcome_count,
                      sizeof(const struct outcome *));
  for (size_t i = 0; i < telling->simulation->outcome_count; i++)
    if (telling->simulation->outcomes[i].kind == kind)
      (*list)[count++] = &telling->simulation->outcomes[i];
  return count;
}

static void add_shares(const struct telling *telling, struct answer_table *table, const char *label,
                       const double *shares) {
  struct answer_cell *cells = answer_table_row_of(
      table,
      (struct answer_row){.label = label, .unit = telling->percent, .emphasis = EMPHASIS_STRONG});
  for (size_t o = 0; o < telling->simulation->option_count; o++)
    cells[1 + o] = cell_value(shares[o]);
}

// Whether an option is ranked in some draws and not in others.
static bool ranks_vary(const struct simulation *simulation) {
  for (size_t o = 0; o < simulation->option_count; o++)
    if (simulation->ranked[o] > 0 && simulation->ranked[o] < 1)
      return true;
  return false;
}

// A column for each option that has an outcome of this kind.
static struct answer_table statistics_table(const struct telling *telling, enum outcome_kind kind,
                                            const char *heading) {
  const struct simulation *simulation = telling->simulation;
  const struct outcome **outcomes;
  const size_t count = outcomes_of(telling, kind, &outcomes);
  struct answer_table table = answer_table_new(kinds[kind], NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "statistic", .title = heading);
  for (size_t i = 0; i < count; i++) {
    const char *option = option_of(telling, outcomes[i]);
    ANSWER_COLUMN(&table, .key = option, .title = brief_of(telling, outcomes[i]->option));
  }
  struct answer_row row = {.unit = unit_of(telling, kind)};
  table.unit_column = 1;
  table.faces = FACE_TERMINAL;
  for (int level = 0; count && level < SIMULATE_LEVELS; level++) {
    if (!simulation_has_percentile(simulation, level))
      continue;
    const double percent = 100 * simulate_levels[level];
    row.label = arena_printf(telling->arena, "P%.0f: below in %.0f %%", percent, percent);
    row.emphasis = level == SIMULATE_LEVELS / 2 ? EMPHASIS_STRONG : EMPHASIS_NONE;
    struct answer_cell *cells = answer_table_row_of(&table, row);
    for (size_t i = 0; i < count; i++)
      cells[1 + i] = cell_value(outcomes[i]->percentiles[level]);
  }
  for (int error = 0; count && error < 2; error++) {
    row.label = error ? "  its standard error" : "Mean";
    struct answer_cell *cells = answer_table_row_of(&table, row);
    for (size_t i = 0; i < count; i++)
      cells[1 + i] = error ? (struct answer_cell){.value = outcomes[i]->standard_error, .digits = 2}
                           : cell_value(outcomes[i]->mean);
  }
  if (kind == OUTCOME_COST && simulation->option_count > 1 && ranks_vary(simulation))
    add_shares(telling, &table, arena_printf(telling->arena, "Draws that %s", simulation->asked),
               simulation->ranked);
  if (kind == OUTCOME_COST && simulation->option_count > 1 && !*simulation->why_none)
    add_shares(telling, &table, "Draws in which it is the cheapest", simulation->cheapest);
  return table;
}

static struct answer_table histograms_table(const struct telling *telling,
                                            const struct outcome *const *outcomes, size_t count,
                                            const struct unit *unit) {
  struct answer_table table = answer_table_new("histogram", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "option", .title = "Draws");
  ANSWER_COLUMN(&table, .key = "low", .title = "P0.1", .unit = unit);
  ANSWER_COLUMN(&table, .key = "counts");
  ANSWER_COLUMN(&table, .key = "high", .title = "P99.9", .unit = unit);
  for (size_t i = 0; i < count; i++) {
    if (simulation_is_constant(outcomes[i]))
      continue;
    double *shares = arena_array(telling->arena, SIMULATE_BARS, sizeof *shares);
    uint64_t most = 1;
    for (int bar = 0; bar < SIMULATE_BARS; bar++)
      most = outcomes[i]->bars[bar] > most ? outcomes[i]->bars[bar] : most;
    for (int bar = 0; bar < SIMULATE_BARS; bar++)
      shares[bar] = (double)outcomes[i]->bars[bar] / (double)most;
    answer_table_add(&table,
                     (const struct answer_cell[]){
                         cell_words(brief_of(telling, outcomes[i]->option)),
                         cell_value(outcomes[i]->bars_low),
                         {.kind = CELL_HISTOGRAM, .values = shares, .value_count = SIMULATE_BARS},
                         cell_value(outcomes[i]->bars_high)});
  }
  table.faces = FACE_TERMINAL;
  return table;
}

// The groups of inputs, the largest effect first.
static size_t *order_of(const struct telling *telling, const struct outcome *outcome) {
  const size_t count = telling->simulation->group_count;
  size_t *order = arena_array(telling->arena, count, sizeof *order);
  for (size_t i = 0; i < count; i++) {
    size_t k = i;
    for (; k > 0 && outcome->influences[order[k - 1]].first < outcome->influences[i].first; k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

static struct answer_cell share_cell(double share) {
  return isfinite(share) ? cell_value(fmax(share, 0)) : cell_nothing();
}

static struct answer_table influences_table(const struct telling *telling,
                                            const struct outcome *outcome) {
  const struct simulation *simulation = telling->simulation;
  const char *title = arena_printf(telling->arena, "Drivers of the %s of %s, %% of %svariance",
                                   kinds[outcome->kind], brief_of(telling, outcome->option),
                                   simulation->by_ranks ? "rank " : "");
  const size_t *order = order_of(telling, outcome);
  struct answer_table table = answer_table_new("variance", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "input", .title = title);
  ANSWER_COLUMN(&table, .key = "first", .title = "by itself", .unit = telling->percent,
                .unit_said = true);
  ANSWER_COLUMN(&table, .key = "total", .title = "with interactions", .unit = telling->percent,
                .unit_said = true);
  for (size_t i = 0; i < simulation->group_count; i++) {
    const struct influence *influence = &outcome->influences[order[i]];
    if (influence->first >= 0.001 || influence->total >= 0.001)
      answer_table_add(&table, (const struct answer_cell[]){
                                   cell_words(simulation->groups[order[i]]),
                                   share_cell(influence->first), share_cell(influence->total)});
  }
  table.faces = FACE_TERMINAL;
  return table;
}

// A share of the draws in percent, without decimals that few draws cannot have.
static const char *share_of_draws(const struct telling *telling, double share) {
  return *simulation_few_draws(telling->simulation, telling->arena)
             ? number_fixed(100 * share, 0, telling->arena)
             : number_percent(share, telling->arena);
}

// "h200 is the cheapest in 3.3 % of the draws, mi325x in 96.7 %."
static const char *sentence(const struct telling *telling) {
  const struct simulation *simulation = telling->simulation;
  struct arena *arena = telling->arena;
  const double *values = simulation->outcomes[0].percentiles;
  const char *text = "";
  if (*simulation->why_none)
    return arena_printf(arena, "Not ranked: %s.", simulation->why_none);
  if (simulation->option_count == 1 && !simulation_has_percentile(simulation, 0))
    return arena_printf(arena, "%s costs %s %s (mean).", label_of(telling, 0),
                        number_significant(simulation->outcomes[0].mean, 4, arena),
                        simulation->unit);
  if (simulation->option_count == 1)
    return arena_printf(arena, "%s costs %s %s (median; 90 %% of draws between %s and %s).",
                        label_of(telling, 0),
                        number_significant(values[SIMULATE_LEVELS / 2], 4, arena), simulation->unit,
                        number_significant(values[0], 4, arena),
                        number_significant(values[SIMULATE_LEVELS - 1], 4, arena));
  for (size_t o = 0; o < simulation->option_count; o++)
    if (!isnan(simulation->cheapest[o]))
      text = arena_printf(
          arena, *text ? "%s, %s in %s %%" : "%s%s is the cheapest in %s %% of the draws", text,
          label_of(telling, o), share_of_draws(telling, simulation->cheapest[o]));
  return *text ? arena_printf(arena, "%s.", text) : "";
}

static bool pays_damages(const struct simulation *simulation, size_t option) {
  return simulation->damages && !isnan(simulation->damages[option].due);
}

const char *simulation_damages_text(const struct simulation *simulation, size_t option,
                                    struct arena *arena) {
  if (!pays_damages(simulation, option))
    return "";
  const struct delay_damages *of = &simulation->damages[option];
  const struct unit *money = unit_constant(simulation->currency, arena);
  const char *cover =
      of->cost > 0 ? arena_printf(arena, "on average the delay costs %s, of which they cover %s",
                                  money_text(of->cost, money, arena),
                                  percent_words(1 - of->uncovered / of->cost, arena))
                   : "the delay costs nothing";
  return arena_printf(arena, "%s: damages are due in %s of the first %s draws; %s",
                      simulation->labels[option], percent_words(of->due, arena),
                      number_fixed((double)simulation->damages_draws, 0, arena), cover);
}

const char *simulation_constant_text(const struct simulation *simulation,
                                     const struct outcome *outcome, struct arena *arena) {
  return arena_printf(arena, "the %s of %s does not vary: no ranged input affects it",
                      kinds[outcome->kind], simulation->labels[outcome->option]);
}

static void add_notes(const struct telling *telling, struct answer *answer) {
  const struct simulation *simulation = telling->simulation;
  struct arena *arena = telling->arena;
  const struct draws_made draws = {simulation->done, simulation->seed, simulation->method};
  answer_head(answer, "", "case %s, %s, %zu ranged inputs or groups", simulation->case_name,
              draws_words(&draws, arena), simulation->group_count);
  if (simulation->partial)
    answer_head(answer, "", "PARTIAL: %s of %s draws",
                number_fixed((double)simulation->done, 0, arena),
                number_fixed((double)simulation->draws, 0, arena));
  if (simulation->undecided > 0 && !*simulation->why_none && simulation->option_count > 1)
    answer_note(answer, "Not ranked: ", "in %s %% of draws, fewer than two options %s",
                number_significant(100 * simulation->undecided, 3, arena), simulation->asked);
  for (size_t o = 0; o < simulation->option_count; o++)
    if (*simulation->not_ranked[o])
      answer_note(answer, "Not ranked: ", "%s: %s", label_of(telling, o),
                  simulation->not_ranked[o]);
  for (size_t o = 0; o < simulation->option_count; o++)
    if (*simulation->no_saving[o])
      answer_note(answer, "No saving: ", "%s: %s", label_of(telling, o), simulation->no_saving[o]);
  for (size_t i = 0; simulation->done && i < simulation->outcome_count; i++)
    if (simulation_is_constant(&simulation->outcomes[i]))
      answer_note(answer, "Constant: ", "%s",
                  simulation_constant_text(simulation, &simulation->outcomes[i], arena));
  for (size_t o = 0; o < simulation->option_count; o++)
    if (strcmp(brief_of(telling, o), label_of(telling, o)) != 0)
      answer_note(answer, "Option: ", "%s is %s", simulation->options[o], label_of(telling, o));
  for (size_t o = 0; o < simulation->option_count; o++)
    if (pays_damages(simulation, o))
      answer_note(answer, "Late delivery: ", "%s", simulation_damages_text(simulation, o, arena));
  for (size_t i = 0; i < simulation->note_count; i++)
    answer_note(answer, "Note: ", "%s", simulation->notes[i]);
}

// ---- for programs

static struct answer_table ranks_table(const struct telling *telling) {
  const struct simulation *simulation = telling->simulation;
  struct answer_table table = answer_table_new("ranks", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "kind");
  ANSWER_COLUMN(&table, .key = "probability");
  for (size_t i = 0; i < 2 * simulation->option_count; i++) {
    const bool ranked = i % 2;
    answer_table_row_of(&table,
                        (struct answer_row){.key = simulation->options[i / 2],
                                            .label = ranked ? "ranked" : "cheapest",
                                            .unit = telling->plain,
                                            .json = ranked ? "ranked.%r" : "cheapest.%r"})[1] =
        cell_value((ranked ? simulation->ranked : simulation->cheapest)[i / 2]);
  }
  for (size_t i = 0; i < 2 * simulation->option_count; i++) {
    const char *why = (i % 2 ? simulation->no_saving : simulation->not_ranked)[i / 2];
    answer_table_row_of(&table,
                        (struct answer_row){.key = simulation->options[i / 2],
                                            .json = i % 2 ? "no_saving.%r" : "not_ranked.%r",
                                            .faces = FACE_JSON})[1] =
        *why ? cell_words(why) : cell_absent(NULL);
  }
  for (size_t o = 0; o < simulation->option_count; o++)
    answer_table_row_of(&table, (struct answer_row){.key = simulation->options[o],
                                                    .label = "unsaved",
                                                    .unit = telling->plain,
                                                    .json = "unsaved.%r"})[1] =
        cell_value(simulation->unsaved[o]);
  table.json = "%r";
  table.faces = FACE_CSV | FACE_JSON;
  return table;
}

// How many draws were made, of how many and how: in JSON, these are among the facts.
static struct answer_table draws_table(const struct telling *telling) {
  const struct simulation *simulation = telling->simulation;
  struct answer_table table = answer_table_new("draws", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "kind");
  ANSWER_COLUMN(&table, .key = "draws");
  ANSWER_COLUMN(&table, .key = "done");
  ANSWER_COLUMN(&table, .key = "seed");
  ANSWER_COLUMN(&table, .key = "method");
  ANSWER_COLUMN(&table, .key = "partial");
  struct answer_cell *cells =
      answer_table_row_of(&table, (struct answer_row){.key = "", .label = "draws"});
  *++cells = cell_counts(&simulation->draws, 1);
  *++cells = cell_counts(&simulation->done, 1);
  *++cells = cell_counts(&simulation->seed, 1);
  *++cells = cell_words(draw_method_names[simulation->method]);
  *++cells = cell_flag(simulation->partial);
  table.faces = FACE_CSV;
  return table;
}

// Means over the draws; a share of them is the mean of a flag.
static struct answer_table damages_table(const struct telling *telling) {
  static const struct {
    const char *label, *json;
    bool is_share;
    size_t place; // in struct delay_damages
  } figures[] = {
      {"damages_due", "damages.%r.due", true, offsetof(struct delay_damages, due)},
      {"delay_cost", "damages.%r.delay_cost", false, offsetof(struct delay_damages, cost)},
      {"damages_paid", "damages.%r.paid", false, offsetof(struct delay_damages, paid)},
      {"uncovered", "damages.%r.uncovered", false, offsetof(struct delay_damages, uncovered)}};
  const struct simulation *simulation = telling->simulation;
  const struct unit *money = unit_as_is(simulation->currency, telling->arena);
  struct answer_table table = answer_table_new("damages", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "kind");
  ANSWER_COLUMN(&table, .key = "mean");
  for (size_t o = 0; o < simulation->option_count; o++)
    for (size_t f = 0; pays_damages(simulation, o) && f < sizeof figures / sizeof figures[0]; f++)
      answer_table_row_of(&table,
                          (struct answer_row){.key = simulation->options[o],
                                              .label = figures[f].label,
                                              .unit = figures[f].is_share ? telling->plain : money,
                                              .json = figures[f].json})[1] =
          cell_value(*(const double *)((const char *)&simulation->damages[o] + figures[f].place));
  table.json = "%r";
  table.faces = FACE_CSV | FACE_JSON;
  return table;
}

#define HISTOGRAM "outcomes[#].histogram.%c"

// The statistics of an outcome other than its influences: numbers; the histogram is in JSON only.
static const struct {
  struct answer_column column;
  size_t place; // in struct outcome
} statistics[] = {
    {{.key = "mean"}, offsetof(struct outcome, mean)},
    {{.key = "standard_error"}, offsetof(struct outcome, standard_error)},
    {{.key = "deviation"}, offsetof(struct outcome, deviation)},
    {{.key = "lowest"}, offsetof(struct outcome, lowest)},
    {{.key = "highest"}, offsetof(struct outcome, highest)},
    {{.key = "rank_error", .faces = FACE_JSON}, offsetof(struct outcome, rank_error)},
    {{.key = "low", .faces = FACE_JSON, .json = HISTOGRAM}, offsetof(struct outcome, bars_low)},
    {{.key = "high", .faces = FACE_JSON, .json = HISTOGRAM}, offsetof(struct outcome, bars_high)}};

enum { STATISTICS = sizeof statistics / sizeof statistics[0] };

static struct answer_table outcomes_table(const struct telling *telling) {
  const struct simulation *simulation = telling->simulation;
  struct answer_table table = answer_table_new("outcomes", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "kind");
  for (int s = 0; s < STATISTICS; s++)
    answer_column(&table, statistics[s].column);
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    ANSWER_COLUMN(&table,
                  .key = arena_printf(telling->arena, "P%.0f", 100 * simulate_levels[level]),
                  .json = "outcomes[#].percentiles.%c");
  ANSWER_COLUMN(&table, .key = "option", .faces = FACE_JSON);
  ANSWER_COLUMN(&table, .key = "below", .faces = FACE_JSON, .json = HISTOGRAM);
  ANSWER_COLUMN(&table, .key = "counts", .faces = FACE_JSON, .json = HISTOGRAM);
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    const bool is_cost = outcome->kind == OUTCOME_COST;
    const char *option = option_of(telling, outcome);
    struct answer_cell *cells = answer_table_row_of(
        &table, (struct answer_row){.key = option,
                                    .label = kinds[outcome->kind],
                                    .unit = is_cost ? telling->cost : telling->plain});
    for (int s = 0; s < STATISTICS; s++)
      *++cells = cell_value(*(const double *)((const char *)outcome + statistics[s].place));
    for (int level = 0; level < SIMULATE_LEVELS; level++)
      *++cells = simulation_has_percentile(simulation, level)
                     ? cell_value(outcome->percentiles[level])
                     : cell_absent(NULL);
    *++cells = cell_words(option);
    *++cells = cell_counts(&outcome->bars_below, 1);
    *++cells = cell_counts(outcome->bars, SIMULATE_BARS);
  }
  table.json = "outcomes[#].%c";
  table.faces = FACE_CSV | FACE_JSON;
  return table;
}

// First-order and total effect of each group: once with the keys of JSON, once with those of CSV.
static struct answer_table shares_table(const struct telling *telling) {
  static const char *const orders[] = {"first", "total"};
  static const char *const places[] = {"outcomes[#].influences.%k.first",
                                       "outcomes[#].influences.%k.total"};
  const struct simulation *simulation = telling->simulation;
  struct answer_table table = answer_table_new("influence", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "kind", .faces = FACE_CSV);
  for (size_t c = 0; c < 4 * simulation->group_count; c++) {
    const char *group = simulation->groups[c / 4];
    const bool in_csv = c % 4 > 1;
    ANSWER_COLUMN(
        &table, .key = in_csv ? arena_printf(telling->arena, "%s %s", group, orders[c % 2]) : group,
        .json = places[c % 2], .faces = in_csv ? FACE_CSV : FACE_JSON);
  }
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    struct answer_cell *cells = answer_table_row_of(
        &table, (struct answer_row){.key = option_of(telling, outcome),
                                    .label = "influence",
                                    .unit = unit_as_is(kinds[outcome->kind], telling->arena)});
    for (size_t c = 0; c < 4 * simulation->group_count; c++)
      cells[1 + c] =
          cell_value(c % 2 ? outcome->influences[c / 4].total : outcome->influences[c / 4].first);
  }
  table.json = "outcomes[#].%c";
  table.faces = FACE_CSV | FACE_JSON;
  return table;
}

static struct answer_table facts_table(const struct telling *telling) {
  const struct simulation *simulation = telling->simulation;
  const struct texts notes = {(const char **)simulation->notes, simulation->note_count};
  struct answer_table facts = answer_table_of_facts(telling->arena);
  answer_fact(&facts, "title", cell_words(simulation->title));
  answer_fact(&facts, "case", cell_words(simulation->case_name));
  answer_fact(&facts, "sha256", cell_words(simulation->digest));
  answer_fact(&facts, "item", cell_words(simulation->item));
  answer_fact(&facts, "unit", cell_words(simulation->unit));
  answer_fact(&facts, "draws", cell_counts(&simulation->draws, 1));
  answer_fact(&facts, "done", cell_counts(&simulation->done, 1));
  answer_fact(&facts, "seed", cell_counts(&simulation->seed, 1));
  answer_fact(&facts, "method", cell_words(draw_method_names[simulation->method]));
  answer_fact(&facts, "partial", cell_flag(simulation->partial));
  answer_fact(&facts, "baseline", cell_words(simulation->options[simulation->baseline]));
  answer_fact(&facts, "undecided", cell_value(simulation->undecided));
  if (*simulation->why_none)
    answer_fact(&facts, "why_none", cell_words(simulation->why_none));
  answer_fact(&facts, "by_ranks", cell_flag(simulation->by_ranks));
  answer_fact(&facts, "notes", cell_list(notes));
  return facts;
}

struct answer simulation_answer(const struct simulation *simulation, struct arena *arena) {
  static const struct csv_field fields[] = {{"kind", CSV_LABEL},
                                            {"option", CSV_ROW},
                                            {"unit", CSV_UNIT},
                                            {"statistic", CSV_COLUMN},
                                            {"value", CSV_VALUE}};
  const struct telling telling = {simulation, unit_as_is(simulation->unit, arena),
                                  unit_known("%", arena), unit_known("-", arena), arena};
  const char *of_savings = brief_of(&telling, simulation->baseline);
  // What --verbose shows: the savings or, for a single option, its cost.
  const enum outcome_kind kind = simulation->option_count > 1 ? OUTCOME_SAVING : OUTCOME_COST;
  const struct outcome **outcomes;
  const size_t count = outcomes_of(&telling, kind, &outcomes);
  const char *few = simulation_few_draws(simulation, arena);
  const bool influences = simulation->influence_draws || simulation->by_ranks;
  struct answer answer = answer_new("simulate", "draws", simulation->title, NULL, arena);
  answer.stamp = simulation->stamp;
  answer.inherited = simulation->warnings;
  answer.sentence = sentence(&telling);
  if (*few)
    answer_warn(&answer, "%s", few);
  answer.schema = 1;
  answer.csv = fields;
  answer.csv_count = sizeof fields / sizeof fields[0];
  answer_push(&answer, facts_table(&telling));
  answer_push(&answer, draws_table(&telling));
  answer_push(&answer, statistics_table(&telling, OUTCOME_COST, simulation->item));
  answer_push(&answer, statistics_table(&telling, OUTCOME_SAVING,
                                        arena_printf(arena, "Saving against %s", of_savings)));
  if (!*few)
    answer_push(&answer, histograms_table(&telling, outcomes, count, unit_of(&telling, kind)));
  for (size_t i = 0; influences && i < count; i++)
    if (!simulation_is_constant(outcomes[i]))
      answer_push(&answer, influences_table(&telling, outcomes[i]));
  answer_push(&answer, ranks_table(&telling));
  answer_push(&answer, damages_table(&telling));
  answer_push(&answer, outcomes_table(&telling));
  if (influences)
    answer_push(&answer, shares_table(&telling));
  add_notes(&telling, &answer);
  return answer;
}
