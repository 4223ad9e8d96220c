#include "reports/answers/acceptance_plan.h"

#include "base/texts.h"
#include "model/delivery/clause.h"
#include "model/delivery/offer.h"
#include "model/records/serving.h"
#include "reports/answers/acceptance.h"
#include "reports/faces/parts.h"

#include <math.h>
#include <stddef.h>

// A probability below one in a million is shown as zero.
static struct answer_cell odds(double share) {
  struct answer_cell cell = isnan(share) ? cell_absent(NULL) : cell_value(share < 1e-6 ? 0 : share);
  cell.digits = 3;
  return cell;
}

static const char *plan_clause_name(const struct plan_clause *clause, struct arena *arena) {
  return acceptance_clause_name(clause->kind, clause->what, clause->guarantee, arena);
}

static void add_plan_clauses(const struct acceptance_plan *plan, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "clauses", "Clause by clause", {"clause", "Clause", NULL},
                   {"between_nodes", "Nodes differ", "%"}, {"between_runs", "Runs differ", "%"},
                   {"passes", "Right pass", "%"}, {"fails", "Right fail", "%"},
                   {"false_fail", "False fail", "%"}, {"false_pass", "False pass", "%"});
  for (size_t c = 0; c < plan->clause_count; c++) {
    const struct plan_clause *clause = &plan->clauses[c];
    ANSWER_ROW(table, cell_words(plan_clause_name(clause, answer->arena)),
               odds(clause->spread.between), odds(clause->spread.runs),
               odds(clause->chances.passes), odds(clause->chances.fails),
               odds(clause->chances.false_fail), odds(clause->chances.false_pass));
  }
}

static void add_choices(const struct acceptance_plan *plan, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "choices", "Plans", {"nodes", "Nodes", "-"},
                   {"runs", "Runs of each", "-"}, {"passes", "Right pass", "%"},
                   {"fails", "Right fail", "%"}, {"false_fail", "False fail", "%"},
                   {"false_pass", "False pass", "%"}, {"decides", "Decides", NULL});
  for (size_t i = 0; i < plan->choice_count; i++) {
    const struct plan_choice *choice = &plan->choices[i];
    ANSWER_ROW(table, cell_value((double)choice->nodes), cell_value((double)choice->runs),
               odds(choice->passes), odds(choice->fails), odds(choice->false_fail),
               odds(choice->false_pass), cell_words(choice->decides ? "yes" : "no"));
  }
}

// How long a load must last for its percentile to be determined.
static void note_window(const struct plan_clause *clause, struct answer *answer) {
  const struct offer_guarantee *guarantee = clause->guarantee;
  if (clause->kind != CLAUSE_MEAN ||
      (clause->what != GUARANTEED_TTFT && clause->what != GUARANTEED_TPOT))
    return;
  const struct offer_latency *latency =
      &guarantee->latencies[clause->what == GUARANTEED_TTFT ? OFFER_TTFT : OFFER_TPOT];
  const int requests = serving_statistic_samples(latency->statistic);
  if (requests > 1)
    answer_note(answer, "", "%s needs %d requests in a run%s.",
                plan_clause_name(clause, answer->arena), requests,
                guarantee->request_rate > 0
                    ? arena_printf(answer->arena, ": --time %.0f or more at %.9g requests/s",
                                   ceil(requests / guarantee->request_rate),
                                   guarantee->request_rate)
                    : "");
}

static void note_spread(const struct acceptance_plan *plan, struct answer *answer) {
  size_t seen = 0;
  for (size_t c = 0; c < plan->clause_count; c++)
    if (plan->clauses[c].spread.nodes > seen)
      seen = plan->clauses[c].spread.nodes;
  bool rates = false, times = false;
  for (size_t c = 0; c < plan->clause_count; c++) {
    const bool is_time =
        plan->clauses[c].what == GUARANTEED_TTFT || plan->clauses[c].what == GUARANTEED_TPOT;
    rates |= !is_time && !plan->clauses[c].spread.nodes;
    times |= is_time && !plan->clauses[c].spread.nodes;
  }
  if (seen)
    answer_note(
        answer, "",
        "The variation between nodes and between runs is that of %zu nodes in earlier records.",
        seen);
  if (rates)
    answer_note(answer, "",
                "The variation between nodes, and between runs, is assumed%s: +-2 %% of "
                "tokens/s and +-5 %% of watts each, uniformly.",
                seen ? " of the others" : "");
  if (times)
    answer_note(
        answer, "",
        "For latency, nodes are assumed to differ by +-2 %%; the run-to-run spread follows from "
        "the number of requests (exponential tail). More requests, or earlier records, narrow it.");
  for (size_t c = 0; c < plan->clause_count; c++)
    note_window(&plan->clauses[c], answer);
}

static const char *plan_sentence(const struct acceptance_plan *plan, struct arena *arena) {
  const struct plan_choice *choice = plan->chosen;
  const char *sure = acceptance_confidence(plan->rule.confidence, arena);
  const char *short_by = percent_words(plan->shortfall, arena);
  if (!choice)
    return arena_printf(
        arena,
        "No plan with up to %zu nodes and %d runs of each can, at %s confidence, distinguish a "
        "compliant delivery from one that is %s short with a probability of %s.",
        plan->rule.nodes, PLAN_MOST_RUNS, sure, short_by, percent_words(plan->power, arena));
  return arena_printf(
      arena,
      "%s, %s of each: at %s confidence a delivery as guaranteed passes with %s "
      "chance, and one %s short fails with %s.",
      text_counted(choice->nodes, "node", arena), text_counted(choice->runs, "run", arena), sure,
      percent_words(choice->passes, arena), short_by, percent_words(choice->fails, arena));
}

