// Can all of a vendor's claims be true? model/questions/audit.h describes the method.

#include "reports/answers/audit.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/optimise/search.h"
#include "model/questions/audit.h"
#include "model/questions/claim.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/resolution/published_bounds.h"
#include "model/whatif/variation.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 4, MANY = 1000 };

struct writer {
  const struct scenario *scenario;
  const struct audit *audit;
  struct arena *arena;
};

// ---- words

static const char *quantity(const struct writer *writer, double value, const struct unit *unit) {
  if (isnan(value))
    return "nothing";
  const double shown = number_in_unit(value, unit);
  const char *number = fabs(shown) < MANY ? number_significant(shown, DIGITS, writer->arena)
                                          : number_fixed(shown, 0, writer->arena);
  return strcmp(unit->text, "-") != 0 ? arena_printf(writer->arena, "%s %s", number, unit->text)
                                      : number;
}

static const char *of_claim(const struct writer *writer, const struct claim *claim, double value) {
  return quantity(writer, value, claim->quantity.unit);
}

// "0.904 to 0.918 W", one value if both ends print the same, "at least 3 W" if one end is open.
static const char *span_text(const struct writer *writer, struct audit_span span,
                             const struct unit *unit) {
  const char *low = quantity(writer, span.low, unit), *high = quantity(writer, span.high, unit);
  if (isinf(span.low) && isinf(span.high))
    return "anything";
  if (isinf(span.high))
    return arena_printf(writer->arena, "at least %s", low);
  if (isinf(span.low))
    return arena_printf(writer->arena, "at most %s", high);
  return !strcmp(low, high) ? low : arena_printf(writer->arena, "%s to %s", low, high);
}

static const char *conditions_text(const struct writer *writer, const struct claim *claim) {
  const char *text = "";
  for (int i = 0; i < claim->condition_count; i++)
    text = arena_printf(writer->arena, "%s%s%s = %s", text, i ? ", " : ", with ",
                        claim->conditions[i].name, claim->conditions[i].text);
  return text;
}

static const char *full_text(const struct writer *writer, const struct claim *claim) {
  return arena_printf(writer->arena, "%s%s", claim->text, conditions_text(writer, claim));
}

static const char *points(const struct writer *writer, double margin) {
  return number_significant(fabs(margin) * 100, 3, writer->arena);
}

// "a, b and c"
static const char *join(const struct writer *writer, const char *list, const char *name, int left) {
  return arena_printf(writer->arena, "%s%s%s", list, !*list ? "" : left ? ", " : " and ", name);
}

// The claims of a conflict except `except`.
static const char *conflict_names(const struct writer *writer, const struct audit_claim *conflict,
                                  const struct claim *except) {
  const struct claims *claims = writer->audit->claims;
  const char *list = "";
  int left = conflict->conflict_size - (except != NULL);
  for (int c = 0; c < claims->count; c++)
    if (conflict->conflict[c] && &claims->list[c] != except)
      list = join(writer, list, claims->list[c].name, --left);
  return list;
}

// ---- tables

// The claims, then what follows from them.
static const struct audit_claim *claim_at(const struct audit *audit, int row) {
  return row < audit->count ? &audit->list[row] : &audit->shown[row - audit->count];
}

static const char *conflict_text(const struct writer *writer, const struct audit_claim *claim) {
  if (!claim->conflict_size)
    return "-";
  return claim->conflict_size == 1 ? "itself" : conflict_names(writer, claim, claim->claim);
}

// The claimed value, or both ends of an interval; empty for a quantity that is only shown.
static struct answer_cell claimed_cell(const struct writer *writer, const struct claim *claim) {
  if (claim->relation == CLAIM_WITHIN)
    return cell_words(
        span_text(writer, (struct audit_span){claim->low, claim->high}, claim->quantity.unit));
  return cell_in(claim->relation == CLAIM_SHOWS ? NAN : claim->value, claim->quantity.unit);
}

