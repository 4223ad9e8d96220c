// Simulation: the uncertainty of the results. The figures of the run are numbers, since no
// spreadsheet can reproduce the draws; whether they still hold, and the current results, are live.
#include "model/simulate/simulation.h"
#include "base/arena.h"
#include "model/chance/draw.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/answers/simulation.h"
#include "reports/print/verdict.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/charts.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };
enum { MIN_COLUMNS = 3, BAR_COLUMNS = 4, TICKS = 6 };

// Columns of an outcome's bars.
enum { BAR_END, BAR_DRAWS, BAR_HEIGHT, BAR_CUMULATED };

static const struct unit whole = {.text = "draws", .counts = true};

static const char good[] = STATE_CURRENT, bad[] = STATE_STALE;

static const struct unit *unit_of(struct book *book, const struct outcome *outcome) {
  const struct model *model = book->scenario->model;
  return outcome->kind == OUTCOME_SAVING
             ? &unit_percent
             : &model->declarations[model_find(model, book->sheets->simulation->item)].unit;
}

// A saving over an option whose throughput is not comparable is not defined.
static bool is_shown(struct book *book, const struct outcome *outcome) {
  return outcome->kind == OUTCOME_COST || book->sheets->ranking->options[outcome->option].compared;
}

// Whether any outcome of a kind, or of the same option too, has more than rounding to draw.
static bool varies(struct book *book, enum outcome_kind kind, size_t option, bool any_option) {
  const struct simulation *simulation = book->sheets->simulation;
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind == kind && (any_option || outcome->option == option) &&
        !simulation_is_constant(outcome))
      return true;
  }
  return false;
}

// Costs share their charts, which have a line for each as soon as one varies.
static bool is_charted(struct book *book, const struct outcome *outcome) {
  return is_shown(book, outcome) &&
         varies(book, outcome->kind, outcome->option, outcome->kind == OUTCOME_COST);
}

static const char *label_of(struct book *book, const struct outcome *outcome) {
  return book->scenario->options[outcome->option].label;
}

static const char *name_of(struct book *book, const struct outcome *outcome) {
  return arena_printf(book->arena, "%s %s", label_of(book, outcome),
                      outcome->kind == OUTCOME_SAVING ? "saving" : "cost");
}

static void put_figure(struct book *book, int row, int column, double value,
                       const struct unit *unit, enum cell_role role) {
  if (isfinite(value))
    put_number(book, row, column, value,
               unit->percents ? formats_share(&book->formats, role, value)
                              : formats_cell(&book->formats, role, unit));
  else
    put_text(book, row, column, "-", TEXT_RIGHT);
}

static int last_column(const struct simulation *simulation) {
  const int outcomes = (int)simulation->outcome_count;
  return COLUMN_VALUE - 1 + (outcomes > MIN_COLUMNS ? outcomes : MIN_COLUMNS);
}

// ---- the run

static void put_entry(struct book *book, const char *label, const char *key, const char *unit) {
  put_labels(book, book->row++, label, key, unit);
}

static void put_answer(struct book *book, const char *text) {
  put_text(book, book->row - 1, COLUMN_VALUE, text, TEXT_RIGHT);
}

static double rank_error(const struct simulation *simulation) {
  double worst = 0;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    worst = fmax(worst, simulation->outcomes[i].rank_error);
  return worst;
}

// How many live inputs differ from the run's, and whether that, or the case, makes it outdated.
static void write_state(struct book *book, const struct simulation_rows *rows) {
  struct arena *arena = book->arena;
  const struct input_area *area = &book->sheets->area;
  put_state(book, rows->state, COLUMN_VALUE,
            arena_printf(arena, "=IF(AND(%s=0,%s&\"\"=%s),\"%s\",\"%s\")",
                         cell_fixed(book, rows->differing, COLUMN_VALUE),
                         name_use(book->sheets->case_name),
                         cell_fixed(book, rows->case_name, COLUMN_VALUE), good, bad),
            good, bad, true);
  put_formula(book, rows->differing, COLUMN_VALUE, 0, CELL_FORMULA, &unit_inputs,
              "=SUMPRODUCT((%s:%s<>%s:%s)*1)",
              cell_on(book, SHEET_INPUTS, area->first_row, COLUMN_LIVE),
              cell_fixed(book, area->last_row, COLUMN_LIVE),
              cell_on(book, SHEET_INPUTS, area->first_row, area->run_column),
              cell_fixed(book, area->last_row, area->run_column));
}

