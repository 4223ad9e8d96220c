#include "model/evidence/evidence.h"

#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/evidence/choice.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const rate_column = "tokens_per_s_per_gpu";

static const char *cell(const struct evidence_request *request, size_t row, const char *column) {
  return table_cell(request->throughputs, row, column);
}

double evidence_rate(const struct table *throughputs, size_t row) {
  return table_number_or(throughputs, row, rate_column, 0);
}

static bool is_of(const struct evidence_request *request, size_t row) {
  return !strcmp(cell(request, row, "accelerator"), request->accelerator);
}

static double power_limit(const struct table *table, size_t row) {
  return table_number_or(table, row, "power_limit_w", 0);
}

bool evidence_matches(const struct evidence_request *request, size_t row) {
  return is_of(request, row) &&
         workload_row_matches(request->workload, request->throughputs, row, WORKLOAD_KEYS) &&
         power_limit(request->throughputs, row) == request->power_limit_w;
}

// ---- nothing fits

static size_t count_matches(const struct evidence_request *request, int keys) {
  size_t count = 0;
  for (size_t row = 0; row < request->throughputs->rows; row++)
    count += is_of(request, row) &&
             workload_row_matches(request->workload, request->throughputs, row, keys);
  return count;
}

// Adds a value to those of a message, unless it is already there.
static void list_value(struct texts *values, const char *value, struct arena *arena) {
  const char *text = *value ? value : "(not stated)";
  if (!texts_have(values, text))
    texts_add(values, arena, "%s", text);
}

// Names the sources that could supply what is missing.
static const char *who_could(const struct evidence_request *request, struct arena *arena) {
  return arena_printf(arena,
                      "%s or an operator would have to publish one, or pertoken-probe measure it",
                      *request->vendor ? request->vendor : "its vendor");
}

static const char *why_nothing(const struct evidence_request *request, struct arena *arena) {
  const struct table *table = request->throughputs;
  struct texts values = {0};
  int key = 0;
  if (!count_matches(request, 0))
    return arena_printf(arena,
                        "no published throughput of '%s': state throughput in the option (%s)",
                        request->accelerator, who_could(request, arena));
  while (count_matches(request, key + 1))
    key++;
  for (size_t row = 0; row < table->rows; row++)
    if (is_of(request, row) && workload_row_matches(request->workload, table, row, key))
      list_value(&values, workload_row_value(table, row, (enum workload_key)key), arena);
  return arena_printf(arena, "no published throughput of '%s' has %s = %s; available: %s (%s)",
                      request->accelerator, workload_key_names[key], request->workload->values[key],
                      texts_joined_by(&values, "; ", arena), who_could(request, arena));
}

// ---- candidates

struct choosing {
  const struct evidence_request *request;
  struct choice choice; // of the candidates
};

static bool is_benchmark(const struct table *table, size_t row) {
  return catalog_grade(table, row) == GRADE_BENCHMARK;
}

static bool has_length(const struct table *table, size_t row, const char *column, double wanted) {
  return wanted <= 0 || table_number_or(table, row, column, 0) == wanted;
}

static bool is_held(const struct choosing *choosing, size_t row) {
  return power_limit(choosing->choice.table, row) == choosing->request->power_limit_w;
}

static bool is_asked_for(const struct choosing *choosing, size_t row) {
  const struct evidence_request *request = choosing->request;
  const char *const *said = request->workload->values;
  const bool speculates = *workload_row_value(choosing->choice.table, row, WORKLOAD_SPECULATION);
  const bool is_agentic =
      !strcmp(workload_row_value(choosing->choice.table, row, WORKLOAD_SCENARIO), "agentic");
  return (!speculates || *said[WORKLOAD_SPECULATION]) && (!is_agentic || *said[WORKLOAD_SCENARIO]);
}

