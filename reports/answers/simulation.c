#include "reports/answers/simulation.h"

#include "reports/print/csv_out.h"
#include "reports/print/grid.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

static const char *kind_name(const struct outcome *outcome) {
  return outcome->kind == OUTCOME_COST ? "cost" : "saving";
}

static const char *unit_name(const struct simulation *simulation, const struct outcome *outcome) {
  return outcome->kind == OUTCOME_COST ? simulation->unit : "%";
}

// As the unit has it: a saving in per cent.
static double shown(const struct outcome *outcome, double value) {
  return outcome->kind == OUTCOME_COST ? value : 100 * value;
}

// ---- the table

struct view {
  const struct simulation *simulation;
  const struct style *style;
  struct arena *arena;
};

static size_t outcomes_of(const struct simulation *simulation, enum outcome_kind kind,
                          const struct outcome **list) {
  size_t count = 0;
  for (size_t i = 0; i < simulation->outcome_count; i++)
    if (simulation->outcomes[i].kind == kind)
      list[count++] = &simulation->outcomes[i];
  return count;
}

static const char *figure(const struct outcome *outcome, double value, struct arena *arena) {
  if (!isfinite(value))
    return "-";
  if (fabs(value) >= 1e6)
    return number_significant(shown(outcome, value), 4, arena);
  return outcome->kind == OUTCOME_COST ? number_fixed(value, fabs(value) < 1000 ? 4 : 0, arena)
                                       : number_fixed(shown(outcome, value), 1, arena);
}

static void add_row(struct grid *grid, const char *label, const struct outcome *const *list,
                    size_t count, double (*value)(const struct outcome *, int), int argument,
                    enum emphasis emphasis) {
  struct cell *cells = grid_row(grid);
  cells[0] = (struct cell){label, emphasis};
  for (size_t i = 0; i < count; i++)
    cells[1 + i] = (struct cell){figure(list[i], value(list[i], argument), grid->arena), emphasis};
}

static double percentile(const struct outcome *outcome, int level) {
  return outcome->percentiles[level];
}
static double mean(const struct outcome *outcome, int unused) {
  (void)unused;
  return outcome->mean;
}

// An error has digits of its own.
static void add_errors(struct grid *grid, const struct outcome *const *list, size_t count) {
  struct cell *cells = grid_row(grid);
  cells[0].text = "  its standard error";
  for (size_t i = 0; i < count; i++)
    cells[1 + i].text = number_significant(shown(list[i], list[i]->standard_error), 2, grid->arena);
}

static void add_shares(const struct view *view, struct grid *grid, const char *label,
                       const double *shares) {
  struct cell *cells = grid_row(grid);
  cells[0] = (struct cell){label, EMPHASIS_STRONG};
  for (size_t o = 0; o < view->simulation->option_count; o++)
    cells[1 + o] = (struct cell){
        isnan(shares[o]) ? "-" : number_fixed(100 * shares[o], 1, grid->arena), EMPHASIS_STRONG};
}

// Does an option serve the demand in some draws and not in others?
static bool ranks_vary(const struct simulation *simulation) {
  for (size_t o = 0; o < simulation->option_count; o++)
    if (simulation->ranked[o] > 0 && simulation->ranked[o] < 1)
      return true;
  return false;
}

static void add_ranks(const struct view *view, struct grid *grid) {
  const struct simulation *simulation = view->simulation;
  if (ranks_vary(simulation))
    add_shares(view, grid, "Serves the demand in, % of draws", simulation->ranked);
  if (!*simulation->why_none)
    add_shares(view, grid, "Cheapest in, % of draws", simulation->cheapest);
}

// Why nobody is the cheapest, or who never is.
static void print_not_ranked(const struct view *view) {
  const struct simulation *simulation = view->simulation;
  bool some = simulation->undecided > 0;
  for (size_t o = 0; o < simulation->option_count; o++)
    some |= *simulation->not_ranked[o] != 0;
  if (!some || simulation->option_count == 1)
    return;
  putc('\n', view->style->out);
  if (*simulation->why_none)
    style_paragraph(view->style, "Not ranked: ", simulation->why_none);
  else if (simulation->undecided > 0)
    style_paragraph(view->style, "Not ranked: ",
                    arena_printf(view->arena,
                                 "in %s %% of the draws fewer than two options serve the demand",
                                 number_significant(100 * simulation->undecided, 3, view->arena)));
  for (size_t o = 0; o < simulation->option_count; o++)
    if (*simulation->not_ranked[o])
      style_paragraph(
          view->style, "Not ranked: ",
          arena_printf(view->arena, "%s: %s", simulation->options[o], simulation->not_ranked[o]));
}

