#include "model/draft/draft.h"

#include "base/csv.h"
#include "base/digits.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/draft/drafting.h"
#include "model/draft/lines.h"
#include "model/draft/option.h"
#include "model/draft/proposals.h"
#include "model/draft/room.h"
#include "model/draft/template.h"
#include "model/draft/workload.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_COUNT = 1, MAX_TITLE_LENGTH = 110, NAMED_IN_FILE = 4 };

// ---- names

static int open_tables(struct drafting *drafting) {
  const struct draft_tables tables = {
      .accelerators = catalog_table(drafting->catalog, CATALOG_ACCELERATORS),
      .models = catalog_table(drafting->catalog, CATALOG_MODELS),
      .throughputs = catalog_table(drafting->catalog, CATALOG_THROUGHPUT),
      .prices = catalog_table(drafting->catalog, CATALOG_PRICES),
      .api_prices = catalog_table(drafting->catalog, CATALOG_API_PRICES)};
  drafting->tables = tables;
  return tables.accelerators && tables.models && tables.throughputs && tables.prices &&
                 tables.api_prices
             ? 0
             : -1;
}

// The row for a name, or -1 after an error.
static long find_row(struct drafting *drafting, enum catalog_table which, const char *typed) {
  long row;
  const struct naming naming =
      naming_find_row(drafting->catalog, which, typed, &row, drafting->arena);
  if (naming.why)
    diagnostics_error(drafting->diagnostics, nowhere, "%s", naming.why);
  if (naming.note)
    texts_add(&drafting->draft->notes, drafting->arena, "%s", naming.note);
  return naming.word ? row : -1;
}

static int check_accelerator(const struct drafting *drafting, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (drafting->accelerators[k] == drafting->accelerators[i])
      return drafting_refuse(
          drafting,
          arena_printf(drafting->arena, "'%s' and '%s' are the same accelerator, %s: name it once",
                       drafting->request->accelerators[k], drafting->request->accelerators[i],
                       drafting_cell(drafting, i, "id")));
  if (!strcmp(drafting_cell(drafting, i, "status"), "cloud only"))
    return drafting_refuse(drafting,
                           arena_printf(drafting->arena,
                                        "'%s' is not sold, only rented: 'new' drafts purchases",
                                        drafting_cell(drafting, i, "id")));
  return 0;
}

static int find_accelerators(struct drafting *drafting) {
  const struct draft_request *request = drafting->request;
  int result = 0;
  drafting->accelerators =
      arena_array(drafting->arena, request->accelerator_count + 1, sizeof *drafting->accelerators);
  for (size_t i = 0; i < request->accelerator_count; i++) {
    const long row = find_row(drafting, CATALOG_ACCELERATORS, request->accelerators[i]);
    drafting->accelerators[i] = (size_t)row;
    if (row < 0 || check_accelerator(drafting, i))
      result = -1;
  }
  return result;
}

// "mi355x" for mi355x-288, or the whole id if another accelerator's begins the same way.
static void name_options(struct drafting *drafting) {
  const size_t count = drafting->request->accelerator_count;
  const char **ids = arena_array(drafting->arena, count + 1, sizeof *ids);
  for (size_t i = 0; i < count; i++) {
    const char *id = drafting_cell(drafting, i, "id");
    size_t length = strcspn(id, "-");
    for (size_t k = 0; k < count; k++)
      if (k != i && !strncmp(drafting_cell(drafting, k, "id"), id, length) &&
          strcspn(drafting_cell(drafting, k, "id"), "-") == length)
        length = strlen(id);
    char *name = arena_copy_n(drafting->arena, id, length);
    for (char *c = name; *c; c++)
      *c = *c == '-' ? '_' : *c;
    ids[i] = name;
  }
  drafting->ids = ids;
}

static struct drafting drafting_new(const struct draft_request *request, struct catalog *catalog,
                                    struct draft *draft, struct arena *arena,
                                    struct diagnostics *diagnostics) {
  *draft = (struct draft){0};
  return (struct drafting){.request = request,
                           .catalog = catalog,
                           .lines = {.arena = arena},
                           .draft = draft,
                           .arena = arena,
                           .diagnostics = diagnostics};
}

