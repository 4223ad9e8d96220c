#include "reports/spreadsheet/row_order.h"

#include "model/cost/formula.h"
#include "model/cost/graph.h"

#include <stdbool.h>
#include <string.h>

// What may have a row: a declaration of the scenario's model, or a step, which has the same name in
// all options that have it.
struct entry {
  const struct declaration *item; // NULL: no option computes it
  int *declarations;              // [option_count]
  int block;
  bool visited;
};

struct ordering {
  const struct sheet_graph *const *graphs;
  size_t option_count;
  struct arena *arena;
  struct entry *entries;
  int count, capacity;
  int **entry_of; // [option_count][model.count]: of what is computed, else -1
  struct row_order *order;
};

// ---- the entries

static int add_entry(struct ordering *ordering) {
  if (ordering->count == ordering->capacity) {
    const size_t old = (size_t)ordering->capacity, new = 2 * old;
    ordering->entries =
        arena_grow(ordering->arena, ordering->entries, old, new, sizeof *ordering->entries);
    ordering->capacity = (int)new;
  }
  struct entry *entry = &ordering->entries[ordering->count];
  *entry = (struct entry){.declarations =
                              arena_array(ordering->arena, ordering->option_count, sizeof(int))};
  for (size_t o = 0; o < ordering->option_count; o++)
    entry->declarations[o] = -1;
  return ordering->count++;
}

// The entry of the step in an earlier option; a new one if none has it.
static int entry_of_step(struct ordering *ordering, size_t option, const char *name) {
  for (size_t o = 0; o < option; o++) {
    const int d = model_find(&ordering->graphs[o]->model, name);
    if (d >= 0)
      return ordering->entry_of[o][d];
  }
  return add_entry(ordering);
}

static void enter_option(struct ordering *ordering, size_t option, int declared) {
  const struct sheet_graph *sheet = ordering->graphs[option];
  const size_t count = (size_t)sheet->model.count;
  int *entry_of = ordering->entry_of[option] = arena_array(ordering->arena, count, sizeof(int));
  for (size_t d = 0; d < count; d++)
    entry_of[d] = -1;
  for (int i = 0; i < sheet->graph.order_count; i++) {
    const int d = sheet->graph.order[i];
    const struct declaration *item = &sheet->model.declarations[d];
    entry_of[d] = d < declared ? d : entry_of_step(ordering, option, item->name);
    struct entry *entry = &ordering->entries[entry_of[d]];
    entry->declarations[option] = d;
    entry->item = entry->item ? entry->item : item;
    entry->block = item->group;
  }
}

// ---- what a formula reads

typedef void (*visitor)(struct ordering *ordering, struct entry *read, struct entry *reader);

static void walk(struct ordering *ordering, size_t option, const struct node *node, visitor visit,
                 struct entry *reader) {
  const int *entry_of = ordering->entry_of[option];
  if (node->kind == NODE_NAME && node->declaration >= 0 && entry_of[node->declaration] >= 0)
    visit(ordering, &ordering->entries[entry_of[node->declaration]], reader);
  for (int i = 0; i < node->argument_count; i++)
    walk(ordering, option, node->arguments[i], visit, reader);
}

static void walk_option(struct ordering *ordering, size_t option, struct entry *reader,
                        visitor visit) {
  const int d = reader->declarations[option];
  if (d >= 0)
    walk(ordering, option, graph_formula(&ordering->graphs[option]->graph, d), visit, reader);
}

// ---- the blocks

static void raise_block(struct ordering *ordering, struct entry *read, struct entry *reader) {
  (void)ordering;
  reader->block = read->block > reader->block ? read->block : reader->block;
}

// Repeats until no option's formulas move anything: each pass follows an order of computation, so
// few passes are needed.
static void choose_blocks(struct ordering *ordering) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (size_t o = 0; o < ordering->option_count; o++) {
      const struct graph *graph = &ordering->graphs[o]->graph;
      for (int i = 0; i < graph->order_count; i++) {
        struct entry *entry = &ordering->entries[ordering->entry_of[o][graph->order[i]]];
        const int before = entry->block;
        walk_option(ordering, o, entry, raise_block);
        moved |= entry->block != before;
      }
    }
  }
}

// ---- the order

static void visit_entry(struct ordering *ordering, struct entry *entry);

static void visit_read(struct ordering *ordering, struct entry *read, struct entry *reader) {
  if (read->block == reader->block)
    visit_entry(ordering, read);
}

// Everything that the entry needs in its block, then the entry. No cost model is circular, whatever
// the options.
static void visit_entry(struct ordering *ordering, struct entry *entry) {
  if (entry->visited)
    return;
  entry->visited = true;
  for (size_t o = 0; o < ordering->option_count; o++)
    walk_option(ordering, o, entry, visit_read);
  struct row_order *order = ordering->order;
  order->rows[order->count++] = (struct ordered_row){
      .block = entry->block, .item = entry->item, .declarations = entry->declarations};
}

static void order_block(struct ordering *ordering, int block) {
  for (int e = 0; e < ordering->count; e++)
    if (ordering->entries[e].item && ordering->entries[e].block == block)
      visit_entry(ordering, &ordering->entries[e]);
}

// Two rows with the same label would be ambiguous.
static void label_rows(struct row_order *order, struct arena *arena) {
  for (size_t i = 0; i < order->count; i++) {
    struct ordered_row *row = &order->rows[i];
    row->label = row->item->label;
    for (size_t k = 0; k < i && row->label == row->item->label; k++)
      if (!strcmp(order->rows[k].item->label, row->item->label) &&
          strcmp(order->rows[k].item->name, row->item->name) != 0)
        row->label = arena_printf(arena, "%s (%s)", row->item->label, row->item->name);
  }
}

struct row_order *row_order_of(const struct model *model, const struct sheet_graph *const *graphs,
                               size_t count, struct arena *arena) {
  struct ordering ordering = {.graphs = graphs, .option_count = count, .arena = arena};
  ordering.entry_of = arena_array(arena, count, sizeof(int *));
  ordering.capacity = model->count + 256; // extra room for steps of long formulas
  ordering.entries = arena_array(arena, (size_t)ordering.capacity, sizeof *ordering.entries);
  for (int d = 0; d < model->count; d++)
    add_entry(&ordering);
  for (size_t o = 0; o < count; o++)
    enter_option(&ordering, o, model->count);
  ordering.order = arena_alloc(arena, sizeof *ordering.order);
  ordering.order->rows =
      arena_array(arena, (size_t)ordering.count + 1, sizeof *ordering.order->rows);
  choose_blocks(&ordering);
  for (int block = 0; block < model->group_count; block++)
    order_block(&ordering, block);
  label_rows(ordering.order, arena);
  return ordering.order;
}