static bool has_lengths(const struct choosing *choosing, size_t row) {
  const struct evidence_request *request = choosing->request;
  return is_benchmark(choosing->choice.table, row) ||
         (has_length(choosing->choice.table, row, "isl", request->input_tokens) &&
          has_length(choosing->choice.table, row, "osl", request->output_tokens));
}

// Whether the row has exactly the stated one of a family of precisions. True for all rows if no
// candidate has it.
static bool is_precise(const struct choosing *choosing, size_t row) {
  const char *said = choosing->request->workload->values[WORKLOAD_PRECISION];
  for (size_t i = 0; i < choosing->choice.count && *said; i++)
    if (!strcmp(said, workload_row_value(choosing->choice.table, choosing->choice.rows[i],
                                         WORKLOAD_PRECISION)))
      return !strcmp(said, workload_row_value(choosing->choice.table, row, WORKLOAD_PRECISION));
  return true;
}

// Drops the candidates that fail a test, which is applied to all of them before any is dropped.
static void keep(struct choosing *choosing, bool (*holds)(const struct choosing *, size_t)) {
  struct choice *choice = &choosing->choice;
  bool *kept = arena_array(choice->arena, choice->count, sizeof *kept);
  for (size_t i = 0; i < choice->count; i++)
    kept[i] = holds(choosing, choice->rows[i]);
  choice_keep(choice, kept);
}

// ---- what the candidates must agree on

// The lengths of a row's requests, in words; all of MLPerf's count as one, and so do those of a
// source's own traces.
static const char *lengths_of(const struct choosing *choosing, size_t row) {
  const char *input = table_cell(choosing->choice.table, row, "isl");
  if (is_benchmark(choosing->choice.table, row))
    return "as MLPerf gives them";
  if (!*input)
    return table_cell(choosing->choice.table, row, "source_title");
  return arena_printf(choosing->choice.arena, "%s in, %s out", input,
                      table_cell(choosing->choice.table, row, "osl"));
}

static const char *scenario_of(const struct choosing *choosing, size_t row) {
  return workload_row_value(choosing->choice.table, row, WORKLOAD_SCENARIO);
}

static const char *activations_of(const struct choosing *choosing, size_t row) {
  return workload_row_value(choosing->choice.table, row, WORKLOAD_ACTIVATIONS);
}

static const char *precision_of(const struct choosing *choosing, size_t row) {
  return workload_row_value(choosing->choice.table, row, WORKLOAD_PRECISION);
}

static const struct agreement {
  const char *(*of)(const struct choosing *choosing, size_t row);
  const char *what, *how;
} agreements[] = {
    {precision_of, "precisions", "precision"},
    {activations_of, "precisions of the activations", "activations"},
    {scenario_of, "scenarios", "scenario"},
    {lengths_of, "request lengths", "input_tokens and output_tokens"},
};

static const char *why_several(const struct choosing *choosing, const struct agreement *agreement) {
  struct texts values = {0};
  for (size_t i = 0; i < choosing->choice.count; i++)
    list_value(&values, agreement->of(choosing, choosing->choice.rows[i]), choosing->choice.arena);
  return arena_printf(choosing->choice.arena,
                      "%zu published throughputs of '%s' match, with several %s; choose with %s in "
                      "[workload], or name a row with evidence = ID: %s",
                      choosing->choice.count, choosing->request->accelerator, agreement->what,
                      agreement->how, texts_joined_by(&values, "; ", choosing->choice.arena));
}

static const char *find_disagreement(const struct choosing *choosing) {
  for (size_t a = 0; a < sizeof agreements / sizeof agreements[0]; a++)
    for (size_t i = 1; i < choosing->choice.count; i++)
      if (strcmp(agreements[a].of(choosing, choosing->choice.rows[0]),
                 agreements[a].of(choosing, choosing->choice.rows[i])) != 0)
        return why_several(choosing, &agreements[a]);
  return NULL;
}

