// One order of rows for several options' sheets: blocks in the order of the groups, everything
// below what it needs on each sheet, and one step with the same key for the same formula.
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include "reports/spreadsheet/row_order.h"

#include <string.h>

enum { MAX_OPTIONS = 2, PERIODS = 3 };

// `p` and `q` are inputs that an option may give; the text after the head has the line items.
static const char head[] = "[group first]\nlabel = First\n[group second]\nlabel = Second\n"
                           "[input p]\nlabel = P\nunit = USD\ngroup = first\n"
                           "[input q]\nlabel = Q\nunit = USD\ngroup = first\n";

#define ITEM(name, group, formula)                                                                 \
  "[item " name "]\nlabel = " name "\nunit = USD\ngroup = " group "\nformula = " formula "\n"

#define LONG                                                                                       \
  "max(p, 1 USD) * max(p, 2 USD) / max(p, 3 USD) * max(p, 4 USD) / max(p, 5 USD) * max(p, 6 USD) " \
  "/ max(p, 7 USD)"

// given: for each option, which of p and q it gives. rows: the contents of each row, and for each
// option "+", or "-" if it has nothing there.
static const struct {
  const char *what, *items, *given[MAX_OPTIONS], *rows;
} cases[] = {
    {"blocks are kept together",
     ITEM("a", "first", "p") ITEM("b", "second", "a") ITEM("c", "first", "p * 2"),
     {"p", "p"},
     "First: a++ c++ Second: b++"},
    {"an item that needs a later block stands in it",
     ITEM("a", "first", "p + b") ITEM("b", "second", "p"),
     {"p", "p"},
     "Second: b++ a++"},
    {"what one option lacks keeps its row",
     ITEM("a", "first", "p") "needs = p\n" ITEM("b", "first", "q") "needs = q\n" ITEM("c", "second",
                                                                                      "1 USD"),
     {"p", "pq"},
     "First: a++ b-+ Second: c++"},
    {"equal formulas have equal steps, whatever the id",
     ITEM("a", "first", LONG),
     {"p", "p"},
     "First: a_step_1++ a_step_2++ a_step_3++ a++"},
};

static const struct sheet_graph *build(struct fixture *fixture, const struct model *model,
                                       const struct scenario *scenario, struct option *option,
                                       const char *gives, struct names *names,
                                       struct constants *constants, struct step_numbers *numbers) {
  struct arena *arena = &fixture->arena;
  enum given *given = arena_array(arena, (size_t)model->count, sizeof *given);
  struct sheet_graph *graph = arena_alloc(arena, sizeof *graph);
  for (const char *at = gives; *at; at++)
    given[model_find(model, (const char[]){*at, '\0'})] = GIVEN_VALUE;
  option->graph = graph_build(model, option->id, nowhere, given, arena, &fixture->diagnostics);
  assert_non_null(option->graph);
  option->evaluation = evaluation_new(option->graph, PERIODS, 1, arena);
  for (int d = 0; d < model->count; d++)
    if (option->graph->state[d] == GRAPH_INPUT)
      evaluation_at(option->evaluation, d, 0)[0] = 1;
  assert_int_equal(sheet_graph_build(graph, scenario, option, names, constants, numbers, arena,
                                     &fixture->diagnostics),
                   0);
  return graph;
}

static const char *rows_text(const struct model *model, const struct row_order *order,
                             struct arena *arena) {
  const char *text = "";
  for (size_t i = 0; i < order->count; i++) {
    const struct ordered_row *row = &order->rows[i];
    if (!i || row->block != order->rows[i - 1].block)
      text = arena_printf(arena, "%s%s%s:", text, i ? " " : "", model->groups[row->block].label);
    text = arena_printf(arena, "%s %s", text, row->item->name);
    for (size_t o = 0; o < MAX_OPTIONS; o++)
      text = arena_printf(arena, "%s%s", text, row->declarations[o] < 0 ? "-" : "+");
  }
  return text;
}

static void check_case(struct fixture *fixture, size_t i) {
  struct arena *arena = &fixture->arena;
  const char *text = arena_printf(arena, "%s%s", head, cases[i].items);
  struct model *model =
      model_read(source_from_text("test", text, arena), arena, &fixture->diagnostics);
  expect_error(fixture, cases[i].what, "");
  model_check(model, &fixture->diagnostics);
  expect_error(fixture, cases[i].what, "");
  struct option options[MAX_OPTIONS] = {{.id = "o"}, {.id = "an_id_of_24_characters_x"}};
  const struct scenario scenario = {.model = model,
                                    .options = options,
                                    .option_count = MAX_OPTIONS,
                                    .case_count = 1,
                                    .periods = PERIODS};
  struct names names = {.arena = arena};
  struct constants constants;
  struct step_numbers numbers = {NULL};
  const struct sheet_graph *graphs[MAX_OPTIONS];
  constants_begin(&constants, &names, arena);
  for (size_t o = 0; o < MAX_OPTIONS; o++)
    graphs[o] = build(fixture, model, &scenario, &options[o], cases[i].given[o], &names, &constants,
                      &numbers);
  const char *rows = rows_text(model, row_order_of(model, graphs, MAX_OPTIONS, arena), arena);
  if (strcmp(rows, cases[i].rows) != 0)
    print_error("%s\n", cases[i].what);
  assert_string_equal(rows, cases[i].rows);
}

static void test_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    check_case(&fixture, i);
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