static void write_run(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  struct arena *arena = book->arena;
  struct simulation_rows *rows = &book->sheets->simulation_rows;
  const int first = book_place(book, book->row);
  *rows = (struct simulation_rows){.state = first,
                                   .differing = first + 1,
                                   .case_name = first + 2,
                                   .draws = first + 3,
                                   .words = first + 6};
  write_state(book, rows);
  put_entry(book, "Do these results still hold?", "state", "-");
  put_entry(book, "Inputs changed since the run, marked on Inputs", "differing", "inputs");
  put_entry(book, "Case of the run", "case", "-");
  put_answer(book, simulation->case_name);
  put_entry(book, "Draws", "done", whole.text);
  put_figure(book, book->row - 1, COLUMN_VALUE, (double)simulation->done, &whole, CELL_RESULT);
  put_entry(book, "Method and seed", "method", "-");
  put_answer(book, simulation->done
                       ? arena_printf(arena, "%s, seed %" PRIu64,
                                      draw_method_names[simulation->method], simulation->seed)
                       : "-");
  put_entry(book, "Largest error of the percentiles, as a share of draws", "rank_error",
            unit_percent.text);
  put_number(book, book->row - 1, COLUMN_VALUE, rank_error(simulation),
             formats_small(&book->formats, CELL_RESULT, &unit_percent));
  put_entry(book, "The verdict", "words", "-");
  put_text(book, book->row - 1, COLUMN_VALUE,
           verdict_over_ranges(book->scenario, book->sheets->ranking, simulation, arena),
           TEXT_PLAIN);
  book->row++;
}

// ---- percentiles

// A block's header: options from COLUMN_VALUE on.
static void write_options(struct book *book, const char *title, const char *key) {
  const char *const texts[] = {title, key, "Unit"};
  put_header(book, book->row, texts, 3);
  for (int i = 0; i <= last_column(book->sheets->simulation) - COLUMN_VALUE; i++)
    put_text(book, book->row, COLUMN_VALUE + i,
             i < (int)book->scenario->option_count ? book->scenario->options[i].label : "",
             TEXT_HEADER_RIGHT);
  book->row++;
}

static double percentile_of(const struct outcome *outcome, int level) {
  return outcome->percentiles[level];
}
static double mean_of(const struct outcome *outcome, int unused) {
  (void)unused;
  return outcome->mean;
}
// A figure of every outcome of a kind, each in its option's column.
static void write_figures(struct book *book, enum outcome_kind kind, const char *label,
                          const char *key, double (*figure)(const struct outcome *, int),
                          int argument, enum cell_role role) {
  const struct simulation *simulation = book->sheets->simulation;
  const struct unit *unit = NULL;
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind != kind || !is_shown(book, outcome))
      continue;
    unit = unit_of(book, outcome);
    put_figure(book, book->row, COLUMN_VALUE + (int)outcome->option, figure(outcome, argument),
               unit, role);
  }
  put_entry(book, label, key, unit ? unit->text : "");
}

// An error has decimals of its own.
static void write_errors(struct book *book, enum outcome_kind kind) {
  const struct simulation *simulation = book->sheets->simulation;
  const char *unit = "";
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    const int column = COLUMN_VALUE + (int)outcome->option;
    if (outcome->kind != kind || !is_shown(book, outcome))
      continue;
    unit = unit_of(book, outcome)->text;
    if (isfinite(outcome->standard_error))
      put_number(book, book->row, column, outcome->standard_error,
                 formats_small(&book->formats, CELL_RESULT, unit_of(book, outcome)));
    else
      put_text(book, book->row, column, "-", TEXT_RIGHT);
  }
  put_entry(book, "  its standard error", "standard_error", unit);
}

static void write_percentiles(struct book *book, enum outcome_kind kind) {
  struct arena *arena = book->arena;
  for (int l = 0; l < SIMULATE_LEVELS; l++) {
    if (!simulation_has_percentile(book->sheets->simulation, l))
      continue;
    const double level = 100 * simulate_levels[l];
    write_figures(book, kind, arena_printf(arena, "Below this in %.0f %% of draws", level),
                  arena_printf(arena, "P%.0f", level), percentile_of, l, CELL_RESULT);
  }
  write_figures(book, kind, "Mean", "mean", mean_of, 0, CELL_RESULT);
  write_errors(book, kind);
}