static const char *find_candidates(struct choosing *choosing) {
  static const struct {
    bool (*holds)(const struct choosing *choosing, size_t row);
    const char *why;
  } demands[] = {
      {is_held, "are at a power limit other than power_limit"},
      {is_asked_for, "are for agentic traces or speculative decoding, which the workload does not "
                     "name in scenario or speculation"},
      {has_lengths, "have request lengths other than input_tokens and output_tokens"},
      {is_precise, ""}, // one always remains
  };
  const struct evidence_request *request = choosing->request;
  struct choice *choice = &choosing->choice;
  for (size_t row = 0; row < choice->table->rows; row++)
    if (is_of(request, row) &&
        workload_row_matches(request->workload, choice->table, row, WORKLOAD_KEYS))
      choice_add(choice, row);
  if (!choice->count)
    return why_nothing(request, choice->arena);
  for (size_t d = 0; d < sizeof demands / sizeof demands[0]; d++) {
    const size_t before = choice->count;
    keep(choosing, demands[d].holds);
    if (!choice->count)
      return arena_printf(choice->arena, "%zu published throughput%s of '%s' that fit%s %s", before,
                          before == 1 ? "" : "s", request->accelerator, before == 1 ? "s" : "",
                          demands[d].why);
  }
  choice_keep_best_grade(choice);
  choice_keep_recent(choice);
  return find_disagreement(choosing);
}

// ---- the best of every submitter

static const char *submitter_of(const struct table *table, size_t row) {
  const char *submitter = table_cell(table, row, "submitter");
  return *submitter ? submitter : table_cell(table, row, "source_title");
}

static bool is_best_of_submitter(const struct choosing *choosing, size_t row) {
  const struct table *table = choosing->choice.table;
  for (size_t i = 0; i < choosing->choice.count; i++) {
    const size_t other = choosing->choice.rows[i];
    const double rate = evidence_rate(table, row), beside = evidence_rate(table, other);
    if (!strcmp(submitter_of(table, row), submitter_of(table, other)) &&
        (beside > rate || (beside == rate && choice_compare(table, rate_column, other, row) < 0)))
      return false;
  }
  return true;
}

static const char *gather(const struct evidence_request *request, struct candidates *candidates,
                          struct arena *arena) {
  struct choosing choosing = {request, {.table = request->throughputs, .arena = arena}};
  struct choice *choice = &choosing.choice;
  const char *why = find_candidates(&choosing);
  if (why)
    return why;
  candidates->rows = choice->count;
  keep(&choosing, is_best_of_submitter);
  choice_sort(choice, rate_column);
  assert(choice->rows); // each submitter's best of the rows that fit is kept
  candidates->submitters = choice->count;
  candidates->best = choice->rows;
  return NULL;
}

// ---- the choice

static size_t pick(const struct candidates *candidates, const char *wanted) {
  const size_t last = candidates->submitters - 1;
  if (!strcasecmp(wanted, "best"))
    return candidates->best[last];
  return candidates->best[!strcasecmp(wanted, "lowest") ? 0 : last / 2];
}

static const char *row_words(const struct table *table, size_t row, struct arena *arena) {
  return arena_printf(arena, "%s of %s", table_cell(table, row, "id"), submitter_of(table, row));
}

// "tp0100 of A, the lower median of 10 submitters' best, 155 to 160 token/s (14 rows fit)"
static const char *pick_words(const struct table *table, const struct candidates *candidates,
                              const char *wanted, struct arena *arena) {
  const size_t picked = pick(candidates, wanted), last = candidates->submitters - 1;
  const char *row = row_words(table, picked, arena);
  const char *which = !strcasecmp(wanted, "best")     ? "highest"
                      : !strcasecmp(wanted, "lowest") ? "lowest"
                                                      : "lower median";
  const char *few = candidates->submitters < EVIDENCE_ENOUGH ? "; fewer than three submitters" : "";
  if (candidates->rows == 1)
    return arena_printf(arena, "%s, the only row that fits%s", row, few);
  if (!last)
    return arena_printf(arena, "%s, the best of its %zu rows that fit, the only submitter%s", row,
                        candidates->rows, few);
  return arena_printf(arena,
                      "%s, the %s of %zu submitters' best, %.6g to %.6g token/s (%zu rows fit)%s",
                      row, which, last + 1, evidence_rate(table, candidates->best[0]),
                      evidence_rate(table, candidates->best[last]), candidates->rows, few);
}