static void add_claims_that_hold(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table =
      ANSWER_TABLE(answer, "claims", "Where all claims hold", {"claim", "Claim", NULL},
                   {"claimed", "Claimed", NULL}, {"stands", "As stated", NULL},
                   {"low", "From", NULL}, {"high", "To", NULL}, {"best", "For example", NULL});
  for (int r = 0; r < audit->count + audit->shown_count; r++) {
    const struct audit_claim *claim = claim_at(audit, r);
    const struct unit *unit = claim->claim->quantity.unit;
    ANSWER_ROW(table, cell_words(claim->claim->name), claimed_cell(writer, claim->claim),
               cell_in(claim->stands, unit), cell_in(claim->together.low, unit),
               cell_in(claim->together.high, unit), cell_in(claim->best, unit));
  }
  table->note =
      "As stated: with every free quantity at the scenario's value or, if it has none, in the "
      "middle of its range. For example: at one point where all hold, as far within every "
      "tolerance as possible.";
}

static void add_claims_that_conflict(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table =
      ANSWER_TABLE(answer, "claims", "Claims and how closely each can be met",
                   {"claim", "Claim", NULL}, {"claimed", "Claimed", NULL},
                   {"stands", "As stated", NULL}, {"nearest_said", "Nearest", NULL},
                   {"nearest", "Tolerated", NULL}, {"conflict", "Conflicts with", NULL});
  for (int i = 0; i < audit->count; i++) {
    const struct audit_claim *claim = &audit->list[i];
    const struct unit *unit = claim->claim->quantity.unit;
    ANSWER_ROW(table, cell_words(claim->claim->name), claimed_cell(writer, claim->claim),
               cell_in(claim->stands, unit), cell_in(claim->nearest_said, unit),
               cell_in(claim->nearest, unit), cell_words(conflict_text(writer, claim)));
  }
  table->note =
      "As stated: with every free quantity at the scenario's value or, if it has none, in the "
      "middle of its range. Nearest: while the other claims (or, if they cannot, those it "
      "conflicts with) hold exactly. Tolerated: while they hold within their tolerances.";
}

// The claims' table if no quantity is free.
static void add_claims_as_stated(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table = ANSWER_TABLE(
      answer, "claims", "Claims compared with the scenario's results", {"claim", "Claim", NULL},
      {"claimed", "Claimed", NULL}, {"stands", "As stated", NULL}, {"holds", "Holds", NULL});
  for (int r = 0; r < audit->count + audit->shown_count; r++) {
    const struct audit_claim *claim = claim_at(audit, r);
    const bool shows = claim->claim->relation == CLAIM_SHOWS;
    ANSWER_ROW(table, cell_words(claim->claim->name), claimed_cell(writer, claim->claim),
               cell_in(claim->stands, claim->claim->quantity.unit),
               cell_words(shows                  ? "-"
                          : claim->conflict_size ? "no"
                                                 : "yes"));
  }
  table->note = "Nothing is free: every claim is checked against the scenario's values.";
}

static void add_needs(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table = ANSWER_TABLE(
      answer, "needs", "What would make them true together", {"claim", "Claim", NULL},
      {"needs", "Needs", NULL}, {"stated", "Instead of", NULL}, {"exact_low", "Exact", NULL},
      {"exact_high", "to", NULL}, {"low", "Tolerated", NULL}, {"high", "to", NULL});
  for (int i = 0; i < audit->need_count; i++) {
    const struct audit_need *need = &audit->needs[i];
    const struct unit *unit = &target_input(writer->scenario, need->target)->unit;
    ANSWER_ROW(table, cell_words(need->claim->name), cell_words(need->name),
               cell_in(need->stated, unit), cell_in(need->exact.low, unit),
               cell_in(need->exact.high, unit), cell_in(need->span.low, unit),
               cell_in(need->span.high, unit));
  }
  table->note = "Exact: for all claims to hold exactly; tolerated: within their tolerances. A "
                "claim's own condition changes for that claim only, anything else for all of them.";
}

