// The answer of model/questions/wait.h. All of it comes from draws, so no cell is live on the sheet
// Decisions.
#include "reports/answers/wait.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/chance/draw.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/question.h"
#include "model/questions/wait.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

struct writing {
  const struct wait_answer *wait;
  const struct unit *money;
  struct arena *arena;
};

static const char *option_name(const struct writing *writing, size_t o) {
  return writing->wait->scenario->options[o].label;
}

static const char *money(const struct writing *writing, double value) {
  return money_text(value, writing->money, writing->arena);
}

static double in_months(double hours) {
  return hours / HOURS_PER_MONTH;
}

// "1 month", "6.5 months"
static const char *months(const struct writing *writing, double count) {
  return arena_printf(writing->arena, "%s month%s", number_significant(count, 3, writing->arena),
                      count == 1 ? "" : "s");
}

static const char *later_name(const struct writing *writing) {
  return arena_printf(writing->arena, "order %s in %s",
                      option_name(writing, writing->wait->successor),
                      months(writing, writing->wait->months));
}

static const char *now_name(const struct writing *writing) {
  return arena_printf(writing->arena, "buy %s now", option_name(writing, writing->wait->option));
}

// The same in a sentence.
static const char *choice_words(const struct writing *writing, bool later) {
  const struct wait_answer *wait = writing->wait;
  return later ? arena_printf(writing->arena, "ordering %s in %s",
                              option_name(writing, wait->successor), months(writing, wait->months))
               : arena_printf(writing->arena, "buying %s now", option_name(writing, wait->option));
}

static void add_choice(struct answer_table *table, const char *name,
                       const struct wait_choice *choice) {
  ANSWER_ROW(table, cell_words(name), cell_value(choice->mean), cell_value(choice->low),
             cell_value(choice->high), cell_value(choice->regret), cell_value(choice->right));
}

static void add_choices(const struct writing *writing, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "choices", "Cost over the horizon", {"choice", "Choice", NULL},
                   {"expected_cost", "Expected", "USD"}, {"p5", "P5", "USD"}, {"p95", "P95", "USD"},
                   {"expected_regret", "Regret", "USD"}, {"right", "Right", "%"});
  add_choice(table, now_name(writing), &writing->wait->now);
  add_choice(table, later_name(writing), &writing->wait->later);
  table->note = "Regret: average extra cost compared with the better of the two; right: how often "
                "it is the better one; a tie counts for both.";
}

static const char *latest_words(const struct writing *writing) {
  const double latest = writing->wait->latest_delivery;
  if (isnan(latest))
    return "even with immediate delivery, waiting would not cost less";
  if (isinf(latest))
    return "whatever the delivery date, waiting costs less";
  return arena_printf(writing->arena,
                      "waiting pays as long as the delivery comes within %s of today",
                      months(writing, in_months(latest)));
}

static void add_months(const struct writing *writing, struct answer *answer) {
  const struct wait_answer *wait = writing->wait;
  struct answer_table *table =
      ANSWER_TABLE(answer, "months", "Cost by month of order", {"order", "Order", NULL},
                   {"expected_cost", "Expected", "USD"}, {"difference", "Against now", "USD"},
                   {"right", "Right", "%"});
  ANSWER_ROW(table, cell_words(now_name(writing)), cell_value(wait->now.mean), cell_nothing(),
             cell_nothing());
  for (const struct wait_month *month = wait->list; month < wait->list + wait->count; month++)
    ANSWER_ROW(
        table,
        cell_words(arena_printf(writing->arena, "%s in %s", option_name(writing, wait->successor),
                                months(writing, month->months))),
        cell_value(month->cost), cell_value(month->cost - wait->now.mean),
        cell_value(month->right));
  table->note = arena_printf(writing->arena, "For the order in %s: %s.",
                             months(writing, wait->months), latest_words(writing));
}

// "Among orders within 9 months, those in months 3 to 9 are expected to cost less ..."
static const char *when_it_pays(const struct writing *writing) {
  const struct wait_answer *wait = writing->wait;
  const char *last = months(writing, wait->list[wait->count - 1].months);
  if (wait->best < 0)
    return arena_printf(writing->arena, "No order within %s is expected to be cheaper.", last);
  return arena_printf(writing->arena,
                      "Among orders within %s, those in months %ld to %ld are expected to cost "
                      "less than buying now; month %ld costs the least.",
                      last, wait->pays_from, wait->pays_until, wait->best);
}

