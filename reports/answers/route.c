// The answer of model/questions/route.h as a decision. All of it comes from a search, so that no
// cell is live on the sheet Decisions: with other inputs the split is another.
#include "model/questions/route.h"
#include "model/questions/question.h"
#include "reports/answers/answer_parts.h"
#include "reports/answers/questions.h"
#include "reports/print/number.h"

#include <string.h>

enum {
  SPLIT_OPTION,
  SPLIT_VENDOR,
  SPLIT_NODES,
  SPLIT_BUSY,
  SPLIT_NODE,
  SPLIT_FIXED,
  SPLIT_COST,
  SPLIT_COLUMNS
};
enum {
  GUIDE_WORKLOAD,
  GUIDE_OPTION,
  GUIDE_SHARE,
  GUIDE_NODES,
  GUIDE_UNIT_COST,
  GUIDE_GRADE,
  GUIDE_WHY,
  GUIDE_COLUMNS
};
enum { SOURCE_NAME, SOURCE_COST, SOURCE_MORE, SOURCE_COLUMNS };
enum { PRICE_NAME, PRICE_COST, PRICE_VALUE, PRICE_COLUMNS };
enum { BARRED_WHY, BARRED_WORKLOAD, BARRED_OPTION, BARRED_BY, BARRED_COLUMNS };

enum { TABLES = 5, SHOWN_DIGITS = 4 };

// A constraint that costs less than this share of the whole costs nothing.
#define NO_PRICE 1e-9

struct writing {
  const struct route_answer *answer;
  const struct scenario *scenario;
  struct decision *decision;
  struct decision_table *tables;
  const struct unit *money, *unit_cost, *plain, *percent;
  struct arena *arena;
};

static const char *const barrier_names[] = {"software readiness", "no throughput", "interactivity",
                                            "memory"};

static const char *barrier_name(unsigned barriers) {
  for (size_t i = 0; i < sizeof barrier_names / sizeof barrier_names[0]; i++)
    if (barriers & 1u << i)
      return barrier_names[i];
  return "";
}

static const char *id_of(const struct writing *writing, size_t o) {
  return writing->scenario->options[o].id;
}

static const char *money(const struct writing *writing, double value) {
  return money_text(value, writing->money, writing->arena);
}

static const char *per_token(const struct writing *writing, double value) {
  const double shown = number_in_unit(value, writing->unit_cost);
  return arena_printf(writing->arena, "%s %s",
                      number_significant(shown, SHOWN_DIGITS, writing->arena),
                      writing->unit_cost->text);
}

// The first line of a message, without what would follow a colon at its end.
static const char *first_line(const char *text, struct arena *arena) {
  size_t length = strcspn(text, "\n");
  if (length && text[length] == '\n' && text[length - 1] == ':')
    length--;
  return arena_copy_n(arena, text, length);
}

static struct decision_table *add_table(struct writing *writing, const char *key, const char *title,
                                        const struct decision_column *columns, size_t count,
                                        size_t room) {
  struct decision_table *table = &writing->tables[writing->decision->table_count++];
  *table = decision_table_new(key, title, columns, count, room, writing->arena);
  return table;
}

// ---- the split

static double share_of(const struct route_answer *answer, size_t w, size_t o) {
  return answer->split.shares[w * answer->problem.option_count + o];
}

static double busy_nodes(const struct route_answer *answer, size_t o) {
  double busy = 0;
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    busy += allocation_busy(&answer->problem, &answer->split, w, o);
  return busy;
}

static double option_cost(const struct route_answer *answer, size_t o) {
  const struct allocation_option *option = &answer->problem.options[o];
  double cost = option->fixed_cost + option->node_cost * answer->split.nodes[o];
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    cost += answer->problem.pairs[w * answer->problem.option_count + o].extra_cost *
            allocation_busy(&answer->problem, &answer->split, w, o);
  return cost;
}

static void write_option(const struct writing *writing, struct decision_table *table, size_t o) {
  const struct route_answer *answer = writing->answer;
  const double nodes = answer->split.nodes[o], fixed = answer->problem.options[o].fixed_cost;
  const double cost = option_cost(answer, o);
  struct decision_cell *row = decision_row(table);
  row[SPLIT_OPTION] = cell_words(id_of(writing, o));
  row[SPLIT_VENDOR] = cell_words(answer->portfolio->vendors[answer->portfolio->vendor[o]]);
  row[SPLIT_NODES] = cell_value(nodes);
  row[SPLIT_BUSY] = cell_value(busy_nodes(answer, o) / nodes);
  row[SPLIT_NODE] = cell_value((cost - fixed) / nodes);
  row[SPLIT_FIXED] = cell_value(fixed);
  row[SPLIT_COST] = cell_value(cost);
}