static void add_alone(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table =
      ANSWER_TABLE(answer, "alone", "What follows from a single claim, taken exactly",
                   {"claim", "If this alone holds", NULL}, {"follows", "Follows", NULL},
                   {"low", "From", NULL}, {"high", "To", NULL}, {"stands", "As stated", NULL});
  for (int i = 0; i < audit->alone_count; i++) {
    const struct audit_alone *alone = &audit->alone[i];
    const struct unit *unit = alone->shown->quantity.unit;
    ANSWER_ROW(table, cell_words(alone->claim->name), cell_words(alone->shown->name),
               cell_in(alone->span.low, unit), cell_in(alone->span.high, unit),
               cell_in(audit->shown[i % audit->shown_count].stands, unit));
  }
}

static void add_free(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  struct answer_table *table =
      ANSWER_TABLE(answer, "free",
                   audit->holds ? "For which values of the free quantities" : "What was searched",
                   {"quantity", "Free quantity", NULL}, {"searched_low", "Searched", NULL},
                   {"searched_high", "to", NULL}, {"low", "Holds", NULL}, {"high", "to", NULL},
                   {"best", "For example", NULL});
  if (!audit->holds)
    table->column_count = 3;
  for (int i = 0; i < audit->free_count; i++) {
    const struct audit_free *of = &audit->frees[i];
    ANSWER_ROW(table, cell_words(of->quantity->key), cell_in(of->quantity->low, of->unit),
               cell_in(of->quantity->high, of->unit), cell_in(of->holds.low, of->unit),
               cell_in(of->holds.high, of->unit), cell_in(of->best, of->unit));
  }
}

// ---- against the catalogue

struct comparison {
  const char *name;
  const struct unit *unit;
  struct audit_span implied;
  struct published published;
};

static const char *verdict(const struct writer *writer, const struct comparison *comparison) {
  const struct audit_span implied = comparison->implied;
  const struct published *published = &comparison->published;
  if (!published->count)
    return "nothing published";
  if (isnan(implied.low) || isnan(implied.high))
    return "not implied";
  if (implied.low > published->high)
    return arena_printf(writer->arena, "%s times the highest published (%s)",
                        number_significant(implied.low / published->high, 3, writer->arena),
                        published->high_id);
  if (implied.high < published->low)
    return arena_printf(writer->arena, "%s times the lowest published (%s)",
                        number_significant(implied.high / published->low, 3, writer->arena),
                        published->low_id);
  if (implied.low >= published->low && implied.high <= published->high)
    return "inside";
  return "overlaps";
}

// The first option that a free quantity belongs to.
static size_t option_of(const struct scenario *scenario, const struct free_quantity *quantity) {
  const struct target target = {quantity->declaration, quantity->option};
  size_t o = 0;
  while (o + 1 < scenario->option_count && !target_moves(scenario, target, o))
    o++;
  return o;
}

// "A.throughput / B.throughput"
static bool is_throughput_ratio(const struct writer *writer, const struct claim *claim) {
  const struct claim_quantity *ratio = &claim->quantity;
  const int throughput = model_find(writer->scenario->model, "throughput");
  return ratio->term_count == 2 && !ratio->saving && ratio->terms[0].declaration == throughput &&
         ratio->terms[1].declaration == throughput && !ratio->terms[0].below &&
         ratio->terms[1].below;
}

static size_t comparisons_of(const struct writer *writer, struct comparison *comparisons) {
  const struct audit *audit = writer->audit;
  size_t count = 0;
  for (int i = 0; i < audit->free_count; i++) {
    struct comparison *next = &comparisons[count];
    const struct free_quantity *quantity_free = audit->frees[i].quantity;
    *next = (struct comparison){
        .name = quantity_free->key, .unit = audit->frees[i].unit, .implied = audit->frees[i].holds};
    published_input(writer->scenario, option_of(writer->scenario, quantity_free),
                    quantity_free->declaration, GRADE_PUBLISHED, &next->published);
    count += next->published.of != NULL;
  }
  for (int i = 0; i < audit->shown_count; i++) {
    struct comparison *next = &comparisons[count];
    const struct claim *claim = audit->shown[i].claim;
    *next = (struct comparison){
        .name = claim->name, .unit = claim->quantity.unit, .implied = audit->shown[i].together};
    if (is_throughput_ratio(writer, claim))
      published_ratio(writer->scenario, claim->quantity.terms[0].option,
                      claim->quantity.terms[1].option, &next->published);
    count += next->published.of != NULL;
  }
  return count;
}

