#include "model/simulate/part.h"

#include "base/source.h"
#include "model/scenario/ranking.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static void tally_start(struct tally *tally, const struct simulation_frame *frame,
                        struct arena *arena) {
  *tally = (struct tally){.lowest = INFINITY, .highest = -INFINITY};
  tally->replicate_done = arena_array(arena, frame->replicates, sizeof *tally->replicate_done);
  tally->replicate_sums = arena_array(arena, frame->replicates, sizeof *tally->replicate_sums);
  tally->first = arena_array(arena, frame->group_count, sizeof *tally->first);
  tally->total = arena_array(arena, frame->group_count, sizeof *tally->total);
}

static void tally_merge(struct tally *into, const struct tally *from,
                        const struct simulation_frame *frame) {
  into->done += from->done;
  into->lowest = fmin(into->lowest, from->lowest);
  into->highest = fmax(into->highest, from->highest);
  for (unsigned r = 0; r < frame->replicates; r++) {
    into->replicate_done[r] += from->replicate_done[r];
    exact_sum_merge(&into->replicate_sums[r], &from->replicate_sums[r]);
  }
  exact_sum_merge(&into->squares, &from->squares);
  into->influence_done += from->influence_done;
  exact_sum_merge(&into->influence_sum, &from->influence_sum);
  exact_sum_merge(&into->influence_squares, &from->influence_squares);
  for (size_t g = 0; g < frame->group_count; g++) {
    exact_sum_merge(&into->first[g], &from->first[g]);
    exact_sum_merge(&into->total[g], &from->total[g]);
  }
}

static void verdicts_start(struct verdicts *verdicts, size_t option_count, struct arena *arena) {
  verdicts->decided = 0;
  verdicts->ranked = arena_array(arena, option_count, sizeof *verdicts->ranked);
  verdicts->cheapest = arena_array(arena, option_count, sizeof *verdicts->cheapest);
  verdicts->unsaved = arena_array(arena, option_count, sizeof *verdicts->unsaved);
}

static void verdicts_merge(struct verdicts *into, const struct verdicts *from,
                           size_t option_count) {
  into->decided += from->decided;
  for (size_t i = 0; i < option_count; i++) {
    into->ranked[i] += from->ranked[i];
    into->cheapest[i] += from->cheapest[i];
    into->unsaved[i] += from->unsaved[i];
  }
}

struct simulation_part *simulation_part_new(const struct simulation_frame *frame,
                                            struct arena *arena) {
  struct simulation_part *part = arena_alloc(arena, sizeof *part);
  *part = (struct simulation_part){.frame = *frame};
  part->shards = arena_array(arena, frame->shards, sizeof *part->shards);
  part->tallies = arena_array(arena, frame->outcome_count, sizeof *part->tallies);
  verdicts_start(&part->verdicts, frame->option_count, arena);
  part->counts = arena_array(arena, frame->outcome_count, sizeof *part->counts);
  for (size_t o = 0; o < frame->outcome_count; o++) {
    tally_start(&part->tallies[o], frame, arena);
    part->counts[o] = arena_array(arena, sketch_bins(&frame->shapes[o]), sizeof **part->counts);
  }
  return part;
}

void simulation_part_add(struct simulation_part *into, const struct simulation_part *from) {
  const struct simulation_frame *frame = &into->frame;
  verdicts_merge(&into->verdicts, &from->verdicts, frame->option_count);
  for (size_t o = 0; o < frame->outcome_count; o++) {
    tally_merge(&into->tallies[o], &from->tallies[o], frame);
    for (size_t b = 0; b < sketch_bins(&frame->shapes[o]); b++)
      if (from->counts[o][b])
        into->counts[o][b] += from->counts[o][b];
  }
}

// The same number, or none in both.
static bool same_numbers(const double *a, const double *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

static bool same_names(const char *const *a, const char *const *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(a[i], b[i]) != 0)
      return false;
  return true;
}

static bool same_damages(const struct simulation_frame *a, const struct simulation_frame *b) {
  for (size_t o = 0; o < a->option_count; o++) {
    const struct delay_damages *x = &a->damages[o], *y = &b->damages[o];
    if (!same_numbers((const double[]){x->due, x->cost, x->paid, x->uncovered},
                      (const double[]){y->due, y->cost, y->paid, y->uncovered}, 4))
      return false;
  }
  return true;
}

static bool same_shapes(const struct simulation_frame *a, const struct simulation_frame *b) {
  for (size_t o = 0; o < a->outcome_count; o++) {
    const struct sketch_shape *x = &a->shapes[o], *y = &b->shapes[o];
    if (x->centre != y->centre || x->half_width != y->half_width ||
        x->equal_bins != y->equal_bins || x->atom_count != y->atom_count ||
        !same_numbers(x->atoms, y->atoms, x->atom_count))
      return false;
  }
  return true;
}