static void write_split(struct writing *writing) {
  const struct decision_column columns[SPLIT_COLUMNS] = {
      [SPLIT_OPTION] = {"option", "Option", NULL},
      [SPLIT_VENDOR] = {"vendor", "Vendor", NULL},
      [SPLIT_NODES] = {"nodes", "Nodes", writing->plain},
      [SPLIT_BUSY] = {"busy", "Busy", writing->percent},
      [SPLIT_NODE] = {"node_cost", "A node", writing->money},
      [SPLIT_FIXED] = {"fixed_cost", "Fixed", writing->money},
      [SPLIT_COST] = {"cost", "Cost", writing->money}};
  const struct route_answer *answer = writing->answer;
  struct decision_table *table = add_table(writing, "split", "What is bought", columns,
                                           SPLIT_COLUMNS, answer->problem.option_count + 1);
  for (size_t o = 0; o < answer->problem.option_count; o++) {
    if (answer->split.nodes[o] <= 0)
      continue;
    write_option(writing, table, o);
  }
  struct decision_cell *row = decision_row(table);
  row[SPLIT_OPTION] = cell_words("all");
  row[SPLIT_VENDOR] = cell_words("");
  row[SPLIT_COST] = cell_value(answer->split.cost);
}

// ---- the guide

static bool price_of(const struct writing *writing, const char *constraint) {
  const struct route_answer *answer = writing->answer;
  for (size_t i = 0; i < answer->price_count; i++)
    if (!strcmp(answer->prices[i].constraint, constraint))
      return answer->prices[i].status == ALLOCATION_OPTIMAL &&
             answer->split.cost - answer->prices[i].cost > NO_PRICE * answer->split.cost;
  return false;
}

// Whether the minimum share of the vendor of o costs anything.
static bool share_asks_for(const struct writing *writing, size_t o) {
  const struct portfolio *portfolio = writing->answer->portfolio;
  return price_of(writing, arena_printf(writing->arena, "minimum share of %s",
                                        portfolio->vendors[portfolio->vendor[o]]));
}

// Why not everything of w that o serves goes to the cheaper option c.
static const char *why_not(const struct writing *writing, size_t w, size_t o, size_t c) {
  const struct route_answer *answer = writing->answer;
  const struct portfolio *portfolio = answer->portfolio;
  const struct route_pair *pair = route_pair_of(answer, w, c);
  if (pair->barriers)
    return barrier_name(pair->barriers);
  if (answer->split.nodes[c] >= answer->problem.options[c].stock)
    return "stock";
  if (portfolio->vendor[o] != portfolio->vendor[c] && share_asks_for(writing, o))
    return arena_printf(writing->arena, "share of %s", portfolio->vendors[portfolio->vendor[o]]);
  if (answer->split.nodes[c] <= 0 && answer->problem.options[c].fixed_cost > 0)
    return "its fixed cost";
  return portfolio->demands[w].whole ? "one option only" : "others need it more";
}

// The cheapest option of a workload but `except` by what its nodes cost, or -1.
static long cheapest(const struct route_answer *answer, size_t w, size_t except) {
  long best = -1;
  for (size_t o = 0; o < answer->problem.option_count; o++) {
    const double cost = route_unit_cost(answer, w, o);
    if (o != except && isfinite(cost) &&
        (best < 0 || cost < route_unit_cost(answer, w, (size_t)best)))
      best = (long)o;
  }
  return best;
}

static const char *why(const struct writing *writing, size_t w, size_t o) {
  const struct route_answer *answer = writing->answer;
  const long other = cheapest(answer, w, o);
  if (other < 0)
    return "the only one that can";
  const double cost = route_unit_cost(answer, w, (size_t)other);
  if (cost >= route_unit_cost(answer, w, o))
    return "cheapest";
  return arena_printf(writing->arena, "%s: %s", id_of(writing, (size_t)other),
                      why_not(writing, w, o, (size_t)other));
}

