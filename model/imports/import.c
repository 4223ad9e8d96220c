#include "model/imports/import.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "model/evidence/naming.h"
#include "model/imports/format.h"
#include "model/records/served_rungs.h"
#include "model/telemetry/power_join.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct joining {
  const struct imported *list;
  size_t count;
  const struct import_statement *statement;
  struct catalog *catalog;
  struct import *import;
  const char *facts[IMPORT_FACTS]; // resolved: ids of the catalogue, digits, a day
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int refuse(const struct joining *joining, const char *text) {
  diagnostics_error(joining->diagnostics, nowhere, "%s", text);
  return -1;
}

// ---- facts

// An invalid count or day is an error, whoever states it; a name that is not in the catalogue is
// not.
static bool must_be_right(enum import_fact fact) {
  return fact == FACT_ACCELERATORS || fact == FACT_DATE;
}

static void note(const struct joining *joining, const char *text) {
  struct texts *notes = &joining->import->notes;
  if (!texts_have(notes, text))
    texts_add(notes, joining->arena, "%s", text);
}

static int settle_one(struct joining *joining, enum import_fact fact,
                      const struct imported *imported, const char **settled, const char **raw,
                      const struct imported **by) {
  const char *text = fact_said_by(imported, fact, joining->arena);
  if (!*text)
    return 0;
  const struct naming naming = fact_named(fact, text, joining->catalog, joining->arena);
  if (!naming.word && must_be_right(fact))
    return refuse(joining, arena_printf(joining->arena, "%s: %s", imported->name, naming.why));
  if (fact == FACT_DATE && *by && strcmp(naming.word, *settled) <= 0)
    return 0; // for a run over several days the last one counts
  const bool differs =
      *settled && naming.word ? strcmp(*settled, naming.word) != 0 : *by && strcmp(*raw, text) != 0;
  if (fact != FACT_DATE && differs)
    return refuse(joining,
                  arena_printf(joining->arena,
                               "%s and %s contradict each other: %s is '%s' in one and "
                               "'%s' in the other",
                               (*by)->name, imported->name, fact_options[fact] + 2, *raw, text));
  *by = imported;
  *raw = text;
  *settled = naming.word ? naming.word : *settled;
  if (naming.note)
    note(joining, naming.note);
  return 0;
}

static int compare_typed(struct joining *joining, enum import_fact fact, const char *settled,
                         const char *raw, const struct imported *by) {
  const char *typed = joining->statement->facts[fact], *option = fact_options[fact];
  const struct naming naming = fact_named(fact, typed, joining->catalog, joining->arena);
  if (!naming.word)
    return naming.why ? refuse(joining, arena_printf(joining->arena, "%s: %s", option, naming.why))
                      : -1;
  joining->facts[fact] = naming.word;
  if (naming.note)
    note(joining, naming.note);
  if (settled ? strcmp(settled, naming.word) != 0
              : raw && fact_is_another(fact, raw, naming.word, joining->catalog))
    return refuse(joining, arena_printf(joining->arena, "%s is %s, but %s says '%s'", option,
                                        naming.word, by->name, raw));
  if (raw && !settled)
    note(joining, arena_printf(joining->arena, "%s calls it '%s', which %s identifies as %s",
                               by->name, raw, option, naming.word));
  return 0;
}

// The fact on which all agree, or NULL in `facts` if it is not stated.
static int settle(struct joining *joining, enum import_fact fact, struct texts *missing) {
  const char *settled = NULL, *raw = NULL;
  const struct imported *by = NULL;
  for (size_t i = 0; i < joining->count; i++)
    if (settle_one(joining, fact, &joining->list[i], &settled, &raw, &by))
      return -1;
  if (joining->statement->facts[fact])
    return compare_typed(joining, fact, settled, raw, by);
  joining->facts[fact] = settled;
  if (!settled && raw)
    texts_add(missing, joining->arena, "%s (%s says '%s', which is not an id in the catalogue)",
              fact_options[fact], by->name, raw);
  else if (!settled)
    texts_add(missing, joining->arena, "%s", fact_options[fact]);
  return 0;
}