static const char *verdict(const struct writing *writing) {
  const struct wait_answer *answer = writing->wait;
  const bool wait = answer->verdict == WAIT_LATER;
  if (answer->verdict == WAIT_TIE)
    return arena_printf(writing->arena, "A tie: %s and %s cost the same, %s. %s",
                        choice_words(writing, false), choice_words(writing, true),
                        money(writing, answer->now.mean), when_it_pays(writing));
  const struct wait_choice *better = wait ? &answer->later : &answer->now;
  const double other = wait ? answer->now.mean : answer->later.mean;
  const char *chance = answer->uncertain
                           ? arena_printf(writing->arena, " This is right in %s of draws.",
                                          percent_words(better->right, writing->arena))
                           : "";
  const double saving = cost_saving(better->mean, other);
  const char *share =
      isnan(saving) ? ""
                    : arena_printf(writing->arena, " (%s)", percent_words(saving, writing->arena));
  return arena_printf(writing->arena, "%s: %s costs %s, %s%s less than %s.%s %s",
                      wait ? "Wait" : "Buy now", choice_words(writing, wait),
                      money(writing, better->mean), money(writing, other - better->mean), share,
                      choice_words(writing, !wait), chance, when_it_pays(writing));
}

static void add_reasons(const struct writing *writing, struct answer *answer) {
  const struct wait_answer *wait = writing->wait;
  const struct unit *price =
      unit_known(model_unit_text(wait->scenario->model, "USD/Mtok"), writing->arena);
  answer_reason(
      answer, "Both alternatives serve %s, the output of %s if bought now%s.",
      quantity_words(wait->rate, unit_known("Mtok/month", writing->arena), 6, writing->arena),
      option_name(writing, wait->option),
      wait->bought > 1e-9 * wait->rate
          ? arena_printf(writing->arena, ", of which it buys %s elsewhere",
                         percent_words(wait->bought / wait->rate, writing->arena))
          : "");
  if (wait->meanwhile >= 0)
    answer_reason(answer, "Until delivery, %s is rented for these tokens.",
                  option_name(writing, (size_t)wait->meanwhile));
  else
    answer_reason(answer, "Until delivery, tokens are bought at %s.",
                  quantity_words(wait->meanwhile_price, price, 6, writing->arena));
  answer_reason(
      answer, "The delivery comes %s late on average%s%s%s.",
      months(writing, in_months(wait->slip)), *wait->slip_words ? ", " : "", wait->slip_words,
      wait->available > 0 ? arena_printf(writing->arena, "; nothing is delivered before month %.3g",
                                         in_months(wait->available))
                          : "");
  answer_reason(answer,
                "Costs are present values at the scenario's wacc; hardware that is newer at the "
                "horizon retains more of its price, in a straight line (model/questions/wait.h).");
  answer_reason(answer, "With every uncertain quantity at its mean, %s.", latest_words(writing));
}

static void add_draws(const struct writing *writing, struct answer *answer) {
  const struct wait_answer *wait = writing->wait;
  const struct draws_made draws = {wait->draws, wait->seed, DRAW_SOBOL};
  answer_note(answer, "", "%s", draws_words(&draws, writing->arena));
  answer->drawn = draws;
}

static struct answer answer_one(const struct wait_answer *wait, struct arena *arena) {
  const struct scenario *scenario = wait->scenario;
  const struct writing writing = {wait, unit_known(scenario->model->currency, arena), arena};
  const char *doubt = option_doubt(scenario, &scenario->options[wait->successor]);
  struct answer answer =
      answer_new("wait", wait->name,
                 arena_printf(arena, "Buy now or wait: %s", option_name(&writing, wait->option)),
                 scenario, arena);
  add_choices(&writing, &answer);
  add_months(&writing, &answer);
  answer.sentence = verdict(&writing);
  add_reasons(&writing, &answer);
  if (wait->uncertain)
    add_draws(&writing, &answer);
  if (wait->unmet > 1e-9 * wait->rate)
    answer_warn(&answer, "both alternatives serve only %s of the demand, as %s does",
                percent_words(wait->rate / (wait->rate + wait->unmet), arena),
                option_name(&writing, wait->option));
  if (*wait->slip_words)
    answer_warn(&answer, "the slip is %s: give a distribution if you know better",
                wait->slip_words);
  if (*doubt)
    answer_warn(&answer, "the successor's throughput is doubtful: %s", doubt);
  return answer;
}

bool wait_asked(const struct scenario *scenario) {
  return question_section(scenario, "wait", NULL) != NULL;
}

int answer_wait(const struct scenario *scenario, const char *only, struct answers *answers,
                struct arena *arena, struct diagnostics *diagnostics) {
  const char **names = arena_array(arena, scenario->question_count + 1, sizeof *names);
  size_t sections = 0;
  bool found = false;
  int result = 0;
  for (size_t i = 0; i < scenario->question_count; i++) {
    const struct ini_section *section = &scenario->questions[i];
    if (strcmp(section->kind, "wait") != 0)
      continue;
    names[sections++] = section->argument;
    if (only && strcmp(only, section->argument) != 0)
      continue;
    const struct wait_answer *wait = wait_ask(scenario, section, arena, diagnostics);
    found |= wait != NULL;
    if (wait)
      answers_add(answers, answer_one(wait, arena));
    else
      result = -1;
  }
  if (!only || found || result)
    return result;
  diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                    "there is no [wait %s]%s", only, name_hint(only, names, sections, arena));
  return -1;
}
