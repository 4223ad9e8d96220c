// Formulas for spreadsheets: units converted by named constants, parentheses around everything that
// spreadsheets disagree about, and nothing too long for a cell.
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "tests/support/fixture.h"

#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/steps.h"
#include "reports/spreadsheet/trees.h"

#include <stdio.h>
#include <string.h>

// Scalars are named pt_o_NAME; of the series, `energy` is in row 6, `cost` in row 7, `x` in row 9;
// t is in row 4, period 0 in column E. Formulas are those of period 1, in column F.
static const char head[] =
    "[group g]\nlabel = G\n"
    "[input price]\nlabel = P\nunit = USD\ngroup = g\ndefault = 1 USD\n"
    "[input power]\nlabel = P\nunit = W\ngroup = g\ndefault = 1 W\n"
    "[input tariff]\nlabel = P\nunit = USD/kWh\ngroup = g\ndefault = 1 USD/kWh\n"
    "[input rate]\nlabel = P\nunit = %/yr\ngroup = g\ndefault = 1 %/yr\n"
    "[input share]\nlabel = P\nunit = %\ngroup = g\ndefault = 1 %\n"
    "[input rent]\nlabel = P\nunit = USD/kW/month\ngroup = g\n"
    "default = 1 USD/kW/month\n"
    "[input speed]\nlabel = P\nunit = token/s\ngroup = g\ndefault = 1 token/s\n"
    "[input time]\nlabel = P\nunit = yr\ngroup = g\ndefault = 1 yr\n"
    "[input count]\nlabel = P\nunit = gpu\ngroup = g\ndefault = 1\n"
    "[series energy]\nlabel = E\nunit = kWh\ngroup = g\nformula = 1 kWh * t\n"
    "[series cost]\nlabel = C\nunit = USD\ngroup = g\nformula = 1 USD * t\n";

enum { TIME_ROW = 3, FIRST_PERIOD = 4, COLUMN = 5, ROW_ENERGY = 5, ROW_COST = 6, ROW_X = 8 };