static void write_costs(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const int item = model_find(scenario->model, book->sheets->simulation->item);
  const struct declaration *cost = &scenario->model->declarations[item];
  write_options(book, cost->label, "cost");
  for (size_t o = 0; o < scenario->option_count; o++)
    put_link(book, book->row, COLUMN_VALUE + (int)o, option_name(&book->sheets->options[o], item),
             shown_value(book, &book->sheets->options[o], item, 0), &cost->unit);
  put_entry(book, "Live, from the current inputs", "live", cost->unit.text);
  write_percentiles(book, OUTCOME_COST);
  if (!ranking_may_rank(book->sheets->ranking)) {
    book->row++;
    return;
  }
  for (size_t o = 0; o < scenario->option_count; o++)
    put_figure(book, book->row, COLUMN_VALUE + (int)o, book->sheets->simulation->cheapest[o],
               &unit_percent, CELL_RESULT);
  book->sheets->simulation_rows.cheapest = book_place(book, book->row);
  put_entry(book, "Probability of being cheapest", "cheapest", unit_percent.text);
  book->row++;
}

static void write_savings(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  const struct simulation *simulation = book->sheets->simulation;
  if (scenario->option_count < 2)
    return;
  write_options(book, arena_printf(book->arena, "Saving per token against %s", baseline->label),
                "saving");
  for (size_t o = 0; o < scenario->option_count; o++) {
    const int column = COLUMN_VALUE + (int)o;
    if (o == scenario->baseline || !book->sheets->ranking->options[o].compared)
      continue;
    const double saving = book->sheets->ranking->options[o].saving;
    const char *cell = cell_on(book, SHEET_OUTPUTS, book->sheets->rows.saving, column);
    put_formula_or_dash(book, book->row, column, saving,
                        formats_share(&book->formats, CELL_LINK, saving),
                        arena_printf(book->arena, "=%s", cell));
  }
  put_entry(book, "Live, from the current inputs", "live", unit_percent.text);
  write_percentiles(book, OUTCOME_SAVING);
  for (size_t o = 0; o < simulation->option_count; o++)
    if (*simulation->no_saving[o])
      put_text(book, book->row++, 0,
               arena_printf(book->arena, "No saving of %s: %s.", simulation->labels[o],
                            simulation->no_saving[o]),
               TEXT_NOTE);
  book->row++;
}

static void write_constants(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  const int first = book->row;
  for (size_t i = 0; simulation->done && i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (is_shown(book, outcome) && simulation_is_constant(outcome))
      put_text(book, book->row++, 0,
               arena_printf(book->arena, "Constant: %s.",
                            simulation_constant_text(simulation, outcome, book->arena)),
               TEXT_NOTE);
  }
  book->row += book->row > first;
}

static void write_damages(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  const int first = book->row;
  for (size_t o = 0; o < simulation->option_count; o++) {
    const char *text = simulation_damages_text(simulation, o, book->arena);
    if (*text)
      put_text(book, book->row++, 0, arena_printf(book->arena, "Late delivery: %s.", text),
               TEXT_NOTE);
  }
  book->row += book->row > first;
}

static void write_notes(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  for (size_t i = 0; i < simulation->note_count; i++)
    put_text(book, book->row++, 0, arena_printf(book->arena, "Note: %s.", simulation->notes[i]),
             TEXT_NOTE);
  book->row += simulation->note_count > 0;
}

// ---- influences

// The effect of an input or group on the savings or, with a single option, on the cost.
static double weight_of(const struct simulation *simulation, size_t group) {
  double weight = 0;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    if (simulation->option_count == 1 || simulation->outcomes[i].kind == OUTCOME_SAVING)
      weight = fmax(weight, simulation->outcomes[i].influences[group].first);
  return weight;
}

