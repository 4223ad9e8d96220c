#include "reports/answers/acceptance.h"

#include "base/source.h"
#include "base/student.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/acceptance.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/node_sample.h"
#include "model/delivery/offer.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"
#include "model/scenario/scenario.h"
#include "reports/answers/settlement.h"
#include "reports/faces/parts.h"
#include "reports/records/fleet_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 40, EXACT_DIGITS = 7 };

struct telling {
  const struct acceptance *acceptance;
  const struct offer *offer;
  struct answer *answer;
  struct arena *arena;
};

// ---- words and units

// The name of a measure for people: "tokens/s", "P99 TTFT".
static const char *measure_name(enum guaranteed what, const struct offer_guarantee *guarantee,
                                struct arena *arena) {
  const bool is_ttft = what == GUARANTEED_TTFT;
  if (what == GUARANTEED_TOKENS || what == GUARANTEED_WATTS)
    return what == GUARANTEED_TOKENS ? "tokens/s" : "watts";
  const struct offer_latency *latency = &guarantee->latencies[is_ttft ? OFFER_TTFT : OFFER_TPOT];
  return arena_printf(arena, "%s %s", serving_statistic_names[latency->statistic],
                      is_ttft ? "TTFT" : "TPOT");
}

const char *acceptance_clause_name(enum clause_kind kind, enum guaranteed what,
                                   const struct offer_guarantee *guarantee, struct arena *arena) {
  if (kind == CLAUSE_DELIVERED)
    return "accelerators";
  const char *measure = measure_name(what, guarantee, arena);
  if (kind == CLAUSE_MEAN)
    return arena_printf(arena, "%s: %s", guarantee->name, measure);
  return what == GUARANTEED_TOKENS
             ? arena_printf(arena, "%s: single nodes", guarantee->name)
             : arena_printf(arena, "%s: single nodes, %s", guarantee->name, measure);
}

static const char *name_of(const struct acceptance_clause *clause, struct arena *arena) {
  return acceptance_clause_name(clause->kind, clause->what, clause->guarantee, arena);
}

static const char *unit_text_of_measure(const struct offer *offer, enum guaranteed what) {
  switch (what) {
  case GUARANTEED_WATTS: return offer->per_node ? "W/node" : "W/gpu";
  case GUARANTEED_TTFT: return "s";
  case GUARANTEED_TPOT: return "ms";
  default: return offer->per_node ? "token/s/node" : "token/s/gpu";
  }
}

static const char *unit_text_of(const struct offer *offer, const struct acceptance_clause *clause) {
  return clause->kind == CLAUSE_DELIVERED ? "gpu"
         : clause->kind == CLAUSE_NODES   ? "node"
                                          : unit_text_of_measure(offer, clause->what);
}

static const struct unit *unit_of_measure(const struct telling *telling, enum guaranteed what) {
  return unit_known(unit_text_of_measure(telling->offer, what), telling->arena);
}

// Rates in base units and in the offer's unit of count (accelerator or node); times in hours.
static double as_offered(const struct telling *telling, enum guaranteed what, double value) {
  const double each = telling->offer->per_node ? (double)telling->acceptance->rule.per_node : 1;
  return what == GUARANTEED_TOKENS  ? rate_per_hour(value * each)
         : what == GUARANTEED_WATTS ? value * each
                                    : rate_per_second(value);
}

// Converts values of CLAUSE_MEAN; counts of accelerators and nodes stay as they are.
static double as_clause(const struct telling *telling, const struct acceptance_clause *clause,
                        double value) {
  return clause->kind == CLAUSE_MEAN ? as_offered(telling, clause->what, value) : value;
}

const char *acceptance_confidence(double confidence, struct arena *arena) {
  return arena_printf(arena, "%.13g %%", 100 * confidence);
}

static struct answer_cell maybe(double value) {
  return isnan(value) ? cell_absent(NULL) : cell_value(value);
}

// ---- clauses

static struct answer_cell limit_of(const struct telling *telling,
                                   const struct acceptance_clause *clause) {
  return clause->kind == CLAUSE_NODES ? cell_value((double)telling->acceptance->rule.may_fail)
                                      : cell_value(as_clause(telling, clause, clause->limit));
}