// The lists, whose lengths are the same if those of `options`, `groups` and `notes` are.
static const char *differing_list(const struct simulation_frame *a,
                                  const struct simulation_frame *b) {
  const size_t options = a->option_count, groups = a->group_count;
  if (options != b->option_count || !same_names(a->options, b->options, options))
    return "options";
  if (groups != b->group_count || !same_names(a->groups, b->groups, groups))
    return "groups";
  if (a->note_count != b->note_count || !same_names(a->notes, b->notes, a->note_count))
    return "notes";
  if (!same_names(a->labels, b->labels, options))
    return "labels";
  if (!same_names(a->not_ranked, b->not_ranked, options))
    return "not_ranked";
  if (memcmp(a->compared, b->compared, options * sizeof *a->compared) != 0)
    return "compared";
  if (!same_damages(a, b))
    return "damages";
  if (!same_shapes(a, b))
    return "atoms";
  return a->by_ranks && !same_numbers(a->rank_shares, b->rank_shares, a->outcome_count * groups)
             ? "rank_shares"
             : NULL;
}

// The member, by its name in a file, that shows that two parts are from different runs; NULL: they
// are from the same one.
static const char *differing_member(const struct simulation_frame *a,
                                    const struct simulation_frame *b) {
  const struct {
    const char *name;
    bool same;
  } members[] = {{"item", !strcmp(a->item, b->item)},
                 {"unit", !strcmp(a->unit, b->unit)},
                 {"digest", !strcmp(a->digest, b->digest)},
                 {"case", !strcmp(a->case_name, b->case_name)},
                 {"stamp", !strcmp(a->stamp, b->stamp)},
                 {"asked", !strcmp(a->asked, b->asked)},
                 {"currency", !strcmp(a->currency, b->currency)},
                 {"unit_factor", a->unit_factor == b->unit_factor},
                 {"draws", a->draws == b->draws},
                 {"seed", a->seed == b->seed},
                 {"method", a->method == b->method},
                 {"shard_count", a->shards == b->shards},
                 {"replicates", a->replicates == b->replicates},
                 {"influence_draws", a->influence_draws == b->influence_draws},
                 {"by_ranks", a->by_ranks == b->by_ranks},
                 {"baseline", a->baseline == b->baseline},
                 {"damages_draws", a->damages_draws == b->damages_draws}};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    if (!members[i].same)
      return members[i].name;
  return differing_list(a, b);
}

int simulation_merge(struct simulation_part *into, const struct simulation_part *from,
                     struct diagnostics *diagnostics) {
  const struct simulation_frame *frame = &into->frame;
  const char *differing = differing_member(frame, &from->frame);
  if (differing) {
    diagnostics_error(diagnostics, nowhere,
                      "these parts are from different runs: their '%s' is not the same; scenario, "
                      "case, item, seed, method, draws and shards must be",
                      differing);
    return -1;
  }
  for (unsigned s = 0; s < frame->shards; s++)
    if (into->shards[s] && from->shards[s]) {
      diagnostics_error(diagnostics, nowhere, "shard %u of %u is given twice", s + 1,
                        frame->shards);
      return -1;
    }
  for (unsigned s = 0; s < frame->shards; s++)
    into->shards[s] |= from->shards[s];
  into->stopped |= from->stopped;
  simulation_part_add(into, from);
  return 0;
}

static bool is_complete(const struct simulation_part *part) {
  for (unsigned s = 0; s < part->frame.shards; s++)
    if (!part->shards[s])
      return false;
  return !part->stopped;
}

// The error of the replicates' weighted mean; for a single random sample, derived from its
// deviation. A replicate with less than half of the most draws has a mean too unlike the others'.
static double standard_error(const struct simulation_frame *frame, const struct tally *tally,
                             double variance) {
  double means[MAX_REPLICATES], weights[MAX_REPLICATES], squares = 0;
  uint64_t most = 0;
  size_t count = 0;
  for (unsigned r = 0; r < frame->replicates; r++)
    most = tally->replicate_done[r] > most ? tally->replicate_done[r] : most;
  for (unsigned r = 0; r < frame->replicates; r++) {
    const uint64_t done = tally->replicate_done[r];
    if (!done || 2 * done < most)
      continue;
    weights[count] = (double)done;
    means[count++] = exact_sum_value(&tally->replicate_sums[r]) / (double)done;
  }
  if (frame->method == DRAW_RANDOM)
    return sqrt(variance / (double)tally->done);
  if (count < FEWEST_REPLICATES)
    return NAN;
  const double mean = gsl_stats_wmean(weights, 1, means, 1, count);
  const double all = gsl_stats_mean(weights, 1, count) * (double)count;
  for (size_t i = 0; i < count; i++)
    squares += pow(weights[i] / all * (means[i] - mean), 2);
  return sqrt(squares * (double)count / (double)(count - 1));
}

