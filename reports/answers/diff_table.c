// The face of a difference for people.
#include "reports/answers/diff.h"
#include "reports/print/grid.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

struct sheet {
  const struct difference *difference;
  const struct style *style;
  struct arena *arena;
};

static void print_scenario(const struct sheet *sheet, const char *letter,
                           const struct scenario *scenario) {
  const char *text = arena_printf(sheet->arena, "%s: %s, case %s", scenario->path, scenario->title,
                                  scenario->cases[scenario->selected]);
  style_paragraph(sheet->style, arena_printf(sheet->arena, "%s  ", letter), text);
  if (scenario->mixed)
    style_paragraph(sheet->style, "   ",
                    arena_printf(sheet->arena, "MIXED: %s", scenario->mixed_reason));
}

static void print_names(const struct sheet *sheet, const char *first, const char *const *names,
                        size_t count) {
  const char *text = "";
  for (size_t i = 0; i < count; i++)
    text = arena_printf(sheet->arena, "%s%s%s", text, i ? ", " : "", names[i]);
  if (count)
    style_paragraph(sheet->style, first, text);
}

struct sides {
  const char *a, *b;
};

static struct sides values_of(const struct sheet *sheet, size_t pair, int input) {
  const struct difference *difference = sheet->difference;
  const struct pair *both = &difference->pairs[pair];
  return (struct sides){difference_value(difference->a, both->a, input, sheet->arena),
                        difference_value(difference->b, both->b, input, sheet->arena)};
}

static struct sides grades_of(const struct sheet *sheet, size_t pair, int input) {
  const struct difference *difference = sheet->difference;
  const struct pair *both = &difference->pairs[pair];
  return (struct sides){difference_grade(difference->a, both->a, input),
                        difference_grade(difference->b, both->b, input)};
}

// What of an input is shown, and where it differs.
struct aspect {
  const char *suffix; // behind the input's name
  struct sides (*sides)(const struct sheet *, size_t pair, int input);
  bool (*differs)(const struct difference *, size_t pair, int input);
};

static const struct aspect aspects[] = {
    {"", values_of, difference_in_value},
    {", evidence", grades_of, difference_in_grade},
};

enum { ASPECTS = sizeof aspects / sizeof aspects[0] };

static void add_input(struct grid *grid, const char *name, const char *option, struct sides sides) {
  struct cell *cells = grid_row(grid);
  cells[0].text = name;
  cells[1] = (struct cell){option, EMPHASIS_FAINT};
  cells[2].text = sides.a;
  cells[3].text = sides.b;
}

// Whether it differs in all options, and alike.
static bool is_common(const struct sheet *sheet, const struct aspect *aspect, int input) {
  const size_t pairs = sheet->difference->pair_count;
  const struct sides first = aspect->sides(sheet, 0, input);
  for (size_t p = 0; p < pairs; p++) {
    const struct sides sides = aspect->sides(sheet, p, input);
    if (!aspect->differs(sheet->difference, p, input) || strcmp(sides.a, first.a) != 0 ||
        strcmp(sides.b, first.b) != 0)
      return false;
  }
  return pairs > 1;
}

static void add_aspect(const struct sheet *sheet, struct grid *grid, const struct aspect *aspect,
                       int input) {
  const struct difference *difference = sheet->difference;
  const char *name = arena_printf(sheet->arena, "%s%s",
                                  difference->a->model->declarations[input].name, aspect->suffix);
  if (is_common(sheet, aspect, input)) {
    add_input(grid, name, "all options", aspect->sides(sheet, 0, input));
    return;
  }
  for (size_t p = 0; p < difference->pair_count; p++)
    if (aspect->differs(difference, p, input))
      add_input(grid, name, difference->pairs[p].a->id, aspect->sides(sheet, p, input));
}

static void add_change(const struct sheet *sheet, struct grid *grid, const struct change *change) {
  for (size_t i = 0; i < change->input_count; i++)
    for (size_t k = 0; k < ASPECTS; k++)
      add_aspect(sheet, grid, &aspects[k], change->inputs[i]);
}

static void print_inputs(const struct sheet *sheet) {
  const struct difference *difference = sheet->difference;
  struct grid *grid = grid_new(4, sheet->arena);
  grid->left[1] = true;
  struct cell *cells = grid_row(grid);
  cells[0] = (struct cell){"Inputs that differ", EMPHASIS_STRONG};
  cells[2] = (struct cell){"A", EMPHASIS_STRONG};
  cells[3] = (struct cell){"B", EMPHASIS_STRONG};
  grid_rule(grid);
  const size_t head = grid->count;
  for (size_t p = 0; p < difference->pair_count; p++) {
    const struct pair *both = &difference->pairs[p];
    if (strcmp(both->a->accelerator, both->b->accelerator) != 0)
      add_input(grid, "accelerator", both->a->id,
                (struct sides){both->a->accelerator, both->b->accelerator});
  }
  for (size_t c = 0; c < difference->change_count; c++)
    add_change(sheet, grid, &difference->changes[c]);
  if (grid->count == head)
    return;
  putc('\n', sheet->style->out);
  grid_print(grid, sheet->style);
}