static int settle_facts(struct joining *joining) {
  struct texts missing = {0};
  int result = 0;
  for (enum import_fact fact = 0; fact < IMPORT_FACTS; fact++)
    if (settle(joining, fact, &missing))
      result = -1;
  if (!result && missing.count)
    return refuse(joining,
                  arena_printf(joining->arena, "the files lack required information; add %s",
                               texts_joined(&missing, joining->arena)));
  return result;
}

// A run's date is local, and may be a day ahead of UTC. A later one would count as the newest for
// years, and never as stale.
static void doubt_date(const struct joining *joining) {
  const char *day = joining->facts[FACT_DATE], *today = joining->statement->today;
  struct date date, latest;
  if (!today || !date_parse(day, &date) || !date_parse(today, &latest) ||
      !date_is_ahead(date, latest))
    return;
  texts_add(&joining->import->doubts, joining->arena,
            "the run is dated %s, and today is %s: is a clock wrong?", day, today);
}

// ---- what the results of one curve have in common

static int contradict(const struct joining *joining, const struct imported *a,
                      const struct imported *b, const char *what, const char *of_a,
                      const char *of_b) {
  return refuse(joining,
                arena_printf(joining->arena,
                             "%s and %s do not form one curve: %s is %s in one and %s in the other",
                             a->name, b->name, what, of_a, of_b));
}

enum trait { TRAIT_TOOL, TRAIT_ENGINE, TRAIT_VERSION, TRAIT_SPECULATION, TRAIT_SPLIT, TRAITS };

static const struct {
  const char *what;
  const char *unstated; // a word that contradicts any other; NULL: agrees with any
} traits[TRAITS] = {[TRAIT_TOOL] = {"the tool", NULL},
                    [TRAIT_ENGINE] = {"the engine", NULL},
                    [TRAIT_VERSION] = {"the engine's version", NULL},
                    [TRAIT_SPECULATION] = {"speculation", "not stated"},
                    [TRAIT_SPLIT] = {"the split into prefill and decode", "none"}};

static const char *stated_in(const struct imported *imported, enum trait trait,
                             struct arena *arena) {
  switch (trait) {
  case TRAIT_TOOL: return imported->format->tool;
  case TRAIT_ENGINE: return imported->engine;
  case TRAIT_VERSION: return imported->engine_version;
  case TRAIT_SPECULATION: return imported->speculation;
  default:
    return imported->input_accelerators
               ? arena_printf(arena, "%d and %d accelerators", imported->input_accelerators,
                              imported->output_accelerators)
               : "";
  }
}

static int check_trait(const struct joining *joining, enum trait trait) {
  const struct imported *first = NULL;
  const char *first_said = NULL;
  for (size_t i = 0; i < joining->count; i++) {
    const struct imported *imported = &joining->list[i];
    const char *stated = stated_in(imported, trait, joining->arena);
    const char *said = *stated ? stated : traits[trait].unstated;
    if (imported->format->is_beside || !said)
      continue;
    if (first && strcmp(first_said, said) != 0)
      return contradict(joining, first, imported, traits[trait].what, first_said, said);
    first = imported;
    first_said = said;
  }
  return 0;
}

static int check_traits(const struct joining *joining) {
  for (enum trait trait = 0; trait < TRAITS; trait++)
    if (check_trait(joining, trait))
      return -1;
  for (size_t i = 0; i < joining->count; i++)
    if (!joining->list[i].format->is_beside)
      return 0;
  return refuse(joining, "no file has results: a system description alone is not a result");
}

// Lengths are drawn around a mean, and differ slightly between the rungs of one curve.
static bool same_lengths(const struct serving_rung *a, const struct serving_rung *b) {
  return served_is_alike(a->input_tokens, b->input_tokens) &&
         served_is_alike(a->output_tokens, b->output_tokens);
}

static const char *lengths_text(const struct serving_rung *rung, struct arena *arena) {
  return arena_printf(arena, "%.0f in and %.0f out", rung->input_tokens, rung->output_tokens);
}

static bool begins_file(const struct joining *joining, size_t number) {
  return !number || joining->list[number].source != joining->list[number - 1].source;
}

// Whether a rung of the file has these lengths.
static bool has_rung_like(const struct joining *joining, const struct source *file,
                          const struct serving_rung *rung) {
  for (size_t i = 0; i < joining->count; i++)
    for (size_t r = 0; joining->list[i].source == file && r < joining->list[i].count; r++)
      if (same_lengths(&joining->list[i].rungs[r], rung))
        return true;
  return false;
}

