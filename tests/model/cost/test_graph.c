// Models: what is refused, and with which message.
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include "model/cost/graph.h"
#include "model/cost/usable.h"

#include <string.h>

static const char head[] = "[group g]\nlabel = G\n"
                           "[input price]\nlabel = P\nunit = USD\ngroup = g\nrequired = yes\n"
                           "[input power]\nlabel = W\nunit = W\ngroup = g\ndefault = 5 W\n"
                           "[input rate]\nlabel = R\nunit = USD/yr\ngroup = g\ndefault = 1 USD/yr\n"
                           "[series age]\nlabel = Y\nunit = yr\ngroup = g\nformula = t * 1 yr\n";

// A model's own first line is line 22.
static const struct {
  const char *unit, *formula, *error;
} refused[] = {
    {"USD", "price + power", "units do not match: price (USD) and power (W)"},
    {"USD", "price + rate", "units do not match: price (USD) and rate (USD/yr)"},
    {"USD", "price * power", "the formula of 'x' is in USD*W, but its unit is USD"},
    {"USD", "prise", "unknown name 'prise'; did you mean 'price'?"},
    {"USD", "qqqqqqqq", "unknown name 'qqqqqqqq'"},
    {"USD", "x", "circular reference in formulas: x -> x"},
    {"yr", "next(age)", "next() is defined only per period"},
    {"yr", "prev(age)", "prev() is defined only per period"},
    {"yr", "recent(age, 2)", "recent() is defined only per period"},
    {"yr", "recent(age, 1 + 1)", "the number of periods of recent() is a name or a number"},
    {"yr", "recent(age)", "recent() takes 2 arguments, not 1"},
    {"yr", "recent(2, age)", "recent() takes a name"},
    {"-", "floor(1 yr)", "what is rounded down must be a plain number"},
    {"yr", "age", "'age' has a value per period: write sum(age) or first(age)"},
    {"USD", "sum(price)", "'price' is one number, not a series"},
    {"-", "t", "t is defined only per period"},
    {"USD", "if(price, price, price)", "a condition must be a plain number, not price (USD)"},
    {"USD", "if(power > 1 W, price, power)", "units do not match: price (USD) and power (W)"},
    {"USD", "if(power > 1 W, price, 1)", "units do not match: price (USD) and 1 (a plain number)"},
    {"USD", "min(price, 3)", "units do not match: price (USD) and 3 (a plain number)"},
    {"USD", "price^2", "the formula of 'x' is in USD*USD, but its unit is USD"},
    {"-", "(((price^3)^3)^3)^3", "a unit's power must be at most 12, not USD*USD*USD"},
    {"-", "(price^3)^3 * price^3 * price", "a unit's power must be at most 12"},
    {"-", "1 / (price^3)^3 / price^3 / price", "a unit's power must be at most 12, not 1/USD"},
    {"USD", "price^0.5", "can only be raised to the power 2 or 3"},
    {"-", "2^(1 yr)", "an exponent must be a plain number, not 1 yr (h)"},
    {"-", "growth(3, 1 yr)", "a growth rate must be 1/h"},
    {"-", "growth(5 %/yr, 3)", "the time of growth must be h"},
    {"-", "round(1 yr, 0)", "what is rounded must be a plain number"},
    {"USD", "own(other)", "own() takes capex or opex"},
    {"USDD", "price", "unknown unit 'USDD'; did you mean 'USD'?"},
};

static struct model *model_of(struct fixture *fixture, const char *rest) {
  const char *text = arena_printf(&fixture->arena, "%s%s", head, rest);
  const struct source *source = source_from_text("test", text, &fixture->arena);
  struct model *model = model_read(source, &fixture->arena, &fixture->diagnostics);
  return model && !model_check(model, &fixture->diagnostics) ? model : NULL;
}

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const char *rest =
        arena_printf(&fixture.arena, "[item x]\nlabel = X\nunit = %s\ngroup = g\nformula = %s\n",
                     refused[i].unit, refused[i].formula);
    assert_null(model_of(&fixture, rest));
    expect_error(&fixture, refused[i].formula, refused[i].error);
    fixture_end(&fixture);
  }
}

static void test_long_cycle(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  assert_null(model_of(&fixture, "[item a]\nlabel = A\nunit = USD\ngroup = g\nformula = price + b\n"
                                 "[item b]\nlabel = B\nunit = USD\ngroup = g\nformula = 2 * c\n"
                                 "[item c]\nlabel = C\nunit = USD\ngroup = g\nformula = a\n"));
  expect_error(&fixture, "a cycle", "circular reference in formulas: a -> b -> c -> a");
  fixture_end(&fixture);
}

