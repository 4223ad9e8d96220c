#include "reports/commands/rows_used.h"

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "reports/print/csv_out.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
  rows_used_name *name;
  const void *context;
  struct csv_out out;
  const struct source **sources; // [source_count] that were searched
  const struct table **tables;   // of each; NULL: not a table with ids
  size_t source_count, row_count;
  struct arena *arena;
};

static const struct table *table_of(const struct source *source, struct arena *arena) {
  struct diagnostics unheard = {.arena = arena};
  if (!text_ends_in(source->name, ".csv"))
    return NULL;
  const struct table *table = csv_read(source, source->name, arena, &unheard);
  return table && table_column(table, "id") >= 0 ? table : NULL;
}

static const struct table *find_table(struct listing *listing, const struct source *source) {
  size_t s = 0;
  while (s < listing->source_count && listing->sources[s] != source)
    s++;
  if (s < listing->source_count)
    return listing->tables[s];
  listing->sources = arena_room(listing->arena, listing->sources, s, sizeof(const struct source *));
  listing->tables = arena_room(listing->arena, listing->tables, s, sizeof(const struct table *));
  listing->sources[s] = source;
  listing->tables[s] = table_of(source, listing->arena);
  listing->source_count++;
  return listing->tables[s];
}

// The id of the row at a place, or NULL.
static const char *row_at(struct listing *listing, struct place place) {
  const struct table *table = place.source ? find_table(listing, place.source) : NULL;
  for (size_t r = 0; table && r < table->rows; r++)
    if (table_place(table, r, "id").line == place.line)
      return table_cell(table, r, "id");
  return NULL;
}

static void add_row(struct listing *listing, const struct scenario *scenario, const char *option,
                    const char *input, struct place place, const char *row) {
  csv_out_text(&listing->out, listing->name(listing->context, scenario->path));
  csv_out_text(&listing->out, option);
  csv_out_text(&listing->out, input);
  csv_out_text(&listing->out, listing->name(listing->context, place.source->name));
  csv_out_text(&listing->out, row);
  csv_out_end_row(&listing->out);
  listing->row_count++;
}

static void list_input(struct listing *listing, const struct scenario *scenario,
                       const struct option *option, int d) {
  const char *before = "";
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct figure *figure = option_figure(scenario, option, c, d);
    const char *row = row_at(listing, figure->place);
    if (!row || !strcmp(row, before))
      continue;
    add_row(listing, scenario, option->id, scenario->model->declarations[d].name, figure->place,
            row);
    before = row;
  }
}

static void list_options(struct listing *listing, const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    for (int d = 0; d < scenario->model->count; d++)
      if (scenario->options[o].graph->state[d] == GRAPH_INPUT)
        list_input(listing, scenario, &scenario->options[o], d);
}

// The prices that a question names by their ids: a [rent NAME] lists offers that are no option.
static void list_questions(struct listing *listing, const struct scenario *scenario) {
  const struct table *prices =
      scenario->question_count ? catalog_glance(scenario->catalog, CATALOG_PRICES) : NULL;
  for (size_t q = 0; prices && q < scenario->question_count; q++) {
    const struct ini_section *section = &scenario->questions[q];
    const char *name = arena_printf(listing->arena, "%s %s", section->kind, section->argument);
    for (size_t k = 0; k < section->key_count && !strcmp(section->kind, "rent"); k++) {
      const struct ini_key *key = &section->keys[k];
      const long row = catalog_find(prices, key->value);
      if (row >= 0)
        add_row(listing, scenario, name, key->name, table_place(prices, (size_t)row, "id"),
                key->value);
    }
  }
}

const char *rows_used_text(const struct scenario *const *scenarios, size_t count,
                           rows_used_name *name, const void *context, struct arena *arena) {
  static const char *const columns[] = {"scenario", "option", "input", "file", "row"};
  char *text = NULL;
  size_t size = 0;
  struct listing listing = {.name = name, .context = context, .arena = arena};
  listing.out.file = open_memstream(&text, &size);
  if (!listing.out.file)
    return NULL;
  csv_out_header(&listing.out, columns, sizeof columns / sizeof columns[0]);
  for (size_t s = 0; s < count; s++) {
    list_options(&listing, scenarios[s]);
    list_questions(&listing, scenarios[s]);
  }
  fclose(listing.out.file);
  const char *kept = text && listing.row_count ? arena_copy(arena, text) : NULL;
  free(text);
  return kept;
}