// A clause's bound; a clause of single nodes has none. A terminal shows the one it is judged by.
static struct answer_cell bound_of(const struct telling *telling,
                                   const struct acceptance_clause *clause, bool upper) {
  const double bound = upper ? clause->high : clause->low;
  return clause->kind == CLAUSE_NODES || isnan(bound)
             ? cell_absent(NULL)
             : cell_value(as_clause(telling, clause, bound));
}

// "2 more nodes, or 1 more run of each node measured"
static const char *more_words(const struct acceptance_clause *clause, struct arena *arena) {
  const char *nodes =
      clause->more_nodes ? text_counted(clause->more_nodes, "more node", arena) : "";
  const char *runs =
      !clause->more_runs ? ""
      : clause->kind == CLAUSE_NODES
          ? arena_printf(arena, "%s of each of the %zu undecided",
                         text_counted(clause->more_runs, "more run", arena), clause->open_nodes)
          : arena_printf(arena, "%s of each", text_counted(clause->more_runs, "more run", arena));
  return arena_printf(arena, "%s%s%s", nodes,
                      !*nodes || !*runs              ? ""
                      : clause->kind == CLAUSE_NODES ? " and "
                                                     : ", or ",
                      runs);
}

static const char *open_words(const struct acceptance_clause *clause, struct arena *arena) {
  const char *more = more_words(clause, arena);
  if (*clause->why)
    return *more ? arena_printf(arena, "%s: %s", clause->why, more) : clause->why;
  if (!*more)
    return arena_printf(arena, "too close to its limit for %d runs of each node to tell",
                        ACCEPTANCE_MOST_RUNS);
  return arena_printf(arena, "needs %s", more);
}

static const char *failed_words(const struct acceptance_clause *clause, struct arena *arena) {
  if (clause->kind == CLAUSE_DELIVERED)
    return clause->why;
  if (clause->kind == CLAUSE_NODES)
    return arena_printf(arena, "%g of %zu %s their limit%s", clause->found, clause->sample.count,
                        clause_is_ceiling(clause->what) ? "above" : "below",
                        isnan(clause->low) ? "" : ", as a sample of the others");
  const double share = clause->found / clause->quoted - 1;
  return arena_printf(arena, "%s %s what is guaranteed", percent_words(fabs(share), arena),
                      share < 0 ? "below" : "above");
}

static const char *why_words(const struct acceptance_clause *clause, struct arena *arena) {
  return clause->verdict == VERDICT_FAIL ? failed_words(clause, arena) : open_words(clause, arena);
}

static void add_clauses(const struct telling *telling) {
  static const struct {
    const char *key, *title, *unit;
  } more[] = {{"low", "Lower bound", NULL},
              {"high", "Upper bound", NULL},
              {"nodes", "Nodes", "-"},
              {"runs", "Runs", "-"},
              {"why", "Why", NULL}};
  const struct acceptance *acceptance = telling->acceptance;
  struct answer_table table = answer_table_new("clauses", NULL, telling->arena);
  ANSWER_COLUMN(&table, .key = "clause", .title = "Clause", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "unit", .title = "Unit", .faces = FACE_JSON | FACE_SHEET);
  ANSWER_COLUMN(&table, .key = "verdict", .title = "Verdict", .align = ALIGN_LEFT);
  ANSWER_COLUMN(&table, .key = "quoted", .title = "Quoted", .align = ALIGN_RIGHT,
                .faces = FACE_CSV | FACE_JSON | FACE_SHEET);
  ANSWER_COLUMN(&table, .key = "limit", .title = "Limit", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&table, .key = "measured", .title = "Measured", .align = ALIGN_RIGHT);
  ANSWER_COLUMN(&table, .key = "bound", .title = "Bound", .align = ALIGN_RIGHT,
                .faces = FACE_TERMINAL);
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    ANSWER_COLUMN(&table, .key = more[i].key, .title = more[i].title, .align = ALIGN_RIGHT,
                  .unit = more[i].unit ? unit_known(more[i].unit, telling->arena) : NULL,
                  .faces = FACE_CSV | FACE_JSON | FACE_SHEET);
  table.unit_column = 1;
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    struct answer_cell *cells = answer_table_row_of(
        &table, (struct answer_row){
                    .label = name_of(clause, telling->arena),
                    .unit = unit_known(unit_text_of(telling->offer, clause), telling->arena)});
    cells[1] = cell_words(unit_text_of(telling->offer, clause));
    cells[2] = cell_words(verdict_names[clause->verdict]);
    cells[3] = clause->kind == CLAUSE_NODES
                   ? cell_absent(NULL)
                   : cell_value(as_clause(telling, clause, clause->quoted));
    cells[4] = limit_of(telling, clause);
    cells[5] = maybe(as_clause(telling, clause, clause->found));
    cells[6] = bound_of(telling, clause, clause_is_ceiling(clause->what));
    cells[7] = bound_of(telling, clause, false);
    cells[8] = bound_of(telling, clause, true);
    cells[9] = clause->kind == CLAUSE_DELIVERED ? cell_value((double)acceptance->fleet->node_count)
                                                : cell_value((double)clause->sample.count);
    cells[10] = clause->kind == CLAUSE_DELIVERED ? cell_absent(NULL)
                                                 : cell_value((double)clause->sample.run_count);
    cells[11] = clause->verdict == VERDICT_PASS ? cell_absent("-")
                                                : cell_words(why_words(clause, telling->arena));
  }
  answer_push(telling->answer, table);
}