// The inputs and groups, the one with the largest effect first.
static size_t *order_of(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  size_t *order = arena_array(book->arena, simulation->group_count, sizeof *order);
  for (size_t i = 0; i < simulation->group_count; i++) {
    size_t k = i;
    for (; k > 0 && weight_of(simulation, order[k - 1]) < weight_of(simulation, i); k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

// "List price per accelerator, H200" of "h200.list_price".
static const char *input_label(const struct book *book, const char *name) {
  const struct scenario *scenario = book->scenario;
  const char *point = strchr(name, '.');
  const int d = model_find(scenario->model, point ? point + 1 : name);
  if (d < 0)
    return name;
  const char *label = scenario->model->declarations[d].label;
  for (size_t o = 0; point && o < scenario->option_count; o++) {
    const char *id = scenario->options[o].id;
    if (strlen(id) == (size_t)(point - name) && !strncmp(id, name, strlen(id)))
      return arena_printf(book->arena, "%s, %s", label, scenario->options[o].label);
  }
  return label;
}

// The labels of inputs that are drawn together.
static const char *group_label(const struct book *book, const char *group) {
  const char *labels = "";
  while (*group) {
    const size_t length = strcspn(group, ",");
    labels = arena_printf(book->arena, "%s%s%s", labels, *labels ? "; " : "",
                          input_label(book, arena_copy_n(book->arena, group, length)));
    group += length + strspn(group + length, ", ");
  }
  return labels;
}

static void write_influences(struct book *book, const char *title, bool total) {
  const struct simulation *simulation = book->sheets->simulation;
  const char *const texts[] = {title, total ? "total" : "first", "Unit"};
  const size_t *order = order_of(book);
  put_header(book, book->row, texts, 3);
  for (int i = 0; i <= last_column(simulation) - COLUMN_VALUE; i++)
    put_text(book, book->row, COLUMN_VALUE + i,
             i < (int)simulation->outcome_count ? name_of(book, &simulation->outcomes[i]) : "",
             TEXT_HEADER_RIGHT);
  book->row++;
  for (size_t k = 0; k < simulation->group_count; k++) {
    for (size_t i = 0; i < simulation->outcome_count; i++) {
      const struct influence *influence = &simulation->outcomes[i].influences[order[k]];
      const double share = total ? influence->total : influence->first;
      put_figure(book, book->row, COLUMN_VALUE + (int)i, share < 0 ? 0 : share, &unit_percent,
                 CELL_RESULT);
    }
    put_entry(book, group_label(book, simulation->groups[order[k]]), simulation->groups[order[k]],
              unit_percent.text);
  }
  book->row++;
}

static void write_all_influences(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  if (simulation->by_ranks) {
    write_influences(book, "Drivers of the variance (regression on ranks)", false);
    return;
  }
  if (!simulation->influence_draws)
    return;
  write_influences(book, "Drivers of the variance: each input by itself", false);
  write_influences(book, "The same, with interactions", true);
}

// ---- bars and charts

static int bar_column(struct book *book, const struct outcome *outcome, int which) {
  const int number = (int)(outcome - book->sheets->simulation->outcomes);
  return COLUMN_VALUE + number * BAR_COLUMNS + which;
}

// Lines of several costs have bars of different widths: their height is a density, unless a cost
// hardly varies and its width is rounding error.
static bool is_density(struct book *book, const struct outcome *outcome) {
  const double span = outcome->bars_high - outcome->bars_low;
  return outcome->kind == OUTCOME_COST && book->sheets->simulation->option_count > 1 &&
         span > 1e-6 * fabs(outcome->bars_high);
}

// "($E$90-$D$90)/COUNT($E$92:$E$141)": the low and high ends are above the first two bar columns.
static const char *bar_width(struct book *book, const struct outcome *outcome) {
  const int ends = book->sheets->simulation_rows.bars - 2,
            draws = bar_column(book, outcome, BAR_DRAWS);
  return arena_printf(
      book->arena, "(%s-%s)/COUNT(%s:%s)",
      cell_fixed(book, ends, bar_column(book, outcome, BAR_DRAWS)),
      cell_fixed(book, ends, bar_column(book, outcome, BAR_END)),
      cell_fixed(book, book->sheets->simulation_rows.bars, draws),
      cell_fixed(book, book->sheets->simulation_rows.bars + SIMULATE_BARS - 1, draws));
}

static void write_bar(struct book *book, const struct outcome *outcome, int k,
                      uint64_t draws_until) {
  struct arena *arena = book->arena;
  const int row = book->sheets->simulation_rows.bars + k, end = bar_column(book, outcome, BAR_END);
  const int head = book->sheets->simulation_rows.bars - 2;
  const double width = (outcome->bars_high - outcome->bars_low) / SIMULATE_BARS;
  const double done = (double)book->sheets->simulation->done, draws = (double)outcome->bars[k];
  const char *all = cell_fixed(book, book->sheets->simulation_rows.draws, COLUMN_VALUE);
  const char *before = k ? cell_here(book, row - 1, end) : cell_fixed(book, head, end);
  const struct unit *unit = unit_of(book, outcome);
  put_formula(book, row, end, outcome->bars_low + (k + 1) * width, CELL_FORMULA, unit, "=%s+%s",
              before, bar_width(book, outcome));
  put_figure(book, row, end + BAR_DRAWS, draws, &whole, CELL_RESULT);
  const char *count = cell_here(book, row, end + BAR_DRAWS);
  const bool density = is_density(book, outcome);
  put_formula_in(book, row, end + BAR_HEIGHT, draws / done / (density ? width : 1),
                 density ? formats_difference(&book->formats, CELL_FORMULA)
                         : formats_cell(&book->formats, CELL_FORMULA, &unit_percent),
                 "%s",
                 density ? arena_printf(arena, "=%s/%s/(%s)", count, all, bar_width(book, outcome))
                         : arena_printf(arena, "=%s/%s", count, all));
  const char *until =
      k ? cell_here(book, row - 1, end + BAR_CUMULATED)
        : arena_printf(arena, "%s/%s", cell_fixed(book, head, end + BAR_HEIGHT), all);
  put_formula(book, row, end + BAR_CUMULATED, (double)draws_until / done, CELL_FORMULA,
              &unit_percent, "=%s+%s/%s", until, count, all);
}

static void write_bars(struct book *book, const struct outcome *outcome) {
  const struct unit *unit = unit_of(book, outcome);
  const int end = bar_column(book, outcome, BAR_END), head = book->sheets->simulation_rows.bars - 2;
  static const char *const headings[] = {"Up to", "Draws", "Share", "Up to it"};
  put_figure(book, head, end, outcome->bars_low, unit, CELL_RESULT);
  put_figure(book, head, end + BAR_DRAWS, outcome->bars_high, unit, CELL_RESULT);
  put_figure(book, head, end + BAR_HEIGHT, (double)outcome->bars_below, &whole, CELL_RESULT);
  put_text(book, head - 1, end, name_of(book, outcome), TEXT_HEADER_RIGHT);
  put_text(book, head - 1, end + BAR_DRAWS, "", TEXT_HEADER_RIGHT);
  put_text(book, head - 1, end + BAR_HEIGHT, "", TEXT_HEADER_RIGHT);
  put_text(book, head - 1, end + BAR_CUMULATED, "", TEXT_HEADER_RIGHT);
  for (int i = 0; i < BAR_COLUMNS; i++)
    put_text(book, book->sheets->simulation_rows.bars - 1, end + i,
             i == BAR_HEIGHT && is_density(book, outcome) ? "Density" : headings[i],
             TEXT_HEADER_RIGHT);
  uint64_t until = outcome->bars_below;
  for (int k = 0; k < SIMULATE_BARS; k++) {
    until += outcome->bars[k];
    write_bar(book, outcome, k, until);
  }
}

static void write_histograms(struct book *book, int row) {
  const char *const head[] = {"Chart data", "histogram", ""};
  const char *const again[] = {"Bar", "", ""};
  book->sheets->simulation_rows.bars = row + 3;
  put_header(book, row, head, 3);
  put_text(book, row + 1, COLUMN_LABEL, "Low and high end of the bars, and draws below them",
           TEXT_PLAIN);
  put_text(book, row + 1, COLUMN_KEY, "ends", TEXT_NOTE);
  put_header(book, row + 2, again, 3);
  for (int k = 0; k < SIMULATE_BARS; k++) {
    const char *name = arena_printf(book->arena, "Bar %d", k + 1);
    put_text(book, book->sheets->simulation_rows.bars + k, COLUMN_LABEL, name, TEXT_PLAIN);
  }
  for (size_t i = 0; i < book->sheets->simulation->outcome_count; i++)
    if (is_charted(book, &book->sheets->simulation->outcomes[i]))
      write_bars(book, &book->sheets->simulation->outcomes[i]);
}

// A pair of charts side by side: which outcomes, and the title.
struct pair {
  enum outcome_kind kind;
  size_t option; // if it shows a single outcome
  bool all;      // every outcome of the kind, as lines
  const char *title;
};

static void add_series(struct book *book, lxw_chart *chart, const struct outcome *outcome,
                       int values, bool is_line) {
  const int first = book->sheets->simulation_rows.bars, last = first + SIMULATE_BARS - 1;
  const int end = bar_column(book, outcome, BAR_END), column = bar_column(book, outcome, values);
  const struct chart_range x = {SHEET_SIMULATION, first, end, last, end};
  const struct chart_range y = {SHEET_SIMULATION, first, column, last, column};
  const char *name = chart_label(book, outcome->option);
  if (!is_line) {
    chart_add_bars(chart, &x, &y, name, option_colour(outcome->option));
    return;
  }
  chart_series_set_marker_type(chart_add_line(chart, &x, &y, name, outcome->option),
                               LXW_CHART_MARKER_NONE);
}

static bool in_pair(const struct pair *pair, const struct outcome *outcome) {
  return outcome->kind == pair->kind && (pair->all || outcome->option == pair->option);
}

// 1, 2 or 5 times a power of ten, not below `least`.
static double round_step(double least) {
  const double ten = pow(10, floor(log10(least)));
  for (int i = 1; i <= 5; i += i == 1 ? 1 : 3)
    if (i * ten >= least)
      return i * ten;
  return 10 * ten;
}

// The format of an axis: as many decimals as distinguish its ticks; the ends of bars are not round.
static const char *axis_format(enum outcome_kind kind, double low, double high, bool at_ticks) {
  if (kind == OUTCOME_SAVING)
    return at_ticks && high - low > 0.1 ? "0 %" : "0.0 %";
  return high >= 100 ? "#,##0" : high >= 1 ? "0.00" : "0.000";
}

static void set_axes(struct book *book, lxw_chart *chart, const struct pair *pair, bool cumulated) {
  double low = INFINITY, high = -INFINITY;
  const char *unit = "";
  for (size_t i = 0; i < book->sheets->simulation->outcome_count; i++) {
    const struct outcome *outcome = &book->sheets->simulation->outcomes[i];
    if (!in_pair(pair, outcome))
      continue;
    low = fmin(low, outcome->bars_low);
    high = fmax(high, outcome->bars_high);
    unit = unit_of(book, outcome)->text;
  }
  const bool bars = !cumulated && !pair->all;
  const struct chart_axes axes = {
      pair->kind == OUTCOME_SAVING ? (bars ? "saving, up to" : "saving")
                                   : (bars ? arena_printf(book->arena, "%s, up to", unit) : unit),
      axis_format(pair->kind, low, high, !bars),
      cumulated || bars ? "share of draws" : "density of draws", bars ? "0.0 %" : "0 %"};
  chart_set_axes(chart, &axes);
  chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  chart_axis_set_min(chart->y_axis, 0);
  chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  if (cumulated || pair->all) {
    const double step = round_step((high - low) / TICKS);
    chart_axis_set_min(chart->x_axis, step * floor(low / step));
    chart_axis_set_max(chart->x_axis, step * ceil(high / step));
    chart_axis_set_major_unit(chart->x_axis, step);
    chart_axis_major_gridlines_set_visible(chart->x_axis, LXW_FALSE);
  } else {
    chart_label_every(chart->x_axis, SIMULATE_BARS / 5);
  }
  if (cumulated)
    chart_axis_set_max(chart->y_axis, 1);
  else if (pair->all) {
    chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_NONE);
    chart_axis_set_major_tick_mark(chart->y_axis, LXW_CHART_AXIS_TICK_MARK_NONE);
    chart_axis_major_gridlines_set_visible(chart->y_axis, LXW_FALSE);
  }
}

static void insert_chart(struct book *book, const struct pair *pair, int row, bool cumulated) {
  const bool lines = cumulated || pair->all;
  const char *title = arena_printf(book->arena, "%s: %s", pair->title,
                                   cumulated ? "share of draws up to it" : "how often");
  lxw_chart *chart =
      chart_begin(book, lines ? LXW_CHART_SCATTER_STRAIGHT : LXW_CHART_COLUMN, title);
  for (size_t i = 0; i < book->sheets->simulation->outcome_count; i++) {
    const struct outcome *outcome = &book->sheets->simulation->outcomes[i];
    if (in_pair(pair, outcome))
      add_series(book, chart, outcome, cumulated ? BAR_CUMULATED : BAR_HEIGHT, lines);
  }
  set_axes(book, chart, pair, cumulated);
  if (!lines)
    chart_set_series_gap(chart, 5);
  if (!pair->all)
    chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  chart_place(book, chart, row, cumulated, title);
}

static void insert_pair(struct book *book, const struct pair *pair, int *row) {
  insert_chart(book, pair, *row, false);
  insert_chart(book, pair, *row, true);
  *row += CHART_ROWS;
}

static void insert_charts(struct book *book, int row) {
  const struct simulation *simulation = book->sheets->simulation;
  struct arena *arena = book->arena;
  const bool several = simulation->option_count > 1;
  const struct pair costs = {OUTCOME_COST, 0, several, "Cost per token"};
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind != OUTCOME_SAVING || !is_charted(book, outcome))
      continue;
    const struct pair pair = {OUTCOME_SAVING, outcome->option, false,
                              arena_printf(arena, "Saving of %s", label_of(book, outcome))};
    insert_pair(book, &pair, &row);
  }
  if (varies(book, OUTCOME_COST, 0, true))
    insert_pair(book, &costs, &row);
}

