#include "reports/answers/solve.h"

#include "reports/print/csv_out.h"
#include "reports/print/heading.h"
#include "reports/print/json_out.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 5 };

static const struct unit *input_unit(const struct solve_answer *answer) {
  return &target_input(answer->scenario, answer->target)->unit;
}

static const struct unit *cost_unit(const struct solve_answer *answer) {
  return &answer->scenario->model->declarations[answer->item].unit;
}

static const char *option_id(const struct solve_answer *answer) {
  return answer->scenario->options[answer->option].id;
}

static const char *with_unit(double value, const struct unit *unit, struct arena *arena) {
  const char *number = number_significant(number_in_unit(value, unit), SHOWN_DIGITS, arena);
  return strcmp(unit->text, "-") != 0 ? arena_printf(arena, "%s %s", number, unit->text) : number;
}

// "as much as h200", "5 % less than h200", "0.3 USD/Mtok"
static const char *wanted_text(const struct solve_answer *answer, struct arena *arena) {
  const char *share = number_significant(100 * fabs(answer->saving), 3, arena);
  const char *than = answer->matches ? answer->scenario->options[answer->match].id
                                     : with_unit(answer->wanted_cost, cost_unit(answer), arena);
  if (answer->saving != 0)
    return arena_printf(arena, "%s %% %s than %s", share, answer->saving > 0 ? "less" : "more",
                        than);
  return answer->matches ? arena_printf(arena, "as much as %s", than) : than;
}

// "3.1 % more than that"
static const char *gap_text(double gap, struct arena *arena) {
  if (!isfinite(gap))
    return "no finite amount";
  if (fabs(gap) < 5e-8)
    return "just that";
  return arena_printf(arena, "%s %% %s than that", number_significant(100 * fabs(gap), 3, arena),
                      gap > 0 ? "more" : "less");
}

static void print_values(const struct solve_answer *answer, const struct style *style) {
  struct arena *arena = style->arena;
  const char *values = "";
  for (size_t i = 0; i < answer->count; i++)
    values = arena_printf(arena, "%s%s%s", values, i == 0 ? "" : " and at ",
                          with_unit(answer->roots[i], input_unit(answer), arena));
  style_block(style, EMPHASIS_STRONG,
              arena_printf(arena, "%s costs %s at %s = %s%s", option_id(answer),
                           wanted_text(answer, arena), answer->name, values,
                           answer->more ? ", and at further values" : ""));
}

static bool is_flat(const struct solve_answer *answer) {
  return fabs(answer->gap_low - answer->gap_high) < 1e-12 &&
         fabs(answer->gap_low - answer->gap_base) < 1e-12;
}

// Where the search begins: where an input may be no 0, say, a hair above it stands in.
static const char *low_text(const struct solve_answer *answer, struct arena *arena) {
  const struct declaration *input = target_input(answer->scenario, answer->target);
  const struct limits limits = target_limits(answer->scenario, answer->target);
  if (input->has_min && input->min_exclusive && answer->low == limits.low)
    return arena_printf(arena, "just above %s", with_unit(input->min, &input->unit, arena));
  return with_unit(answer->low, &input->unit, arena);
}

static void print_none(const struct solve_answer *answer, const struct style *style) {
  struct arena *arena = style->arena;
  if (is_flat(answer)) {
    style_block(style, EMPHASIS_STRONG,
                arena_printf(arena, "No value of %s makes %s cost %s: it does not matter to that",
                             answer->name, option_id(answer), wanted_text(answer, arena)));
    return;
  }
  const struct unit *unit = input_unit(answer);
  style_block(style, EMPHASIS_STRONG,
              arena_printf(arena, "No value of %s in [%s, %s] makes %s cost %s", answer->name,
                           low_text(answer, arena), with_unit(answer->high, unit, arena),
                           option_id(answer), wanted_text(answer, arena)));
  const char *const ends[] = {low_text(answer, arena), with_unit(answer->high, unit, arena)};
  const double gaps[] = {answer->gap_low, answer->gap_high};
  for (size_t i = 0; i < 2; i++)
    style_paragraph(style, "",
                    arena_printf(arena, "at %s it costs %s", ends[i], gap_text(gaps[i], arena)));
}

static const char *share_text(double share, struct arena *arena) {
  return arena_printf(arena, "%s %% of draws", number_significant(100 * share, 3, arena));
}