static void note_clauses(const struct telling *telling) {
  for (size_t c = 0; c < telling->acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &telling->acceptance->clauses[c];
    const char *name = name_of(clause, telling->arena);
    if (clause->verdict != VERDICT_PASS)
      answer_note(telling->answer, "", "%s: %s.", name, why_words(clause, telling->arena));
  }
}

// ---- nodes

// If not all devices ran the same, these may be why a node fails.
static struct answer_cell kernels_of(const struct telling *telling,
                                     const struct accepted_node *node) {
  const struct fleet *fleet = telling->acceptance->fleet;
  const struct fleet_workload *workload = &fleet->workloads[node->workload];
  bool is_usual;
  if (!workload->usual_variant)
    return cell_absent("-");
  const char *words = fleet_variants(fleet, workload, node->node, -1, &is_usual, telling->arena);
  return cell_words(is_usual ? words : arena_printf(telling->arena, "%s, unlike most", words));
}

static void add_node(const struct telling *telling, struct answer_table *table,
                     const struct accepted_node *node, unsigned faces) {
  const char *name = telling->acceptance->fleet->nodes[node->node].name;
  const char *guarantee =
      node->what == GUARANTEED_TOKENS
          ? node->guarantee->name
          : arena_printf(telling->arena, "%s, %s", node->guarantee->name,
                         measure_name(node->what, node->guarantee, telling->arena));
  struct answer_cell *cells = answer_table_row_of(
      table, (struct answer_row){.key = arena_printf(telling->arena, "%s, %s", name, guarantee),
                                 .label = name,
                                 .faces = faces});
  cells[1] = cell_words(guarantee);
  cells[2] = cell_words(verdict_names[node->verdict]);
  cells[3] =
      cell_in(as_offered(telling, node->what, node->value), unit_of_measure(telling, node->what));
  cells[4] = cell_changed_by(node->share);
  cells[5] = cell_value((double)node->runs);
  cells[6] = kernels_of(telling, node);
}

static void add_failing(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  struct answer_table *table = ANSWER_TABLE(
      telling->answer, "nodes", "Nodes that fail or are undecided", {"node", "Node", NULL},
      {"guarantee", "Guarantee", NULL}, {"verdict", "Verdict", NULL}, {"value", "Measured", NULL},
      {"off_quoted", "Off the quote", NULL}, {"runs", "Runs", "-"}, {"kernels", "Kernels", NULL});
  size_t count = 0;
  table->columns[6].faces = acceptance->fleet->unlike.count ? 0 : FACE_JSON;
  for (int verdict = VERDICT_FAIL; verdict <= VERDICT_OPEN; verdict++)
    for (size_t n = 0; n < acceptance->node_count; n++)
      if (acceptance->nodes[n].verdict == (enum verdict)verdict)
        add_node(telling, table, &acceptance->nodes[n],
                 count++ < MAX_ROWS ? 0 : FACE_CSV | FACE_JSON | FACE_SHEET);
  if (count > MAX_ROWS)
    table->note = arena_printf(telling->arena, "And %zu more: --format csv has all of them.",
                               count - MAX_ROWS);
  if (!count)
    telling->answer->table_count--;
}