static void write_assignment(struct writing *writing, struct decision_table *table, size_t w,
                             size_t o) {
  const struct route_answer *answer = writing->answer;
  const struct route_pair *pair = route_pair_of(answer, w, o);
  const struct demand *demand = &answer->portfolio->demands[w];
  const double share = share_of(answer, w, o), cost = route_unit_cost(answer, w, o);
  const long other = cheapest(answer, w, o);
  struct decision_cell *row = decision_row(table);
  row[GUIDE_WORKLOAD] = cell_words(demand->name);
  row[GUIDE_OPTION] = cell_words(id_of(writing, o));
  row[GUIDE_SHARE] = cell_value(share);
  row[GUIDE_NODES] = cell_value(allocation_busy(&answer->problem, &answer->split, w, o));
  row[GUIDE_UNIT_COST] = cell_value(cost);
  row[GUIDE_GRADE] = cell_words(grade_name(pair->option->throughput_grade));
  row[GUIDE_WHY] = cell_words(why(writing, w, o));
  texts_add(&writing->decision->reasons, writing->arena,
            "%s: %.4g %% goes to %s at %s, fixed cost left out (%s); %s%s%s", demand->name,
            100 * share, id_of(writing, o), per_token(writing, cost), row[GUIDE_WHY].text,
            other < 0 ? "no other has a throughput" : "otherwise ",
            other < 0 ? "" : id_of(writing, (size_t)other),
            other < 0
                ? ""
                : arena_printf(writing->arena, " at %s",
                               per_token(writing, route_unit_cost(answer, w, (size_t)other))));
  if (pair->option->throughput_doubt && *pair->option->throughput_doubt)
    texts_add(&writing->decision->warnings, writing->arena,
              "%s on %s rests on a doubtful throughput: %s", demand->name, id_of(writing, o),
              pair->option->throughput_doubt);
}

static void write_guide(struct writing *writing) {
  const struct decision_column columns[GUIDE_COLUMNS] = {
      [GUIDE_WORKLOAD] = {"workload", "Workload", NULL},
      [GUIDE_OPTION] = {"option", "On", NULL},
      [GUIDE_SHARE] = {"share", "Share", writing->percent},
      [GUIDE_NODES] = {"busy_nodes", "Nodes", writing->plain},
      [GUIDE_UNIT_COST] = {"unit_cost", "Cost", writing->unit_cost},
      [GUIDE_GRADE] = {"throughput_grade", "Evidence", NULL},
      [GUIDE_WHY] = {"why", "Why", NULL}};
  const struct route_answer *answer = writing->answer;
  const size_t workloads = answer->problem.workload_count, options = answer->problem.option_count;
  struct decision_table *table = add_table(writing, "guide", "Where each workload goes", columns,
                                           GUIDE_COLUMNS, workloads * options);
  for (size_t w = 0; w < workloads; w++)
    for (size_t o = 0; o < options; o++)
      if (share_of(answer, w, o) > 0)
        write_assignment(writing, table, w, o);
  table->note =
      "Cost: of the nodes that a token keeps busy, without an option's fixed cost. Why: it "
      "is the cheapest, or what keeps the workload from the cheapest one.";
}

// ---- sourcing and prices

static struct decision_cell status_cell(enum allocation_status status, double value) {
  if (status == ALLOCATION_OPTIMAL)
    return cell_value(value);
  return cell_words(status == ALLOCATION_INFEASIBLE ? "cannot be served" : "not proven in time");
}

static void write_source(const struct writing *writing, struct decision_table *table,
                         const char *name, enum allocation_status status, double cost) {
  const struct route_answer *answer = writing->answer;
  const bool known = status == ALLOCATION_OPTIMAL && answer->split.status == ALLOCATION_OPTIMAL;
  struct decision_cell *row = decision_row(table);
  row[SOURCE_NAME] = cell_words(name);
  row[SOURCE_COST] = status_cell(status, cost);
  row[SOURCE_MORE] = known ? cell_value(cost - answer->split.cost) : cell_nothing();
}

static void write_sources(struct writing *writing) {
  const struct decision_column columns[SOURCE_COLUMNS] = {
      [SOURCE_NAME] = {"sourcing", "Sourcing", NULL},
      [SOURCE_COST] = {"cost", "Cost", writing->money},
      [SOURCE_MORE] = {"difference", "Against as asked", writing->money}};
  const struct route_answer *answer = writing->answer;
  const struct portfolio *portfolio = answer->portfolio;
  struct decision_table *table = add_table(writing, "sourcing", "What two sources cost", columns,
                                           SOURCE_COLUMNS, (size_t)portfolio->vendor_count + 2);
  write_source(writing, table, "as asked", answer->split.status, answer->split.cost);
  write_source(writing, table, "without minimum shares",
               isnan(answer->free_cost) ? ALLOCATION_INFEASIBLE : ALLOCATION_OPTIMAL,
               answer->free_cost);
  for (int v = 0; v < portfolio->vendor_count; v++)
    write_source(writing, table, arena_printf(writing->arena, "all from %s", portfolio->vendors[v]),
                 answer->sources[v].status, answer->sources[v].cost);
}