static int check_lengths_of(const struct joining *joining, const struct imported *imported) {
  for (size_t i = 0; i < joining->count; i++) {
    const struct imported *other = &joining->list[i];
    if (!begins_file(joining, i) || !other->count || other->source == imported->source)
      continue;
    for (size_t r = 0; r < imported->count; r++)
      if (!has_rung_like(joining, other->source, &imported->rungs[r]))
        return contradict(joining, imported, other, "a request",
                          lengths_text(&imported->rungs[r], joining->arena),
                          lengths_text(&other->rungs[0], joining->arena));
  }
  return 0;
}

// Every file with results must have rungs of the lengths that another file has.
static int check_lengths(const struct joining *joining) {
  for (size_t i = 0; i < joining->count; i++)
    if (check_lengths_of(joining, &joining->list[i]))
      return -1;
  return 0;
}

static bool same_number(double a, double b) {
  return (isnan(a) && isnan(b)) || a == b;
}

static const char *load_text(const struct serving_rung *rung, struct arena *arena) {
  if (!isnan(rung->concurrency))
    return arena_printf(arena, "concurrency %.6g", rung->concurrency);
  return isnan(rung->request_rate) ? serving_load_names[rung->load]
                                   : arena_printf(arena, "%.6g requests/s", rung->request_rate);
}

static bool same_load(const struct serving_rung *a, const struct serving_rung *b) {
  return a->load == b->load && same_number(a->concurrency, b->concurrency) &&
         same_number(a->request_rate, b->request_rate) &&
         isnan(a->output_tokens_per_s) == isnan(b->output_tokens_per_s);
}

static int check_twice(const struct joining *joining, const struct import_record *made) {
  const struct serving_record *record = &made->record;
  for (size_t i = 0; i < record->count; i++)
    for (size_t k = 0; k < i; k++) {
      const struct serving_rung *a = &record->rungs[k], *b = &record->rungs[i];
      if (*a->refused || *b->refused || a->load == LOAD_UNKNOWN || !same_load(a, b))
        continue;
      return refuse(joining,
                    arena_printf(joining->arena, "%s and %s both have a rung at %s (%s): omit one",
                                 made->origins[k].imported->name, made->origins[i].imported->name,
                                 load_text(b, joining->arena), lengths_text(b, joining->arena)));
    }
  return 0;
}

// ---- the records

static int split_published(const struct joining *joining, struct serving_record *record) {
  const char *text = joining->statement->published;
  const char *url = text ? strstr(text, ", http") : NULL;
  if (!text)
    return 0;
  if (!url || url == text || strchr(url + 2, ' '))
    return refuse(joining, "--published: expected 'TITLE, URL', the URL with http:// or https://");
  record->published_title = arena_copy_n(joining->arena, text, (size_t)(url - text));
  record->published_url = url + 2;
  return 0;
}

// A record of one's own run is called measured only if its result states what was measured.
static int check_statement(const struct joining *joining, const struct imported *imported,
                           const struct serving_rung *rung) {
  const struct {
    const char *name;
    double value;
  } needed[] = {{"how long it took", rung->window_s},
                {"how many requests were answered", rung->completed},
                {"their input tokens", rung->input_tokens},
                {"their output tokens", rung->output_tokens}};
  struct texts unstated = {0};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (isnan(needed[i].value))
      texts_add(&unstated, joining->arena, "%s", needed[i].name);
  if (joining->statement->published || imported->basis == BASIS_DECODE || !unstated.count ||
      *rung->refused)
    return 0;
  return refuse(joining, arena_printf(joining->arena,
                                      "%s does not state %s, so it cannot count as measured: for a "
                                      "publication, give --published 'TITLE, URL'",
                                      imported->name, texts_joined(&unstated, joining->arena)));
}

// Checks the number of accelerators against the results: what a result states about one server
// holds for each of several alike.
static int check_span(const struct joining *joining, int accelerators) {
  for (size_t i = 0; i < joining->count; i++) {
    const struct imported *imported = &joining->list[i];
    if (imported->server_accelerators > accelerators)
      return refuse(joining,
                    arena_printf(joining->arena,
                                 "--accelerators is %d, but %s says that its server runs on %d",
                                 accelerators, imported->name, imported->server_accelerators));
  }
  return 0;
}

