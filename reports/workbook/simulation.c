// Simulation: how sure the results are. The figures of the run are numbers, as no spreadsheet can
// draw them again alike; whether they still hold, and what the results are now, is live.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/charts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, FIRST_STAMP_ROW };
enum { PAIR_ROWS = 16, LEAST_COLUMNS = 3, BAR_COLUMNS = 4, TICKS = 6 };

// Columns of an outcome's bars.
enum { BAR_END, BAR_DRAWS, BAR_HEIGHT, BAR_CUMULATED };

static const struct unit percent = {.text = "%", .percents = 1};
static const struct unit whole = {.text = "draws", .counts = true};

static const char good[] = "current", bad[] = "stale";

struct writer {
  struct book *book;
  lxw_worksheet *sheet;
  const struct simulation *simulation;
  int row;      // the next
  int bars_row; // of the first bar
};

static const char *fixed(const struct writer *writer, int row, int column) {
  return cell_address(row, column, ADDRESS_ABSOLUTE, writer->book->arena);
}

static const char *here(const struct writer *writer, int row, int column) {
  return cell_address(row, column, ADDRESS_RELATIVE, writer->book->arena);
}

static const struct unit *unit_of(const struct writer *writer, const struct outcome *outcome) {
  const struct model *model = writer->book->scenario->model;
  return outcome->kind == OUTCOME_SAVING
             ? &percent
             : &model->declarations[model_find(model, writer->simulation->item)].unit;
}

// A saving over an option of another kind of throughput means nothing.
static bool is_shown(const struct writer *writer, const struct outcome *outcome) {
  return outcome->kind == OUTCOME_COST || writer->book->ranking->options[outcome->option].compared;
}

static const char *id_of(const struct writer *writer, const struct outcome *outcome) {
  return writer->simulation->options[outcome->option];
}

static const char *name_of(const struct writer *writer, const struct outcome *outcome) {
  return arena_printf(writer->book->arena, "%s %s", id_of(writer, outcome),
                      outcome->kind == OUTCOME_SAVING ? "saving" : "cost");
}

static void put_figure(const struct writer *writer, int row, int column, double value,
                       const struct unit *unit, enum cell_role role) {
  if (isfinite(value))
    put_number(writer->book, writer->sheet, row, column, value,
               formats_cell(&writer->book->formats, role, unit));
  else
    put_text(writer->book, writer->sheet, row, column, "-", TEXT_RIGHT);
}

static int last_column(const struct simulation *simulation) {
  const int outcomes = (int)simulation->outcome_count;
  return COLUMN_VALUE - 1 + (outcomes > LEAST_COLUMNS ? outcomes : LEAST_COLUMNS);
}

// ---- the run

static void put_entry(struct writer *writer, const char *label, const char *key, const char *unit) {
  put_text(writer->book, writer->sheet, writer->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_KEY, key, TEXT_NOTE);
  put_text(writer->book, writer->sheet, writer->row++, COLUMN_UNIT, unit, TEXT_PLAIN);
}

static void put_answer(const struct writer *writer, const char *text) {
  put_text(writer->book, writer->sheet, writer->row - 1, COLUMN_VALUE, text, TEXT_RIGHT);
}

static double rank_error(const struct simulation *simulation) {
  double worst = 0;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    worst = fmax(worst, simulation->outcomes[i].rank_error);
  return worst;
}

// The first two rows are filled in once Inputs is there.
static void write_run(struct writer *writer) {
  const struct simulation *simulation = writer->simulation;
  struct arena *arena = writer->book->arena;
  struct simulation_rows *rows = &writer->book->simulation_rows;
  *rows = (struct simulation_rows){.state = writer->row,
                                   .differing = writer->row + 1,
                                   .case_name = writer->row + 2,
                                   .draws = writer->row + 3,
                                   .cheapest = -1};
  put_entry(writer, "Do these results still hold?", "state", "-");
  put_entry(writer, "Inputs that differ from the run's, marked on Inputs", "differing", "inputs");
  put_entry(writer, "Case of the run", "case", "-");
  put_answer(writer, simulation->case_name);
  put_entry(writer, "Draws", "done", whole.text);
  put_figure(writer, writer->row - 1, COLUMN_VALUE, (double)simulation->done, &whole, CELL_RESULT);
  put_entry(writer, "Method and seed", "method", "-");
  put_answer(writer, simulation->done
                         ? arena_printf(arena, "%s, seed %" PRIu64,
                                        draw_method_names[simulation->method], simulation->seed)
                         : "-");
  put_entry(writer, "Largest error of the percentiles, as a share of the draws", "rank_error",
            percent.text);
  put_figure(writer, writer->row - 1, COLUMN_VALUE, rank_error(simulation), &percent, CELL_RESULT);
  writer->row++;
}