static void add_catalogue(const struct writer *writer, struct answer *answer) {
  struct comparison *comparisons = arena_array(
      writer->arena, (size_t)writer->audit->free_count + (size_t)writer->audit->shown_count + 1,
      sizeof *comparisons);
  const size_t count = comparisons_of(writer, comparisons);
  if (!count)
    return;
  struct answer_table *table =
      ANSWER_TABLE(answer, "catalogue", "How plausible", {"quantity", "Quantity", NULL},
                   {"implied_low", "Implied", NULL}, {"implied_high", "to", NULL},
                   {"published_low", "Published", NULL}, {"published_high", "to", NULL},
                   {"verdict", "Implied is", NULL});
  const char *note = "Published:";
  for (size_t i = 0; i < count; i++) {
    const struct comparison *comparison = &comparisons[i];
    const struct published *published = &comparison->published;
    ANSWER_ROW(table, cell_words(comparison->name),
               cell_in(comparison->implied.low, comparison->unit),
               cell_in(comparison->implied.high, comparison->unit),
               cell_in(published->count ? published->low : NAN, comparison->unit),
               cell_in(published->count ? published->high : NAN, comparison->unit),
               cell_words(verdict(writer, comparison)));
    note = published->count ? arena_printf(writer->arena, "%s%s %s, %zu of %s (%s, %s)", note,
                                           i ? ";" : "", comparison->name, published->count,
                                           published->of, published->low_id, published->high_id)
                            : arena_printf(writer->arena, "%s%s %s, none of %s", note, i ? ";" : "",
                                           comparison->name, published->of);
  }
  table->note = note;
}

// ---- the answer to all claims

// By how much a claim misses what it says, regardless of the others, in its scale.
static double own_miss(const struct writer *writer, const struct audit_claim *claim) {
  const struct claim *said = claim->claim;
  const bool is_free = writer->audit->free_count;
  const double low = is_free ? claim->reach.low : claim->stands,
               high = is_free ? claim->reach.high : claim->stands;
  return fmax(said->low - high, low - said->high) / said->scale;
}

// "4.71 points" of a saving, "33.6 % of what is claimed" of anything else.
static const char *miss_text(const struct writer *writer, const struct audit_claim *claim) {
  return arena_printf(writer->arena, "%s %s", points(writer, own_miss(writer, claim)),
                      claim->claim->quantity.saving ? "points" : "% of what is claimed");
}

// The claims that do not hold whatever the others do.
static const char *barred_answer(const struct writer *writer) {
  const struct audit *audit = writer->audit;
  const struct audit_claim *furthest = audit->worst; // one of them
  const char *names = "";
  int left = 0;
  for (int i = 0; i < audit->count; i++)
    left += audit->list[i].conflict_size == 1;
  const bool several = left > 1;
  for (int i = 0; i < audit->count; i++) {
    const struct audit_claim *claim = &audit->list[i];
    if (claim->conflict_size != 1)
      continue;
    names = join(writer, names, claim->claim->name, --left);
    if (own_miss(writer, claim) > own_miss(writer, furthest))
      furthest = claim;
  }
  const char *does_not = audit->free_count ? "cannot be true for any value of the free quantities"
                         : several         ? "do not hold with the scenario's values"
                                           : "does not hold with the scenario's values";
  return arena_printf(
      writer->arena,
      several ? "No: %s %s; %s is furthest off, by %s." : "No: %s %s; %s misses by %s.", names,
      does_not, several ? furthest->claim->name : "it", miss_text(writer, furthest));
}

