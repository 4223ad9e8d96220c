#include "reports/solve_view.h"

#include "reports/csv_out.h"
#include "reports/heading.h"
#include "reports/json_out.h"
#include "reports/number.h"

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
                           with_unit(answer->low, unit, arena),
                           with_unit(answer->high, unit, arena), option_id(answer),
                           wanted_text(answer, arena)));
  const double ends[] = {answer->low, answer->high}, gaps[] = {answer->gap_low, answer->gap_high};
  for (size_t i = 0; i < 2; i++)
    style_paragraph(style, "",
                    arena_printf(arena, "at %s it costs %s", with_unit(ends[i], unit, arena),
                                 gap_text(gaps[i], arena)));
}

static void table_print(const struct solve_answer *answer, FILE *out, struct arena *arena) {
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
}

static void put_number(struct csv_out *out, double value) {
  if (isfinite(value))
    csv_out_number(out, value);
  else
    csv_out_blank(out);
}

static void csv_print(const struct solve_answer *answer, FILE *file) {
  static const char *const header[] = {"input",    "unit",    "base",     "low",  "high",
                                       "gap_base", "gap_low", "gap_high", "value"};
  const struct unit *unit = input_unit(answer);
  struct csv_out out = {.file = file};
  csv_out_header(&out, header, sizeof header / sizeof header[0]);
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
    csv_out_end_row(&out);
  }
}

static void json_print(const struct solve_answer *answer, FILE *out) {
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
  json_out_print(root, out);
}

void solve_print(const struct solve_answer *answer, enum output_format format, FILE *out,
                 struct arena *arena) {
  if (format == FORMAT_CSV)
    csv_print(answer, out);
  else if (format == FORMAT_JSON)
    json_print(answer, out);
  else
    table_print(answer, out, arena);
}