// All of them, and why: people read the first ones in a note.
static void add_replaced(const struct telling *telling, const struct settlement *settlement) {
  const struct acceptance *acceptance = telling->acceptance;
  if (acceptance->verdict != VERDICT_FAIL || !settlement->replaced_count)
    return;
  struct answer_table *table = ANSWER_TABLE(telling->answer, "replaced", "Nodes to replace",
                                            {"node", "Node", NULL}, {"why", "Why", NULL});
  table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
  for (size_t i = 0; i < settlement->replaced_count; i++) {
    const struct replaced_node *replaced = &settlement->replaced[i];
    const char *why = !replaced->clause ? "fails by itself"
                                        : arena_printf(telling->arena, "for the mean of %s",
                                                       name_of(replaced->clause, telling->arena));
    ANSWER_ROW(table, cell_words(acceptance->fleet->nodes[replaced->node].name), cell_words(why));
  }
}

static int ascending(const void *a, const void *b) {
  const struct node_value *left = a, *right = b;
  const int order = (left->value > right->value) - (left->value < right->value);
  return order ? order : (left->node > right->node) - (left->node < right->node);
}

static const char *value_name(const struct acceptance_clause *clause, struct arena *arena) {
  const bool serves = strcmp(clause->guarantee->workload.values[WORKLOAD_BASIS], "decode") != 0;
  return clause->what == GUARANTEED_WATTS    ? "power"
         : clause->what != GUARANTEED_TOKENS ? measure_name(clause->what, clause->guarantee, arena)
         : serves                            ? "serving"
                                             : "decoding";
}

static void add_values_of(const struct telling *telling, struct answer_table *table,
                          const struct acceptance_clause *clause) {
  const struct node_sample *sample = &clause->sample;
  struct node_value *sorted = arena_array(telling->arena, sample->count + 1, sizeof *sorted);
  if (sample->count)
    memcpy(sorted, sample->nodes, sample->count * sizeof *sorted);
  qsort(sorted, sample->count, sizeof *sorted, ascending);
  for (size_t n = 0; n < sample->count; n++)
    ANSWER_ROW(table, cell_words(telling->acceptance->fleet->nodes[sorted[n].node].name),
               cell_words(clause->guarantee->name), cell_words(value_name(clause, telling->arena)),
               cell_in(as_offered(telling, clause->what, sorted[n].value),
                       unit_of_measure(telling, clause->what)),
               cell_changed_by(sorted[n].value / clause->quoted - 1),
               cell_value((double)sorted[n].runs));
}

static void add_values(const struct telling *telling) {
  struct answer_table *table = ANSWER_TABLE(
      telling->answer, "node_values", "All nodes, ascending", {"node", "Node", NULL},
      {"guarantee", "Guarantee", NULL}, {"measure", "", NULL}, {"value", "Value", NULL},
      {"off_quoted", "Off the quote", NULL}, {"runs", "Runs", "-"});
  table->faces = FACE_JSON | FACE_SHEET;
  for (size_t c = 0; c < telling->acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &telling->acceptance->clauses[c];
    if (clause->kind == CLAUSE_MEAN)
      add_values_of(telling, table, clause);
  }
}