static const char *first_text(const char *known, const char *text) {
  return *known ? known : text;
}

static void add_texts(struct texts *all, const struct texts *more, struct arena *arena) {
  for (size_t i = 0; i < more->count; i++) {
    bool is_there = false;
    for (size_t k = 0; k < all->count; k++)
      is_there = is_there || !strcmp(all->list[k], more->list[i]);
    if (!is_there)
      texts_add(all, arena, "%s", more->list[i]);
  }
}

// The files and their digests, each once.
static void list_files(const struct joining *joining, struct serving_record *record) {
  struct serving_file *files = arena_array(joining->arena, joining->count, sizeof *files);
  for (size_t i = 0; i < joining->count; i++) {
    const struct source *source = joining->list[i].source;
    if (!begins_file(joining, i))
      continue;
    files[record->file_count++] = (struct serving_file){source_file_name(source->name),
                                                        source_sha256(source, joining->arena)};
  }
  record->files = files;
}

// Joins what all results state about the run.
static void describe(const struct joining *joining, struct serving_record *record) {
  struct arena *arena = joining->arena;
  struct texts remarks = {0};
  for (size_t i = 0; i < joining->count; i++) {
    const struct imported *imported = &joining->list[i];
    record->engine = first_text(record->engine, imported->engine);
    record->engine_version = first_text(record->engine_version, imported->engine_version);
    record->device = first_text(record->device, imported->hardware);
    record->served_model = first_text(record->served_model, imported->model);
    record->prompts = first_text(record->prompts, imported->prompts);
    add_texts(&remarks, &imported->remarks, arena);
    add_texts(&joining->import->unsaid, &imported->unsaid, arena);
    add_texts(&joining->import->doubts, &imported->doubts, arena);
    if (imported->format->is_beside)
      continue;
    record->tool = imported->format->tool;
    record->tool_version = imported->tool_version;
    record->basis = imported->basis;
    record->speculation = imported->speculation;
    record->input_accelerators = imported->input_accelerators;
    record->output_accelerators = imported->output_accelerators;
    record->grade = !joining->statement->published   ? GRADE_MEASURED
                    : imported->format->is_benchmark ? GRADE_BENCHMARK
                                                     : GRADE_PUBLISHED;
    if (imported->format->is_whole_run && imported->basis == BASIS_SERVING)
      add_texts(&remarks,
                &(struct texts){(const char *[]){"rates are over the whole run, ramp-up and drain "
                                                 "included"},
                                1},
                arena);
  }
  record->remarks = texts_joined_by(&remarks, "; ", arena);
}

static struct import_record *record_of(struct joining *joining, const struct serving_rung *rung,
                                       const struct serving_record *blank) {
  struct import *import = joining->import;
  for (size_t i = 0; i < import->count; i++)
    if (same_lengths(&import->records[i].record.rungs[0], rung))
      return &import->records[i];
  import->records =
      arena_room(joining->arena, import->records, import->count, sizeof *import->records);
  import->records[import->count].record = *blank;
  return &import->records[import->count++];
}

static void add_rung(struct joining *joining, const struct imported *imported, size_t number,
                     const struct serving_record *blank) {
  const struct serving_rung *rung = &imported->rungs[number];
  struct import_record *made = record_of(joining, rung, blank);
  struct serving_record *record = &made->record;
  record->rungs = arena_room(joining->arena, record->rungs, record->count, sizeof *record->rungs);
  made->origins = arena_room(joining->arena, made->origins, record->count, sizeof *made->origins);
  size_t at = record->count++;
  // Rungs are ordered by concurrency, then by rate; those without either keep the results' order.
  for (; at > 0 && (record->rungs[at - 1].concurrency > rung->concurrency ||
                    record->rungs[at - 1].request_rate > rung->request_rate);
       at--) {
    record->rungs[at] = record->rungs[at - 1];
    made->origins[at] = made->origins[at - 1];
  }
  record->rungs[at] = *rung;
  made->origins[at] = (struct import_origin){imported, &imported->windows[number]};
}