static const struct {
  const char *kind, *unit, *formula, *expected;
} rendered[] = {
    // names, constants, signs and parentheses
    {"item", "USD", "price", "=pt_o_price"},
    {"item", "USD", "price + price * 3", "=pt_o_price+pt_o_price*pt_x_1"},
    {"item", "USD", "price - (price - price)", "=pt_o_price-(pt_o_price-pt_o_price)"},
    {"item", "USD", "price / (count * count)", "=pt_o_price/(pt_o_count*pt_o_count)"},
    {"item", "USD", "price / count / count", "=pt_o_price/pt_o_count/pt_o_count"},
    {"item", "USD", "(price + price) * count", "=(pt_o_price+pt_o_price)*pt_o_count"},
    {"item", "USD", "-price", "=(-pt_o_price)"},
    {"item", "USD", "-(price + price)", "=(-(pt_o_price+pt_o_price))"},
    {"item", "-", "(-count)^2", "=((-pt_o_count)^pt_x_1)"},
    {"item", "-", "(2^3)^2", "=((pt_x_1^pt_x_2)^pt_x_1)"},
    {"item", "-", "2^(1 / count)", "=(pt_x_1^(1/pt_o_count))"},
    {"item", "USD", "0 USD", "=0"},
    {"item", "USD", "1 USD", "=pt_x_1"},
    {"item", "USD", "max(price, 1 USD, 0 USD)", "=MAX(pt_o_price,1,0)"},
    {"item", "USD", "price * 100", "=pt_o_price*100"},
    {"item", "%", "share * (1 - share)", "=pt_o_share*(1-pt_o_share)"},
    {"item", "%", "share - 100 %", "=pt_o_share-1"},
    {"item", "USD/yr", "0.4 %/yr * price", "=pt_x_1*pt_o_price"},

    // units
    {"item", "kW", "power", "=pt_o_power/pt_thousand"},
    {"item", "W", "power + 3 kW", "=pt_o_power+pt_x_1*pt_thousand"},
    {"item", "kW", "power + 3 kW", "=(pt_o_power+pt_x_1*pt_thousand)/pt_thousand"},
    {"item", "USD/yr", "power * tariff", "=pt_o_power*pt_o_tariff*pt_hours_per_year/pt_thousand"},
    {"item", "token/h", "speed * share", "=pt_o_speed*pt_o_share*pt_seconds_per_hour"},
    {"item", "token/yr", "speed", "=pt_o_speed*pt_hours_per_year*pt_seconds_per_hour"},
    {"item", "USD", "power * rent * time",
     "=pt_o_power*pt_o_rent*pt_o_time*pt_months_per_year/pt_thousand"},
    {"item", "-", "time / 1 yr", "=pt_o_time"},
    {"item", "-", "time / (12 * 1 h)", "=pt_o_time/pt_x_1*pt_hours_per_year"},
    {"item", "-", "time / 2 yr - 1", "=pt_o_time/pt_x_1-1"},
    {"item", "-", "(power * time) / (power * 1 h) - 1",
     "=pt_o_power*pt_o_time/pt_o_power*pt_hours_per_year-1"},

    // functions
    {"item", "gpu", "ceil(count * (1 + share))",
     "=ROUNDUP(ROUND(pt_o_count*(1+pt_o_share),pt_rounding_digits),0)"},
    {"item", "gpu", "floor(count * share)",
     "=ROUNDDOWN(ROUND(pt_o_count*pt_o_share,pt_rounding_digits),0)"},
    {"item", "-", "round(time / 1 yr, 9)", "=ROUND(pt_o_time,pt_rounding_digits)"},
    {"item", "-", "round(time / 1 yr, 2)", "=ROUND(pt_o_time,pt_x_1)"},
    {"item", "-", "growth(rate, time)", "=((1+pt_o_rate)^pt_o_time)"},
    {"item", "-", "growth(rate + 1 %/yr, time - 1 yr)", "=((1+(pt_o_rate+pt_x_1))^(pt_o_time-1))"},
    {"item", "USD", "if(power > 1 kW, price, 0 USD)", "=IF(pt_o_power>1*pt_thousand,pt_o_price,0)"},
    {"item", "USD", "if(count, price, price * 2)",
     "=IF(pt_o_count<>0,pt_o_price,pt_o_price*pt_x_1)"},
    {"item", "-", "count >= 1", "=IF(pt_o_count>=1,1,0)"},
    {"item", "-", "(count <> 1) * share", "=IF(pt_o_count<>1,1,0)*pt_o_share"},
    {"item", "W", "min(1 kW, power)", "=MIN(1,pt_o_power/pt_thousand)*pt_thousand"},

    // series
    {"item", "USD", "sum(cost)", "=SUM($E7:$I7)"},
    {"item", "USD", "first(cost)", "=$E7"},
    {"item", "Wh", "sum(energy)", "=SUM($E6:$I6)*pt_thousand"},
    {"series", "USD", "energy * tariff", "=F6*pt_o_tariff"},
    {"series", "USD", "cost * t", "=F7*F$4"},
    {"item", "kWh", "highest(energy)", "=MAX($E6:$I6)"},
    {"series", "USD", "prev(x) + cost", "=E9+F7"},
    {"series", "USD", "next(cost) - cost", "=G7-F7"},
    {"series", "USD", "recent(cost, 2)", "=SUMPRODUCT(($D$4:E$4>=F$4-pt_x_1)*$D7:E7)"},
    {"series", "Wh", "recent(energy, count) + recent(x, 1)",
     "=(SUMPRODUCT(($D$4:E$4>=F$4-pt_o_count)*$D6:E6)"
     "+SUMPRODUCT(($D$4:E$4>=F$4-1)*$D9:E9)/pt_thousand)*pt_thousand"},
    {"series", "%", "cost / sum(cost)", "=F7/SUM($E7:$I7)"},
    {"series", "-", "if(t > 0, 0, 1)", "=IF(F$4>0,0,1)"},
    {"series", "yr", "max(t - 1, 0) * time", "=MAX(F$4-1,0)*pt_o_time"},
};

struct sheet {
  struct fixture fixture;
  struct names names;
  struct constants constants;
  struct model *model;
  int x; // the declaration to be rendered
};