// ---- percentiles

// A block's header: options from COLUMN_VALUE on.
static void write_options(struct writer *writer, const char *title, const char *key) {
  const char *const texts[] = {title, key, "Unit"};
  put_header(writer->book, writer->sheet, writer->row, texts, 3);
  for (int i = 0; i <= last_column(writer->simulation) - COLUMN_VALUE; i++)
    put_text(writer->book, writer->sheet, writer->row, COLUMN_VALUE + i,
             i < (int)writer->simulation->option_count ? writer->simulation->options[i] : "",
             TEXT_HEADER_RIGHT);
  writer->row++;
}

static double percentile_of(const struct outcome *outcome, int level) {
  return outcome->percentiles[level];
}
static double mean_of(const struct outcome *outcome, int unused) {
  (void)unused;
  return outcome->mean;
}
// A figure of every outcome of a kind, each in its option's column.
static void write_figures(struct writer *writer, enum outcome_kind kind, const char *label,
                          const char *key, double (*figure)(const struct outcome *, int),
                          int argument, enum cell_role role) {
  const struct simulation *simulation = writer->simulation;
  const struct unit *unit = NULL;
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind != kind || !is_shown(writer, outcome))
      continue;
    unit = unit_of(writer, outcome);
    put_figure(writer, writer->row, COLUMN_VALUE + (int)outcome->option, figure(outcome, argument),
               unit, role);
  }
  put_entry(writer, label, key, unit ? unit->text : "");
}

// An error has digits of its own.
static void write_errors(struct writer *writer, enum outcome_kind kind) {
  struct book *book = writer->book;
  const struct simulation *simulation = writer->simulation;
  const char *unit = "";
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    const int column = COLUMN_VALUE + (int)outcome->option;
    if (outcome->kind != kind || !is_shown(writer, outcome))
      continue;
    unit = unit_of(writer, outcome)->text;
    if (isfinite(outcome->standard_error))
      put_number(book, writer->sheet, writer->row, column, outcome->standard_error,
                 formats_small(&book->formats, CELL_RESULT, unit_of(writer, outcome)));
    else
      put_text(book, writer->sheet, writer->row, column, "-", TEXT_RIGHT);
  }
  put_entry(writer, "  its standard error", "standard_error", unit);
}

static void write_percentiles(struct writer *writer, enum outcome_kind kind) {
  struct arena *arena = writer->book->arena;
  for (int l = 0; l < SIMULATE_LEVELS; l++) {
    const double level = 100 * simulate_levels[l];
    write_figures(writer, kind, arena_printf(arena, "Below this in %.0f %% of draws", level),
                  arena_printf(arena, "P%.0f", level), percentile_of, l, CELL_RESULT);
  }
  write_figures(writer, kind, "Mean", "mean", mean_of, 0, CELL_RESULT);
  write_errors(writer, kind);
}

static void write_costs(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  const int item = model_find(scenario->model, writer->simulation->item);
  const struct declaration *cost = &scenario->model->declarations[item];
  write_options(writer, cost->label, "cost");
  for (size_t o = 0; o < scenario->option_count; o++)
    put_link(book, writer->sheet, writer->row, COLUMN_VALUE + (int)o,
             option_name(&book->options[o], item), shown_value(book, &book->options[o], item, 0),
             &cost->unit);
  put_entry(writer, "Live: as Inputs says now", "live", cost->unit.text);
  book->simulation_rows.cost_p5 = writer->row;
  book->simulation_rows.cost_p95 = writer->row + SIMULATE_LEVELS - 1;
  write_percentiles(writer, OUTCOME_COST);
  if (!ranking_may_rank(book->ranking)) {
    writer->row++;
    return;
  }
  for (size_t o = 0; o < scenario->option_count; o++)
    put_figure(writer, writer->row, COLUMN_VALUE + (int)o, writer->simulation->cheapest[o],
               &percent, CELL_RESULT);
  book->simulation_rows.cheapest = writer->row;
  put_entry(writer, "Cheapest of all, share of draws", "cheapest", percent.text);
  writer->row++;
}