static const char *chosen_words(const struct evidence_request *request,
                                const struct candidates *candidates, struct arena *arena) {
  const bool in_vain = *request->wanted && candidates->submitters == 1;
  return arena_printf(
      arena, "the throughput is %s%s",
      pick_words(request->throughputs, candidates, request->wanted, arena),
      in_vain ? arena_printf(arena, " (evidence = %s has one to choose from)", request->wanted)
              : "");
}

static bool is_word(const char *wanted) {
  return !*wanted || !strcasecmp(wanted, "best") || !strcasecmp(wanted, "median") ||
         !strcasecmp(wanted, "lowest");
}

// Why a row's requests are not of the lengths asked for, or NULL. MLPerf's count for any, and so do
// those that the row does not state.
static const char *other_lengths(const struct evidence_request *request, size_t row,
                                 struct arena *arena) {
  const struct {
    const char *column, *name;
    double wanted;
  } lengths[] = {{"isl", "input_tokens", request->input_tokens},
                 {"osl", "output_tokens", request->output_tokens}};
  for (size_t i = 0; i < 2 && !is_benchmark(request->throughputs, row); i++) {
    const double has = table_number_or(request->throughputs, row, lengths[i].column, 0);
    if (workload_lengths_differ(has, lengths[i].wanted))
      return arena_printf(arena, "evidence '%s' has %s = %g, but the workload asks for %g",
                          request->wanted, lengths[i].name, has, lengths[i].wanted);
  }
  return NULL;
}

const char *evidence_named(const struct evidence_request *request, size_t *row,
                           struct arena *arena) {
  const struct table *table = request->throughputs;
  const char *id = request->wanted;
  const long found = catalog_find(table, id);
  if (found < 0)
    return arena_printf(arena, "no row '%s' in the table of throughputs", id);
  *row = (size_t)found;
  if (!is_of(request, *row))
    return arena_printf(arena, "evidence '%s' is for '%s', not for '%s'", id,
                        cell(request, *row, "accelerator"), request->accelerator);
  if (request->power_limit_w > 0 && power_limit(table, *row) != request->power_limit_w)
    return arena_printf(arena, "evidence '%s' was not measured at a power limit of %g W/gpu", id,
                        request->power_limit_w);
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    const char *wanted = request->workload->values[key];
    const char *has = workload_row_value(table, *row, (enum workload_key)key);
    if (*wanted && key != WORKLOAD_INTERACTIVITY &&
        !workload_is_alike(request->workload, (enum workload_key)key, wanted, has))
      return arena_printf(arena, "evidence '%s' has %s = %s, but the workload asks for %s", id,
                          workload_key_names[key], *has ? has : "(not stated)", wanted);
  }
  return other_lengths(request, *row, arena);
}

// If a row is named, notes what the rule would have chosen from the rows that are like it.
static void note_named(const struct evidence_request *request, struct evidence *evidence,
                       struct arena *arena) {
  static const enum workload_key like[] = {WORKLOAD_MODEL, WORKLOAD_PRECISION, WORKLOAD_SCENARIO,
                                           WORKLOAD_SPECULATION, WORKLOAD_TOKENS};
  struct workload workload = *request->workload;
  struct evidence_request alike = *request;
  alike.workload = &workload;
  alike.power_limit_w = power_limit(request->throughputs, evidence->row);
  for (size_t k = 0; k < sizeof like / sizeof like[0]; k++)
    workload.values[like[k]] = evidence->workload.values[like[k]];
  if (gather(&alike, &evidence->candidates, arena))
    return;
  const char *rule = pick_words(request->throughputs, &evidence->candidates, "", arena);
  evidence->note =
      pick(&evidence->candidates, "") == evidence->row
          ? arena_printf(arena, "the throughput, chosen by its id, is %s", rule)
          : arena_printf(arena, "the throughput is %s, chosen by its id; by the rule it is %s",
                         row_words(request->throughputs, evidence->row, arena), rule);
}