static void write_prices(struct writing *writing) {
  const struct decision_column columns[PRICE_COLUMNS] = {
      [PRICE_NAME] = {"constraint", "Constraint", NULL},
      [PRICE_COST] = {"cost_without", "Cost without it", writing->money},
      [PRICE_VALUE] = {"price", "Its price", writing->money}};
  const struct route_answer *answer = writing->answer;
  const bool known = answer->split.status == ALLOCATION_OPTIMAL;
  struct decision_table *table = add_table(writing, "prices", "What each constraint costs", columns,
                                           PRICE_COLUMNS, answer->price_count + 1);
  for (size_t i = 0; i < answer->price_count; i++) {
    const struct route_price *price = &answer->prices[i];
    const double saved = answer->split.cost - price->cost;
    struct decision_cell *row = decision_row(table);
    row[PRICE_NAME] = cell_words(price->constraint);
    row[PRICE_COST] = status_cell(price->status, price->cost);
    row[PRICE_VALUE] = known && price->status == ALLOCATION_OPTIMAL
                           ? cell_value(fabs(saved) <= NO_PRICE * answer->split.cost ? 0 : saved)
                           : cell_nothing();
  }
  table->note = "Each by solving again without that one constraint.";
}

static void write_barred(struct writing *writing) {
  const struct decision_column columns[BARRED_COLUMNS] = {
      [BARRED_WHY] = {"why", "Cannot be served", NULL},
      [BARRED_WORKLOAD] = {"workload", "Workload", NULL},
      [BARRED_OPTION] = {"option", "Option", NULL},
      [BARRED_BY] = {"constraint", "By", NULL}};
  const struct route_answer *answer = writing->answer;
  const size_t workloads = answer->problem.workload_count, options = answer->problem.option_count;
  struct decision_table *table = add_table(writing, "barred", "Who cannot serve what", columns,
                                           BARRED_COLUMNS, workloads * options);
  for (size_t w = 0; w < workloads; w++)
    for (size_t o = 0; o < options; o++) {
      const struct route_pair *pair = route_pair_of(answer, w, o);
      if (!pair->barriers)
        continue;
      struct decision_cell *row = decision_row(table);
      row[BARRED_WHY] = cell_words(first_line(pair->why, writing->arena));
      row[BARRED_WORKLOAD] = cell_words(answer->portfolio->demands[w].name);
      row[BARRED_OPTION] = cell_words(id_of(writing, o));
      row[BARRED_BY] = cell_words(barrier_name(pair->barriers));
    }
  if (!table->row_count)
    writing->decision->table_count--;
}

// ---- the answer in words

static const char *purchases(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const char *text = "";
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (answer->split.nodes[o] > 0)
      text =
          arena_printf(writing->arena, "%s%s%s nodes of %s", text, *text ? ", " : "",
                       number_fixed(answer->split.nodes[o], 0, writing->arena), id_of(writing, o));
  return text;
}

static const struct route_source *best_source(const struct route_answer *answer) {
  const struct route_source *best = NULL;
  for (int v = 0; v < answer->portfolio->vendor_count; v++) {
    const struct route_source *source = &answer->sources[v];
    if (source->status == ALLOCATION_OPTIMAL && (!best || source->cost < best->cost))
      best = source;
  }
  return best;
}

// " Two sources cost ... more than ..."; what a single one costs decides between them.
static const char *dual_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const struct route_source *best = best_source(answer);
  if (!best)
    return " No vendor alone can serve it.";
  const double more = answer->split.cost - best->cost;
  const char *vendor = answer->portfolio->vendors[best->vendor];
  if (fabs(more) <= NO_PRICE * best->cost)
    return arena_printf(writing->arena, " It costs the same as all from %s.", vendor);
  return arena_printf(writing->arena, " That is %s (%.3g %%) %s than all from %s.",
                      money(writing, fabs(more)), 100 * fabs(more) / best->cost,
                      more > 0 ? "more" : "less", vendor);
}

static const char *served_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const double years = answer->horizon / conversion_table[CONVERT_HOURS_PER_YEAR].value;
  return arena_printf(writing->arena,
                      "%s for %zu workload%s over %.4g years, %s of it at the purchase: %s.%s",
                      money(writing, answer->split.cost), answer->problem.workload_count,
                      answer->problem.workload_count == 1 ? "" : "s", years,
                      money(writing, answer->split.capex), purchases(writing), dual_words(writing));
}

static bool can_serve(const struct route_answer *answer, size_t w) {
  for (size_t o = 0; o < answer->problem.option_count; o++)
    if (!route_pair_of(answer, w, o)->barriers)
      return true;
  return false;
}

