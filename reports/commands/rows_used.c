#include "reports/commands/rows_used.h"

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
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
  const size_t length = strlen(source->name);
  if (length < 4 || strcmp(source->name + length - 4, ".csv") != 0)
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

// The id of the row that holds a figure, or NULL.
static const char *row_of(struct listing *listing, const struct figure *figure) {
  const struct table *table =
      figure->place.source ? find_table(listing, figure->place.source) : NULL;
  for (size_t r = 0; table && r < table->rows; r++)
    if (table_place(table, r, "id").line == figure->place.line)
      return table_cell(table, r, "id");
  return NULL;
}

static void list_input(struct listing *listing, const struct scenario *scenario,
                       const struct option *option, int d) {
  const char *before = "";
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct figure *figure = option_figure(scenario, option, c, d);
    const char *row = row_of(listing, figure);
    if (!row || !strcmp(row, before))
      continue;
    csv_out_text(&listing->out, listing->name(listing->context, scenario->path));
    csv_out_text(&listing->out, option->id);
    csv_out_text(&listing->out, scenario->model->declarations[d].name);
    csv_out_text(&listing->out, listing->name(listing->context, figure->place.source->name));
    csv_out_text(&listing->out, row);
    csv_out_end_row(&listing->out);
    listing->row_count++;
    before = row;
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
  for (size_t s = 0; s < count; s++)
    for (size_t o = 0; o < scenarios[s]->option_count; o++)
      for (int d = 0; d < scenarios[s]->model->count; d++)
        if (scenarios[s]->options[o].graph->state[d] == GRAPH_INPUT)
          list_input(&listing, scenarios[s], &scenarios[s]->options[o], d);
  fclose(listing.out.file);
  const char *kept = text && listing.row_count ? arena_copy(arena, text) : NULL;
  free(text);
  return kept;
}