static void sheet_start(struct sheet *sheet, const char *kind, const char *unit,
                        const char *formula) {
  *sheet = (struct sheet){.x = -1};
  fixture_start(&sheet->fixture);
  struct arena *arena = &sheet->fixture.arena;
  const char *text =
      arena_printf(arena, "%s[%s x]\nlabel = X\nunit = %s\ngroup = g\nformula = %s\n", head, kind,
                   unit, formula);
  sheet->names = (struct names){.arena = arena};
  constants_begin(&sheet->constants, &sheet->names, arena);
  sheet->model =
      model_read(source_from_text("test", text, arena), arena, &sheet->fixture.diagnostics);
  expect_error(&sheet->fixture, formula, "");
  model_check(sheet->model, &sheet->fixture.diagnostics);
  expect_error(&sheet->fixture, formula, "");
  sheet->x = model_find(sheet->model, "x");
}

static const char *render(struct sheet *sheet) {
  const struct model *model = sheet->model;
  struct arena *arena = &sheet->fixture.arena;
  struct name **names = arena_array(arena, (size_t)model->count, sizeof(struct name *));
  int *rows = arena_array(arena, (size_t)model->count, sizeof *rows);
  for (int d = 0; d < model->count; d++)
    names[d] =
        names_add(&sheet->names, arena_printf(arena, "pt_o_%s", model->declarations[d].name), "");
  rows[model_find(model, "energy")] = ROW_ENERGY;
  rows[model_find(model, "cost")] = ROW_COST;
  rows[sheet->x] = ROW_X;
  const struct formula_references references = {.model = model,
                                                .names = names,
                                                .rows = rows,
                                                .time_row = TIME_ROW,
                                                .first_period = FIRST_PERIOD,
                                                .periods = 5,
                                                .constants = &sheet->constants,
                                                .arena = arena,
                                                .final = true};
  const struct declaration *item = &model->declarations[sheet->x];
  return spreadsheet_formula(item, item->alternatives[0].formula, COLUMN, &references);
}

static void test_rendered(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rendered / sizeof rendered[0]; i++) {
    struct sheet sheet;
    sheet_start(&sheet, rendered[i].kind, rendered[i].unit, rendered[i].formula);
    const char *text = render(&sheet);
    if (strcmp(text, rendered[i].expected) != 0)
      print_error("%s [%s]\n", rendered[i].formula, rendered[i].unit);
    assert_string_equal(text, rendered[i].expected);
    fixture_end(&sheet.fixture);
  }
}

static void test_addresses(void **state) {
  (void)state;
  static const struct {
    int row, column;
    enum address fixed;
    const char *expected;
  } cases[] = {
      {0, 0, ADDRESS_RELATIVE, "A1"},     {6, 25, ADDRESS_ROW, "Z$7"},
      {6, 26, ADDRESS_COLUMN, "$AA7"},    {99, 701, ADDRESS_ABSOLUTE, "$ZZ$100"},
      {0, 702, ADDRESS_RELATIVE, "AAA1"},
  };
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_string_equal(cell_address(cases[i].row, cases[i].column, cases[i].fixed, &fixture.arena),
                        cases[i].expected);
  fixture_end(&fixture);
}

static void test_names_ignore_case(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct names names = {.arena = &fixture.arena};
  struct name *first = names_add(&names, "pt_a_b", "first");
  assert_ptr_equal(names_add(&names, "PT_A_B", "second"), first);
  assert_ptr_equal(names_find(&names, "pt_A_b"), first);
  assert_string_equal(names_add_numbered(&names, "pt_a_b", "")->text, "pt_a_b_1");
  assert_string_equal(names_add_numbered(&names, "pt_a_b", "")->text, "pt_a_b_2");
  assert_null(names_find(&names, "pt_a"));
  fixture_end(&fixture);
}

// ---- steps: an option with a long id and one line item of the scenario's own

#define LONG_ID   "an_id_of_24_characters_x"
#define LONG_NAME "a_line_item_of_forty_characters_in_all_x"