static void write_savings(struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  if (scenario->option_count < 2)
    return;
  write_options(writer, arena_printf(book->arena, "Saving per token against %s", baseline->id),
                "saving");
  for (size_t o = 0; o < scenario->option_count; o++) {
    const int column = COLUMN_VALUE + (int)o;
    if (o == scenario->baseline || !book->ranking->options[o].compared)
      continue;
    const double saving = book->ranking->options[o].saving;
    put_formula(book, writer->sheet, writer->row, column,
                arena_printf(book->arena, "=%s",
                             sheet_address(book, book->outputs->name, book->rows.saving, column,
                                           ADDRESS_ABSOLUTE)),
                isfinite(saving) ? saving : 0, formats_cell(&book->formats, CELL_LINK, &percent));
  }
  put_entry(writer, "Live: as Inputs says now", "live", percent.text);
  write_percentiles(writer, OUTCOME_SAVING);
  writer->row++;
}

// ---- influences

// What an input or group does to the savings, or with a single option to the cost.
static double weight_of(const struct simulation *simulation, size_t group) {
  double weight = 0;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    if (simulation->option_count == 1 || simulation->outcomes[i].kind == OUTCOME_SAVING)
      weight = fmax(weight, simulation->outcomes[i].influences[group].first);
  return weight;
}

