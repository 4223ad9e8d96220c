#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/source_file.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/imports/fact.h"
#include "model/imports/import.h"
#include "model/records/production.h"
#include "model/records/records.h"
#include "model/telemetry/production_read.h"
#include "model/telemetry/utc.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/records/production.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Prometheus puts its status first, so other large files need not be read twice.
static bool begins_as_answer(const char *path) {
  char head[256];
  FILE *file = fopen(path, "re");
  const size_t size = file ? fread(head, 1, sizeof head - 1, file) : 0;
  head[size] = '\0';
  if (file)
    fclose(file);
  return strstr(head, "\"status\"");
}

bool import_is_production(const struct run *run) {
  struct diagnostics unheard = {.arena = run->arena};
  if (!begins_as_answer(run->options.arguments[0]))
    return false;
  const struct source *first = source_read(run->options.arguments[0], run->arena, &unheard);
  return first && production_read_knows(first);
}

static int name_facts(const struct run *run, struct production *production, struct texts *notes) {
  const struct options *options = &run->options;
  const struct import_statement statement = {.facts = {[FACT_ACCELERATOR] = options->accelerator,
                                                       [FACT_ACCELERATORS] = options->accelerators,
                                                       [FACT_PRECISION] = options->precision,
                                                       [FACT_MODEL] = options->model}};
  const char *count = "", *note;
  const char **const words[] = {[FACT_ACCELERATOR] = &production->accelerator,
                                [FACT_ACCELERATORS] = &count,
                                [FACT_PRECISION] = &production->precision,
                                [FACT_MODEL] = &production->model};
  struct catalog catalog;
  int result = 0;
  if (run_open_catalog(run, &catalog))
    return -1;
  for (size_t fact = 0; fact < sizeof words / sizeof words[0]; fact++) {
    if (import_fact_named(&statement, (enum import_fact)fact, &catalog, words[fact], &note,
                          run->arena, run->diagnostics))
      result = -1;
    else if (note)
      texts_add(notes, run->arena, "%s", note);
  }
  production->accelerators = (int)strtol(count, NULL, 10);
  return result;
}

// What the servers call the model; "": they do not say.
static int check_model(const struct run *run, const char *served, const char *model,
                       struct texts *notes) {
  struct catalog catalog;
  if (!*served || !strcmp(served, model))
    return 0;
  if (run_open_catalog(run, &catalog))
    return -1;
  if (fact_is_other_model(served, model, &catalog, run->arena)) {
    diagnostics_error(run->diagnostics, source_text_start("--model", model, run->arena),
                      "--model is %s, but the counters are of '%s'", model, served);
    return -1;
  }
  texts_add(notes, run->arena, "the counters call it '%s', which --model identifies as %s", served,
            model);
  return 0;
}

// The record's path, with a hash of the files, so that another fleet's or week's record does not
// replace this one.
static const char *path_of(const struct production *production, const char *folder,
                           struct arena *arena) {
  const char *identity = arena_printf(arena, "%d|%d|%s", production->accelerators,
                                      production->utc_offset_min, production->precision);
  for (size_t i = 0; i < production->file_count; i++)
    identity = arena_printf(arena, "%s|%s", identity, production->files[i].sha256);
  return arena_printf(arena, "%s/%s-%s-production-%.10s-%.8s.json", folder, production->model,
                      production->accelerator, production->finished,
                      source_sha256(source_from_text("import", identity, arena), arena));
}

static int read_zone(const struct run *run, int *minutes) {
  double offset_s = 0;
  const char *text = run->options.utc_offset;
  *minutes = 0;
  if (text && !utc_offset_parse(text, &offset_s)) {
    diagnostics_error(run->diagnostics, source_text_start("--utc-offset", text, run->arena),
                      "expected a time zone such as '+02:00' or 'UTC'");
    return -1;
  }
  *minutes = (int)(offset_s / 60);
  return 0;
}

static int read_all(const struct run *run, struct production *production) {
  const size_t count = (size_t)run->options.argument_count;
  const struct source **files = arena_array(run->arena, count, sizeof(const struct source *));
  int zone_min;
  if (read_zone(run, &zone_min))
    return -1;
  for (size_t i = 0; i < count; i++) {
    files[i] = source_read(run->options.arguments[i], run->arena, run->diagnostics);
    if (!files[i])
      return -1;
  }
  if (production_read(files, count, zone_min, production, run->arena, run->diagnostics))
    return -1;
  records_doubt_day(production->finished, "", files[0], run->diagnostics);
  return 0;
}

int import_production(struct run *run, const char *folder) {
  struct production production;
  struct texts notes = {0};
  if (read_all(run, &production))
    return -1;
  const char *served = production.model;
  if (name_facts(run, &production, &notes) || check_model(run, served, production.model, &notes) ||
      production_write(&production, path_of(&production, folder, run->arena), run->arena,
                       run->diagnostics))
    return -1;
  return run_print_answer(run, NULL, production_answer(&production, &notes, run->arena));
}
