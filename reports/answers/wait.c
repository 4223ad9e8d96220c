// The answer of model/questions/wait.h as a decision. All of it comes from draws, so that no cell
// is live on the sheet Decisions.
#include "model/questions/wait.h"
#include "model/questions/question.h"
#include "reports/answers/answer_parts.h"
#include "reports/answers/questions.h"
#include "reports/print/number.h"

#include <string.h>

enum {
  CHOICE_NAME,
  CHOICE_MEAN,
  CHOICE_LOW,
  CHOICE_HIGH,
  CHOICE_REGRET,
  CHOICE_RIGHT,
  CHOICE_COLUMNS
};
enum { MONTH_NAME, MONTH_COST, MONTH_MORE, MONTH_RIGHT, MONTH_COLUMNS };

enum { TABLES = 2, CHOICES = 2 };

struct writing {
  const struct wait_answer *answer;
  struct decision *decision;
  const struct unit *money, *percent;
  struct arena *arena;
};

static const char *option_id(const struct writing *writing, size_t o) {
  return writing->answer->scenario->options[o].id;
}

static const char *money(const struct writing *writing, double value) {
  return money_text(value, writing->money, writing->arena);
}

static double in_months(double hours) {
  return hours / (conversion_table[CONVERT_HOURS_PER_YEAR].value /
                  conversion_table[CONVERT_MONTHS_PER_YEAR].value);
}

// "1 month", "6.5 months"
static const char *months(const struct writing *writing, double count) {
  return arena_printf(writing->arena, "%s month%s", number_significant(count, 3, writing->arena),
                      count == 1 ? "" : "s");
}

static const char *later_name(const struct writing *writing) {
  const struct wait_answer *answer = writing->answer;
  return arena_printf(writing->arena, "order %s in %s", option_id(writing, answer->successor),
                      months(writing, answer->months));
}

static const char *now_name(const struct writing *writing) {
  return arena_printf(writing->arena, "buy %s now", option_id(writing, writing->answer->option));
}

static void write_choice(struct decision_cell *row, const char *name,
                         const struct wait_choice *choice) {
  row[CHOICE_NAME] = cell_words(name);
  row[CHOICE_MEAN] = cell_value(choice->mean);
  row[CHOICE_LOW] = cell_value(choice->low);
  row[CHOICE_HIGH] = cell_value(choice->high);
  row[CHOICE_REGRET] = cell_value(choice->regret);
  row[CHOICE_RIGHT] = cell_value(choice->right);
}

static struct decision_table choices_table(const struct writing *writing) {
  const struct decision_column columns[CHOICE_COLUMNS] = {
      [CHOICE_NAME] = {"choice", "Choice", NULL},
      [CHOICE_MEAN] = {"expected_cost", "Expected", writing->money},
      [CHOICE_LOW] = {"p5", "5 %", writing->money},
      [CHOICE_HIGH] = {"p95", "95 %", writing->money},
      [CHOICE_REGRET] = {"expected_regret", "Regret", writing->money},
      [CHOICE_RIGHT] = {"right", "Right", writing->percent}};
  struct decision_table table =
      decision_table_new("choices", "What either costs over the horizon", columns, CHOICE_COLUMNS,
                         CHOICES, writing->arena);
  write_choice(decision_row(&table), now_name(writing), &writing->answer->now);
  write_choice(decision_row(&table), later_name(writing), &writing->answer->later);
  table.note = "Regret: what it costs on average beyond the better of the two; right: how often it "
               "is that one.";
  return table;
}

static struct decision_table months_table(const struct writing *writing) {
  const struct decision_column columns[MONTH_COLUMNS] = {
      [MONTH_NAME] = {"order", "Order", NULL},
      [MONTH_COST] = {"expected_cost", "Expected", writing->money},
      [MONTH_MORE] = {"difference", "Against now", writing->money},
      [MONTH_RIGHT] = {"right", "Right", writing->percent}};
  const struct wait_answer *answer = writing->answer;
  struct decision_table table =
      decision_table_new("months", "The month of the order", columns, MONTH_COLUMNS,
                         answer->count + 1, writing->arena);
  struct decision_cell *row = decision_row(&table);
  row[MONTH_NAME] = cell_words(now_name(writing));
  row[MONTH_COST] = cell_value(answer->now.mean);
  for (size_t m = 0; m < answer->count; m++) {
    const double cost = answer->list[m].cost;
    row = decision_row(&table);
    row[MONTH_NAME] =
        cell_words(arena_printf(writing->arena, "%s in %s", option_id(writing, answer->successor),
                                months(writing, answer->list[m].months)));
    row[MONTH_COST] = cell_value(cost);
    row[MONTH_MORE] = cell_value(cost - answer->now.mean);
    row[MONTH_RIGHT] = cell_value(answer->list[m].right);
  }
  return table;
}

// "Waiting pays with an order in months 3 to 9, most in month 5."
static const char *when_it_pays(const struct writing *writing) {
  const struct wait_answer *answer = writing->answer;
  const double last = answer->list[answer->count - 1].months;
  if (answer->best < 0)
    return arena_printf(writing->arena, "No order within %s is expected to be cheaper.",
                        months(writing, last));
  return arena_printf(writing->arena,
                      "Of the orders within %s, those from month %ld to %ld are expected to be "
                      "cheaper than buying now, most of all month %ld.",
                      months(writing, last), answer->pays_from, answer->pays_until, answer->best);
}

