#include "model/simulate/part_file.h"

#include "base/json_in.h"
#include "base/source.h"
#include "model/chance/draw.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"
#include "model/simulate/simulation.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SCHEMA = 7, MAX_NAMES = 1 << 16, MAX_BINS = 1 << 20 };

static json_t *names_json(const char *const *names, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_string(names[i]));
  return list;
}

static json_t *number_json(double x) {
  return isfinite(x) ? json_real(x) : json_null();
}

// Pairs of index and value for the values that are not zero.
static json_t *sparse_json(const int64_t *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    if (!values[i])
      continue;
    json_array_append_new(list, json_integer((json_int_t)i));
    json_array_append_new(list, json_integer(values[i]));
  }
  return list;
}

static json_t *bins_json(const uint32_t *counts, size_t count) {
  json_t *list = json_array();
  for (size_t b = 0; b < count; b++) {
    if (!counts[b])
      continue;
    json_array_append_new(list, json_integer((json_int_t)b));
    json_array_append_new(list, json_integer(counts[b]));
  }
  return list;
}

static json_t *sum_json(const struct exact_sum *sum) {
  struct exact_sum copy = *sum;
  exact_sum_normalise(&copy);
  return sparse_json(copy.limbs, EXACT_LIMBS);
}

static json_t *numbers_json(const double *numbers, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, number_json(numbers[i]));
  return list;
}

static json_t *sums_json(const struct exact_sum *sums, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, sum_json(&sums[i]));
  return list;
}

static json_t *counts_json(const uint64_t *counts, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_integer((json_int_t)counts[i]));
  return list;
}

static json_t *flags_json(const bool *flags, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_boolean(flags[i]));
  return list;
}

static json_t *outcome_json(const struct simulation_part *part, size_t o) {
  const struct simulation_frame *frame = &part->frame;
  const struct tally *tally = &part->tallies[o];
  const struct sketch_shape *shape = &frame->shapes[o];
  json_t *ranks = json_array();
  for (size_t g = 0; g < frame->group_count && frame->by_ranks; g++)
    json_array_append_new(ranks, number_json(frame->rank_shares[o * frame->group_count + g]));
  return json_pack(
      "{s:o, s:o, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
      "centre", number_json(shape->centre), "half_width", number_json(shape->half_width),
      "equal_bins", (json_int_t)shape->equal_bins, "atoms",
      numbers_json(shape->atoms, shape->atom_count), "done", (json_int_t)tally->done, "lowest",
      number_json(tally->lowest), "highest", number_json(tally->highest), "replicate_done",
      counts_json(tally->replicate_done, frame->replicates), "replicate_sums",
      sums_json(tally->replicate_sums, frame->replicates), "squares", sum_json(&tally->squares),
      "influence_done", (json_int_t)tally->influence_done, "influence_sum",
      sum_json(&tally->influence_sum), "influence_squares", sum_json(&tally->influence_squares),
      "first", sums_json(tally->first, frame->group_count), "total",
      sums_json(tally->total, frame->group_count), "rank_shares", ranks, "counts",
      bins_json(part->counts[o], sketch_bins(shape)));
}

// Four numbers for each option; null where it has no such clause.
static json_t *damages_json(const struct simulation_frame *frame) {
  json_t *list = json_array();
  for (size_t o = 0; o < frame->option_count; o++) {
    const struct delay_damages *of = &frame->damages[o];
    json_array_append_new(list,
                          json_pack("[o, o, o, o]", number_json(of->due), number_json(of->cost),
                                    number_json(of->paid), number_json(of->uncovered)));
  }
  return list;
}