static const char *unserved_words(const struct writing *writing, size_t w) {
  const struct route_answer *answer = writing->answer;
  const char *text =
      arena_printf(writing->arena, "No option can serve '%s'", answer->portfolio->demands[w].name);
  for (size_t o = 0; o < answer->problem.option_count; o++)
    text = arena_printf(writing->arena, "%s%s%s: %s", text, o ? ", " : " (", id_of(writing, o),
                        barrier_name(route_pair_of(answer, w, o)->barriers));
  return arena_printf(writing->arena, "%s).", text);
}

static const char *refused_words(const struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const char *text = "", *helpful = "";
  for (size_t w = 0; w < answer->problem.workload_count; w++)
    if (!can_serve(answer, w))
      text = arena_printf(writing->arena, "%s%s%s", text, *text ? " " : "",
                          unserved_words(writing, w));
  for (size_t i = 0; i < answer->price_count; i++)
    if (answer->prices[i].status == ALLOCATION_OPTIMAL)
      helpful = arena_printf(writing->arena, "%s%s%s (%s)", helpful, *helpful ? ", or " : "",
                             answer->prices[i].constraint, money(writing, answer->prices[i].cost));
  if (*helpful)
    return arena_printf(writing->arena,
                        "%s%sNothing meets every constraint. It can be done "
                        "without: %s.",
                        text, *text ? " " : "", helpful);
  return arena_printf(writing->arena,
                      "%s%sNothing meets every constraint, and leaving out a single one does not "
                      "help.",
                      text, *text ? " " : "");
}

static void explain_how(struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  texts_add(&writing->decision->reasons, writing->arena,
            "The least of the sum of nodes times a node's cost, plus a fixed cost of every "
            "option that is taken, over whole nodes that the workloads of an option share "
            "(model/optimise/allocation.h has the programme); GLPK proved it the least.");
  texts_add(&writing->decision->reasons, writing->arena,
            "A node's cost and the fixed cost are the slope and the start of the line of tco "
            "over nodes; the scenario was read again for each workload.");
  if (answer->split.status == ALLOCATION_OPTIMAL)
    texts_add(&writing->decision->reasons, writing->arena,
              "The cost model itself, at these nodes: %s, capex %s.",
              money(writing, answer->exact_cost), money(writing, answer->exact_capex));
}

static void check_line(struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  const double gap = answer->exact_cost / answer->split.cost - 1;
  if (fabs(gap) > 1e-3)
    texts_add(&writing->decision->warnings, writing->arena,
              "the cost model is not a straight line over nodes: at these it says %s, %.2g %% %s",
              money(writing, answer->exact_cost), 100 * fabs(gap), gap > 0 ? "more" : "less");
}

static void write_answer(struct writing *writing) {
  const struct route_answer *answer = writing->answer;
  struct decision *decision = writing->decision;
  explain_how(writing);
  if (answer->split.status == ALLOCATION_OPTIMAL) {
    decision->answer = served_words(writing);
    write_split(writing);
    write_guide(writing);
    write_sources(writing);
    check_line(writing);
  } else {
    decision->no = true;
    decision->answer = answer->split.status == ALLOCATION_INFEASIBLE
                           ? refused_words(writing)
                           : "No split was proven the cheapest within a minute.";
  }
  write_prices(writing);
  write_barred(writing);
}

bool route_asked(const struct scenario *scenario) {
  return question_section(scenario, "demand", NULL) != NULL;
}

int decide_route(const struct scenario *scenario, const char *only, struct decisions *decisions,
                 struct arena *arena, struct diagnostics *diagnostics) {
  if (only && strcmp(only, "portfolio") != 0) {
    diagnostics_error(diagnostics, (struct place){0}, "there is one portfolio in a file, not '%s'",
                      only);
    return -1;
  }
  const struct route_answer *answer = route_ask(scenario, arena, diagnostics);
  if (!answer)
    return -1;
  struct decision *decision = arena_alloc(arena, sizeof *decision);
  *decision = (struct decision){
      .kind = "route", .name = "portfolio", .title = "Which workload on which option"};
  struct writing writing = {.answer = answer,
                            .scenario = scenario,
                            .decision = decision,
                            .tables = arena_array(arena, TABLES, sizeof *writing.tables),
                            .money = unit_known(scenario->model->currency, arena),
                            .unit_cost =
                                unit_known(model_unit_text(scenario->model, "USD/Mtok"), arena),
                            .plain = unit_known("-", arena),
                            .percent = unit_known("%", arena),
                            .arena = arena};
  write_answer(&writing);
  decision->tables = writing.tables;
  *decisions = (struct decisions){decision, 1};
  return 0;
}