static const char *latest_words(const struct writing *writing) {
  const struct wait_answer *answer = writing->answer;
  if (isnan(answer->latest_delivery))
    return "even if it were delivered at once, waiting would cost more";
  if (isinf(answer->latest_delivery))
    return "whenever it is delivered, waiting costs less";
  return arena_printf(writing->arena,
                      "waiting pays as long as the delivery comes within %s of today",
                      months(writing, in_months(answer->latest_delivery)));
}

static const char *verdict(const struct writing *writing) {
  const struct wait_answer *answer = writing->answer;
  const bool wait = answer->later.mean < answer->now.mean;
  const struct wait_choice *better = wait ? &answer->later : &answer->now;
  const double other = wait ? answer->now.mean : answer->later.mean;
  const char *chance = answer->uncertain
                           ? arena_printf(writing->arena, " It is right in %.3g %% of the draws.",
                                          100 * better->right)
                           : "";
  return arena_printf(writing->arena, "%s: to %s costs %s, %s (%.3g %%) less than to %s.%s %s",
                      wait ? "Wait" : "Buy now", wait ? later_name(writing) : now_name(writing),
                      money(writing, better->mean), money(writing, other - better->mean),
                      100 * (1 - better->mean / other),
                      wait ? now_name(writing) : later_name(writing), chance,
                      when_it_pays(writing));
}

static void explain_how(struct writing *writing) {
  const struct wait_answer *answer = writing->answer;
  const struct unit *rate = unit_known("Mtok/month", writing->arena);
  const struct unit *price =
      unit_known(model_unit_text(answer->scenario->model, "USD/Mtok"), writing->arena);
  struct texts *reasons = &writing->decision->reasons;
  texts_add(reasons, writing->arena,
            "Both ways serve %s Mtok a month, what %s would serve if it were bought now.",
            number_significant(number_in_unit(answer->rate, rate), 6, writing->arena),
            option_id(writing, answer->option));
  if (answer->meanwhile >= 0)
    texts_add(reasons, writing->arena, "Until the delivery %s is rented for them.",
              option_id(writing, (size_t)answer->meanwhile));
  else
    texts_add(reasons, writing->arena, "Until the delivery they are bought at %s %s.",
              number_significant(number_in_unit(answer->meanwhile_price, price), 6, writing->arena),
              price->text);
  texts_add(reasons, writing->arena, "The delivery comes %s late on average%s%s%s.",
            months(writing, in_months(answer->slip)), *answer->slip_words ? ", " : "",
            answer->slip_words,
            answer->available > 0
                ? arena_printf(writing->arena, "; nothing is delivered before month %.3g",
                               in_months(answer->available))
                : "");
  texts_add(reasons, writing->arena,
            "Costs are present values at the scenario's wacc; hardware that is younger at "
            "the horizon keeps more of its price, in a straight line (model/questions/wait.h).");
  texts_add(reasons, writing->arena, "With every uncertain quantity at its mean, %s.",
            latest_words(writing));
  if (answer->uncertain)
    texts_add(reasons, writing->arena, "%zu draws, seed %lu.", answer->draws, answer->seed);
}

static void decide_one(const struct scenario *scenario, const struct wait_answer *answer,
                       struct decision *decision, struct arena *arena) {
  struct writing writing = {.answer = answer,
                            .decision = decision,
                            .money = unit_known(scenario->model->currency, arena),
                            .percent = unit_known("%", arena),
                            .arena = arena};
  struct decision_table *tables = arena_array(arena, TABLES, sizeof *tables);
  const struct option *successor = &scenario->options[answer->successor];
  *decision = (struct decision){.kind = "wait",
                                .name = answer->name,
                                .title = arena_printf(arena, "Buy now or wait: %s", answer->name)};
  tables[0] = choices_table(&writing);
  tables[1] = months_table(&writing);
  tables[1].note = arena_printf(arena, "For the order in %s: %s.", months(&writing, answer->months),
                                latest_words(&writing));
  decision->answer = verdict(&writing);
  explain_how(&writing);
  if (*answer->slip_words)
    texts_add(&decision->warnings, arena,
              "the slip is %s: type a distribution where you know better", answer->slip_words);
  if (successor->throughput_doubt && *successor->throughput_doubt)
    texts_add(&decision->warnings, arena, "the successor's throughput is doubtful: %s",
              successor->throughput_doubt);
  decision->tables = tables;
  decision->table_count = TABLES;
}

bool wait_asked(const struct scenario *scenario) {
  return question_section(scenario, "wait", NULL) != NULL;
}

int decide_wait(const struct scenario *scenario, const char *only, struct decisions *decisions,
                struct arena *arena, struct diagnostics *diagnostics) {
  struct decision *list = arena_array(arena, scenario->question_count + 1, sizeof *list);
  const char **names = arena_array(arena, scenario->question_count + 1, sizeof *names);
  size_t count = 0, sections = 0;
  int result = 0;
  for (size_t i = 0; i < scenario->question_count; i++) {
    const struct ini_section *section = &scenario->questions[i];
    if (strcmp(section->kind, "wait") != 0)
      continue;
    names[sections++] = section->argument;
    if (only && strcmp(only, section->argument) != 0)
      continue;
    const struct wait_answer *answer = wait_ask(scenario, section, arena, diagnostics);
    if (answer)
      decide_one(scenario, answer, &list[count++], arena);
    else
      result = -1;
  }
  if (only && !count && !result) {
    const char *nearest = nearest_name(only, names, sections);
    diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                      "there is no [wait %s]%s%s%s", only, nearest ? "; did you mean [wait " : "",
                      nearest ? nearest : "", nearest ? "]?" : "");
    return -1;
  }
  *decisions = (struct decisions){list, count};
  return result;
}