const char *const *draft_ids(const struct draft_request *request, struct catalog *catalog,
                             struct arena *arena, struct diagnostics *diagnostics) {
  struct draft draft;
  struct drafting drafting = drafting_new(request, catalog, &draft, arena, diagnostics);
  if (open_tables(&drafting) || find_accelerators(&drafting))
    return NULL;
  name_options(&drafting);
  return drafting.ids;
}

static int check_count(const struct drafting *drafting) {
  const char *count = drafting->request->count;
  uint64_t value;
  if (!count || is_whole_number(count, MIN_COUNT, UINT64_MAX, &value))
    return 0;
  return drafting_refuse(
      drafting,
      arena_printf(drafting->arena, "the count must be a whole number from 1, not '%s'", count));
}

// ---- names of the title and the file

static const char *joined_ids(const struct drafting *drafting, const char *between) {
  struct texts names = {0};
  for (size_t i = 0; i < drafting->request->accelerator_count; i++)
    texts_add(&names, drafting->arena, "%s", drafting->ids[i]);
  return texts_joined_by(&names, between, drafting->arena);
}

static const char *title(const struct drafting *drafting) {
  const struct draft_request *request = drafting->request;
  static const char *const questions[DRAFT_QUESTIONS] = {[DRAFT_TWO_VENDORS] = "",
                                                         [DRAFT_RENT_OR_OWN] = ", rent or own",
                                                         [DRAFT_OWN_OR_API] = " or a token API",
                                                         [DRAFT_STAGES] = ", bought in stages",
                                                         [DRAFT_PROPOSALS] =
                                                             ", a request for proposals"};
  const char *model = table_cell(drafting->tables.models, drafting->model, "name");
  struct texts names = {0};
  for (size_t i = 0; i < request->accelerator_count; i++)
    texts_add(&names, drafting->arena, "%s", drafting_label(drafting, i));
  const char *volume = request->count
                           ? arena_printf(drafting->arena, " on %s accelerator%s", request->count,
                                          strcmp(request->count, "1") != 0 ? "s" : "")
                           : arena_printf(drafting->arena, ", %s", request->demand);
  const char *text = arena_printf(drafting->arena, "%s%s: %s%s",
                                  texts_joined_by(&names, " against ", drafting->arena),
                                  questions[request->question], model, volume);
  return strlen(text) <= MAX_TITLE_LENGTH
             ? text
             : arena_printf(drafting->arena, "%zu accelerators%s: %s", request->accelerator_count,
                            questions[request->question], model);
}

static const char *file_name(const struct drafting *drafting) {
  const enum draft_question question = drafting->request->question;
  const size_t count = drafting->request->accelerator_count;
  const char *names = count <= NAMED_IN_FILE
                          ? joined_ids(drafting, "-vs-")
                          : arena_printf(drafting->arena, "%zu-accelerators", count);
  return arena_printf(drafting->arena, "%s%s%s.ini", names, question ? "-" : "",
                      question ? draft_question_names[question] : "");
}

// ---- sections

// The first or last that has a published throughput, so that no saving is over a stand-in.
static const char *baseline(const struct drafting *drafting) {
  const size_t count = drafting->request->accelerator_count;
  const enum draft_question question = drafting->request->question;
  const bool first = question == DRAFT_RENT_OR_OWN || question == DRAFT_OWN_OR_API;
  for (size_t i = 0; i < count; i++) {
    const size_t a = first ? i : count - 1 - i;
    if (drafting->throughputs[a].is_published)
      return drafting->ids[a];
  }
  return drafting->ids[first ? 0 : count - 1];
}

