// What has no number in a spreadsheet has none in the engine: a division by zero reaches every
// result that depends on it, through min, max, comparisons and conditions. What a condition leaves
// out does not matter, and 0^0 is 1.
#include "model/cost/calculation.h"
#include "model/cost/evaluate.h"
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include <math.h>

static const char head[] =
    "[group g]\nlabel = G\n"
    "[input zero]\nlabel = Z\nunit = -\ngroup = g\ndefault = 0\n"
    "[input two]\nlabel = T\nunit = -\ngroup = g\ndefault = 2\n"
    "[input fall]\nlabel = F\nunit = %/yr\ngroup = g\ndefault = 100 %/yr\n"
    "[input time]\nlabel = A\nunit = yr\ngroup = g\ndefault = 0 yr\n"
    "[series row]\nlabel = S\nunit = -\ngroup = g\nformula = 1 / (t - two)\n";

static const struct {
  const char *formula;
  double expected;
} cases[] = {
    {"1 / zero", NAN},
    {"zero / zero", NAN},
    {"two / 0", NAN},
    {"1 / (1 / zero)", NAN},
    {"0 * (1 / zero)", NAN},
    {"zero * (1 / zero)", NAN},
    {"(1 / zero)^0", NAN},
    {"1^(1 / zero)", NAN},
    {"zero^(-1)", NAN},
    {"min(two, 1 / zero)", NAN},
    {"min(1 / zero, two)", NAN},
    {"max(two, zero / zero)", NAN},
    {"max(zero / zero, two)", NAN},
    {"max(two, 10^200 * 10^200)", NAN},
    {"1 / zero > 5", NAN},
    {"5 <= 1 / zero", NAN},
    {"1 / zero = 1 / zero", NAN},
    {"zero / zero <> 1", NAN},
    {"if(1 / zero > 5, 1, 3)", NAN},
    {"if(1 / zero, two, two)", NAN},
    {"round(two, 1 / zero)", NAN},
    {"ceil(1 / zero)", NAN},
    {"highest(row)", NAN},
    {"sum(row)", NAN},

    {"if(zero > 0, 1 / zero, two)", 2},
    {"if(two > 0, two, 1 / zero)", 2},
    {"0 * two", 0},
    {"zero^zero", 1},
    {"zero^0", 1},
    {"0^zero", 1},
    {"zero^two", 0},
    {"growth(-fall, time)", 1},
    {"growth(-fall, 1 yr)", 0},
    {"min(two, zero)", 0},
    {"(two = 2) + (two > zero)", 2},
};

// The value of `x` in an evaluation, where inputs are variables, or (`constant`) where none is.
static double value_of(struct fixture *fixture, const struct model *model, bool constant) {
  struct arena *arena = &fixture->arena;
  const enum given *given = arena_array(arena, (size_t)model->count, sizeof *given);
  const struct graph *graph = graph_build(model, "o", nowhere, given, arena, &fixture->diagnostics);
  assert_non_null(graph);
  enum { PERIODS = 4 };
  struct evaluation *evaluation = evaluation_new(graph, PERIODS, 1, arena);
  struct calculation_input *inputs = arena_array(arena, (size_t)model->count, sizeof *inputs);
  for (int d = 0; d < model->count; d++)
    if (graph->state[d] == GRAPH_INPUT) {
      evaluation_at(evaluation, d, 0)[0] = model->declarations[d].default_value;
      inputs[d] = (struct calculation_input){-1, model->declarations[d].default_value};
    }
  const int x = model_find(model, "x");
  if (constant)
    return calculation_value(&(struct calculation_graph){graph, inputs}, PERIODS,
                             graph_formula(graph, x), 0);
  evaluate(evaluation);
  return evaluation_at(evaluation, x, 0)[0];
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const char *text =
        arena_printf(&fixture.arena, "%s[item x]\nlabel = X\nunit = -\ngroup = g\nformula = %s\n",
                     head, cases[i].formula);
    struct model *model = model_read(source_from_text("test", text, &fixture.arena), &fixture.arena,
                                     &fixture.diagnostics);
    expect_error(&fixture, cases[i].formula, "");
    assert_int_equal(model_check(model, &fixture.diagnostics), 0);
    for (int constant = 0; constant < 2; constant++) {
      const double value = value_of(&fixture, model, constant);
      const double wanted = cases[i].expected;
      if (isnan(wanted) ? !isnan(value) : value != wanted)
        fail_msg("%s: %g, not %g, with %s", cases[i].formula, value, wanted,
                 constant ? "constants" : "variables");
    }
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