static const char *const long_formulas[] = {
    "price + price + price + price + price + price + price + price + price + price",
    "price * (1 - share) * (1 - share) * (1 - share) * (1 - share) / (count * count * count)",
    "power * tariff * time * rent * 1 kW/USD * 1 month * growth(rate + 3 %/yr, time - 7 month)",
    "if(count > 3, if(power > 2 kW, if(share > 3 %, price, price * 2), 3 USD), 4 USD)",
    "if(price * 3 > price * 4, price * 5, price * 6)",
    "power * tariff * time * 1 kW/USD * 7 month * 1 USD/kW/month + power * tariff * time",
    "if((count > 3) * (power > 2 kW), price, 3 USD) + if(count > 4, 7 USD, 8 USD)",
    "price * if(count > 3, 1, 0) * ceil(count / 3) * round(time / 1 yr, 3)",
    "min(price, price * 2, price * 3, price * 4, price * 5, price * 6, price * 7, price * 8)",
};

static void check_formula(const char *formula) {
  assert_true(strlen(formula) <= FORMULA_MAX_LENGTH);
  // No IF within an IF: counting parentheses finds the end of the outer one.
  for (const char *outer = formula; (outer = strstr(outer, "IF(")); outer += 3) {
    const char *at = outer + 3;
    for (int depth = 1; *at && depth; at++) {
      depth += (*at == '(') - (*at == ')');
      assert_false(depth && !strncmp(at, "IF(", 3));
    }
  }
}

static void check_steps(struct sheet *sheet, const struct sheet_graph *graph) {
  struct arena *arena = &sheet->fixture.arena;
  int *rows = arena_array(arena, (size_t)graph->model.count, sizeof *rows);
  for (int d = 0; d < graph->model.count; d++)
    rows[d] = 100 + d;
  const struct formula_references references = {.model = &graph->model,
                                                .names = graph->names,
                                                .rows = rows,
                                                .time_row = TIME_ROW,
                                                .first_period = FIRST_PERIOD,
                                                .periods = 5,
                                                .constants = &sheet->constants,
                                                .arena = arena,
                                                .final = true};
  for (int i = 0; i < graph->graph.order_count; i++) {
    int d = graph->graph.order[i];
    check_formula(spreadsheet_formula(&graph->model.declarations[d],
                                      graph_formula(&graph->graph, d), COLUMN, &references));
  }
}

// The graph of an option that has everything at its default, evaluated.
static void build_option(struct sheet *sheet, const char *id, struct scenario *scenario,
                         struct option *option) {
  struct arena *arena = &sheet->fixture.arena;
  enum given *given = arena_array(arena, (size_t)sheet->model->count, sizeof *given);
  *option = (struct option){.id = id};
  option->graph = graph_build(sheet->model, id, nowhere, given, arena, &sheet->fixture.diagnostics);
  assert_non_null(option->graph);
  option->evaluation = evaluation_new(option->graph, 5, 1, arena);
  for (int d = 0; d < sheet->model->count; d++)
    if (option->graph->state[d] == GRAPH_INPUT)
      evaluation_at(option->evaluation, d, 0)[0] = sheet->model->declarations[d].default_value;
  evaluate(option->evaluation);
  *scenario = (struct scenario){
      .model = sheet->model, .options = option, .option_count = 1, .case_count = 1, .periods = 5};
}

static void check_split(const char *kind, const char *formula) {
  struct sheet sheet;
  struct scenario scenario;
  struct option option;
  struct sheet_graph graph;
  sheet_start(&sheet, kind, "USD", formula);
  build_option(&sheet, LONG_ID, &scenario, &option);
  sheet_graph_build(&graph, &scenario, &option, &sheet.names, &sheet.constants,
                    &(struct step_numbers){0}, &sheet.fixture.arena, &sheet.fixture.diagnostics);
  expect_error(&sheet.fixture, formula, "");
  check_steps(&sheet, &graph);
  for (int t = 0; t < (strcmp(kind, "series") ? 1 : 5); t++)
    assert_true(evaluation_at(graph.evaluation, sheet.x, t)[0] ==
                evaluation_at(option.evaluation, sheet.x, t)[0]);
  fixture_end(&sheet.fixture);
}

static void test_split(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof long_formulas / sizeof long_formulas[0]; i++) {
    check_split("item", long_formulas[i]);
    check_split("series", long_formulas[i]);
  }
  check_split("series", "prev(x) + cost * if(t > 1, share, 0) + if(t > 2, 5 USD, 6 USD)");
}