static const struct {
  const char *text, *error;
} malformed[] = {
    {"[itme x]\nlabel = X\n", "unknown section [itme] in a model"},
    {"[item x]\nlabel = X\nunit = USD\n", "[item x] needs 'formula'"},
    {"[item x]\nlabel = X\nunit = USD\ngroup = h\nformula = price\n", "unknown group 'h'"},
    {"[item x]\nlabel = X\nunit = USD\ngroup = g\nformula = price\ncolor = red\n",
     "unknown key 'color'"},
    {"[item price]\nlabel = X\nunit = USD\ngroup = g\nformula = 1 USD\n",
     "'price' is already a name of the cost model"},
    {"[item W]\nlabel = X\nunit = USD\ngroup = g\nformula = price\n",
     "'W' is a reserved word in formulas"},
    {"[item 9x]\nlabel = X\nunit = USD\ngroup = g\nformula = price\n", "'9x' is not a name"},
    {"[item x]\nlabel = X\nunit = USD\ngroup = g\nformula = price\nneeds = prize\n",
     "'prize' must be declared before it is named here"},
    {"[input y]\nlabel = Y\nunit = USD\ngroup = g\nrequired = maybe\n", "expected yes or no"},
    {"[input y]\nlabel = Y\nunit = USD\ngroup = g\ndefault = 3\n", "has no unit"},
    {"[input y]\nlabel = Y\nunit = USDD\ngroup = g\nmin = 3 USD\nchoices = a:1\n",
     "unknown unit 'USDD'"},
    {"[input y]\nlabel = Y\ngroup = g\nmax = 3 USD\n", "[input y] needs 'unit'"},
    {"[input y]\nlabel = Y\nunit = USD\ngroup = g\nor_formula = 3 USD\n",
     "or_formula without the formula before it"},
    {"[input y]\nlabel = Y\nunit = USD\ngroup = g\nformula = 3 USD\nor_formula_2 = 4 USD\n",
     "or_formula_2 without the formula before it"},
    {"[series x]\nlabel = X\nunit = yr\ngroup = g\nformula = next(x) + age\n",
     "circular reference in formulas: x -> x"},
    {"[series x]\nlabel = X\nunit = -\ngroup = g\nformula = recent(x, x)\n",
     "circular reference in formulas: x -> x"},
    {"[series x]\nlabel = X\nunit = yr\ngroup = g\nformula = recent(age, price)\n",
     "the number of periods must be a plain number, not price (USD)"},
    {"[input y]\nlabel = Y\nunit = USD\ngroup = g\ndefault = 3 USD\nscope = all\n",
     "expected option, not 'all'"},
    {"[item x]\nlabel = X\nunit = USD\ngroup = g\nformula = price\n"
     "needs = price price price price price price price\n",
     "at most 6 names are allowed here"},
};

static void test_malformed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    assert_null(model_of(&fixture, malformed[i].text));
    expect_error(&fixture, malformed[i].text, malformed[i].error);
    fixture_end(&fixture);
  }
}

// The inputs that an option gives decide which formulas apply, and the order follows the
// dependencies.
static void test_states(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct model *model = model_of(
      &fixture, "[input idle]\nlabel = I\nunit = W\ngroup = g\nformula = power\n"
                "[item late]\nlabel = L\nunit = USD\ngroup = g\nformula = early + price\n"
                "[item early]\nlabel = E\nunit = USD\ngroup = g\nformula = price\n"
                "[item extra]\nlabel = X\nunit = W\ngroup = g\nformula = idle\nneeds = idle\n");
  assert_non_null(model);
  enum given given[16] = {GIVEN_NOT};
  struct place place = {NULL, 3, 1};
  assert_null(graph_build(model, "a", place, given, &fixture.arena, &fixture.diagnostics));
  expect_error(&fixture, "nothing given", "3:1: option 'a' needs 'price' (USD)");
  given[model_find(model, "price")] = GIVEN_VALUE;
  struct graph *graph = graph_build(model, "a", place, given, &fixture.arena, &fixture.diagnostics);
  assert_int_equal(graph->state[model_find(model, "price")], GRAPH_INPUT);
  assert_int_equal(graph->state[model_find(model, "power")], GRAPH_INPUT);
  assert_int_equal(graph->state[model_find(model, "idle")], 0);
  assert_int_equal(graph->state[model_find(model, "extra")], GRAPH_ABSENT);
  int early = -1, late = -1;
  for (int i = 0; i < graph->order_count; i++) {
    early = graph->order[i] == model_find(model, "early") ? i : early;
    late = graph->order[i] == model_find(model, "late") ? i : late;
  }
  assert_true(early >= 0 && early < late);
  given[model_find(model, "idle")] = GIVEN_VALUE;
  graph = graph_build(model, "a", place, given, &fixture.arena, &fixture.diagnostics);
  assert_int_equal(graph->state[model_find(model, "idle")], GRAPH_INPUT);
  assert_int_equal(graph->state[model_find(model, "extra")], 0);
  fixture_end(&fixture);
}