int simulation_part_print(const struct simulation_part *part, FILE *out) {
  const struct simulation_frame *frame = &part->frame;
  json_t *shards = json_array(), *outcomes = json_array();
  for (unsigned s = 0; s < frame->shards; s++)
    if (part->shards[s])
      json_array_append_new(shards, json_integer(s));
  for (size_t o = 0; o < frame->outcome_count; o++)
    json_array_append_new(outcomes, outcome_json(part, o));
  json_t *object = json_pack(
      "{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:I, s:s, s:b, s:I, s:i, s:i, s:I, "
      "s:b, s:I, s:o, s:o, s:o, "
      "s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:s, s:I, s:o, s:o}",
      "schema", SCHEMA, "title", frame->title, "item", frame->item, "unit", frame->unit, "digest",
      frame->digest, "case", frame->case_name, "stamp", frame->stamp, "asked", frame->asked,
      "unit_factor", frame->unit_factor, "draws", (json_int_t)frame->draws, "method",
      frame->method == DRAW_SOBOL ? "sobol" : "random", "by_ranks", frame->by_ranks, "seed",
      (json_int_t)frame->seed, "shard_count", (int)frame->shards, "replicates",
      (int)frame->replicates, "influence_draws", (json_int_t)frame->influence_draws, "stopped",
      part->stopped, "baseline", (json_int_t)frame->baseline, "options",
      names_json(frame->options, frame->option_count), "labels",
      names_json(frame->labels, frame->option_count), "groups",
      names_json(frame->groups, frame->group_count), "notes",
      names_json(frame->notes, frame->note_count), "warnings",
      names_json(frame->warnings.list, frame->warnings.count), "not_ranked",
      names_json(frame->not_ranked, frame->option_count), "compared",
      flags_json(frame->compared, frame->option_count), "shards", shards, "decided",
      (json_int_t)part->verdicts.decided, "ranked",
      counts_json(part->verdicts.ranked, frame->option_count), "cheapest",
      counts_json(part->verdicts.cheapest, frame->option_count), "unsaved",
      counts_json(part->verdicts.unsaved, frame->option_count), "currency", frame->currency,
      "damages_draws", (json_int_t)frame->damages_draws, "damages", damages_json(frame), "outcomes",
      outcomes);
  int bad = !object || json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(17)) ||
            fputc('\n', out) == EOF;
  json_decref(object);
  return bad ? -1 : 0;
}

// Continues after the first mistake as if the value were absent: `bad` says what the mistake was.
struct part_reader {
  const char *bad;
  struct arena *arena;
};

static void expect_right(struct part_reader *reader, bool right, const char *name) {
  if (!right && !reader->bad)
    reader->bad = name;
}

static const json_t *member(struct part_reader *reader, const json_t *object, const char *name,
                            json_type type) {
  const json_t *value = json_object_get(object, name);
  const bool right = value && json_typeof(value) == type;
  expect_right(reader, right, name);
  return right ? value : NULL;
}

static double take_number(struct part_reader *reader, const json_t *value, const char *name) {
  expect_right(reader, json_is_number(value), name);
  return json_number_value(value);
}

// Takes a number, or NAN if the part has none.
static double take_number_if_any(struct part_reader *reader, const json_t *value,
                                 const char *name) {
  return json_is_null(value) ? NAN : take_number(reader, value, name);
}

static int64_t take_whole(struct part_reader *reader, const json_t *value, const char *name,
                          int64_t lowest, int64_t highest) {
  const int64_t whole = json_integer_value(value);
  const bool right = json_is_integer(value) && whole >= lowest && whole <= highest;
  expect_right(reader, right, name);
  return right ? whole : lowest;
}

static const char *read_text(struct part_reader *reader, const json_t *object, const char *name) {
  const json_t *value = member(reader, object, name, JSON_STRING);
  return value ? arena_copy(reader->arena, json_string_value(value)) : "";
}

static double read_number(struct part_reader *reader, const json_t *object, const char *name) {
  return take_number(reader, json_object_get(object, name), name);
}

static int64_t read_whole(struct part_reader *reader, const json_t *object, const char *name,
                          int64_t lowest, int64_t highest) {
  return take_whole(reader, json_object_get(object, name), name, lowest, highest);
}

static bool read_bool(struct part_reader *reader, const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  expect_right(reader, json_is_boolean(value), name);
  return json_is_true(value);
}

static const char *const *read_names(struct part_reader *reader, const json_t *object,
                                     const char *name, size_t *count) {
  const json_t *list = member(reader, object, name, JSON_ARRAY);
  *count = list ? json_array_size(list) : 0;
  if (*count > MAX_NAMES) {
    reader->bad = name;
    *count = 0;
  }
  const char **names = arena_array(reader->arena, *count + 1, sizeof *names);
  for (size_t i = 0; i < *count; i++) {
    const char *text = json_string_value(json_array_get(list, i));
    expect_right(reader, text != NULL, name);
    names[i] = text ? arena_copy(reader->arena, text) : "";
  }
  return names;
}

static const bool *read_flags(struct part_reader *reader, const json_t *object, const char *name,
                              size_t count) {
  const json_t *list = member(reader, object, name, JSON_ARRAY);
  bool *flags = arena_array(reader->arena, count, sizeof *flags);
  expect_right(reader, json_array_size(list) == count, name);
  for (size_t i = 0; i < count; i++) {
    const json_t *flag = json_array_get(list, i);
    expect_right(reader, json_is_boolean(flag), name);
    flags[i] = json_is_true(flag);
  }
  return flags;
}