static void add_result(const struct sheet *sheet, struct grid *grid, size_t pair, int declaration) {
  const struct difference *difference = sheet->difference;
  const struct declaration *item = &difference->a->model->declarations[declaration];
  const double values[] = {option_value(difference->a, difference->pairs[pair].a, declaration, 0),
                           option_value(difference->b, difference->pairs[pair].b, declaration, 0)};
  const struct scale scale = number_scale(&item->unit, values, 2, sheet->arena);
  const enum emphasis emphasis =
      strcmp(item->name, "cost_per_mtok") != 0 ? EMPHASIS_NONE : EMPHASIS_STRONG;
  struct cell *cells = grid_row(grid);
  cells[0] = (struct cell){item->label, emphasis};
  cells[1] = (struct cell){scale.unit, EMPHASIS_FAINT};
  cells[2] = (struct cell){number_scaled(values[0], scale, sheet->arena), emphasis};
  cells[3] = (struct cell){number_scaled(values[1], scale, sheet->arena), emphasis};
  cells[4] = (struct cell){number_change(values[0], values[1], sheet->arena), emphasis};
}

static void add_effect(const struct sheet *sheet, struct grid *grid, size_t pair, const char *label,
                       const struct change *changes, size_t count) {
  const struct difference *difference = sheet->difference;
  const int item = model_find(difference->a->model, "cost_per_mtok");
  const struct unit *unit = &difference->a->model->declarations[item].unit;
  double values[] = {option_value(difference->a, difference->pairs[pair].a, item, 0), 0};
  const bool known = difference_cost(difference, pair, changes, count, sheet->arena, &values[1]);
  const struct scale scale = number_scale(unit, values, 2, sheet->arena);
  struct cell *cells = grid_row(grid);
  cells[0].text = arena_printf(sheet->arena, "  %s", label);
  cells[1] = (struct cell){scale.unit, EMPHASIS_FAINT};
  cells[3].text = known ? number_scaled(values[1], scale, sheet->arena) : "-";
  cells[4].text = known ? number_change(values[0], values[1], sheet->arena) : "-";
}

static void add_effects(const struct sheet *sheet, struct grid *grid, size_t pair) {
  const struct difference *difference = sheet->difference;
  if (!difference_has_parts(difference, pair))
    return;
  const int cost = model_find(difference->a->model, "cost_per_mtok");
  grid_row(grid)[0] = (struct cell){arena_printf(sheet->arena, "%s, with one input of B:",
                                                 difference->a->model->declarations[cost].label),
                                    EMPHASIS_NONE};
  for (size_t c = 0; c < difference->change_count; c++) {
    const struct change *change = &difference->changes[c];
    if (change->matters[pair])
      add_effect(sheet, grid, pair, diff_change_name(difference, change), change, 1);
  }
  add_effect(sheet, grid, pair, "all of them together", difference->changes,
             difference->change_count);
}

static void print_pair(const struct sheet *sheet, size_t pair) {
  const struct difference *difference = sheet->difference;
  struct grid *grid = grid_new(5, sheet->arena);
  grid->left[1] = true;
  struct cell *cells = grid_row(grid);
  cells[0] = (struct cell){difference->pairs[pair].a->id, EMPHASIS_STRONG};
  cells[2] = (struct cell){"A", EMPHASIS_STRONG};
  cells[3] = (struct cell){"B", EMPHASIS_STRONG};
  cells[4] = (struct cell){"change", EMPHASIS_STRONG};
  grid_rule(grid);
  for (int d = 0; d < difference->a->model->count; d++)
    if (diff_is_result(difference, pair, d))
      add_result(sheet, grid, pair, d);
  add_effects(sheet, grid, pair);
  putc('\n', sheet->style->out);
  grid_print(grid, sheet->style);
}

void diff_table(const struct difference *difference, FILE *out, struct arena *arena) {
  const struct style style = style_of(out, arena);
  const struct sheet sheet = {.difference = difference, .style = &style, .arena = arena};
  print_scenario(&sheet, "A", difference->a);
  print_scenario(&sheet, "B", difference->b);
  if (difference_is_empty(difference)) {
    fputs("\nNo difference in options, inputs and line items.\n", out);
    return;
  }
  print_names(&sheet, "Only in A: ", difference->only_a, difference->only_a_count);
  print_names(&sheet, "Only in B: ", difference->only_b, difference->only_b_count);
  print_names(&sheet, "Line items that differ: ", difference->items, difference->item_count);
  print_inputs(&sheet);
  for (size_t p = 0; p < difference->pair_count; p++)
    if (difference_in_pair(difference, p))
      print_pair(&sheet, p);
}