// What was measured, when, and the digest that identifies each record.
static void add_records(const struct telling *telling) {
  const struct fleet *fleet = telling->acceptance->fleet;
  struct answer_table *table = ANSWER_TABLE(
      telling->answer, "records", "Every record", {"node", "Node", NULL},
      {"device", "Device", NULL}, {"workload", "Workload", NULL}, {"started", "Measured", NULL},
      {"probe", "Measured by", NULL}, {"kernels", "Probe's kernels, or engine", NULL},
      {"variant", "Kernels' variant", NULL}, {"sha256", "SHA-256", NULL});
  table->faces = FACE_JSON | FACE_SHEET;
  for (size_t r = 0; r < fleet->run_count; r++) {
    const struct fleet_run *run = &fleet->runs[r];
    const struct fleet_device *device = &fleet->devices[run->device];
    ANSWER_ROW(table, cell_words(fleet->nodes[device->node].name), cell_words(device->id),
               cell_words(fleet->workloads[run->workload].words), cell_words(run->started),
               cell_words(arena_printf(telling->arena, "%s%s%s", run->tool,
                                       *run->tool_version ? " " : "", run->tool_version)),
               *run->program ? cell_words(run->program) : cell_absent("not stated"),
               run->variant ? cell_words(*run->variant ? run->variant : "own choice")
                            : cell_absent("-"),
               cell_words(run->digest));
  }
}

// ---- the complete answer

static void add_facts(const struct telling *telling, const struct settlement *settlement,
                      const struct shortfall *worth) {
  const struct acceptance *acceptance = telling->acceptance;
  const struct acceptance_rule *rule = &acceptance->rule;
  const struct unit *currency = unit_known(telling->offer->currency, telling->arena);
  struct answer_table facts = answer_table_of_facts(telling->arena);
  answer_fact(&facts, "verdict", cell_words(verdict_names[acceptance->verdict]));
  answer_fact(&facts, "offer", cell_words(offer_reference(telling->offer, telling->arena)));
  answer_fact(&facts, "offer_sha256",
              cell_words(source_sha256(telling->offer->source, telling->arena)));
  answer_fact(&facts, "confidence", cell_value(rule->confidence));
  answer_fact(&facts, "nodes", cell_value((double)rule->nodes));
  answer_fact(&facts, "accelerators_per_node", cell_value((double)rule->per_node));
  answer_fact(&facts, "may_fail", cell_value((double)rule->may_fail));
  answer_fact(&facts, "missing", cell_list(acceptance->fleet->missing));
  answer_fact(&facts, "price", cell_in(settlement->price, currency));
  answer_fact(&facts, "shortfall", cell_value(settlement->shortfall));
  answer_fact(&facts, "owed",
              isnan(settlement->owed) ? cell_absent(NULL) : cell_in(settlement->owed, currency));
  answer_fact(&facts, "failing_nodes", cell_value((double)settlement->failing));
  answer_fact(&facts, "replaced_nodes", cell_value((double)settlement->replaced_count));
  if (settlement->replaced_count)
    answer_fact(&facts, "replaced_price", cell_in(settlement->replaced_price, currency));
  if (worth && !isnan(worth->worth))
    answer_fact(&facts, "worth",
                cell_in(worth->worth, &worth->scenario->model->declarations[worth->price].unit));
  for (size_t i = 0; i < facts.row_count; i++)
    facts.rows[i].faces = FACE_CSV | FACE_JSON;
  answer_push(telling->answer, facts);
}

// The protocol that both sides sign.
static void add_protocol(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  const struct offer *offer = telling->offer;
  struct arena *arena = telling->arena;
  struct answer_table *table = ANSWER_TABLE(telling->answer, "protocol", "What was checked",
                                            {"what", "", NULL}, {"which", "", NULL});
  table->faces = FACE_SHEET;
  ANSWER_ROW(table, cell_words("Verdict"), cell_words(verdict_names[acceptance->verdict]));
  ANSWER_ROW(
      table, cell_words("Offer"),
      cell_words(arena_printf(arena, "%s of %s", offer_reference(offer, arena), offer->date)));
  ANSWER_ROW(table, cell_words("SHA-256 of the offer"),
             cell_words(source_sha256(offer->source, arena)));
  ANSWER_ROW(table, cell_words("Confidence of each clause"),
             cell_words(acceptance_confidence(acceptance->rule.confidence, arena)));
  ANSWER_ROW(
      table, cell_words("Measured"),
      cell_words(arena_printf(arena, "%s to %s (UTC), %s, on the sheet Records",
                              acceptance->first_day, acceptance->last_day,
                              text_counted(acceptance->fleet->record_count, "record", arena))));
  table = ANSWER_TABLE(telling->answer, "signatures", "Signed", {"for", "For", NULL},
                       {"name", "Name", NULL}, {"date", "Date", NULL},
                       {"signature", "Signature", NULL});
  table->faces = FACE_SHEET;
  ANSWER_ROW(table, cell_words("Measured by"), cell_words(""), cell_words(""), cell_words(""));
  ANSWER_ROW(table, cell_words("The buyer"), cell_words(""), cell_words(""), cell_words(""));
  ANSWER_ROW(table, cell_words(offer->vendor), cell_words(""), cell_words(""), cell_words(""));
}

