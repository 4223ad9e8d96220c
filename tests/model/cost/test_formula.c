// Formulas: text to tree, tree to text, and their values.
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include "model/cost/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *text, *again; // again: NULL if the text comes back unchanged
} printed[] = {
    {"a + b * c", NULL},
    {"(a + b) * c", NULL},
    {"a - (b - c)", NULL},
    {"(a - b) - c", "a - b - c"},
    {"a / (b / c)", NULL},
    {"a / b / c", NULL},
    {"-a", NULL},
    {"-(a + b)", NULL},
    {"a - -b", "a - (-b)"},
    {"(-a)^2", NULL},
    {"-(a^2)", NULL},
    {"a^(b^c)", NULL},
    {"(a^b)^c", NULL},
    {"if(a > b, a, b)", NULL},
    {"(a > b) + (a < b)", NULL},
    {"min(a, b, c)", NULL},
    {"0.4 %/yr * a", NULL},
    {"1 yr", NULL},
    {"1500 USD * nodes", NULL},
    {"12 USD/kW/month * a", NULL},
    {"growth( a ,b )", "growth(a, b)"},
    {"1e-3", "0.001"},
    // Before a parenthesis, a unit's symbol is a function's name.
    {"2 min", NULL},
    {"2 / min(3 USD, a)", NULL},
    {"2 USD * min(2, 3)", NULL},
    {"2 USD / min (2, 3)", "2 USD / min(2, 3)"},
    {"2 USD/min * min(2, 3)", NULL},
    // After a number or a unit and a slash it is a unit, otherwise a name.
    {"2 year * a", NULL},
    {"2 USD/year * a", NULL},
    {"2 USD * year", NULL},
    {"2 * year + a", NULL},
    {"1 yr *t", "1 yr * t"},
    {"80 USD / t*a", "80 USD / t * a"},
};

static void test_printed(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) {
    struct place place = {NULL, 1, 1};
    struct node *node = formula_parse(printed[i].text, place, &fixture.arena, &fixture.diagnostics);
    expect_error(&fixture, printed[i].text, "");
    assert_string_equal(formula_text(node, &fixture.arena),
                        printed[i].again ? printed[i].again : printed[i].text);
  }
  fixture_end(&fixture);
}

static const struct {
  const char *text, *error;
} refused[] = {
    {"", "1:1: expected a number, a name or '('"},
    {"a +", "1:4: expected a number, a name or '(' at the end"},
    {"a b", "1:3: expected an operator before 'b'"},
    {"(a", "expected ')'"},
    {"a)", "1:2: expected an operator"},
    {"-2^2", "parentheses in -a^b"},
    {"2^3^2", "does not chain"},
    {"a < b < c", "does not chain"},
    {"--a", "1:2: expected one minus sign, or parentheses, before '-a'"},
    {"fi(a, b, c)", "1:1: unknown function 'fi'; did you mean 'if'?"},
    {"if(a, b)", "if() takes 3 arguments, not 2"},
    {"sum(a + b)", "sum() takes a name"},
    {"min()", "expected a number"},
    {"1.2.3", "expected an operator"},
    {"a $ b", "expected an operator"},
    {"2 min(2, 3)", "1:3: expected an operator before 'min(2, 3)'"},
    {"a * [b", "1:5: expected '[' with a ']' in its line before '[b'"},
    {"a * [b\n] $", "1:5: expected '[' with a ']' in its line before"},
    {"2 xéééééééééééééé", "1:3: expected an operator before 'xééééééééé'"},
    {"max(a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a)", "fewer arguments"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct place place = {NULL, 1, 1};
    assert_null(formula_parse(refused[i].text, place, &fixture.arena, &fixture.diagnostics));
    expect_error(&fixture, refused[i].text, refused[i].error);
    fixture_end(&fixture);
  }
}