// What an option leaves out is absent, and so is what depends on it: a sum is that of the remaining
// terms, and is absent if only numbers remain.
static void test_absence(void **state) {
  (void)state;
  static const struct {
    const char *name, *formula; // NULL: absent
  } items[] = {{"watts", NULL},         {"double", NULL},
               {"some", "price + fee"}, {"more", "2 * (price + fee)"},
               {"bare", NULL},          {"so_far", "prev(so_far) + fee_t"},
               {"fee_t", "fee"},        {"taken", NULL},
               {"either", "fee"},       {"past", NULL}};
  struct fixture fixture;
  fixture_start(&fixture);
  const struct model *model = model_of(
      &fixture,
      "[input fee]\nlabel = F\nunit = USD\ngroup = g\n"
      "[input watts]\nlabel = W\nunit = USD\ngroup = g\nrequired = yes\nabsent_with = fee\n"
      "[item double]\nlabel = D\nunit = USD\ngroup = g\nformula = 2 * watts\n"
      "[item some]\nlabel = S\nunit = USD\ngroup = g\nformula = price + double + fee\n"
      "needs = fee\n"
      "[item more]\nlabel = M\nunit = USD\ngroup = g\nformula = 2 * (price + watts + fee)\n"
      "needs = fee\n"
      "[item bare]\nlabel = B\nunit = USD\ngroup = g\nformula = watts + 1 USD\n"
      "[item taken]\nlabel = T\nunit = USD\ngroup = g\nformula = price - watts\n"
      "[item either]\nlabel = E\nunit = USD\ngroup = g\nformula = fee\nneeds = fee\n"
      "or_formula = watts\n"
      "[series fee_t]\nlabel = F\nunit = USD\ngroup = g\nformula = fee\nneeds = fee\n"
      "[series past]\nlabel = P\nunit = USD\ngroup = g\nformula = prev(past) * 2 - watts\n"
      "[series so_far]\nlabel = S\nunit = USD\ngroup = g\n"
      "formula = prev(so_far) + watts + fee_t\nneeds = fee\n");
  assert_non_null(model);
  enum given given[32] = {GIVEN_NOT};
  given[model_find(model, "price")] = GIVEN_VALUE;
  given[model_find(model, "fee")] = GIVEN_VALUE;
  const struct graph *graph = graph_build(model, "a", (struct place){NULL, 1, 1}, given,
                                          &fixture.arena, &fixture.diagnostics);
  assert_non_null(graph);
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
    const int d = model_find(model, items[i].name);
    assert_int_equal(graph->state[d] == GRAPH_ABSENT, !items[i].formula);
    if (items[i].formula)
      assert_string_equal(graph_formula_text(graph, d, &fixture.arena), items[i].formula);
  }
  given[model_find(model, "fee")] = GIVEN_NOT;
  assert_null(graph_build(model, "a", (struct place){NULL, 1, 1}, given, &fixture.arena,
                          &fixture.diagnostics));
  expect_error(&fixture, "without the fee", "1:1: option 'a' needs 'watts' (USD)");
  fixture_end(&fixture);
}

// Of several alternatives, the first one whose conditions are met counts; `a b | b` are two.
static void test_alternatives(void **state) {
  (void)state;
  static const struct {
    const char *given[2];
    int used, used_of_lists;
  } cases[] = {
      {{"a", "b"}, 0, 0}, {{"a"}, 1, GRAPH_ABSENT}, {{"b"}, 2, 1}, {{"price"}, 3, GRAPH_ABSENT}};
  struct fixture fixture;
  fixture_start(&fixture);
  const struct model *model =
      model_of(&fixture, "[input a]\nlabel = A\nunit = USD\ngroup = g\n"
                         "[input b]\nlabel = B\nunit = USD\ngroup = g\n"
                         "[item x]\nlabel = X\nunit = USD\ngroup = g\nor_formula_3 = price\n"
                         "or_formula_2 = b\nor_needs_2 = b\nformula = a + b\nneeds = a b\n"
                         "or_formula = a\nor_needs = a\n"
                         "[item y]\nlabel = Y\nunit = USD\nformula = 2 USD\nneeds = a b | b\n");
  assert_non_null(model);
  assert_int_equal(model->declarations[model_find(model, "y")].group, model_group(model, "g"));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    enum given given[16] = {GIVEN_NOT};
    given[model_find(model, "price")] = GIVEN_VALUE;
    for (size_t g = 0; g < 2 && cases[i].given[g]; g++)
      given[model_find(model, cases[i].given[g])] = GIVEN_VALUE;
    const struct graph *graph = graph_try(model, "o", given, NULL, &fixture.arena);
    assert_non_null(graph);
    assert_int_equal(graph->state[model_find(model, "x")], cases[i].used);
    assert_int_equal(graph->state[model_find(model, "y")], cases[i].used_of_lists);
  }
  fixture_end(&fixture);
}