static const struct delay_damages *read_damages(struct part_reader *reader, const json_t *object,
                                                size_t count) {
  const json_t *list = member(reader, object, "damages", JSON_ARRAY);
  struct delay_damages *damages = arena_array(reader->arena, count, sizeof *damages);
  expect_right(reader, json_array_size(list) == count, "damages");
  for (size_t o = 0; o < count; o++) {
    double numbers[4];
    for (size_t i = 0; i < 4; i++)
      numbers[i] =
          take_number_if_any(reader, json_array_get(json_array_get(list, o), i), "damages");
    damages[o] = (struct delay_damages){numbers[0], numbers[1], numbers[2], numbers[3]};
  }
  return damages;
}

// A reader of pairs of index and value, in `list`, a member of that name, from `at` on.
struct pairs {
  const json_t *list;
  const char *name;
  size_t count; // of indices
  int64_t lowest, highest;
  size_t at, index;
  int64_t value;
};

// Reads the next pair. Returns false after the last one, or one that is wrong.
static bool next_pair(struct part_reader *reader, struct pairs *pairs) {
  const json_t *index = json_array_get(pairs->list, pairs->at);
  expect_right(reader, json_is_array(pairs->list), pairs->name);
  if (pairs->at == json_array_size(pairs->list))
    return false;
  pairs->index = (size_t)take_whole(reader, index, pairs->name, 0, (int64_t)pairs->count - 1);
  pairs->value = take_whole(reader, json_array_get(pairs->list, pairs->at + 1), pairs->name,
                            pairs->lowest, pairs->highest);
  pairs->at += 2;
  return !reader->bad;
}

static void read_bins(struct part_reader *reader, const json_t *list, uint32_t *counts,
                      size_t count) {
  struct pairs pairs = {
      .list = list, .name = "counts", .count = count, .lowest = 0, .highest = UINT32_MAX};
  while (next_pair(reader, &pairs))
    counts[pairs.index] = (uint32_t)pairs.value;
}

// Limbs as sum_json writes them.
static void read_sum(struct part_reader *reader, const json_t *list, const char *name,
                     struct exact_sum *sum) {
  const int64_t most = INT64_C(1) << 32;
  struct pairs pairs = {
      .list = list, .name = name, .count = EXACT_LIMBS, .lowest = -most, .highest = most};
  while (next_pair(reader, &pairs))
    sum->limbs[pairs.index] = pairs.value;
}

static void read_sums(struct part_reader *reader, const json_t *object, const char *name,
                      struct exact_sum *sums, size_t count) {
  const json_t *list = json_object_get(object, name);
  expect_right(reader, json_array_size(list) == count, name);
  for (size_t i = 0; i < count; i++)
    read_sum(reader, json_array_get(list, i), name, &sums[i]);
}

static void read_counts(struct part_reader *reader, const json_t *object, const char *name,
                        uint64_t *counts, size_t count) {
  const json_t *list = json_object_get(object, name);
  expect_right(reader, json_array_size(list) == count, name);
  for (size_t i = 0; i < count; i++)
    counts[i] =
        (uint64_t)take_whole(reader, json_array_get(list, i), name, 0, (int64_t)MAX_SIMULATE_DRAWS);
}

static void read_shape(struct part_reader *reader, const json_t *object,
                       struct sketch_shape *shape) {
  *shape = (struct sketch_shape){
      .centre = read_number(reader, object, "centre"),
      .half_width = read_number(reader, object, "half_width"),
      .equal_bins = (uint32_t)read_whole(reader, object, "equal_bins", 1, MAX_BINS)};
  const json_t *list = member(reader, object, "atoms", JSON_ARRAY);
  const size_t count = json_array_size(list) > MAX_BINS ? 0 : json_array_size(list);
  expect_right(reader, shape->half_width > 0, "half_width");
  double *atoms = arena_array(reader->arena, count + 1, sizeof *atoms);
  for (size_t i = 0; i < count; i++) {
    atoms[i] = take_number(reader, json_array_get(list, i), "atoms");
    expect_right(reader, !i || atoms[i] > atoms[i - 1], "atoms");
  }
  shape->atoms = atoms;
  shape->atom_count = count;
}