// "With the ranges: median 12.8 %, 90 % between 4.1 and 20.2 %"
static void print_interval(const struct solve_answer *answer, const struct solve_spread *spread,
                           const struct style *style) {
  enum { LOW = 0, MIDDLE = SIMULATE_LEVELS / 2, HIGH = SIMULATE_LEVELS - 1 };
  struct arena *arena = style->arena;
  const struct unit *unit = input_unit(answer);
  const double low = number_in_unit(spread->percentiles[LOW], unit);
  style_block(style, EMPHASIS_STRONG,
              arena_printf(arena, "With the ranges: median %s, 90 %% between %s and %s%s",
                           with_unit(spread->percentiles[MIDDLE], unit, arena),
                           number_significant(low, SHOWN_DIGITS, arena),
                           with_unit(spread->percentiles[HIGH], unit, arena),
                           spread->found < 1 ? ", where there is one" : ""));
}

// Draws without a value, and with several.
static void print_exceptions(const struct solve_answer *answer, const struct solve_spread *spread,
                             const struct style *style) {
  struct arena *arena = style->arena;
  const struct unit *unit = input_unit(answer);
  const struct {
    double share;
    const char *what;
  } exceptions[] = {{spread->above, "no value, as it costs more than that throughout"},
                    {spread->below, "no value, as it costs less than that throughout"},
                    {1 - spread->found - spread->above - spread->below, "no value found"}};
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
    if (exceptions[i].share > 1e-12)
      style_paragraph(style, "",
                      arena_printf(arena, "in %s %s [%s, %s]",
                                   share_text(exceptions[i].share, arena), exceptions[i].what,
                                   low_text(answer, arena), with_unit(answer->reach, unit, arena)));
  if (spread->several > 0)
    style_paragraph(style, "",
                    arena_printf(arena, "in %s several values: the lowest counts",
                                 share_text(spread->several, arena)));
}

static void print_spread(const struct solve_answer *answer, const struct solve_spread *spread,
                         const struct style *style) {
  struct arena *arena = style->arena;
  if (spread->found > 0)
    print_interval(answer, spread, style);
  print_exceptions(answer, spread, style);
  style_paragraph(style, "",
                  arena_printf(arena, "at %s it costs no more than that in %s",
                               with_unit(answer->base, input_unit(answer), arena),
                               share_text(spread->enough, arena)));
  style_paragraph(
      style, "",
      arena_printf(arena, "%s draws (%s, seed %llu)", number_fixed((double)spread->done, 0, arena),
                   draw_method_names[spread->method], (unsigned long long)spread->seed));
  if (spread->partial)
    style_block(style, EMPHASIS_ALARM,
                arena_printf(arena, "PARTIAL: %s of %s draws",
                             number_fixed((double)spread->done, 0, arena),
                             number_fixed((double)spread->draws, 0, arena)));
  for (size_t i = 0; i < spread->note_count; i++)
    style_paragraph(style, "Note: ", spread->notes[i]);
}

static void table_print(const struct solve_answer *answer, const struct solve_spread *spread,
                        FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  heading_print(answer->scenario, &style);
  if (answer->count)
    print_values(answer, &style);
  else
    print_none(answer, &style);
  style_paragraph(&style, "",
                  arena_printf(arena, "now, at %s, it costs %s",
                               with_unit(answer->base, input_unit(answer), arena),
                               gap_text(answer->gap_base, arena)));
  if (spread)
    print_spread(answer, spread, &style);
}

static void put_number(struct csv_out *out, double value) {
  if (isfinite(value))
    csv_out_number(out, value);
  else
    csv_out_blank(out);
}

// Behind the columns of the answer.
static void put_spread(struct csv_out *out, const struct solve_spread *spread,
                       const struct unit *unit) {
  put_number(out, (double)spread->done);
  put_number(out, spread->found);
  put_number(out, spread->enough);
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    put_number(out, number_in_unit(spread->percentiles[l], unit));
}