static void add_scenario(struct drafting *drafting) {
  struct draft_section *section = draft_section_add(&drafting->lines, "scenario", "");
  draft_line_add(&drafting->lines, section, "title", title(drafting), NULL);
  drafting_add_template(drafting, section, "scenario");
  draft_line_add(&drafting->lines, section, "baseline", baseline(drafting), NULL);
  draft_line_add(&drafting->lines, section, "date", drafting->request->date,
                 "From this day prices count as stale after a year.");
  if (drafting->request->question == DRAFT_PROPOSALS)
    draft_stages_add(drafting, section);
}

static void add_tokens(struct drafting *drafting, struct draft_section *section, const char *key,
                       double tokens) {
  if (tokens > 0)
    draft_line_add(&drafting->lines, section, key,
                   arena_printf(drafting->arena, "%.10g token", tokens), NULL);
}

static void add_workload(struct drafting *drafting) {
  const struct draft_workload *workload = &drafting->workload;
  struct draft_lines *lines = &drafting->lines;
  struct draft_section *section = draft_section_add(lines, "workload", "");
  draft_line_add(lines, section, "model", workload->model, NULL);
  draft_line_add(lines, section, "precision", workload->precision,
                 "The configuration with published throughput for most of these accelerators.");
  if (*workload->activations)
    draft_line_add(lines, section, "activations", workload->activations, NULL);
  draft_line_add(lines, section, "scenario", workload->scenario, NULL);
  if (*workload->batch)
    draft_line_add(lines, section, "batch", workload->batch,
                   "Requests at once; runs at other batches are not comparable.");
  drafting_add_template(drafting, section, "workload");
  if (workload->input_tokens > 0)
    for (size_t i = 0; i < section->count; i++)
      if (section->lines[i].key && !strcmp(section->lines[i].key, "input_tokens"))
        section->count = i; // replaced by those of the form
  add_tokens(drafting, section, "input_tokens", workload->input_tokens);
  add_tokens(drafting, section, "output_tokens", workload->output_tokens);
  if (drafting->request->demand && drafting->request->question != DRAFT_PROPOSALS)
    draft_line_add(lines, section, "demand", drafting->request->demand, NULL);
}

static void add_common(struct drafting *drafting) {
  struct draft_section *section = draft_section_add(&drafting->lines, "common", "");
  if (drafting->request->count)
    draft_line_add(&drafting->lines, section, "accelerators", drafting->request->count, NULL);
  else if (drafting->request->question == DRAFT_PROPOSALS)
    draft_line_add(&drafting->lines, section, "accelerators", draft_proposals_unit(drafting),
                   "What compare shows; pertoken plan FILE finds how many to order, and when.");
  drafting_add_template(drafting, section, "common");
  if (!drafting_some_include_parts(drafting))
    drafting_add_template(drafting, section, "hardware");
}

// ---- what a question adds

static int add_question(struct drafting *drafting) {
  int result = 0;
  if (drafting->request->question == DRAFT_OWN_OR_API)
    return draft_api_add(drafting);
  if (drafting->request->question == DRAFT_PROPOSALS)
    draft_proposals_add(drafting);
  if (drafting->request->question == DRAFT_RENT_OR_OWN)
    for (size_t i = 0; i < drafting->request->accelerator_count; i++)
      result |= draft_rent_add(drafting, i);
  return result;
}

static void add_ranges(struct drafting *drafting) {
  struct draft_section *section = draft_section_add(&drafting->lines, "range", "");
  const char *comment =
      "A stand-in may be far off: for 90 % of accelerator pairs in the catalogue, the ratio lies "
      "within these bounds of their memory bandwidth ratio.";
  drafting_add_template(drafting, section, "range");
  for (size_t i = 0; i < drafting->request->accelerator_count; i++) {
    const struct draft_throughput *throughput = &drafting->throughputs[i];
    if (throughput->is_published)
      continue;
    draft_line_add(&drafting->lines, section,
                   arena_printf(drafting->arena, "%s.throughput", drafting->ids[i]),
                   arena_printf(drafting->arena, "triangular(%.6g, %.6g, %.6g) token/s",
                                throughput->low, throughput->stand_in, throughput->high),
                   comment);
    comment = NULL;
  }
}