static void read_outcome(struct part_reader *reader, const json_t *object,
                         struct simulation_part *part, size_t o, double *rank_shares) {
  const struct simulation_frame *frame = &part->frame;
  struct tally *tally = &part->tallies[o];
  const json_t *ranks = member(reader, object, "rank_shares", JSON_ARRAY);
  const size_t shares = frame->by_ranks ? frame->group_count : 0;
  tally->done = (uint64_t)read_whole(reader, object, "done", 0, (int64_t)frame->draws);
  tally->lowest = tally->done ? read_number(reader, object, "lowest") : INFINITY;
  tally->highest = tally->done ? read_number(reader, object, "highest") : -INFINITY;
  expect_right(reader, !tally->done || tally->lowest <= tally->highest, "highest");
  read_counts(reader, object, "replicate_done", tally->replicate_done, frame->replicates);
  read_sums(reader, object, "replicate_sums", tally->replicate_sums, frame->replicates);
  read_sum(reader, json_object_get(object, "squares"), "squares", &tally->squares);
  tally->influence_done =
      (uint64_t)read_whole(reader, object, "influence_done", 0, MAX_INFLUENCE_DRAWS);
  read_sum(reader, json_object_get(object, "influence_sum"), "influence_sum",
           &tally->influence_sum);
  read_sum(reader, json_object_get(object, "influence_squares"), "influence_squares",
           &tally->influence_squares);
  read_sums(reader, object, "first", tally->first, frame->group_count);
  read_sums(reader, object, "total", tally->total, frame->group_count);
  expect_right(reader, json_array_size(ranks) == shares, "rank_shares");
  for (size_t g = 0; g < shares; g++)
    rank_shares[o * frame->group_count + g] =
        take_number_if_any(reader, json_array_get(ranks, g), "rank_shares");
  read_bins(reader, json_object_get(object, "counts"), part->counts[o],
            sketch_bins(&frame->shapes[o]));
}

// Checks that in draws with a cheapest option, at least two are ranked, and one or more of these
// are the cheapest.
static void check_verdicts(struct part_reader *reader, const struct simulation_part *part,
                           uint64_t done) {
  const struct verdicts *verdicts = &part->verdicts;
  const size_t options = part->frame.option_count;
  uint64_t ranked = 0, cheapest = 0;
  bool bad = verdicts->decided > done;
  for (size_t i = 0; i < options; i++) {
    const uint64_t most = *part->frame.not_ranked[i] ? 0 : done;
    bad |= verdicts->ranked[i] > most || verdicts->cheapest[i] > verdicts->ranked[i] ||
           verdicts->cheapest[i] > verdicts->decided || verdicts->unsaved[i] > done;
    ranked += verdicts->ranked[i];
    cheapest += verdicts->cheapest[i];
  }
  bad |= cheapest < verdicts->decided || ranked < 2 * verdicts->decided;
  expect_right(reader, !bad, "cheapest");
}

static void check_counts(struct part_reader *reader, const struct simulation_part *part) {
  const uint64_t done = part->tallies[0].done;
  for (size_t o = 0; o < part->frame.outcome_count; o++) {
    uint64_t in_bins = 0, in_replicates = 0;
    for (size_t b = 0; b < sketch_bins(&part->frame.shapes[o]); b++)
      in_bins += part->counts[o][b];
    for (unsigned r = 0; r < part->frame.replicates; r++)
      in_replicates += part->tallies[o].replicate_done[r];
    expect_right(reader,
                 in_bins == part->tallies[o].done && in_replicates == in_bins && in_bins == done,
                 "counts");
  }
  check_verdicts(reader, part, done);
}