static void print_outcomes(const struct view *view, enum outcome_kind kind, const char *heading) {
  const struct simulation *simulation = view->simulation;
  const struct outcome **list =
      arena_array(view->arena, simulation->outcome_count, sizeof(struct outcome *));
  const size_t count = outcomes_of(simulation, kind, list);
  if (!count)
    return;
  struct grid *grid = grid_new(1 + (int)count, view->arena);
  struct cell *head = grid_row(grid);
  head[0] = (struct cell){heading, EMPHASIS_STRONG};
  for (size_t i = 0; i < count; i++)
    head[1 + i] = (struct cell){simulation->options[list[i]->option], EMPHASIS_STRONG};
  grid_rule(grid);
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    add_row(grid,
            arena_printf(view->arena, "P%.0f: below in %.0f %%", 100 * simulate_levels[level],
                         100 * simulate_levels[level]),
            list, count, percentile, level, level == 3 ? EMPHASIS_STRONG : EMPHASIS_NONE);
  add_row(grid, "Mean", list, count, mean, 0, EMPHASIS_NONE);
  add_errors(grid, list, count);
  if (kind == OUTCOME_COST && simulation->option_count > 1)
    add_ranks(view, grid);
  putc('\n', view->style->out);
  grid_print(grid, view->style);
}

// "▁▂▅█▆▃▁": counts as columns of eighths; nothing without UTF-8.
static void print_histogram(const struct view *view, const struct outcome *outcome) {
  static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  uint64_t most = 1;
  for (int i = 0; i < SIMULATE_BARS; i++)
    most = outcome->bars[i] > most ? outcome->bars[i] : most;
  const char *text = "";
  for (int i = 0; i < SIMULATE_BARS; i++) {
    const uint64_t height = (outcome->bars[i] * 8 + most - 1) / most;
    text = arena_printf(view->arena, "%s%s", text, eighths[height]);
  }
  if (!view->style->utf8)
    return;
  fprintf(view->style->out, "\n%s\n%-*s%s %s\n", text, SIMULATE_BARS - 6,
          figure(outcome, outcome->bars_low, view->arena),
          figure(outcome, outcome->bars_high, view->arena), unit_name(view->simulation, outcome));
}

static bool matters(const struct influence *influence) {
  return influence->first >= 0.001 || influence->total >= 0.001;
}

static const char *share_text(double share, struct arena *arena) {
  return isfinite(share) ? number_fixed(100 * fmax(share, 0), 1, arena) : "-";
}