// The template's cases, one section each.
static void add_cases(struct drafting *drafting) {
  const char *last = "";
  for (size_t i = 0; i < template_key_count; i++) {
    const struct template_key *key = &template_keys[i];
    if (strncmp(key->section, "case ", strlen("case ")) != 0 || !strcmp(key->section, last) ||
        !drafting_counts(drafting, key))
      continue;
    last = key->section;
    drafting_add_template(
        drafting, draft_section_add(&drafting->lines, "case", last + strlen("case ")), last);
  }
}

static int look_up(struct drafting *drafting) {
  const size_t count = drafting->request->accelerator_count;
  drafting->throughputs = arena_array(drafting->arena, count + 1, sizeof *drafting->throughputs);
  drafting_find_prices(drafting);
  if (!draft_workload_find(&drafting->tables, drafting->model, drafting->accelerators, count,
                           &drafting->workload, drafting->throughputs, drafting->arena))
    return draft_room_find(drafting);
  return drafting_refuse(drafting, "the catalogue has no throughput to draft from");
}

static const char opening[] =
    "Drafted by pertoken new from the catalogue's evidence. Every line may be changed; "
    "docs/scenario-file.md explains the keys.";

// The difference of two published runs that may only be compared with --mixed; else NULL.
static const char *difference(const struct drafting *drafting) {
  const struct draft_throughput *first = NULL;
  for (size_t i = 0; i < drafting->request->accelerator_count; i++) {
    const struct draft_throughput *its = &drafting->throughputs[i];
    const char *found = first && its->is_published
                            ? workload_difference(&first->evidence.workload,
                                                  &its->evidence.workload, drafting->arena)
                            : NULL;
    if (found)
      return found;
    if (!first && its->is_published)
      first = its;
  }
  return NULL;
}

static const char *head_of_file(const struct drafting *drafting) {
  const char *unlike = difference(drafting);
  return unlike ? arena_printf(drafting->arena,
                               "%s Published runs differ in %s: every command on this file needs "
                               "--mixed, which marks its result.",
                               opening, unlike)
                : opening;
}

// Mentions stand-ins in the title, which every face shows, unless the user wrote it.
static void say_stand_ins(struct drafting *drafting) {
  drafting->lines.comment = arena_printf(
      drafting->arena, "%s A line below MISSING holds a stand-in for an unpublished figure.",
      drafting->lines.comment);
  struct draft_line *line = &drafting->lines.sections[0].lines[0];
  if (!strcmp(line->value, title(drafting)))
    line->value =
        arena_printf(drafting->arena, "%s, with stand-ins for unpublished figures", line->value);
}

int draft_make(const struct draft_request *request, struct catalog *catalog, struct draft *draft,
               struct arena *arena, struct diagnostics *diagnostics) {
  struct drafting drafting = drafting_new(request, catalog, draft, arena, diagnostics);
  if (open_tables(&drafting))
    return -1;
  const int unknown = find_accelerators(&drafting) | check_count(&drafting);
  const long model = find_row(&drafting, CATALOG_MODELS, request->model);
  if (unknown || model < 0)
    return -1;
  drafting.model = (size_t)model;
  name_options(&drafting);
  if (look_up(&drafting))
    return -1;
  drafting.lines.comment = head_of_file(&drafting);
  add_scenario(&drafting);
  add_workload(&drafting);
  add_common(&drafting);
  for (size_t i = 0; i < request->accelerator_count; i++)
    draft_option_add(&drafting, i);
  if (add_question(&drafting))
    return -1;
  add_ranges(&drafting);
  add_cases(&drafting);
  draft_room_terms(&drafting);
  for (size_t i = 0; i < request->setting_count; i++)
    draft_set(&drafting.lines, request->settings[i]);
  draft->missing = draft_missing(&drafting.lines);
  if (draft->missing.count)
    say_stand_ins(&drafting);
  draft->text = draft_print(&drafting.lines);
  draft->name = file_name(&drafting);
  return 0;
}