static const char *together_answer(const struct writer *writer) {
  const struct audit *audit = writer->audit;
  const char *free_text = audit->free_count ? "" : " with the scenario's values";
  if (audit->holds) {
    const char *all =
        audit->count == 1 ? "The claim can be true" : "The claims can be true together";
    const char *what = audit->free_count   ? all
                       : audit->count == 1 ? "The claim holds"
                                           : "All claims hold";
    return arena_printf(writer->arena, "%s%s.", what, free_text);
  }
  if (!audit->free_count || audit->worst->conflict_size == 1)
    return barred_answer(writer);
  return arena_printf(writer->arena,
                      "No: %s cannot be true together; the worst of all claims must give way by at "
                      "least %s points more than its tolerance.",
                      conflict_names(writer, audit->worst, NULL), points(writer, audit->margin));
}

static void add_reasons(const struct writer *writer, struct answer *answer) {
  const struct audit *audit = writer->audit;
  for (int i = 0; i < audit->count; i++) {
    const struct claim *claim = audit->list[i].claim;
    answer_reason(answer, "%s: %s%s%s", claim->name, full_text(writer, claim),
                  *claim->source ? "; source: " : "", claim->source);
  }
  if (!audit->free_count) {
    answer_reason(answer, "Nothing is free: each claim is compared with what the scenario gives");
    return;
  }
  answer_reason(
      answer,
      "%d free quantities: %d Sobol points, then refined from the best of them to %.0e points",
      audit->free_count, SEARCH_POINTS, AUDIT_TOLERANCE * 100);
  answer_reason(answer, "A point is a percentage point for a saving, and one hundredth of the "
                        "claimed value otherwise");
  if (fabs(audit->margin) <= AUDIT_TOLERANCE)
    answer_reason(answer, "The best point found leaves no room to the tightest of them");
  else
    answer_reason(answer,
                  audit->holds ? "The best point found has %s points of room to every tolerance"
                               : "The best point found breaks the worst of them by %s points "
                                 "beyond its tolerance",
                  points(writer, audit->margin));
}

// A claim can come near by what a vendor owes for missing its guarantee, which is no performance.
static void warn_of_remedies(const struct writer *writer, struct answer *answer) {
  const struct scenario *scenario = writer->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *key = option_amount(scenario, option, "replacement") > 0 ? "replacement" : "remedy";
    if (writer->audit->owes[o])
      texts_add(&answer->warnings, writer->arena,
                "%s: what its vendor owes for missing the guarantee counts in this answer: "
                "--set '%s.%s=0 %%' leaves it out",
                option->label, option->id, key);
  }
}

static struct answer together(const struct writer *writer) {
  const struct audit *audit = writer->audit;
  struct answer answer =
      answer_new("audit", "together",
                 audit->count == 1 ? "Can the claim be true?" : "Can the claims be true together?",
                 writer->scenario, writer->arena);
  answer.sentence = together_answer(writer);
  answer.no = !audit->holds;
  add_reasons(writer, &answer);
  if (!audit->free_count)
    add_claims_as_stated(writer, &answer);
  else if (audit->holds)
    add_claims_that_hold(writer, &answer);
  else
    add_claims_that_conflict(writer, &answer);
  if (audit->need_count)
    add_needs(writer, &answer);
  if (audit->alone_count)
    add_alone(writer, &answer);
  if (audit->free_count)
    add_free(writer, &answer);
  if (audit->free_count && audit->holds)
    add_catalogue(writer, &answer);
  warn_of_remedies(writer, &answer);
  return answer;
}

// ---- the answer to one claim

static const char *needs_text(const struct writer *writer, const struct claim *claim) {
  const char *text = "";
  for (int i = 0; i < writer->audit->need_count; i++) {
    const struct audit_need *need = &writer->audit->needs[i];
    const struct unit *unit = &target_input(writer->scenario, need->target)->unit;
    if (need->claim != claim)
      continue;
    if (isnan(need->exact.low) && isnan(need->span.low))
      text = arena_printf(writer->arena, "%s No %s from %s does it.", text, need->name,
                          span_text(writer, need->looked, unit));
    else
      text =
          arena_printf(writer->arena, "%s This needs %s = %s instead of %s.", text, need->name,
                       span_text(writer, isnan(need->exact.low) ? need->span : need->exact, unit),
                       quantity(writer, need->stated, unit));
  }
  return text;
}