static void csv_print(const struct solve_answer *answer, const struct solve_spread *spread,
                      FILE *file) {
  static const char *const header[] = {
      "input", "unit",   "base", "low", "high", "gap_base", "gap_low", "gap_high", "value", "draws",
      "found", "enough", "P5",   "P10", "P25",  "P50",      "P75",     "P90",      "P95"};
  enum { COLUMNS = sizeof header / sizeof header[0], OF_SPREAD = 3 + SIMULATE_LEVELS };
  const struct unit *unit = input_unit(answer);
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, COLUMNS - (spread ? 0 : OF_SPREAD));
  for (size_t i = 0; i < answer->count || i == 0; i++) {
    csv_out_text(&out, answer->name);
    csv_out_text(&out, unit->text);
    put_number(&out, number_in_unit(answer->base, unit));
    put_number(&out, number_in_unit(answer->low, unit));
    put_number(&out, number_in_unit(answer->high, unit));
    put_number(&out, answer->gap_base);
    put_number(&out, answer->gap_low);
    put_number(&out, answer->gap_high);
    put_number(&out, answer->count ? number_in_unit(answer->roots[i], unit) : NAN);
    if (spread)
      put_spread(&out, spread, unit);
    csv_out_end_row(&out);
  }
}

static json_t *spread_json(const struct solve_spread *spread, const struct unit *unit,
                           struct arena *arena) {
  json_t *object = json_object(), *percentiles = json_object();
  json_object_set_new(object, "draws", json_integer((json_int_t)spread->draws));
  json_object_set_new(object, "done", json_integer((json_int_t)spread->done));
  json_object_set_new(object, "seed", json_integer((json_int_t)spread->seed));
  json_object_set_new(object, "method", json_out_text(draw_method_names[spread->method]));
  json_object_set_new(object, "partial", json_boolean(spread->partial));
  json_object_set_new(object, "found", json_out_number(spread->found));
  json_object_set_new(object, "several", json_out_number(spread->several));
  json_object_set_new(object, "above", json_out_number(spread->above));
  json_object_set_new(object, "below", json_out_number(spread->below));
  json_object_set_new(object, "enough", json_out_number(spread->enough));
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    json_object_set_new(percentiles, arena_printf(arena, "P%.0f", 100 * simulate_levels[l]),
                        json_out_number(number_in_unit(spread->percentiles[l], unit)));
  json_object_set_new(object, "percentiles", percentiles);
  json_object_set_new(object, "notes", json_out_texts(spread->notes, spread->note_count));
  return object;
}

static void json_print(const struct solve_answer *answer, const struct solve_spread *spread,
                       FILE *out, struct arena *arena) {
  const struct scenario *scenario = answer->scenario;
  const struct unit *unit = input_unit(answer);
  json_t *root = json_object(), *head = json_object(), *gaps = json_object();
  json_t *values = json_array();
  json_object_set_new(root, "schema", json_integer(1));
  json_object_set_new(head, "title", json_out_text(scenario->title));
  json_object_set_new(head, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(head, "sha256", json_out_text(scenario->digest));
  json_object_set_new(root, "scenario", head);
  json_object_set_new(root, "option", json_out_text(option_id(answer)));
  if (answer->matches)
    json_object_set_new(root, "match", json_out_text(scenario->options[answer->match].id));
  else
    json_object_set_new(root, "target",
                        json_out_number(number_in_unit(answer->wanted_cost, cost_unit(answer))));
  json_object_set_new(root, "saving", json_out_number(answer->saving));
  json_object_set_new(root, "input", json_out_text(answer->name));
  json_object_set_new(root, "unit", json_out_text(unit->text));
  json_object_set_new(root, "base", json_out_number(number_in_unit(answer->base, unit)));
  json_object_set_new(root, "low", json_out_number(number_in_unit(answer->low, unit)));
  json_object_set_new(root, "high", json_out_number(number_in_unit(answer->high, unit)));
  json_object_set_new(gaps, "base", json_out_number(answer->gap_base));
  json_object_set_new(gaps, "low", json_out_number(answer->gap_low));
  json_object_set_new(gaps, "high", json_out_number(answer->gap_high));
  json_object_set_new(root, "gaps", gaps);
  for (size_t i = 0; i < answer->count; i++)
    json_array_append_new(values, json_out_number(number_in_unit(answer->roots[i], unit)));
  json_object_set_new(root, "values", values);
  json_object_set_new(root, "more", json_boolean(answer->more));
  if (spread)
    json_object_set_new(root, "ranges", spread_json(spread, unit, arena));
  json_out_print(root, out);
}

void solve_print(const struct solve_answer *answer, const struct solve_spread *spread,
                 enum output_format format, FILE *out, struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(answer, spread, out);
  else if (format == FORMAT_JSON)
    json_print(answer, spread, out, arena);
  else
    table_print(answer, spread, out, arena);
}