static const char *sentence_of(const struct telling *telling) {
  const struct acceptance *acceptance = telling->acceptance;
  struct arena *arena = telling->arena;
  const char *offer = offer_reference(telling->offer, arena);
  const char *sure = acceptance_confidence(acceptance->rule.confidence, arena);
  struct texts names = {0};
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (clause->verdict == acceptance->verdict)
      texts_add(&names, arena, "%s", name_of(clause, arena));
  }
  if (acceptance->verdict == VERDICT_PASS)
    return arena_printf(arena, "Pass: every clause of %s holds, each at %s confidence.", offer,
                        sure);
  return arena_printf(arena, "%s %s of %s, at %s confidence: %s.",
                      acceptance->verdict == VERDICT_FAIL ? "Fail:" : "Not enough data for",
                      text_counted(names.count, "clause", arena), offer, sure,
                      texts_joined(&names, arena));
}

static void note_rules(const struct telling *telling) {
  const struct acceptance_rule *rule = &telling->acceptance->rule;
  const struct node_sample *most = &telling->acceptance->clauses[0].sample;
  for (size_t c = 1; c < telling->acceptance->clause_count; c++)
    if (telling->acceptance->clauses[c].sample.count > most->count)
      most = &telling->acceptance->clauses[c].sample;
  answer_note(
      telling->answer, "",
      "A node counts once all of its %zu accelerators were measured: %zu of the offer's %zu "
      "nodes, in %s.",
      rule->per_node, most->count, rule->nodes,
      text_counted(most->run_count, "run", telling->arena));
  const bool has_times = acceptance_judges_times(telling->acceptance);
  answer_note(telling->answer, "",
              "The bound is one-sided and for the fleet's mean, with nodes as the sample: below it "
              "for tokens/s, above it for watts%s. A clause fails if the mean's other bound is "
              "beyond the limit.",
              has_times ? " and times" : "");
  if (!isnan(rule->node_tolerance))
    answer_note(telling->answer, "",
                "A single node fails if it is more than %s below what is guaranteed%s by more "
                "than its own error; %s may fail.",
                percent_words(rule->node_tolerance, telling->arena),
                has_times ? ", or above it in a time," : "",
                text_counted(rule->may_fail, "node", telling->arena));
}

// ---- how each clause was judged, in the notation of docs/acceptance.md

static const char *exact(const struct telling *telling, enum guaranteed what, double value) {
  return quantity_words(as_offered(telling, what, value), unit_of_measure(telling, what),
                        EXACT_DIGITS, telling->arena);
}

static void explain_sample(const struct telling *telling, const struct acceptance_clause *clause,
                           const char *name) {
  const struct node_sample *sample = &clause->sample;
  const char *runs =
      isnan(sample->run_deviation)
          ? "no node ran twice, so e cannot be estimated"
          : arena_printf(telling->arena, "runs of one node differ by e = %s, v = %g",
                         exact(telling, clause->what, sample->run_deviation), sample->run_freedom);
  answer_reason(telling->answer,
                "%s: the mean of n = %zu of N = %zu nodes is m = %s; nodes differ by s = %s, and "
                "%s.",
                name, sample->count, telling->acceptance->rule.nodes,
                exact(telling, clause->what, sample->mean),
                isnan(sample->deviation) ? "unknown, from one node"
                                         : exact(telling, clause->what, sample->deviation),
                runs);
}