// What nothing refers to is left out, and what then reads no series is a single number; what exists
// only if something depends on the year exists only in those options.
static void test_varying(void **state) {
  (void)state;
  static const struct {
    const char *mentioned;
    bool is_given;
    enum declaration_kind kind;
    int plan, stock; // states
  } cases[] = {{"o.title", false, DECLARATION_SCALAR, GRAPH_ABSENT, 1},
               {"o.growth.source", false, DECLARATION_SERIES, GRAPH_ABSENT, 1},
               {"growth", true, DECLARATION_SERIES, GRAPH_INPUT, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const char *text =
        "[group g]\nlabel = G\n"
        "[input n]\nlabel = N\nunit = -\ngroup = g\ndefault = 3\n"
        "[input growth]\nlabel = G\nunit = -\ngroup = g\ntyped = yes\n"
        "[series year]\nlabel = Y\nunit = -\ngroup = g\nformula = floor(t / 2)\n"
        "[item need]\nlabel = E\nunit = -\ngroup = g\nvaries = yes\n"
        "formula = n * (1 + growth * year)\nneeds = growth\nor_formula = n\n"
        "[item fleet]\nlabel = F\nunit = -\ngroup = g\nformula = highest(need)\n"
        "[input plan]\nlabel = P\nunit = -\ngroup = g\ndefault = 1\nwhen_varies = fleet\n"
        "[item stock]\nlabel = S\nunit = -\ngroup = g\nvaries = yes\n"
        "formula = max(prev(stock), need, (1 - plan) * fleet)\nneeds = plan\nor_formula = fleet\n";
    struct model *model = model_read(source_from_text("test", text, &fixture.arena), &fixture.arena,
                                     &fixture.diagnostics);
    expect_error(&fixture, text, "");
    model_mention(model, cases[i].mentioned);
    model_leave_out(model);
    assert_int_equal(model_check(model, &fixture.diagnostics), 0);
    assert_int_equal(model->declarations[model_find(model, "need")].kind, cases[i].kind);
    assert_int_equal(model->declarations[model_find(model, "stock")].kind, cases[i].kind);
    enum given given[16] = {GIVEN_NOT};
    given[model_find(model, "growth")] = cases[i].is_given ? GIVEN_VALUE : GIVEN_NOT;
    const struct graph *graph = graph_try(model, "o", given, NULL, &fixture.arena);
    assert_non_null(graph);
    assert_int_equal(graph->state[model_find(model, "plan")], cases[i].plan);
    assert_int_equal(graph->state[model_find(model, "stock")], cases[i].stock);
    fixture_end(&fixture);
  }
}

// What is a whole number whatever the inputs: `n` is a whole input, `x` none; `flag` and `turn` are
// computed.
static void test_whole(void **state) {
  (void)state;
  static const struct {
    const char *formula;
    bool whole;
  } cases[] = {
      {"3", true},
      {"3.5", false},
      {"n", true},
      {"x", false},
      {"x > 2", true},
      {"ceil(x)", true},
      {"floor(x / 2) * n - flag", true},
      {"-n", true},
      {"n / 2", false},
      {"n^2", false},
      {"round(x, 0)", true},
      {"round(x, 2)", false},
      {"min(n, floor(x))", true},
      {"max(n, x)", false},
      {"if(x > 2, n, 0)", true},
      {"if(x > 2, n, x)", false},
      {"t", true},
      {"prev(turn) + 1", true},
      {"prev(y) + 1", true},  // of itself
      {"prev(y) + x", false}, // likewise
      {"recent(turn, n)", true},
      {"age / 1 yr", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct model *model = model_of(
        &fixture,
        arena_printf(&fixture.arena,
                     "[input n]\nlabel = N\nunit = -\ngroup = g\ndefault = 3\ninteger = yes\n"
                     "[input x]\nlabel = X\nunit = -\ngroup = g\ndefault = 3\n"
                     "[item flag]\nlabel = F\nunit = -\ngroup = g\nformula = price > 2 USD\n"
                     "[series turn]\nlabel = T\nunit = -\ngroup = g\nformula = floor(age / 1 yr)\n"
                     "[series y]\nlabel = Z\nunit = -\ngroup = g\nformula = %s\n",
                     cases[i].formula));
    expect_error(&fixture, cases[i].formula, "");
    assert_non_null(model);
    enum given *given = arena_array(&fixture.arena, (size_t)model->count, sizeof *given);
    given[model_find(model, "price")] = GIVEN_VALUE;
    const struct graph *graph =
        graph_build(model, "o", nowhere, given, &fixture.arena, &fixture.diagnostics);
    assert_non_null(graph);
    bool *whole = arena_array(&fixture.arena, (size_t)model->count, sizeof *whole);
    graph_find_whole(graph, whole);
    if (whole[model_find(model, "y")] != cases[i].whole)
      fail_msg("%s: expected %s whole number", cases[i].formula, cases[i].whole ? "a" : "no");
    fixture_end(&fixture);
  }
}

static struct model *default_model(struct fixture *fixture) {
  const struct source *source =
      source_from_text("built-in model", model_default_text, &fixture->arena);
  struct model *model = model_read(source, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, "tco.ini", "");
  assert_int_equal(model_check(model, &fixture->diagnostics), 0);
  return model;
}

static bool formula_names(const struct node *node, int declaration) {
  if (node->kind == NODE_NAME && node->declaration == declaration)
    return true;
  for (int i = 0; i < node->argument_count; i++)
    if (formula_names(node->arguments[i], declaration))
      return true;
  return false;
}

static bool item_names(const struct declaration *item, int declaration) {
  for (int a = 0; a < item->alternative_count; a++)
    if (formula_names(item->alternatives[a].formula, declaration))
      return true;
  return false;
}

// Marks what the item is computed from.
static void mark_parts(const struct model *model, int item, bool *parts) {
  for (int d = 0; d < model->count; d++)
    if (!parts[d] && item_names(&model->declarations[item], d)) {
      parts[d] = true;
      mark_parts(model, d, parts);
    }
}

static bool is_money_series(const struct declaration *item) {
  return item->kind == DECLARATION_SERIES && dimension_is_money(item->unit.dimension);
}

// Whether a category sums it up, or each amount that it consists of.
static bool in_categories(const struct model *model, int declaration) {
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CATEGORY &&
        item_names(&model->declarations[d], declaration))
      return true;
  int amounts = 0;
  for (int d = 0; d < model->count; d++)
    if (item_names(&model->declarations[declaration], d) &&
        is_money_series(&model->declarations[d])) {
      if (!in_categories(model, d))
        return false;
      amounts++;
    }
  return amounts > 0;
}

// A cost of the group opex counts: the series opex adds it up, and a category shows it.
static void test_operating_costs(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct model *model = default_model(&fixture);
  const int opex = model_find(model, "opex"), group = model_group(model, "opex");
  const struct declaration *sum = &model->declarations[opex];
  bool *parts = arena_array(&fixture.arena, (size_t)model->count, sizeof *parts);
  mark_parts(model, opex, parts);
  for (int d = 0; d < model->count; d++) {
    const struct declaration *cost = &model->declarations[d];
    if (cost->group == group && is_money_series(cost) && d != opex && !parts[d])
      fail_msg("opex does not add up %s", cost->name);
    if (item_names(sum, d) && !in_categories(model, d))
      fail_msg("no category shows %s", cost->name);
  }
  fixture_end(&fixture);
}

static void test_default_model(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct model *model = default_model(&fixture);
  expect_error(&fixture, "tco.ini", "");
  for (int d = 0; d < model->count; d++) {
    assert_true(*model->declarations[d].label);
    for (int e = 0; e < d; e++)
      if (model->declarations[d].kind != DECLARATION_INPUT &&
          model->declarations[e].kind != DECLARATION_INPUT)
        assert_string_not_equal(model->declarations[d].label, model->declarations[e].label);
  }
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),       cmocka_unit_test(test_long_cycle),
      cmocka_unit_test(test_malformed),     cmocka_unit_test(test_states),
      cmocka_unit_test(test_alternatives),  cmocka_unit_test(test_varying),
      cmocka_unit_test(test_absence),       cmocka_unit_test(test_whole),
      cmocka_unit_test(test_default_model), cmocka_unit_test(test_operating_costs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
