// Formulas as script of the what-if page: in the engine's units, without conversions, and with
// parentheses wherever the script would otherwise parse a different tree.
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include "reports/page/script_formula.h"

#include <string.h>

static const char head[] = "[group g]\nlabel = G\n"
                           "[input price]\nlabel = P\nunit = USD\ngroup = g\ndefault = 1 USD\n"
                           "[input rate]\nlabel = P\nunit = %/yr\ngroup = g\ndefault = 1 %/yr\n"
                           "[input share]\nlabel = P\nunit = %\ngroup = g\ndefault = 1 %\n"
                           "[input time]\nlabel = P\nunit = yr\ngroup = g\ndefault = 1 yr\n"
                           "[input count]\nlabel = P\nunit = gpu\ngroup = g\ndefault = 1\n"
                           "[series cost]\nlabel = C\nunit = USD\ngroup = g\nformula = 1 USD * t\n";

static const struct {
  const char *kind, *unit, *formula, *expected;
} rendered[] = {
    // names, numbers in base units, signs and parentheses
    {"item", "USD", "price", "v.x = v.price;"},
    {"item", "USD", "price + price * 3", "v.x = v.price + v.price * 3;"},
    {"item", "USD", "(price + price) * 3", "v.x = (v.price + v.price) * 3;"},
    {"item", "USD", "price - (price - price)", "v.x = v.price - (v.price - v.price);"},
    {"item", "USD", "price - price - price", "v.x = v.price - v.price - v.price;"},
    {"item", "USD", "price / (count * count)", "v.x = divide(v.price, v.count * v.count);"},
    {"item", "USD", "price / count * count", "v.x = divide(v.price, v.count) * v.count;"},
    {"item", "USD", "-price", "v.x = (-v.price);"},
    {"item", "USD", "price - -(price + price)", "v.x = v.price - (-(v.price + v.price));"},
    {"item", "W", "2.5 kW", "v.x = 2500;"},
    {"item", "%", "12 % * share", "v.x = 0.12 * v.share;"},
    {"item", "yr", "1 yr", "v.x = 8760;"},

    // what is not an operator of the script, or has another meaning there
    {"item", "-", "(-count)^2", "v.x = power((-v.count), 2);"},
    {"item", "-", "(2^3)^2", "v.x = power(power(2, 3), 2);"},
    {"item", "-", "count = 1", "v.x = equal(v.count, 1);"},
    {"item", "-", "(count <> 1) * share", "v.x = unequal(v.count, 1) * v.share;"},
    {"item", "-", "count < 1", "v.x = less(v.count, 1);"},
    {"item", "-", "count <= 1", "v.x = less_equal(v.count, 1);"},
    {"item", "-", "count > 1 + 1", "v.x = greater(v.count, 1 + 1);"},
    {"item", "-", "count >= 1", "v.x = greater_equal(v.count, 1);"},

    // functions
    {"item", "gpu", "ceil(count * (1 + share))", "v.x = ceil(v.count * (1 + v.share));"},
    {"item", "USD", "price / (2 / 0)", "v.x = divide(v.price, divide(2, 0));"},
    {"item", "-", "round(time / 1 yr, 9)", "v.x = round(v.time / 8760, 9);"},
    {"item", "-", "growth(rate, time)", "v.x = growth(v.rate, v.time);"},
    {"item", "USD", "min(price, 2 USD, 3 USD)", "v.x = min(v.price, 2, 3);"},
    {"item", "USD", "max(price, 2 USD)", "v.x = max(v.price, 2);"},
    {"item", "USD", "if(count > 1, price, 2 * price)",
     "v.x = choose(greater(v.count, 1), v.price, 2 * v.price);"},
    {"item", "USD", "if(count - 1, price, price) * 2",
     "v.x = choose(v.count - 1, v.price, v.price) * 2;"},

    // series
    {"item", "USD", "sum(cost) - first(cost)", "v.x = sum(v.cost) - first(v.cost);"},
    {"item", "USD", "highest(cost)", "v.x = highest(v.cost);"},
    {"item", "-", "floor(share)", "v.x = floor(v.share);"},
    {"series", "USD", "next(cost) - cost",
     "v.x = [];\n  fill(v.x, last, (t) => next(v.cost, t) - v.cost[t]);"},
    {"series", "USD", "recent(cost, 2) + recent(x, count)",
     "v.x = [];\n  fill(v.x, last, (t) => recent(v.cost, t, 2) + recent(v.x, t, v.count));"},
    {"series", "USD", "cost * t", "v.x = [];\n  fill(v.x, last, (t) => v.cost[t] * t);"},
    {"series", "USD", "prev(x) + cost",
     "v.x = [];\n  fill(v.x, last, (t) => prev(v.x, t) + v.cost[t]);"},
};

// A model with one more declaration, x, as a graph in which all inputs have their defaults.
static const struct graph *graph_with(struct fixture *fixture, const char *kind, const char *unit,
                                      const char *formula) {
  struct arena *arena = &fixture->arena;
  const char *text =
      arena_printf(arena, "%s[%s x]\nlabel = X\nunit = %s\ngroup = g\nformula = %s\n", head, kind,
                   unit, formula);
  struct model *model =
      model_read(source_from_text("test", text, arena), arena, &fixture->diagnostics);
  expect_error(fixture, formula, "");
  model_check(model, &fixture->diagnostics);
  expect_error(fixture, formula, "");
  const enum given *given = arena_array(arena, (size_t)model->count, sizeof *given);
  return graph_build(model, "o", nowhere, given, arena, &fixture->diagnostics);
}

static void test_rendered(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rendered / sizeof rendered[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const struct graph *graph =
        graph_with(&fixture, rendered[i].kind, rendered[i].unit, rendered[i].formula);
    assert_non_null(graph);
    const char *text = script_item(graph, model_find(graph->model, "x"), &fixture.arena);
    if (strcmp(text, rendered[i].expected) != 0)
      print_error("%s [%s]\n", rendered[i].formula, rendered[i].unit);
    assert_string_equal(text, rendered[i].expected);
    fixture_end(&fixture);
  }
}

static void test_items_stand_after_what_they_need(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct graph *graph = graph_with(&fixture, "item", "USD", "sum(cost) * 2");
  assert_string_equal(script_graph(graph, &fixture.arena), "(v, last) => {\n"
                                                           "  v.cost = [];\n"
                                                           "  fill(v.cost, last, (t) => 1 * t);\n"
                                                           "  v.x = sum(v.cost) * 2;\n"
                                                           "}");
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rendered),
      cmocka_unit_test(test_items_stand_after_what_they_need),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