static void test_too_deep(void **state) {
  (void)state;
  char text[4096];
  static const char *const openings[] = {"(", "-(", "if("};
  for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    text[0] = 0;
    while (strlen(text) + 8 < sizeof text)
      strcat(text, openings[i]);
    struct place place = {NULL, 1, 1};
    assert_null(formula_parse(text, place, &fixture.arena, &fixture.diagnostics));
    expect_error(&fixture, "a deep formula", "fewer nested parentheses");
    fixture_end(&fixture);
  }
}

// A model of one formula over x = 5, y = -3, z = 0.5 and the series 0, 1, 2, 3.
static double worth(struct fixture *fixture, const char *formula, const char *unit) {
  const char *text =
      arena_printf(&fixture->arena,
                   "[group g]\nlabel = G\n"
                   "[input x]\nlabel = X\nunit = -\ngroup = g\ndefault = 5\n"
                   "[input y]\nlabel = Y\nunit = -\ngroup = g\ndefault = -3\n"
                   "[input z]\nlabel = Z\nunit = -\ngroup = g\ndefault = 0.5\n"
                   "[input rate]\nlabel = R\nunit = %%/yr\ngroup = g\ndefault = 10 %%/yr\n"
                   "[series n]\nlabel = N\nunit = -\ngroup = g\nformula = t\n"
                   "[series running]\nlabel = R\nunit = -\ngroup = g\nformula = prev(running) + n\n"
                   "[series below]\nlabel = B\nunit = -\ngroup = g\nformula = n - 4\n"
                   "[series ahead]\nlabel = A\nunit = -\ngroup = g\nformula = next(n) * n\n"
                   "[series two]\nlabel = T\nunit = -\ngroup = g\nformula = recent(n, 2)\n"
                   "[series half]\nlabel = H\nunit = -\ngroup = g\nformula = recent(n, z)\n"
                   "[series all]\nlabel = L\nunit = -\ngroup = g\nformula = recent(n, x)\n"
                   "[series doubled]\nlabel = D\nunit = -\ngroup = g\n"
                   "formula = recent(doubled, n) + 1\n"
                   "[item result]\nlabel = R\nunit = %s\ngroup = g\nformula = %s\n",
                   unit, formula);
  const struct source *source = source_from_text("test", text, &fixture->arena);
  struct model *model = model_read(source, &fixture->arena, &fixture->diagnostics);
  if (!model || model_check(model, &fixture->diagnostics))
    return NAN;
  enum given given[16] = {GIVEN_NOT};
  const struct graph *graph =
      graph_build(model, "test", nowhere, given, &fixture->arena, &fixture->diagnostics);
  if (!graph)
    return NAN;
  struct evaluation *evaluation = evaluation_new(graph, 4, 3, &fixture->arena);
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; i < 3 && graph->state[d] == GRAPH_INPUT; i++)
      evaluation_at(evaluation, d, 0)[i] = model->declarations[d].default_value;
  evaluate(evaluation);
  const double *values = evaluation_at(evaluation, model_find(model, "result"), 0);
  for (int i = 1; i < 3; i++)
    assert_true(values[0] == values[i] || (isnan(values[0]) && isnan(values[i])));
  return values[0];
}