static void read_frame(struct part_reader *reader, const json_t *object,
                       struct simulation_frame *frame) {
  const char *method = read_text(reader, object, "method");
  *frame = (struct simulation_frame){
      .title = read_text(reader, object, "title"),
      .item = read_text(reader, object, "item"),
      .unit = read_text(reader, object, "unit"),
      .digest = read_text(reader, object, "digest"),
      .case_name = read_text(reader, object, "case"),
      .stamp = read_text(reader, object, "stamp"),
      .asked = read_text(reader, object, "asked"),
      .unit_factor = read_number(reader, object, "unit_factor"),
      .draws = (uint64_t)read_whole(reader, object, "draws", 1, (int64_t)MAX_SIMULATE_DRAWS),
      .method = strcmp(method, "random") != 0 ? DRAW_SOBOL : DRAW_RANDOM,
      .by_ranks = read_bool(reader, object, "by_ranks"),
      .seed = (uint64_t)read_whole(reader, object, "seed", INT64_MIN, INT64_MAX),
      .shards = (unsigned)read_whole(reader, object, "shard_count", 1, MAX_SIMULATE_SHARDS),
      .replicates = (unsigned)read_whole(reader, object, "replicates", 1, MAX_REPLICATES),
      .influence_draws =
          (uint64_t)read_whole(reader, object, "influence_draws", 0, MAX_INFLUENCE_DRAWS),
      .currency = read_text(reader, object, "currency"),
      .damages_draws =
          (uint64_t)read_whole(reader, object, "damages_draws", 1, (int64_t)MAX_SIMULATE_DRAWS)};
  frame->options = read_names(reader, object, "options", &frame->option_count);
  frame->groups = read_names(reader, object, "groups", &frame->group_count);
  frame->notes = read_names(reader, object, "notes", &frame->note_count);
  frame->warnings.list =
      (const char **)read_names(reader, object, "warnings", &frame->warnings.count);
  size_t reasons, labels;
  frame->labels = read_names(reader, object, "labels", &labels);
  frame->not_ranked = read_names(reader, object, "not_ranked", &reasons);
  frame->compared = read_flags(reader, object, "compared", frame->option_count);
  frame->damages = read_damages(reader, object, frame->option_count);
  expect_right(reader, !strcmp(method, "sobol") || !strcmp(method, "random"), "method");
  expect_right(reader, frame->unit_factor > 0, "unit_factor");
  expect_right(reader, reasons == frame->option_count, "not_ranked");
  expect_right(reader, labels == frame->option_count, "labels");
  read_whole(reader, object, "schema", SCHEMA, SCHEMA);
  expect_right(reader, frame->option_count > 0, "options");
  if (reader->bad)
    return;
  frame->baseline =
      (size_t)read_whole(reader, object, "baseline", 0, (int64_t)frame->option_count - 1);
  frame->outcome_count = 2 * frame->option_count - 1;
}

static struct simulation_part *read_part(struct part_reader *reader, const json_t *object) {
  struct simulation_frame frame;
  read_frame(reader, object, &frame);
  const json_t *outcomes = member(reader, object, "outcomes", JSON_ARRAY);
  expect_right(reader, reader->bad || json_array_size(outcomes) == frame.outcome_count, "outcomes");
  if (reader->bad)
    return NULL;
  struct sketch_shape *shapes = arena_array(reader->arena, frame.outcome_count, sizeof *shapes);
  for (size_t o = 0; o < frame.outcome_count; o++)
    read_shape(reader, json_array_get(outcomes, o), &shapes[o]);
  size_t shares = frame.outcome_count * frame.group_count;
  double *rank_shares = arena_array(reader->arena, shares + 1, sizeof *rank_shares);
  frame.shapes = shapes;
  frame.rank_shares = rank_shares;
  struct simulation_part *part = simulation_part_new(&frame, reader->arena);
  part->stopped = read_bool(reader, object, "stopped");
  part->verdicts.decided = (uint64_t)read_whole(reader, object, "decided", 0, (int64_t)frame.draws);
  read_counts(reader, object, "ranked", part->verdicts.ranked, frame.option_count);
  read_counts(reader, object, "cheapest", part->verdicts.cheapest, frame.option_count);
  read_counts(reader, object, "unsaved", part->verdicts.unsaved, frame.option_count);
  const json_t *list = member(reader, object, "shards", JSON_ARRAY);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const int64_t shard =
        take_whole(reader, json_array_get(list, i), "shards", 0, (int64_t)frame.shards - 1);
    part->shards[shard] = true;
  }
  for (size_t o = 0; o < frame.outcome_count; o++)
    read_outcome(reader, json_array_get(outcomes, o), part, o, rank_shares);
  check_counts(reader, part);
  return part;
}

struct simulation_part *simulation_part_read(const char *path, struct arena *arena,
                                             struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object = json_in_read(path, "not a part of a simulation", &source, arena, diagnostics);
  if (!object)
    return NULL;
  struct part_reader reader = {.arena = arena};
  struct simulation_part *part = read_part(&reader, object);
  json_decref(object);
  if (!reader.bad)
    return part;
  diagnostics_error(diagnostics, (struct place){.source = source},
                    "not a part of a simulation: '%s' is missing or wrong", reader.bad);
  return NULL;
}