// The heaviest first.
static size_t *order_of(const struct writer *writer) {
  const struct simulation *simulation = writer->simulation;
  size_t *order = arena_array(writer->book->arena, simulation->group_count, sizeof *order);
  for (size_t i = 0; i < simulation->group_count; i++) {
    size_t k = i;
    for (; k > 0 && weight_of(simulation, order[k - 1]) < weight_of(simulation, i); k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

static void write_influences(struct writer *writer, const char *title, bool total) {
  struct book *book = writer->book;
  const struct simulation *simulation = writer->simulation;
  const char *const texts[] = {title, total ? "total" : "first", "Unit"};
  const size_t *order = order_of(writer);
  put_header(book, writer->sheet, writer->row, texts, 3);
  for (int i = 0; i <= last_column(simulation) - COLUMN_VALUE; i++)
    put_text(book, writer->sheet, writer->row, COLUMN_VALUE + i,
             i < (int)simulation->outcome_count ? name_of(writer, &simulation->outcomes[i]) : "",
             TEXT_HEADER_RIGHT);
  writer->row++;
  for (size_t k = 0; k < simulation->group_count; k++) {
    for (size_t i = 0; i < simulation->outcome_count; i++) {
      const struct influence *influence = &simulation->outcomes[i].influences[order[k]];
      const double share = total ? influence->total : influence->first;
      put_figure(writer, writer->row, COLUMN_VALUE + (int)i, share < 0 ? 0 : share, &percent,
                 CELL_RESULT);
    }
    put_entry(writer, simulation->groups[order[k]], "", percent.text);
  }
  writer->row++;
}

static void write_all_influences(struct writer *writer) {
  const struct simulation *simulation = writer->simulation;
  if (simulation->by_ranks) {
    write_influences(writer, "What the variance comes from (regression on ranks)", false);
    return;
  }
  if (!simulation->influence_draws)
    return;
  write_influences(writer, "What the variance comes from: each input alone", false);
  write_influences(writer, "The same, each in company with all others", true);
}

// ---- bars and charts

static int bar_column(const struct writer *writer, const struct outcome *outcome, int which) {
  const int number = (int)(outcome - writer->simulation->outcomes);
  return COLUMN_VALUE + number * BAR_COLUMNS + which;
}

// Lines of several costs have bars of unlike width: their height is a density, but where a cost
// hardly varies and its width is rounding error.
static bool is_density(const struct writer *writer, const struct outcome *outcome) {
  const double span = outcome->bars_high - outcome->bars_low;
  return outcome->kind == OUTCOME_COST && writer->simulation->option_count > 1 &&
         span > 1e-6 * fabs(outcome->bars_high);
}

// "($E$90-$D$90)/COUNT($E$92:$E$141)": low and high end stand above the first two bar columns.
static const char *bar_width(const struct writer *writer, const struct outcome *outcome) {
  const int ends = writer->bars_row - 2, draws = bar_column(writer, outcome, BAR_DRAWS);
  return arena_printf(writer->book->arena, "(%s-%s)/COUNT(%s:%s)",
                      fixed(writer, ends, bar_column(writer, outcome, BAR_DRAWS)),
                      fixed(writer, ends, bar_column(writer, outcome, BAR_END)),
                      fixed(writer, writer->bars_row, draws),
                      fixed(writer, writer->bars_row + SIMULATE_BARS - 1, draws));
}

static void write_bar(const struct writer *writer, const struct outcome *outcome, int k,
                      uint64_t draws_until) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const int row = writer->bars_row + k, end = bar_column(writer, outcome, BAR_END);
  const int head = writer->bars_row - 2;
  const double width = (outcome->bars_high - outcome->bars_low) / SIMULATE_BARS;
  const double done = (double)writer->simulation->done, draws = (double)outcome->bars[k];
  const char *all = fixed(writer, book->simulation_rows.draws, COLUMN_VALUE);
  const char *before = k ? here(writer, row - 1, end) : fixed(writer, head, end);
  const struct unit *unit = unit_of(writer, outcome);
  put_formula(book, writer->sheet, row, end,
              arena_printf(arena, "=%s+%s", before, bar_width(writer, outcome)),
              outcome->bars_low + (k + 1) * width,
              formats_cell(&book->formats, CELL_FORMULA, unit));
  put_figure(writer, row, end + BAR_DRAWS, draws, &whole, CELL_RESULT);
  const char *count = here(writer, row, end + BAR_DRAWS);
  const bool density = is_density(writer, outcome);
  put_formula(book, writer->sheet, row, end + BAR_HEIGHT,
              density ? arena_printf(arena, "=%s/%s/(%s)", count, all, bar_width(writer, outcome))
                      : arena_printf(arena, "=%s/%s", count, all),
              draws / done / (density ? width : 1),
              density ? formats_difference(&book->formats, CELL_FORMULA)
                      : formats_cell(&book->formats, CELL_FORMULA, &percent));
  const char *until = k ? here(writer, row - 1, end + BAR_CUMULATED)
                        : arena_printf(arena, "%s/%s", fixed(writer, head, end + BAR_HEIGHT), all);
  put_formula(book, writer->sheet, row, end + BAR_CUMULATED,
              arena_printf(arena, "=%s+%s/%s", until, count, all), (double)draws_until / done,
              formats_cell(&book->formats, CELL_FORMULA, &percent));
}

static void write_bars(const struct writer *writer, const struct outcome *outcome) {
  struct book *book = writer->book;
  const struct unit *unit = unit_of(writer, outcome);
  const int end = bar_column(writer, outcome, BAR_END), head = writer->bars_row - 2;
  static const char *const headings[] = {"Up to", "Draws", "Share", "Up to it"};
  put_figure(writer, head, end, outcome->bars_low, unit, CELL_RESULT);
  put_figure(writer, head, end + BAR_DRAWS, outcome->bars_high, unit, CELL_RESULT);
  put_figure(writer, head, end + BAR_HEIGHT, (double)outcome->bars_below, &whole, CELL_RESULT);
  put_text(book, writer->sheet, head - 1, end, name_of(writer, outcome), TEXT_HEADER_RIGHT);
  put_text(book, writer->sheet, head - 1, end + BAR_DRAWS, "", TEXT_HEADER_RIGHT);
  put_text(book, writer->sheet, head - 1, end + BAR_HEIGHT, "", TEXT_HEADER_RIGHT);
  put_text(book, writer->sheet, head - 1, end + BAR_CUMULATED, "", TEXT_HEADER_RIGHT);
  for (int i = 0; i < BAR_COLUMNS; i++)
    put_text(book, writer->sheet, writer->bars_row - 1, end + i,
             i == BAR_HEIGHT && is_density(writer, outcome) ? "Density" : headings[i],
             TEXT_HEADER_RIGHT);
  uint64_t until = outcome->bars_below;
  for (int k = 0; k < SIMULATE_BARS; k++) {
    until += outcome->bars[k];
    write_bar(writer, outcome, k, until);
  }
}

static void write_histograms(struct writer *writer, int row) {
  struct book *book = writer->book;
  const char *const head[] = {"What the charts show", "histogram", ""};
  const char *const again[] = {"Bar", "", ""};
  writer->bars_row = row + 3;
  put_header(book, writer->sheet, row, head, 3);
  put_text(book, writer->sheet, row + 1, COLUMN_LABEL,
           "Low and high end of the bars, and the draws below them", TEXT_PLAIN);
  put_text(book, writer->sheet, row + 1, COLUMN_KEY, "ends", TEXT_NOTE);
  put_header(book, writer->sheet, row + 2, again, 3);
  for (int k = 0; k < SIMULATE_BARS; k++) {
    const char *name = arena_printf(book->arena, "Bar %d", k + 1);
    put_text(book, writer->sheet, writer->bars_row + k, COLUMN_LABEL, name, TEXT_PLAIN);
  }
  for (size_t i = 0; i < writer->simulation->outcome_count; i++)
    write_bars(writer, &writer->simulation->outcomes[i]);
}

// A pair of charts side by side: which outcomes, and what is above them.
struct pair {
  enum outcome_kind kind;
  size_t option; // of a single outcome
  bool all;      // every outcome of the kind, as lines
  const char *title;
};

static void add_series(const struct writer *writer, lxw_chart *chart, const struct outcome *outcome,
                       int values, bool is_line) {
  const lxw_row_t first = (lxw_row_t)writer->bars_row, last = first + SIMULATE_BARS - 1;
  const lxw_col_t end = (lxw_col_t)bar_column(writer, outcome, BAR_END);
  const lxw_col_t column = (lxw_col_t)bar_column(writer, outcome, values);
  const lxw_color_t colour = option_colour(outcome->option);
  lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
  chart_series_set_categories(series, writer->sheet->name, first, end, last, end);
  chart_series_set_values(series, writer->sheet->name, first, column, last, column);
  chart_series_set_name(series, id_of(writer, outcome));
  lxw_chart_line line = {.color = colour, .width = 2};
  lxw_chart_fill fill = {.color = colour};
  lxw_chart_marker marker = {.type = LXW_CHART_MARKER_NONE};
  if (is_line)
    chart_series_set_line(series, &line);
  else
    chart_series_set_fill(series, &fill);
  if (is_line)
    chart_series_set_marker_type(series, marker.type);
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

// As many decimals as tell the ticks apart.
static const char *axis_format(enum outcome_kind kind, double low, double high) {
  if (kind == OUTCOME_SAVING)
    return high - low > 0.1 ? "0%" : "0.0%";
  return high >= 100 ? "#,##0" : high >= 1 ? "0.00" : "0.000";
}

static void set_axes(const struct writer *writer, lxw_chart *chart, const struct pair *pair,
                     bool cumulated) {
  lxw_chart_font plain = {.bold = LXW_FALSE, .size = 9};
  lxw_chart_line grid = {.color = 0xD9D9D9};
  double low = INFINITY, high = -INFINITY;
  const char *unit = "";
  for (size_t i = 0; i < writer->simulation->outcome_count; i++) {
    const struct outcome *outcome = &writer->simulation->outcomes[i];
    if (!in_pair(pair, outcome))
      continue;
    low = fmin(low, outcome->bars_low);
    high = fmax(high, outcome->bars_high);
    unit = unit_of(writer, outcome)->text;
  }
  chart_axis_major_gridlines_set_line(chart->y_axis, &grid);
  chart_axis_set_num_format(chart->x_axis, axis_format(pair->kind, low, high));
  chart_axis_set_name(chart->x_axis, pair->kind == OUTCOME_SAVING ? "saving" : unit);
  chart_axis_set_name_font(chart->x_axis, &plain);
  chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  chart_axis_set_num_format(chart->y_axis, "0%");
  chart_axis_set_min(chart->y_axis, 0);
  chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  if (cumulated || pair->all) {
    const double step = round_step((high - low) / TICKS);
    chart_axis_set_min(chart->x_axis, step * floor(low / step));
    chart_axis_set_max(chart->x_axis, step * ceil(high / step));
    chart_axis_set_major_unit(chart->x_axis, step);
    chart_axis_major_gridlines_set_visible(chart->x_axis, LXW_FALSE);
  } else {
    chart_axis_set_interval_unit(chart->x_axis, SIMULATE_BARS / 5);
    chart_axis_set_interval_tick(chart->x_axis, SIMULATE_BARS / 5);
  }
  if (cumulated)
    chart_axis_set_max(chart->y_axis, 1);
  else if (pair->all) {
    chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_NONE);
    chart_axis_major_gridlines_set_visible(chart->y_axis, LXW_FALSE);
  }
}

static void insert_chart(const struct writer *writer, const struct pair *pair, int row,
                         bool cumulated) {
  const bool lines = cumulated || pair->all;
  lxw_chart *chart = workbook_add_chart(writer->book->workbook,
                                        lines ? LXW_CHART_SCATTER_STRAIGHT : LXW_CHART_COLUMN);
  for (size_t i = 0; i < writer->simulation->outcome_count; i++) {
    const struct outcome *outcome = &writer->simulation->outcomes[i];
    if (in_pair(pair, outcome))
      add_series(writer, chart, outcome, cumulated ? BAR_CUMULATED : BAR_HEIGHT, lines);
  }
  lxw_chart_font font = {.size = 11};
  const char *title = arena_printf(writer->book->arena, "%s: %s", pair->title,
                                   cumulated ? "share of draws up to it" : "how often");
  chart_title_set_name(chart, title);
  chart_title_set_name_font(chart, &font);
  set_axes(writer, chart, pair, cumulated);
  if (!lines)
    chart_set_series_gap(chart, 5);
  if (pair->all)
    chart_legend_set_position(chart, LXW_CHART_LEGEND_BOTTOM);
  else
    chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  lxw_chart_options options = {
      .x_offset = cumulated ? 500 : 5, .y_offset = 8, .description = (char *)title};
  worksheet_insert_chart_opt(writer->sheet, (lxw_row_t)row, COLUMN_LABEL, chart, &options);
}

static void insert_pair(struct writer *writer, const struct pair *pair, int *row) {
  insert_chart(writer, pair, *row, false);
  insert_chart(writer, pair, *row, true);
  *row += PAIR_ROWS;
}

static void insert_charts(struct writer *writer, int row) {
  const struct simulation *simulation = writer->simulation;
  struct arena *arena = writer->book->arena;
  const bool several = simulation->option_count > 1;
  const struct pair costs = {OUTCOME_COST, 0, several, "Cost per token"};
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind != OUTCOME_SAVING || !is_shown(writer, outcome))
      continue;
    const struct pair pair = {OUTCOME_SAVING, outcome->option, false,
                              arena_printf(arena, "Saving of %s", id_of(writer, outcome))};
    insert_pair(writer, &pair, &row);
  }
  insert_pair(writer, &costs, &row);
}