// The levels: the ends of the histogram, with the percentiles between them.
enum { LOW_END, FIRST_LEVEL, HIGH_END = FIRST_LEVEL + SIMULATE_LEVELS, ALL_LEVELS };

static void fill_percentiles(const struct simulation_part *part, size_t o, double unit,
                             struct outcome *outcome) {
  const struct sketch_shape *shape = &part->frame.shapes[o];
  const struct tally *tally = &part->tallies[o];
  double levels[ALL_LEVELS] = {[LOW_END] = 0.001, [HIGH_END] = 0.999};
  double values[ALL_LEVELS] = {0}, in_bins[ALL_LEVELS] = {0};
  memcpy(levels + FIRST_LEVEL, simulate_levels, sizeof simulate_levels);
  sketch_quantiles(shape, part->counts[o], tally->done, levels, ALL_LEVELS, values, in_bins);
  for (int l = 0; l < SIMULATE_LEVELS; l++) {
    double value = values[FIRST_LEVEL + l];
    outcome->percentiles[l] = fmin(fmax(value, tally->lowest), tally->highest) / unit;
    outcome->rank_error = fmax(outcome->rank_error, in_bins[FIRST_LEVEL + l]);
  }
  double low = values[LOW_END], high = values[HIGH_END];
  if (!(low < high)) {
    low -= shape->half_width / shape->equal_bins;
    high += shape->half_width / shape->equal_bins;
  }
  outcome->bars_below =
      sketch_histogram(shape, part->counts[o], low, high, SIMULATE_BARS, outcome->bars);
  outcome->bars_low = low / unit;
  outcome->bars_high = high / unit;
}

#define LEAST_DEVIATION 1e-12 // as a share: less is rounding, and nothing drives it

static const struct influence *find_influences(const struct simulation_part *part, size_t o,
                                               struct arena *arena) {
  const struct simulation_frame *frame = &part->frame;
  const struct tally *tally = &part->tallies[o];
  struct influence *influences = arena_array(arena, frame->group_count, sizeof *influences);
  double n = (double)tally->influence_done;
  double mean = exact_sum_value(&tally->influence_sum) / (2 * n);
  double variance = exact_sum_value(&tally->influence_squares) / (2 * n) - mean * mean;
  double rounding = LEAST_DEVIATION * fabs(frame->shapes[o].centre + mean);
  for (size_t g = 0; g < frame->group_count; g++) {
    if (frame->by_ranks) {
      influences[g] = (struct influence){frame->rank_shares[o * frame->group_count + g], NAN};
      continue;
    }
    double first = exact_sum_value(&tally->first[g]) / n;
    double total = exact_sum_value(&tally->total[g]) / (2 * n);
    bool varies = n > 0 && sqrt(variance) > rounding;
    influences[g] =
        (struct influence){varies ? first / variance : 0, varies ? total / variance : 0};
  }
  return influences;
}

// The costs come first, then the savings of all options except the baseline.
static size_t option_of(const struct simulation_frame *frame, size_t o) {
  size_t option = o < frame->option_count ? o : o - frame->option_count;
  return option + (o >= frame->option_count && option >= frame->baseline ? 1 : 0);
}

// Why a saving that lacks this share of its draws is not shown: they are all at one of its ends.
static const char *why_no_saving(const struct simulation_frame *frame, double unsaved,
                                 struct arena *arena) {
  return arena_printf(
      arena,
      "in %.3g %% of the draws, it costs less than nothing, or %s costs nothing or "
      "less; no share of that can be saved, and percentiles of the other draws alone would mislead",
      100 * unsaved, frame->labels[frame->baseline]);
}