static void explain_mean(const struct telling *telling, const struct acceptance_clause *clause,
                         const char *name) {
  const struct acceptance_rule *rule = &telling->acceptance->rule;
  const struct node_error error = node_sample_error(&clause->sample, rule->nodes);
  const bool is_ceiling = clause_is_ceiling(clause->what);
  const char *limit = arena_printf(
      telling->arena, "%s %s %s is the limit, %s", exact(telling, clause->what, clause->quoted),
      is_ceiling ? "and" : "less", percent_words(rule->tolerance, telling->arena),
      exact(telling, clause->what, clause->limit));
  explain_sample(telling, clause, name);
  if (isnan(clause->low))
    answer_reason(telling->answer, "%s: %s; there are no bounds yet.", name, limit);
  else
    answer_reason(telling->answer,
                  "%s: m has the standard error %s with %.6g degrees of freedom, and t = %.6g at "
                  "%s: from %s to %s. %s: %s.",
                  name, exact(telling, clause->what, error.error), error.freedom,
                  student_quantile(rule->confidence, error.freedom),
                  acceptance_confidence(rule->confidence, telling->arena),
                  exact(telling, clause->what, clause->low),
                  exact(telling, clause->what, clause->high), limit,
                  verdict_names[clause->verdict]);
}

static void explain_nodes(const struct telling *telling, const struct acceptance_clause *clause,
                          const char *name) {
  const struct acceptance_rule *rule = &telling->acceptance->rule;
  const struct node_sample *sample = &clause->sample;
  const size_t runs = sample->nodes[0].runs;
  const double margin = clause_node_margin(rule, sample, runs);
  const bool is_ceiling = clause_is_ceiling(clause->what);
  answer_reason(telling->answer,
                "%s: %s %s %s is a node's limit, %s. After %s a node that is more than %s %s it "
                "fails, and one that far %s it passes: %g fail, %zu are open and %zu were not "
                "measured; %zu may fail: %s.",
                name, exact(telling, clause->what, clause->quoted), is_ceiling ? "and" : "less",
                percent_words(rule->node_tolerance, telling->arena),
                exact(telling, clause->what, clause->limit),
                text_counted(runs, "run", telling->arena),
                isnan(margin) ? "an unknown amount" : exact(telling, clause->what, margin),
                is_ceiling ? "above" : "below", is_ceiling ? "below" : "above", clause->found,
                clause->open_nodes, rule->nodes > sample->count ? rule->nodes - sample->count : 0,
                rule->may_fail, verdict_names[clause->verdict]);
}

static void explain_clauses(const struct telling *telling) {
  for (size_t c = 0; c < telling->acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &telling->acceptance->clauses[c];
    const char *name = name_of(clause, telling->arena);
    if (clause->kind == CLAUSE_DELIVERED)
      answer_reason(telling->answer, "%s: records of %g of %g: %s.", name, clause->found,
                    clause->quoted, verdict_names[clause->verdict]);
    else if (!clause->sample.count)
      answer_reason(telling->answer, "%s: %s.", name, clause->why);
    else if (clause->kind == CLAUSE_NODES)
      explain_nodes(telling, clause, name);
    else
      explain_mean(telling, clause, name);
  }
}

struct answer acceptance_answer(const struct settlement *settlement, const struct shortfall *worth,
                                struct arena *arena) {
  const struct acceptance *acceptance = settlement->acceptance;
  struct answer answer = answer_new("accept", "accept", NULL, NULL, arena);
  const struct telling telling = {acceptance, acceptance->offer, &answer, arena};
  answer.schema = 1;
  answer.sentence = sentence_of(&telling);
  answer.no = acceptance->verdict == VERDICT_FAIL;
  answer.undecided = acceptance->verdict == VERDICT_OPEN;
  add_clauses(&telling);
  add_failing(&telling);
  add_replaced(&telling, settlement);
  add_protocol(&telling);
  settlement_add_table(&answer, settlement, worth);
  add_values(&telling);
  add_records(&telling);
  add_facts(&telling, settlement, worth);
  note_clauses(&telling);
  fleet_missing_add(acceptance->fleet, &answer, arena);
  settlement_add_notes(&answer, settlement, worth);
  for (size_t i = 0; i < acceptance->warnings.count; i++)
    answer_warn(&answer, "%s", acceptance->warnings.list[i]);
  note_rules(&telling);
  explain_clauses(&telling);
  return answer;
}