// ---- how the plan's probabilities were computed, in the notation of docs/acceptance.md

static const char *share_words(double share, struct arena *arena) {
  return arena_printf(arena, "%.7g %%", 100 * share);
}

static void explain_spread(const struct acceptance_plan *plan, const struct plan_clause *clause,
                           const char *name, struct answer *answer) {
  struct arena *arena = answer->arena;
  const char *whence =
      clause->spread.nodes
          ? arena_printf(arena, "as %zu nodes in earlier records did", clause->spread.nodes)
          : "which is assumed";
  answer_reason(answer,
                "%s: nodes differ by a = %s and runs by e = %s, %s. With n = %zu of N = %zu nodes "
                "and R = %zu: √V = %s of what is guaranteed, √U = %s, df = %.6g, t = "
                "%.6g.",
                name, share_words(clause->spread.between, arena),
                share_words(clause->spread.runs, arena), whence, plan->shown->nodes,
                plan->rule.nodes, plan->shown->runs, share_words(clause->errors.deviation, arena),
                share_words(clause->errors.estimate, arena), clause->errors.freedom,
                clause->errors.quantile);
}

static void explain_plan_clause(const struct acceptance_plan *plan,
                                const struct plan_clause *clause, struct answer *answer) {
  struct arena *arena = answer->arena;
  const struct acceptance_rule *rule = &plan->rule;
  const char *name = plan_clause_name(clause, arena);
  explain_spread(plan, clause, name, answer);
  if (clause->kind == CLAUSE_MEAN)
    answer_reason(
        answer,
        "%s: a delivery as guaranteed is d = %s better than the limit: it passes with "
        "%s chance and fails with %s. One %s short is %s worse: it fails with %s and "
        "passes with %s.",
        name, share_words(rule->tolerance, arena), share_words(clause->chances.passes, arena),
        share_words(clause->chances.false_fail, arena), share_words(plan->shortfall, arena),
        share_words(plan->shortfall - rule->tolerance, arena),
        share_words(clause->chances.fails, arena), share_words(clause->chances.false_pass, arena));
  else
    answer_reason(answer,
                  "%s: one node as guaranteed is d = %s better than its limit: it passes with %s "
                  "chance and fails with %s. The chance that no more than %zu fail, are open or "
                  "were not measured is %s%s.",
                  name, share_words(rule->node_tolerance, arena),
                  share_words(clause->stands, arena), share_words(clause->fails, arena),
                  rule->may_fail, share_words(clause->chances.passes, arena),
                  plan->shown->nodes < rule->nodes && rule->may_fail
                      ? ", by the tolerance limits of a sample"
                      : "");
}

static void explain_plan(const struct acceptance_plan *plan, struct answer *answer) {
  for (size_t c = 0; c < plan->clause_count; c++)
    explain_plan_clause(plan, &plan->clauses[c], answer);
  answer_reason(answer, "A plan decides if each right verdict has a chance of at least %s. %s",
                share_words(plan->power, answer->arena),
                plan->chosen ? "Of those that do, the one with the fewest nodes times runs is "
                               "chosen."
                             : "None does; the figures are those of the last one.");
}

struct answer acceptance_plan_answer(const struct acceptance_plan *plan, struct arena *arena) {
  struct answer answer = answer_new("accept", "plan", NULL, NULL, arena);
  answer.schema = 1;
  answer.sentence = plan_sentence(plan, arena);
  answer.no = !plan->chosen;
  add_choices(plan, &answer);
  add_plan_clauses(plan, &answer);
  struct answer_table facts = answer_table_of_facts(arena);
  answer_fact(&facts, "offer", cell_words(offer_reference(plan->offer, arena)));
  answer_fact(&facts, "confidence", cell_value(plan->rule.confidence));
  answer_fact(&facts, "power", cell_value(plan->power));
  answer_fact(&facts, "shortfall", cell_value(plan->shortfall));
  if (plan->chosen) {
    answer_fact(&facts, "nodes", cell_value((double)plan->chosen->nodes));
    answer_fact(&facts, "runs", cell_value((double)plan->chosen->runs));
  }
  for (size_t i = 0; i < facts.row_count; i++)
    facts.rows[i].faces = FACE_JSON;
  answer_push(&answer, facts);
  explain_plan(plan, &answer);
  note_spread(plan, &answer);
  for (size_t c = 0; c < plan->clause_count; c++)
    if (!isnan(plan->clauses[c].found))
      answer_note(&answer, "", "%s: a node %s %s what is guaranteed is found with %s chance.",
                  plan_clause_name(&plan->clauses[c], arena),
                  percent_words(plan->clauses[c].found, arena),
                  clause_is_ceiling(plan->clauses[c].what) ? "above" : "below",
                  percent_words(plan->power, arena));
  answer_note(&answer, "",
              "Right: a delivery as guaranteed passes, one that falls short fails; false: "
              "the other way round. Otherwise there is not enough data.");
  return answer;
}