static const struct {
  const char *formula, *unit;
  double value; // in base units
} valued[] = {
    {"x + y * z", "-", 3.5},
    {"x - y - z", "-", 7.5},
    {"x / z / z", "-", 20},
    {"(x > y) + (x = 5) + (x <> 5) + (y >= -3) + (y < -3) + (x <= 4)", "-", 3},
    {"if(x > y, 1, 2)", "-", 1},
    {"if(x < y, 1 / 0, 2)", "-", 2},
    {"min(x, y, z) + max(x, y, z)", "-", 2},
    {"ceil(880.0000000000001)", "-", 880},
    {"ceil(800 * 1.1)", "-", 880},
    {"ceil(0.2)", "-", 1},
    {"ceil(-0.2)", "-", -1},
    {"ceil(7)", "-", 7},
    {"floor(2.9999999999999)", "-", 3},
    {"floor(2.99)", "-", 2},
    {"floor(-2.99)", "-", -2},
    {"floor(0.7 * 10)", "-", 7},
    {"round(2.5, 0)", "-", 3},
    {"round(-2.5, 0)", "-", -3},
    {"round(1.25, 1)", "-", 1.3},
    {"round(1234, -2)", "-", 1200},
    {"round(1.005, 2)", "-", 1.01},
    {"round(1.4999999999999998, 0)", "-", 1},
    {"round(-2.675, 2)", "-", -2.68},
    {"if(0.1 + 0.2 = 0.3, 1, 0)", "-", 1},
    {"if(0.1 + 0.2 > 0.3, 1, 0)", "-", 0},
    {"if(0.3000001 > 0.3, 1, 0)", "-", 1},
    {"z^2", "-", 0.25},
    {"(-x)^2", "-", 25},
    {"growth(rate, 2 yr)", "-", 1.21},
    {"growth(rate, 0 yr)", "-", 1},
    {"sum(n)", "-", 6},
    {"first(n)", "-", 0},
    {"sum(running)", "-", 10},
    {"sum(two)", "-", 4}, // 0, 0, 1, 3
    {"highest(two)", "-", 3},
    {"sum(half)", "-", 0}, // no complete period
    {"sum(all)", "-", 4},
    {"sum(doubled)", "-", 15}, // 1, 2, 4, 8
    {"highest(n)", "-", 3},
    {"highest(below)", "-", -1},
    {"sum(ahead)", "-", 2 * 1 + 3 * 2 + 0 * 3},
    {"1 kW", "W", 1000},
    {"x * 1 kWh / 1 h", "kW", 5000},
};

static void test_valued(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    double value = worth(&fixture, valued[i].formula, valued[i].unit);
    expect_error(&fixture, valued[i].formula, "");
    if (value != valued[i].value)
      expect_near(value, valued[i].value, 1e-14, valued[i].formula);
    fixture_end(&fixture);
  }
}

// Random formulas: printing and parsing gives the same value to the last bit.
static void random_formula(struct fixture *fixture, unsigned *seed, int depth, const char **text) {
  static const char *const leaves[] = {"x", "y", "z", "2", "0.25", "sum(n)"};
  static const char *const shapes[] = {"(%s + %s)",         "(%s - %s)",  "%s * %s",
                                       "(%s) / (%s)",       "-(%s) * %s", "min(%s, %s)",
                                       "if(%s > %s, x, y)", "%s - (%s)"};
  if (depth == 0) {
    *text = leaves[(unsigned)rand_r(seed) % 6];
    return;
  }
  const char *left, *right;
  random_formula(fixture, seed, depth - 1, &left);
  random_formula(fixture, seed, depth - 1, &right);
  const char *shape = shapes[(unsigned)rand_r(seed) % 8];
  const char *at = strstr(shape, "%s"), *next = strstr(at + 2, "%s");
  *text = arena_printf(&fixture->arena, "%.*s%s%.*s%s%s", (int)(at - shape), shape, left,
                       (int)(next - at - 2), at + 2, right, next + 2);
}

static void test_round_trip(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 200; seed++) {
    struct fixture fixture;
    fixture_start(&fixture);
    unsigned random = seed;
    const char *text;
    random_formula(&fixture, &random, 3, &text);
    struct node *node =
        formula_parse(text, (struct place){NULL, 1, 1}, &fixture.arena, &fixture.diagnostics);
    expect_error(&fixture, text, "");
    const char *again = formula_text(node, &fixture.arena);
    double first = worth(&fixture, text, "-"), second = worth(&fixture, again, "-");
    if (first != second && !(isnan(first) && isnan(second)))
      fail_msg("seed %u: '%s' is %.17g, but '%s' is %.17g", seed, text, first, again, second);
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printed),    cmocka_unit_test(test_refused),
      cmocka_unit_test(test_too_deep),   cmocka_unit_test(test_valued),
      cmocka_unit_test(test_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