// A tool's telemetry may cover a whole host. Its sum does not state the watts of those that served.
static void leave_out_watts(struct serving_record *record, struct arena *arena) {
  const char *left_out = NULL;
  for (size_t i = 0; i < record->count; i++) {
    struct serving_power *power = &record->rungs[i].power;
    if (power->devices <= record->accelerators)
      continue;
    left_out = arena_printf(arena, "%s, of which %d served", power->source, record->accelerators);
    *power = power_join_none(left_out, arena);
  }
  if (left_out)
    record->remarks = arena_printf(arena, "%s%sleft out: the watts of %s", record->remarks,
                                   *record->remarks ? "; " : "", left_out);
}

static void settle_times(struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++) {
    const struct serving_rung *rung = &record->rungs[i];
    if (*rung->started && (!*record->started || strcmp(rung->started, record->started) < 0))
      record->started = rung->started;
    if (*rung->finished && strcmp(rung->finished, record->finished) > 0)
      record->finished = rung->finished;
  }
}

static int check_record(const struct joining *joining, struct import_record *made) {
  const struct serving_record *record = &made->record;
  for (size_t i = 0; i < record->count; i++)
    if (check_statement(joining, made->origins[i].imported, &record->rungs[i]))
      return -1;
  if (check_twice(joining, made))
    return -1;
  settle_times(&made->record);
  leave_out_watts(&made->record, joining->arena);
  if (serving_record_has_rungs(record))
    return 0;
  return refuse(joining, arena_printf(joining->arena, "%s: no rung is usable: %s",
                                      made->origins[0].imported->name, record->rungs[0].refused));
}

int import_join(const struct imported *list, size_t count, const struct import_statement *statement,
                struct catalog *catalog, struct import *import, struct arena *arena,
                struct diagnostics *diagnostics) {
  struct joining joining = {list, count, statement, catalog, import, {0}, arena, diagnostics};
  struct serving_record blank = serving_record_unknown();
  *import = (struct import){0};
  if (check_traits(&joining) || settle_facts(&joining) || check_lengths(&joining) ||
      split_published(&joining, &blank))
    return -1;
  doubt_date(&joining);
  blank.accelerator = joining.facts[FACT_ACCELERATOR];
  blank.accelerators = (int)strtol(joining.facts[FACT_ACCELERATORS], NULL, 10);
  if (check_span(&joining, blank.accelerators))
    return -1;
  blank.precision = joining.facts[FACT_PRECISION];
  blank.model = joining.facts[FACT_MODEL];
  blank.date = joining.facts[FACT_DATE];
  blank.node = statement->node;
  list_files(&joining, &blank);
  describe(&joining, &blank);
  for (size_t i = 0; i < count; i++)
    for (size_t r = 0; r < list[i].count; r++)
      add_rung(&joining, &list[i], r, &blank);
  for (size_t i = 0; i < import->count; i++)
    if (check_record(&joining, &import->records[i]))
      return -1;
  return 0;
}

const char *import_file_name(const struct serving_record *record, struct arena *arena) {
  const struct serving_rung *rung = &record->rungs[0];
  const char *identity =
      arena_printf(arena, "%s|%d|%s|%s|%s|%.17g|%.17g", record->accelerator, record->accelerators,
                   record->precision, record->date, record->published_url, rung->input_tokens,
                   rung->output_tokens);
  if (*record->node)
    identity = arena_printf(arena, "%s|node %s", identity, record->node);
  for (size_t i = 0; i < record->file_count; i++)
    identity = arena_printf(arena, "%s|%s", identity, record->files[i].sha256);
  const char *hash = source_sha256(source_from_text("import", identity, arena), arena);
  return arena_printf(arena, "%s-%s-%.8s.json", record->model, record->accelerator, hash);
}

int import_fact_named(const struct import_statement *statement, enum import_fact fact,
                      struct catalog *catalog, const char **word, const char **note,
                      struct arena *arena, struct diagnostics *diagnostics) {
  const char *option = fact_options[fact], *typed = statement->facts[fact];
  if (!typed) {
    diagnostics_error(diagnostics, nowhere, "the files do not state %s", option);
    return -1;
  }
  const struct naming naming = fact_named(fact, typed, catalog, arena);
  if (naming.why)
    diagnostics_error(diagnostics, source_text_start(option, typed, arena), "%s", naming.why);
  *word = naming.word;
  *note = naming.note;
  return naming.why ? -1 : 0;
}