// What may be 0^0 is 1 by an IF of its own, unless the base or the exponent is always above zero.
static void test_powers(void **state) {
  (void)state;
  static const struct {
    const char *kind, *formula;
    bool guarded;
  } cases[] = {
      {"item", "count^share", true},
      {"item", "count^2", false},
      {"item", "(1 + least)^share", false},
      {"item", "(1 + share)^share", true},
      {"item", "max(least, 2)^share", false},
      {"item", "min(least, 2)^share", true},
      {"item", "least^share", true},
      {"item", "known^share", false},
      {"item", "growth(rate, time)", true},
      {"item", "growth(bounded, time)", false},
      {"item", "growth(-bounded, time)", true},
      {"item", "growth(rate, 2 yr)", false},
      {"series", "count^t", true},
      {"series", "growth(rate, t * 1 yr)", true},
  };
  static const char bounds[] =
      "[input least]\nlabel = L\nunit = -\ngroup = g\nmin = 0\ndefault = 1\n"
      "[item known]\nlabel = K\nunit = -\ngroup = g\nformula = least + 1\n"
      "[input bounded]\nlabel = B\nunit = %/yr\ngroup = g\nabove = -100 %/yr\ndefault = 1 %/yr\n";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sheet sheet;
    struct scenario scenario;
    struct option option;
    struct sheet_graph graph;
    char text[400];
    snprintf(text, sizeof text, "%s\n%s", cases[i].formula, bounds);
    sheet_start(&sheet, cases[i].kind, "-", text);
    build_option(&sheet, "o", &scenario, &option);
    sheet_graph_build(&graph, &scenario, &option, &sheet.names, &sheet.constants,
                      &(struct step_numbers){0}, &sheet.fixture.arena, &sheet.fixture.diagnostics);
    expect_error(&sheet.fixture, cases[i].formula, "");
    check_steps(&sheet, &graph);
    bool guarded = false;
    for (int o = 0; o < graph.graph.order_count; o++)
      guarded |= tree_has_if(graph_formula(&graph.graph, graph.graph.order[o]), false);
    if (guarded != cases[i].guarded)
      fail_msg("%s: an IF: %d", cases[i].formula, guarded);
    fixture_end(&sheet.fixture);
  }
}

// Names of 68 characters; two of them already fill a cell.
static void test_long_names(void **state) {
  (void)state;
  struct sheet sheet;
  struct scenario scenario;
  struct option option;
  struct sheet_graph graph;
  sheet_start(&sheet, "item", "USD",
              "price\n[item " LONG_NAME "]\nlabel = Y\nunit = USD\ngroup = g\nformula = price\n"
              "[item z]\nlabel = Z\nunit = USD\ngroup = g\n"
              "formula = " LONG_NAME " + " LONG_NAME " + " LONG_NAME "\n"
              "[item w]\nlabel = W\nunit = -\ngroup = g\n"
              "formula = " LONG_NAME " / " LONG_NAME);
  build_option(&sheet, LONG_ID, &scenario, &option);
  sheet_graph_build(&graph, &scenario, &option, &sheet.names, &sheet.constants,
                    &(struct step_numbers){0}, &sheet.fixture.arena, &sheet.fixture.diagnostics);
  expect_error(&sheet.fixture, "long names", "");
  check_steps(&sheet, &graph);
  fixture_end(&sheet.fixture);
}

// pt_a_b_c is both 'a.b_c' and 'a_b.c'.
static void test_colliding_names(void **state) {
  (void)state;
  struct sheet sheet;
  struct scenario scenario;
  struct option option;
  struct sheet_graph graph;
  sheet_start(&sheet, "item", "USD", "price");
  names_add(&sheet.names, "pt_a_b_PRICE", "'a.b_price'");
  build_option(&sheet, "a_b", &scenario, &option);
  assert_int_equal(sheet_graph_build(&graph, &scenario, &option, &sheet.names, &sheet.constants,
                                     &(struct step_numbers){0}, &sheet.fixture.arena,
                                     &sheet.fixture.diagnostics),
                   -1);
  expect_error(&sheet.fixture, "collision", "a workbook cannot tell 'a_b.price' from 'a.b_price'");
  fixture_end(&sheet.fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rendered),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_names_ignore_case),
      cmocka_unit_test(test_split),
      cmocka_unit_test(test_long_names),
      cmocka_unit_test(test_colliding_names),
      cmocka_unit_test(test_powers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