void evidence_of_row(const struct table *throughputs, size_t row, struct evidence *evidence) {
  const double accelerators = table_number_or(throughputs, row, "num_gpus", 1);
  const double limit_w = power_limit(throughputs, row);
  *evidence = (struct evidence){
      .table = throughputs,
      .row = row,
      .id = table_cell(throughputs, row, "id"),
      .source = table_cell(throughputs, row, "source_title"),
      .power_source = table_cell(throughputs, row, "source_title"),
      .date = table_cell(throughputs, row, "as_of"),
      .doubt = table_cell(throughputs, row, "doubt"),
      .tokens_per_s = evidence_rate(throughputs, row),
      .load_power_w =
          table_number_or(throughputs, row, "avg_gpu_power_w_total", NAN) / accelerators,
      .node_power_w = table_number_or(throughputs, row, "system_power_w", NAN) / accelerators,
      .power_limit_w = limit_w > 0 ? limit_w : NAN,
      .grade = catalog_grade(throughputs, row),
      .power_grade = catalog_grade(throughputs, row),
      .place = table_place(throughputs, row, rate_column),
      .note = "",
  };
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    evidence->workload.values[key] = workload_row_value(throughputs, row, (enum workload_key)key);
  double input = 0, output = 0;
  if (!is_benchmark(throughputs, row) && table_number(throughputs, row, "isl", &input) &&
      table_number(throughputs, row, "osl", &output)) // without isl: the mean of a trace
    workload_take_lengths(&evidence->workload, input, output);
}

static const char *choose_by_rule(const struct evidence_request *request, struct evidence *evidence,
                                  struct arena *arena) {
  struct candidates candidates;
  const char *why = gather(request, &candidates, arena);
  if (why)
    return why;
  evidence_of_row(request->throughputs, pick(&candidates, request->wanted), evidence);
  evidence->candidates = candidates;
  evidence->note = chosen_words(request, &candidates, arena);
  return NULL;
}

static const char *choose_named(const struct evidence_request *request, struct evidence *evidence,
                                struct arena *arena) {
  size_t row = 0;
  const char *why = evidence_named(request, &row, arena);
  if (why)
    return why;
  evidence_of_row(request->throughputs, row, evidence);
  note_named(request, evidence, arena);
  return NULL;
}

// MLPerf's requests count for any lengths; that is noted if the workload states its own.
static void note_lengths(const struct evidence_request *request, struct evidence *evidence,
                         struct arena *arena) {
  if (is_benchmark(request->throughputs, evidence->row) &&
      (request->input_tokens > 0 || request->output_tokens > 0))
    evidence->note = arena_printf(
        arena,
        "%s; its requests have MLPerf's lengths, not those of input_tokens and output_tokens",
        evidence->note);
}

const char *evidence_choose(const struct evidence_request *request, struct evidence *evidence,
                            struct arena *arena) {
  if (is_word(request->wanted) && !*request->workload->values[WORKLOAD_MODEL])
    return arena_printf(arena,
                        "'%s' has no throughput, and there is no [workload] model to look one up",
                        request->accelerator);
  const char *why = is_word(request->wanted) ? choose_by_rule(request, evidence, arena)
                                             : choose_named(request, evidence, arena);
  if (!why)
    note_lengths(request, evidence, arena);
  return why;
}