static void fill_outcome(const struct simulation_part *part, size_t o, struct outcome *outcome,
                         struct arena *arena) {
  const struct simulation_frame *frame = &part->frame;
  const struct tally *tally = &part->tallies[o];
  bool cost = o < frame->option_count;
  *outcome =
      (struct outcome){.kind = cost ? OUTCOME_COST : OUTCOME_SAVING, .option = option_of(frame, o)};
  double unit = cost ? frame->unit_factor : 1, n = (double)tally->done;
  struct exact_sum all = {{0}};
  for (unsigned r = 0; r < frame->replicates; r++)
    exact_sum_merge(&all, &tally->replicate_sums[r]);
  double shift = exact_sum_value(&all) / n;
  double variance = fmax(exact_sum_value(&tally->squares) / n - shift * shift, 0);
  outcome->mean = (frame->shapes[o].centre + shift) / unit;
  outcome->deviation = sqrt(n > 1 ? variance * n / (n - 1) : 0) / unit;
  outcome->standard_error = standard_error(frame, tally, variance) / unit;
  outcome->lowest = tally->lowest / unit;
  outcome->highest = tally->highest / unit;
  if (simulation_is_constant(outcome))
    outcome->deviation = outcome->standard_error = 0;
  fill_percentiles(part, o, unit, outcome);
  outcome->influences = find_influences(part, o, arena);
}

static void fill_verdicts(const struct simulation_part *part, uint64_t done,
                          struct simulation *result, struct arena *arena) {
  const struct simulation_frame *frame = &part->frame;
  const struct verdicts *verdicts = &part->verdicts;
  const size_t count = frame->option_count;
  double *ranked = arena_array(arena, 2 * count, sizeof *ranked), *cheapest = ranked + count;
  const char **not_ranked = arena_array(arena, count, sizeof *not_ranked);
  size_t barred = 0;
  for (size_t i = 0; i < count; i++) {
    ranked[i] = (double)verdicts->ranked[i] / (double)done;
    cheapest[i] = verdicts->ranked[i] && verdicts->decided
                      ? (double)verdicts->cheapest[i] / (double)done
                      : NAN;
    barred += *frame->not_ranked[i] != 0;
    not_ranked[i] = verdicts->ranked[i] || *frame->not_ranked[i]
                        ? frame->not_ranked[i]
                        : arena_printf(arena, "it does not %s in any draw", frame->asked);
  }
  result->ranked = ranked;
  result->cheapest = cheapest;
  result->not_ranked = not_ranked;
  result->undecided = (double)(done - verdicts->decided) / (double)done;
  result->asked = frame->asked;
  result->why_none = verdicts->decided ? "" : ranking_why_none(count, barred, frame->asked, arena);
}

const struct simulation *simulation_result(const struct simulation_part *part, struct arena *arena,
                                           struct diagnostics *diagnostics) {
  const struct simulation_frame *frame = &part->frame;
  uint64_t done = part->tallies[0].done;
  if (!done) {
    diagnostics_error(diagnostics, (struct place){.source = NULL},
                      part->stopped ? "the simulation was stopped before its first draw"
                                    : "these shards contain no draws: give the others too");
    return NULL;
  }
  struct simulation *result = arena_alloc(arena, sizeof *result);
  struct outcome *outcomes = arena_array(arena, frame->outcome_count, sizeof *outcomes);
  const char **no_saving = arena_array(arena, frame->option_count, sizeof *no_saving);
  double *unsaved = arena_array(arena, frame->option_count, sizeof *unsaved);
  size_t count = 0;
  for (size_t o = 0; o < frame->outcome_count; o++) {
    const size_t option = option_of(frame, o);
    const bool is_saving = o >= frame->option_count;
    if (is_saving && !frame->compared[option])
      continue;
    unsaved[option] = (double)part->verdicts.unsaved[option] / (double)done;
    no_saving[option] = "";
    if (is_saving && part->verdicts.unsaved[option])
      no_saving[option] = why_no_saving(frame, unsaved[option], arena);
    else
      fill_outcome(part, o, &outcomes[count++], arena);
  }
  *result = (struct simulation){
      .item = frame->item,
      .unit = frame->unit,
      .title = frame->title,
      .digest = frame->digest,
      .case_name = frame->case_name,
      .stamp = frame->stamp,
      .warnings = frame->warnings,
      .draws = frame->draws,
      .done = done,
      .seed = frame->seed,
      .method = frame->method,
      .partial = !is_complete(part),
      .option_count = frame->option_count,
      .baseline = frame->baseline,
      .options = frame->options,
      .labels = frame->labels,
      .outcome_count = count,
      .outcomes = outcomes,
      .no_saving = no_saving,
      .unsaved = unsaved,
      .damages = frame->damages,
      .damages_draws = frame->damages_draws,
      .currency = frame->currency,
      .group_count = frame->group_count,
      .groups = frame->groups,
      .by_ranks = frame->by_ranks,
      .influence_draws = frame->by_ranks ? frame->draws : part->tallies[0].influence_done,
      .notes = frame->notes,
      .note_count = frame->note_count,
  };
  fill_verdicts(part, done, result, arena);
  return result;
}