// The groups of inputs by what they do, the largest first.
static size_t *order_of(const struct view *view, const struct outcome *outcome) {
  const size_t count = view->simulation->group_count;
  size_t *order = arena_array(view->arena, count, sizeof *order);
  for (size_t i = 0; i < count; i++) {
    size_t k = i;
    for (; k > 0 && outcome->influences[order[k - 1]].first < outcome->influences[i].first; k--)
      order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

static void print_influences(const struct view *view, const struct outcome *outcome) {
  const struct simulation *simulation = view->simulation;
  const size_t *order = order_of(view, outcome);
  struct grid *grid = grid_new(3, view->arena);
  struct cell *head = grid_row(grid);
  const char *what = outcome->kind == OUTCOME_COST ? "cost" : "saving";
  head[0] = (struct cell){arena_printf(view->arena, "What the %s of %s varies with, %% of variance",
                                       what, simulation->options[outcome->option]),
                          EMPHASIS_STRONG};
  head[1] = (struct cell){"alone", EMPHASIS_STRONG};
  head[2] = (struct cell){"in company", EMPHASIS_STRONG};
  grid_rule(grid);
  for (size_t i = 0; i < simulation->group_count; i++) {
    const struct influence *influence = &outcome->influences[order[i]];
    if (!matters(influence))
      continue;
    struct cell *cells = grid_row(grid);
    cells[0].text = simulation->groups[order[i]];
    cells[1].text = share_text(influence->first, view->arena);
    cells[2].text = share_text(influence->total, view->arena);
  }
  putc('\n', view->style->out);
  grid_print(grid, view->style);
}

// Of each saving, or with a single option of its cost.
static void print_details(const struct view *view) {
  const struct simulation *simulation = view->simulation;
  const enum outcome_kind kind = simulation->option_count > 1 ? OUTCOME_SAVING : OUTCOME_COST;
  for (size_t i = 0; i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind != kind)
      continue;
    if (simulation->option_count <= 2)
      print_histogram(view, outcome);
    if (simulation->influence_draws || simulation->by_ranks)
      print_influences(view, outcome);
  }
}

static void table_print(const struct simulation *simulation, const char *title, FILE *out,
                        struct arena *arena) {
  const struct style style = style_of(out, arena);
  const struct view view = {simulation, &style, arena};
  style_block(&style, EMPHASIS_STRONG, title);
  style_paragraph(
      &style, "",
      arena_printf(arena, "case %s, %s draws (%s, seed %llu), %zu ranged inputs or groups",
                   simulation->case_name, number_fixed((double)simulation->done, 0, arena),
                   draw_method_names[simulation->method], (unsigned long long)simulation->seed,
                   simulation->group_count));
  if (*simulation->stamp)
    style_block(&style, EMPHASIS_ALARM, simulation->stamp);
  if (simulation->partial)
    style_block(&style, EMPHASIS_ALARM,
                arena_printf(arena, "PARTIAL: %s of %s draws",
                             number_fixed((double)simulation->done, 0, arena),
                             number_fixed((double)simulation->draws, 0, arena)));
  print_outcomes(&view, OUTCOME_COST,
                 arena_printf(arena, "%s, %s", simulation->item, simulation->unit));
  print_outcomes(
      &view, OUTCOME_SAVING,
      arena_printf(arena, "Saving against %s, %%", simulation->options[simulation->baseline]));
  print_not_ranked(&view);
  print_details(&view);
  if (simulation->note_count)
    putc('\n', out);
  for (size_t i = 0; i < simulation->note_count; i++)
    style_paragraph(&style, "Note: ", simulation->notes[i]);
}

// ---- CSV

struct lines {
  struct csv_out out;
  const char *kind, *option, *unit;
};

static void put_line(struct lines *lines, const char *statistic, double value) {
  csv_out_text(&lines->out, lines->kind);
  csv_out_text(&lines->out, lines->option);
  csv_out_text(&lines->out, lines->unit);
  csv_out_text(&lines->out, statistic);
  if (isfinite(value))
    csv_out_number(&lines->out, value);
  else
    csv_out_blank(&lines->out);
  csv_out_end_row(&lines->out);
}

static void put_influences(struct lines *lines, const struct simulation *simulation,
                           const struct outcome *outcome, struct arena *arena) {
  lines->kind = "influence";
  lines->unit = kind_name(outcome);
  for (size_t g = 0; g < simulation->group_count; g++) {
    const struct influence *influence = &outcome->influences[g];
    put_line(lines, arena_printf(arena, "%s first", simulation->groups[g]), influence->first);
    put_line(lines, arena_printf(arena, "%s total", simulation->groups[g]), influence->total);
  }
}

static void put_outcome(struct lines *lines, const struct simulation *simulation,
                        const struct outcome *outcome, struct arena *arena) {
  lines->kind = kind_name(outcome);
  lines->option = simulation->options[outcome->option];
  lines->unit = outcome->kind == OUTCOME_COST ? simulation->unit : "-";
  put_line(lines, "mean", outcome->mean);
  put_line(lines, "standard_error", outcome->standard_error);
  put_line(lines, "deviation", outcome->deviation);
  put_line(lines, "lowest", outcome->lowest);
  put_line(lines, "highest", outcome->highest);
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    put_line(lines, arena_printf(arena, "P%.0f", 100 * simulate_levels[level]),
             outcome->percentiles[level]);
  if (simulation->influence_draws || simulation->by_ranks)
    put_influences(lines, simulation, outcome, arena);
}

static void csv_print(const struct simulation *simulation, FILE *file, struct arena *arena) {
  static const char *const header[] = {"kind", "option", "unit", "statistic", "value"};
  struct lines lines = {.out = {.file = file}};
  csv_out_header(&lines.out, header, sizeof header / sizeof header[0]);
  for (size_t o = 0; o < simulation->option_count; o++) {
    lines.kind = "cheapest";
    lines.option = simulation->options[o];
    lines.unit = "-";
    put_line(&lines, "probability", simulation->cheapest[o]);
    lines.kind = "ranked";
    put_line(&lines, "probability", simulation->ranked[o]);
  }
  for (size_t i = 0; i < simulation->outcome_count; i++)
    put_outcome(&lines, simulation, &simulation->outcomes[i], arena);
}

// ---- JSON

static json_t *histogram_json(const struct outcome *outcome) {
  json_t *object = json_object(), *counts = json_array();
  for (int i = 0; i < SIMULATE_BARS; i++)
    json_array_append_new(counts, json_integer((json_int_t)outcome->bars[i]));
  json_object_set_new(object, "low", json_out_number(outcome->bars_low));
  json_object_set_new(object, "high", json_out_number(outcome->bars_high));
  json_object_set_new(object, "below", json_integer((json_int_t)outcome->bars_below));
  json_object_set_new(object, "counts", counts);
  return object;
}

static json_t *influences_json(const struct simulation *simulation, const struct outcome *outcome) {
  json_t *object = json_object();
  for (size_t g = 0; g < simulation->group_count; g++) {
    json_t *shares = json_object();
    json_object_set_new(shares, "first", json_out_number(outcome->influences[g].first));
    json_object_set_new(shares, "total", json_out_number(outcome->influences[g].total));
    json_object_set_new(object, simulation->groups[g], shares);
  }
  return object;
}

static json_t *outcome_json(const struct simulation *simulation, const struct outcome *outcome,
                            struct arena *arena) {
  json_t *object = json_object(), *percentiles = json_object();
  json_object_set_new(object, "kind", json_out_text(kind_name(outcome)));
  json_object_set_new(object, "option", json_out_text(simulation->options[outcome->option]));
  json_object_set_new(object, "mean", json_out_number(outcome->mean));
  json_object_set_new(object, "standard_error", json_out_number(outcome->standard_error));
  json_object_set_new(object, "deviation", json_out_number(outcome->deviation));
  json_object_set_new(object, "lowest", json_out_number(outcome->lowest));
  json_object_set_new(object, "highest", json_out_number(outcome->highest));
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    json_object_set_new(percentiles, arena_printf(arena, "P%.0f", 100 * simulate_levels[level]),
                        json_out_number(outcome->percentiles[level]));
  json_object_set_new(object, "percentiles", percentiles);
  json_object_set_new(object, "rank_error", json_out_number(outcome->rank_error));
  json_object_set_new(object, "histogram", histogram_json(outcome));
  if (simulation->influence_draws || simulation->by_ranks)
    json_object_set_new(object, "influences", influences_json(simulation, outcome));
  return object;
}

static void json_print(const struct simulation *simulation, const char *title, FILE *out,
                       struct arena *arena) {
  json_t *root = json_object(), *cheapest = json_object(), *outcomes = json_array();
  json_t *ranked = json_object(), *not_ranked = json_object();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(root, "title", json_out_text(title));
  json_object_set_new(root, "case", json_out_text(simulation->case_name));
  json_object_set_new(root, "sha256", json_out_text(simulation->digest));
  if (*simulation->stamp)
    json_object_set_new(root, "stamp", json_out_text(simulation->stamp));
  json_object_set_new(root, "item", json_out_text(simulation->item));
  json_object_set_new(root, "unit", json_out_text(simulation->unit));
  json_object_set_new(root, "draws", json_integer((json_int_t)simulation->draws));
  json_object_set_new(root, "done", json_integer((json_int_t)simulation->done));
  json_object_set_new(root, "seed", json_integer((json_int_t)simulation->seed));
  json_object_set_new(root, "method", json_out_text(draw_method_names[simulation->method]));
  json_object_set_new(root, "partial", json_boolean(simulation->partial));
  json_object_set_new(root, "baseline", json_out_text(simulation->options[simulation->baseline]));
  for (size_t o = 0; o < simulation->option_count; o++) {
    const char *id = simulation->options[o];
    json_object_set_new(cheapest, id, json_out_number(simulation->cheapest[o]));
    json_object_set_new(ranked, id, json_out_number(simulation->ranked[o]));
    if (*simulation->not_ranked[o])
      json_object_set_new(not_ranked, id, json_out_text(simulation->not_ranked[o]));
  }
  json_object_set_new(root, "cheapest", cheapest);
  json_object_set_new(root, "ranked", ranked);
  json_object_set_new(root, "not_ranked", not_ranked);
  json_object_set_new(root, "undecided", json_out_number(simulation->undecided));
  if (*simulation->why_none)
    json_object_set_new(root, "why_none", json_out_text(simulation->why_none));
  for (size_t i = 0; i < simulation->outcome_count; i++)
    json_array_append_new(outcomes, outcome_json(simulation, &simulation->outcomes[i], arena));
  json_object_set_new(root, "outcomes", outcomes);
  json_object_set_new(root, "by_ranks", json_boolean(simulation->by_ranks));
  json_object_set_new(root, "notes", json_out_texts(simulation->notes, simulation->note_count));
  json_out_print(root, out);
}

void simulation_print(const struct simulation *simulation, const char *title,
                      enum output_format format, FILE *out, struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(simulation, out, arena);
  else if (format == FORMAT_JSON)
    json_print(simulation, title, out, arena);
  else
    table_print(simulation, title, out, arena);
}
