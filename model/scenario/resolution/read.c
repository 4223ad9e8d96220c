#include "model/scenario/resolution/read.h"

#include "base/csv.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/catalog/own_rows.h"
#include "model/delivery/offer.h"
#include "model/evidence/catalog.h"
#include "model/records/records.h"
#include "model/scenario/inputs.h"
#include "model/scenario/likeness.h"
#include "model/scenario/reading/assignment.h"
#include "model/scenario/reading/cost_model.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/reading/head.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/text.h"
#include "model/scenario/resolution/effect.h"
#include "model/scenario/resolution/evaluated.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/scenario/resolution/resolution.h"
#include "model/scenario/resolution/warnings.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void digest(const struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const size_t offers = scenario->offer_count, own = scenario->catalog->own_count;
  struct texts all = {0};
  all.list =
      arena_array(reading->arena, 2 + offers + own + scenario->setting_count, sizeof *all.list);
  all.list[all.count++] = scenario->model->source->text;
  all.list[all.count++] = reading->text->all_text;
  for (size_t i = 0; i < offers; i++)
    all.list[all.count++] = scenario->offers[i].offer->source->text;
  for (size_t i = 0; i < own; i++)
    all.list[all.count++] = scenario->catalog->own[i]->table->source->text;
  for (size_t i = 0; i < scenario->setting_count; i++)
    all.list[all.count++] = arena_printf(reading->arena, "--set %s\n", scenario->settings[i]);
  const char *text = texts_joined_by(&all, "", reading->arena);
  scenario->digest =
      source_sha256(source_from_text("digest", text, reading->arena), reading->arena);
}

// Reads the sections, before anything is looked up.
static void read_sections(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  sections_read(reading);
  head_read(reading);
  reading->selections =
      arena_array(reading->arena, scenario->option_count + 1, sizeof *reading->selections);
  reading->inputs =
      inputs_new(scenario->model, scenario->option_count, scenario->case_count, reading->arena);
  scenario->selections = reading->selections;
  scenario->inputs = reading->inputs;
  assign_all(reading);
  inputs_finish(reading->inputs, reading->diagnostics);
  effect_check_reach(scenario, reading->arena, reading->diagnostics);
  ranges_read(reading);
  frees_read(reading);
}

static bool failed(const struct reading *reading) {
  return reading->diagnostics->errors != reading->errors_before;
}

// Everything other than the scenario file that is used to resolve it.
static int open_data(const struct reading *reading, struct records *records) {
  const struct scenario_request *request = reading->request;
  struct catalog *catalog = reading->scenario->catalog;
  const char *directory = request->measurements_directory;
  if (catalog_open(catalog, request->data_directory, reading->arena, reading->diagnostics) ||
      catalog_add_files(catalog, request->data_extras, request->data_extra_count))
    return -1;
  if (directory && records_read(directory, records, reading->arena, reading->diagnostics))
    return -1;
  if (records->count || records->serving_count)
    records->accelerators = catalog_table(catalog, CATALOG_ACCELERATORS);
  return 0;
}

// A mistake in the other file is reported when that file itself is read.
static const struct scenario_text *spoken_by_both(const struct reading *reading) {
  const struct scenario_text *text = reading->text, *other = NULL;
  struct diagnostics untold = {.arena = reading->arena};
  if (reading->request->beside)
    other = scenario_text_read(reading->request->beside, NULL, section_is_common, reading->arena,
                               &untold);
  if (!other)
    return text;
  struct scenario_text *both = arena_alloc(reading->arena, sizeof *both);
  *both = *text;
  both->section_count = text->section_count + other->section_count;
  both->sections = arena_array(reading->arena, both->section_count, sizeof *both->sections);
  memcpy(both->sections, text->sections, text->section_count * sizeof *both->sections);
  memcpy(both->sections + text->section_count, other->sections,
         other->section_count * sizeof *both->sections);
  return both;
}

// A vendor's offer, where a scenario is read: one error instead of one for each section.
static bool is_offer(const struct reading *reading) {
  const struct ini_section *offer = reading_section(reading, "offer");
  if (!offer || reading_section(reading, "option"))
    return false;
  diagnostics_error(reading->diagnostics, offer->place,
                    "this is a vendor's offer: name it as 'quote = FILE' in an [option ID] of a "
                    "scenario, and give that");
  return true;
}

struct scenario *scenario_read(const struct scenario_request *request, struct arena *arena,
                               struct diagnostics *diagnostics) {
  struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
  struct records *records = arena_alloc(arena, sizeof *records);
  struct reading reading = {.request = request,
                            .scenario = scenario,
                            .errors_before = diagnostics->errors,
                            .arena = arena,
                            .diagnostics = diagnostics};
  reading.text =
      scenario_text_read(request->path, request->text, section_is_common, arena, diagnostics);
  if (!reading.text)
    return NULL;
  if (is_offer(&reading))
    return NULL;
  reading.spoken = spoken_by_both(&reading);
  *scenario = (struct scenario){.source = reading.text->source,
                                .path = request->path,
                                .catalog = arena_alloc(arena, sizeof *scenario->catalog),
                                .records = records,
                                .measurements_directory = request->measurements_directory,
                                .settings = request->settings,
                                .setting_count = request->setting_count,
                                .may_mix = request->mixed,
                                .varies_horizon = request->varies_horizon};
  if (open_data(&reading, records) || scenario_model_read(&reading))
    return NULL;
  const bool model_is_good = !failed(&reading);
  read_sections(&reading);
  if (!model_is_good || !scenario->option_count)
    return NULL;
  scenario->finds = arena_array(arena, (size_t)scenario->model->count, sizeof *scenario->finds);
  scenario_resolve(scenario, arena, diagnostics);
  if (failed(&reading))
    return NULL;
  effect_check_use(scenario, arena, diagnostics);
  ranges_of_evidence(&reading);
  scenario_evaluate(scenario, arena, diagnostics);
  ranges_check(&reading);
  plausibility_refuse_reach(scenario, arena, diagnostics);
  if (failed(&reading))
    return NULL;
  digest(&reading);
  scenario_refuse_unlike(scenario, arena, diagnostics);
  if (failed(&reading))
    return NULL;
  scenario_assess(scenario, arena);
  return scenario;
}