static const char *conflict_answer(const struct writer *writer, const struct audit_claim *claim) {
  const struct claim *said = claim->claim;
  const char *needs = needs_text(writer, said);
  if (!writer->audit->free_count)
    return arena_printf(writer->arena, "Does not hold: the scenario gives %s.%s",
                        of_claim(writer, said, claim->stands), needs);
  const double nearest = isnan(claim->nearest_said) ? claim->nearest : claim->nearest_said;
  if (claim->conflict_size == 1)
    return arena_printf(writer->arena, "Out of reach: the nearest is %s.%s",
                        of_claim(writer, said, nearest), needs);
  return arena_printf(writer->arena,
                      "Not true together with %s: the nearest is %s%s (%s within tolerances).%s",
                      conflict_names(writer, claim, said), of_claim(writer, said, nearest),
                      isnan(claim->nearest_said) ? "" : " while the rest holds exactly",
                      of_claim(writer, said, claim->nearest), needs);
}

static const char *claim_answer(const struct writer *writer, const struct audit_claim *claim) {
  const struct claim *said = claim->claim;
  if (claim->conflict_size)
    return conflict_answer(writer, claim);
  if (!writer->audit->holds)
    return writer->audit->free_count ? "No conflict with the others."
                                     : arena_printf(writer->arena, "Holds: the scenario gives %s.",
                                                    of_claim(writer, said, claim->stands));
  if (!writer->audit->free_count)
    return arena_printf(writer->arena, "Holds: the scenario gives %s.",
                        of_claim(writer, said, claim->stands));
  return arena_printf(writer->arena, "Can hold: %s while all claims do.",
                      span_text(writer, claim->together, said->quantity.unit));
}

static void add_claim_reasons(const struct writer *writer, const struct audit_claim *claim,
                              struct answer *answer) {
  const struct claim *said = claim->claim;
  const struct unit *unit = said->quantity.unit;
  if (*said->source)
    answer_reason(answer, "Source: %s", said->source);
  answer_reason(answer, "With the scenario's values%s: %s", conditions_text(writer, said),
                of_claim(writer, said, claim->stands));
  if (!isnan(claim->reach.low))
    answer_reason(answer, "Regardless of the other claims, the free quantities allow %s",
                  span_text(writer, claim->reach, unit));
  if (!isnan(claim->together.low))
    answer_reason(answer, "With all claims holding, it is %s",
                  span_text(writer, claim->together, unit));
  if (claim->conflict_size > 1)
    answer_reason(
        answer,
        "It cannot be true together with %s; dropping any one of them resolves the conflict",
        conflict_names(writer, claim, said));
}

static struct answer one_claim(const struct writer *writer, const struct audit_claim *claim) {
  struct answer answer = answer_new(
      "audit", claim->claim->name,
      arena_printf(writer->arena, "%s: %s", claim->claim->name, full_text(writer, claim->claim)),
      writer->scenario, writer->arena);
  answer.sentence = claim_answer(writer, claim);
  answer.no = claim->conflict_size > 0;
  add_claim_reasons(writer, claim, &answer);
  return answer;
}

bool audit_asked(const struct scenario *scenario) {
  return claims_there(scenario);
}

int answer_audit(const struct scenario *scenario, const char *only, struct answers *answers,
                 struct arena *arena, struct diagnostics *diagnostics) {
  const struct audit *audit = audit_ask(scenario, arena, diagnostics);
  if (!audit)
    return -1;
  const struct writer writer = {.scenario = scenario, .audit = audit, .arena = arena};
  const size_t before = answers->count;
  if (!only || !strcmp(only, "together"))
    answers_add(answers, together(&writer));
  for (int i = 0; i < audit->count; i++)
    if (!only || !strcmp(only, audit->list[i].claim->name))
      answers_add(answers, one_claim(&writer, &audit->list[i]));
  if (answers->count > before)
    return 0;
  const char **names = arena_array(arena, (size_t)audit->count + 1, sizeof *names);
  for (int i = 0; i < audit->count; i++)
    names[i] = audit->list[i].claim->name;
  diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                    "there is no claim '%s'%s", only,
                    name_hint(only, names, (size_t)audit->count, arena));
  return -1;
}