// ---- the whole sheet

static const char *note_text(const struct simulation *simulation, struct arena *arena) {
  if (!simulation->done)
    return arena_printf(arena,
                        "Nothing is uncertain here: in case %s every ranged input has a single "
                        "value, so nothing was drawn. These figures do not follow the inputs.",
                        simulation->case_name);
  return arena_printf(arena,
                      "Draws made when this workbook was written, with %zu ranged input%s or "
                      "groups of correlated ones. These figures do not follow the inputs.",
                      simulation->group_count, simulation->group_count == 1 ? "" : "s");
}

// Writes how often each value was drawn, from which ranges, and the charts. Returns the last row to
// be printed.
static int write_draws(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  const int charts = book->row;
  int pairs = varies(book, OUTCOME_COST, 0, true);
  for (size_t i = 0; i < simulation->outcome_count; i++)
    pairs += simulation->outcomes[i].kind == OUTCOME_SAVING &&
             is_charted(book, &simulation->outcomes[i]);
  const int influences = book->row = charts + pairs * CHART_ROWS + 1;
  write_all_influences(book);
  const int last = book->row - 2;
  put_workings(book, book->row);
  write_histograms(book, book->row + 3);
  if (book->writing) {
    lxw_row_t breaks[] = {(lxw_row_t)charts, (lxw_row_t)influences, 0};
    worksheet_set_h_pagebreaks(book->sheet, breaks);
    insert_charts(book, charts);
  }
  return last;
}

void write_simulation(struct book *book) {
  const struct simulation *simulation = book->sheets->simulation;
  begin_sheet(book, "Simulation", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0, note_text(simulation, book->arena), TEXT_NOTE);
  int row = put_stamps(book, FIRST_STAMP_ROW);
  if (simulation->partial)
    put_text(book, row++, 0,
             arena_printf(book->arena, "PARTIAL: %" PRIu64 " of %" PRIu64 " draws",
                          simulation->done, simulation->draws),
             TEXT_STAMP);
  const char *few = simulation_few_draws(simulation, book->arena);
  if (*few)
    put_text(book, row++, 0, few, TEXT_STAMP);
  book->row = row + 1;
  write_run(book);
  write_costs(book);
  write_savings(book);
  write_constants(book);
  write_damages(book);
  write_notes(book);
  const int last = simulation->done ? write_draws(book) : book->row - 2;
  set_widths(book, (const int[]){52, 15, 11, 20}, 4,
             bar_column(book, simulation->outcomes, 0) +
                 BAR_COLUMNS * (int)simulation->outcome_count - 1);
  end_sheet(book, last, last_column(simulation));
}