// ---- the whole

static void set_widths(const struct writer *writer) {
  const int last = bar_column(writer, writer->simulation->outcomes, 0) +
                   BAR_COLUMNS * (int)writer->simulation->outcome_count - 1;
  worksheet_set_column(writer->sheet, COLUMN_LABEL, COLUMN_LABEL, 52, NULL);
  worksheet_set_column(writer->sheet, COLUMN_KEY, COLUMN_KEY, 15, NULL);
  worksheet_set_column(writer->sheet, COLUMN_UNIT, COLUMN_UNIT, 11, NULL);
  worksheet_set_column(writer->sheet, COLUMN_VALUE, (lxw_col_t)last, 20, NULL);
}

static const char *note_text(const struct simulation *simulation, struct arena *arena) {
  if (!simulation->done)
    return arena_printf(
        arena,
        "Nothing is uncertain here: in case %s every ranged input has one value, and "
        "pertoken drew nothing. These figures do not move with Inputs.",
        simulation->case_name);
  return arena_printf(arena,
                      "What pertoken drew when it wrote this workbook, with %zu ranged inputs or "
                      "groups of correlated ones. These figures do not move with Inputs.",
                      simulation->group_count);
}

// How often which values were drawn, what from, and the charts of it. The last row to be printed.
static int write_draws(struct writer *writer) {
  const struct simulation *simulation = writer->simulation;
  const int charts = writer->row;
  int pairs = 1;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    pairs += simulation->outcomes[i].kind == OUTCOME_SAVING &&
             is_shown(writer, &simulation->outcomes[i]);
  const int influences = writer->row = charts + pairs * PAIR_ROWS;
  write_all_influences(writer);
  write_histograms(writer, writer->row);
  insert_charts(writer, charts);
  lxw_row_t breaks[] = {(lxw_row_t)charts, (lxw_row_t)influences, 0};
  worksheet_set_h_pagebreaks(writer->sheet, breaks);
  return writer->bars_row - 5; // without the bars
}

void write_simulation(struct book *book) {
  const struct simulation *simulation = book->simulation;
  struct writer writer = {.book = book, .sheet = book->simulation_sheet, .simulation = simulation};
  begin_sheet(book, writer.sheet, "Simulation", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  put_text(book, writer.sheet, NOTE_ROW, 0, note_text(simulation, book->arena), TEXT_NOTE);
  int row = put_stamps(book, writer.sheet, FIRST_STAMP_ROW);
  if (simulation->partial)
    put_text(book, writer.sheet, row++, 0,
             arena_printf(book->arena, "PARTIAL: %" PRIu64 " of %" PRIu64 " draws",
                          simulation->done, simulation->draws),
             TEXT_STAMP);
  writer.row = row + 1;
  write_run(&writer);
  write_costs(&writer);
  write_savings(&writer);
  const int last = simulation->done ? write_draws(&writer) : writer.row - 2;
  set_widths(&writer);
  end_sheet(writer.sheet, last, last_column(simulation));
}

// How many live inputs differ from the run's, and whether that, or the case, makes it stale.
void write_simulation_state(struct book *book) {
  struct arena *arena = book->arena;
  const struct simulation_rows *rows = &book->simulation_rows;
  const struct input_area *area = &book->area;
  lxw_worksheet *sheet = book->simulation_sheet;
  static const struct unit inputs = {.text = "inputs", .counts = true};
  const char *now =
      sheet_address(book, book->inputs->name, area->first_row, COLUMN_LIVE, ADDRESS_ABSOLUTE);
  const char *then =
      sheet_address(book, book->inputs->name, area->first_row, area->run_column, ADDRESS_ABSOLUTE);
  put_formula(book, sheet, rows->differing, COLUMN_VALUE,
              arena_printf(arena, "=SUMPRODUCT((%s:%s<>%s:%s)*1)", now,
                           cell_address(area->last_row, COLUMN_LIVE, ADDRESS_ABSOLUTE, arena), then,
                           cell_address(area->last_row, area->run_column, ADDRESS_ABSOLUTE, arena)),
              0, formats_cell(&book->formats, CELL_FORMULA, &inputs));
  book->case_name->used = true;
  put_state(book, sheet, rows->state, COLUMN_VALUE,
            arena_printf(arena, "=IF(AND(%s=0,%s&\"\"=%s),\"%s\",\"%s\")",
                         cell_address(rows->differing, COLUMN_VALUE, ADDRESS_ABSOLUTE, arena),
                         book->case_name->text,
                         cell_address(rows->case_name, COLUMN_VALUE, ADDRESS_ABSOLUTE, arena), good,
                         bad),
            good, bad, true);
}

const char *simulation_state(const struct book *book) {
  return sheet_address(book, book->simulation_sheet->name, book->simulation_rows.state,
                       COLUMN_VALUE, ADDRESS_ABSOLUTE);
}

const char *simulation_cheapest(const struct book *book, size_t option) {
  return sheet_address(book, book->simulation_sheet->name, book->simulation_rows.cheapest,
                       COLUMN_VALUE + (int)option, ADDRESS_ABSOLUTE);
}
