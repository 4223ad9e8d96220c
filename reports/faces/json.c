// Answers as JSON.
#include "base/arena.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/faces.h"
#include "reports/faces/parts.h"
#include "reports/print/json_stream.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// A value of the document: an object, a list, or what a cell says. Cells are not copied: a document
// can be large.
struct part {
  const char *key; // in its object; NULL in a list
  struct part *next;
  enum part_kind { PART_OBJECT, PART_LIST, PART_CELL } kind;
  unsigned number; // of a list's element found last, if they are found by number
  union {
    struct {
      struct part *first, *last;
      struct part *found; // last: often it or the next one is sought next
    };
    struct {
      const struct answer_cell *cell;
      const struct unit *unit;
      bool sourced; // with its unit, source, date and grade
    };
  };
};

// What the placeholders of a place stand for.
struct place_names {
  const char *row, *column;
  size_t number; // of the row among those shown
  struct arena *arena;
};

static struct part *append(struct part *to, const char *key, enum part_kind kind,
                           struct arena *arena) {
  struct part *part = arena_alloc(arena, sizeof *part);
  part->key = key;
  part->kind = kind;
  if (to->last)
    to->last->next = part;
  else
    to->first = part;
  return to->last = part;
}

static struct part *append_cell(struct part *to, const char *key, const struct answer_cell *cell,
                                const struct unit *unit, struct arena *arena) {
  struct part *part = append(to, key, PART_CELL, arena);
  part->cell = cell;
  part->unit = unit;
  return part;
}

// A value that is in no table.
static void add(struct part *to, const char *key, struct answer_cell value, struct arena *arena) {
  struct answer_cell *cell = arena_alloc(arena, sizeof *cell);
  *cell = value;
  append_cell(to, key, cell, NULL, arena);
}

static void add_text(struct part *to, const char *key, const char *text, struct arena *arena) {
  add(to, key, cell_words(text ? text : ""), arena);
}

// ---- printing

static void print_number(struct json_stream *out, double value, const struct unit *unit) {
  json_stream_number(out, machine_number(value, unit));
}

static void print_several(struct json_stream *out, const struct answer_cell *cell,
                          const struct unit *unit) {
  const size_t count = cell->kind == CELL_LIST ? cell->list.count : cell->value_count;
  json_stream_open(out, '[');
  for (size_t i = 0; i < count; i++)
    if (cell->kind == CELL_LIST)
      json_stream_text(out, cell->list.list[i]);
    else if (cell->kind == CELL_COUNTS)
      json_stream_integer(out, cell->counts[i]);
    else
      print_number(out, cell->values[i], unit);
  json_stream_close(out, ']');
}

static void print_cell(struct json_stream *out, const struct answer_cell *cell,
                       const struct unit *unit) {
  if (cell->kind == CELL_FLAG)
    json_stream_flag(out, cell->value != 0);
  else if (cell->kind == CELL_COUNT)
    json_stream_integer(out, cell->counts[0]);
  else if (cell->kind == CELL_COUNTS || cell->kind == CELL_LIST || cell->kind == CELL_SERIES)
    print_several(out, cell, unit);
  else if (cell->text && cell->kind != CELL_PUBLISHED)
    json_stream_text(out, cell->text);
  else
    print_number(out, cell->value, unit);
}

static void print_sourced(struct json_stream *out, const struct answer_cell *cell,
                          const struct unit *unit) {
  const char *const texts[][2] = {{"unit", unit ? unit->text : NULL},
                                  {"source", cell->source},
                                  {"date", cell->date},
                                  {"grade", cell->grade}};
  json_stream_open(out, '{');
  json_stream_key(out, "value");
  print_cell(out, cell, unit);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    json_stream_key(out, texts[i][0]);
    json_stream_text(out, texts[i][1] ? texts[i][1] : "");
  }
  json_stream_close(out, '}');
}

static void print_part(struct json_stream *out, const struct part *part) {
  const bool is_list = part->kind == PART_LIST;
  if (part->kind == PART_CELL) {
    (part->sourced ? print_sourced : print_cell)(out, part->cell, part->unit);
    return;
  }
  json_stream_open(out, is_list ? '[' : '{');
  for (const struct part *child = part->first; child; child = child->next) {
    if (!is_list)
      json_stream_key(out, child->key);
    print_part(out, child);
  }
  json_stream_close(out, is_list ? ']' : '}');
}

// ---- places

// A part of a place.
struct word {
  const char *text;
  size_t length;
};

// Where a value goes.
struct spot {
  struct part *object;
  struct word key;
  bool is_list; // the key's value is a list, to which the value is appended
};

static struct word named(const struct place_names *names, const char *text, size_t length) {
  const bool is_name = length == 2 && *text == '%';
  const char *name = !is_name                           ? NULL
                     : text[1] == 'r'                   ? names->row
                     : text[1] == 'c' || text[1] == 'k' ? names->column
                                                        : NULL;
  return name ? (struct word){name, strlen(name)} : (struct word){text, length};
}

static bool is_word(const char *text, struct word word) {
  return !strncmp(text, word.text, word.length) && !text[word.length];
}

// The texts of places and names last as long as the answer, but need not end with the word.
static const char *kept(struct word word, struct arena *arena) {
  return word.text[word.length] ? arena_copy_n(arena, word.text, word.length) : word.text;
}

static struct part *next_around(const struct part *in, const struct part *part) {
  return part->next ? part->next : in->first;
}

static struct part *find(struct part *in, struct word key) {
  struct part *start = in->found ? in->found : in->first, *part = start;
  do {
    if (part && is_word(part->key, key))
      return in->found = part;
    part = part ? next_around(in, part) : NULL;
  } while (part != start);
  return NULL;
}

static struct part *member(struct part *object, struct word key, bool is_list,
                           struct arena *arena) {
  struct part *there = find(object, key);
  assert(!there || there->kind != PART_CELL);
  return there ? there : append(object, kept(key, arena), is_list ? PART_LIST : PART_OBJECT, arena);
}

// The object of a list whose field has that value, or a new one at its end.
static struct part *element_with(struct part *list, struct word field, struct word value,
                                 struct arena *arena) {
  struct part *start = list->found ? list->found : list->first, *part = start;
  while (part) {
    const struct part *has = find(part, field);
    const char *text = has && has->kind == PART_CELL ? has->cell->text : NULL;
    if (text && is_word(text, value))
      return list->found = part;
    part = next_around(list, part);
    if (part == start)
      break;
  }
  part = append(list, NULL, PART_OBJECT, arena);
  add_text(part, kept(field, arena), kept(value, arena), arena);
  return list->found = part;
}

static struct part *element_at(struct part *list, size_t number, struct arena *arena) {
  if (list->number > number)
    list->found = NULL;
  while (!list->found || list->number < number) {
    struct part *next = list->found ? list->found->next : list->first;
    list->number = list->found ? list->number + 1 : 0;
    list->found = next ? next : append(list, NULL, PART_OBJECT, arena);
  }
  return list->found;
}

// The element of a list that "[id=%c]" or "[#]" means.
static struct part *element(struct part *list, const char *place, const struct place_names *names) {
  const char *inside = place + 1, *equals = strchr(inside, '='), *close = strchr(inside, ']');
  if (*inside == '#')
    return element_at(list, names->number, names->arena);
  return element_with(list, (struct word){inside, (size_t)(equals - inside)},
                      named(names, equals + 1, (size_t)(close - equals - 1)), names->arena);
}

static struct spot find_spot(struct part *at, const char *place, const struct place_names *names) {
  const char *column = names->column ? strstr(place, ".%c") : NULL;
  if (column && strpbrk(names->column, ".[")) // its key is a place itself
    place = arena_printf(names->arena, "%.*s.%s%s", (int)(column - place), place, names->column,
                         column + 3);
  for (;;) {
    const size_t length = strcspn(place, ".[");
    const struct word key = named(names, place, length);
    place += length;
    if (!*place || !strcmp(place, "[#]"))
      return (struct spot){at, key, *place == '['};
    const bool is_list = *place == '[';
    at = member(at, key, is_list, names->arena);
    if (is_list) {
      at = element(at, place, names);
      place = strchr(place, ']') + 1;
    }
    place++;
  }
}

// A key is given a value once: it is not sought.
static struct part *put(struct part *at, const char *place, const struct place_names *names,
                        const struct answer_cell *cell, const struct unit *unit) {
  const struct spot spot = find_spot(at, place, names);
  if (spot.is_list)
    return append_cell(member(spot.object, spot.key, true, names->arena), NULL, cell, unit,
                       names->arena);
  return append_cell(spot.object, kept(spot.key, names->arena), cell, unit, names->arena);
}

static void put_text(struct part *at, const char *place, const struct place_names *names,
                     const char *text) {
  struct answer_cell *cell = arena_alloc(names->arena, sizeof *cell);
  *cell = cell_words(text);
  put(at, place, names, cell, NULL);
}

// The containers of all values of a place, created even if they stay empty: {} of "saving.%c", []
// of "options[id=%c].grade".
static void enclose(struct part *at, const char *place, struct arena *arena) {
  size_t length = strcspn(place, "%#");
  if (!place[length])
    return;
  while (length && place[length] != '.' && place[length] != '[')
    length--;
  if (!length)
    return;
  const struct place_names names = {.arena = arena};
  const struct spot spot = find_spot(at, arena_copy_n(arena, place, length), &names);
  member(spot.object, spot.key, place[length] == '[', arena);
}

// ---- tables

// The shared units of a table's numbers, at their place, unless another table has put them there;
// `usual`: the table has no place of its own.
static void put_units(struct part *at, const struct answer_table *table, const char *place,
                      bool usual, struct arena *arena) {
  const bool of_rows = strstr(place, "%r") != NULL;
  enclose(at, place, arena);
  for (size_t i = 0; i < (of_rows ? table->row_count : table->column_count); i++) {
    const struct unit *unit = of_rows ? table->rows[i].unit : table->columns[i].unit;
    const char *key = of_rows ? table->rows[i].key : table->columns[i].key;
    const struct place_names names = {key, key, 0, arena};
    if (!unit || (of_rows && (!row_shown(table, i, FACE_JSON) || table->rows[i].json)))
      continue;
    const struct spot spot = find_spot(at, place, &names);
    if (!find(spot.object, spot.key))
      put_text(at, place, &names, usual ? unit_name(unit) : unit->text);
  }
}

static void put_cell(struct part *at, const struct answer_table *table, size_t r, size_t c,
                     const char *place, const struct place_names *names) {
  const struct answer_cell *cell = cell_at(table, r, c);
  const struct answer_row *row = table->rows ? &table->rows[r] : NULL;
  place = row && row->json ? row->json : table->columns[c].json ? table->columns[c].json : place;
  if (cell->kind == CELL_EMPTY)
    find_spot(at, place, names);
  if (cell->kind == CELL_ABSENT || cell->kind == CELL_EMPTY || cell->kind == CELL_BAR ||
      cell->kind == CELL_HISTOGRAM)
    return;
  put(at, place, names, cell, unit_at(table, r, c))->sourced = row && row->sourced;
  if (table->json || !cell->unit || !cell_has_number(cell))
    return;
  const struct place_names beside = {names->row,
                                     arena_printf(names->arena, "%s_unit", names->column),
                                     names->number, names->arena};
  put_text(at, place, &beside, unit_name(cell->unit));
}

// A tree of steps: each is an object of its cells, with its children in a list, which may have a
// column of its own.
static void put_tree(struct part *at, const struct answer_table *table, struct arena *arena) {
  const struct word branches = {table->branches, strlen(table->branches)};
  struct part **above = arena_array(arena, table->row_count + 1, sizeof(struct part *));
  for (size_t r = 0; r < table->row_count; r++) {
    const int depth = table->rows[r].depth;
    struct part *step =
        depth ? append(member(above[depth - 1], branches, true, arena), NULL, PART_OBJECT, arena)
              : append(at, table->json, PART_OBJECT, arena);
    for (size_t c = 0; c < table->column_count; c++)
      if (!column_shown(table, c, FACE_JSON) || cell_at(table, r, c)->kind == CELL_ABSENT)
        continue;
      else if (is_word(table->columns[c].key, branches))
        append(step, table->branches, PART_LIST, arena);
      else
        append_cell(step, table->columns[c].key, cell_at(table, r, c), unit_at(table, r, c), arena);
    above[depth] = step;
  }
}

static void put_table(struct part *at, const struct answer_table *table, struct arena *arena) {
  const char *place =
      table->json ? table->json : arena_printf(arena, "tables.%s.rows[#].%%c", table->key);
  const char *units =
      table->json ? table->json_units : arena_printf(arena, "tables.%s.units.%%c", table->key);
  // A place without the row's name would be the same for all rows: then the first cell is a cell
  // like any other.
  const size_t first = strstr(place, "%r") ? 1 : 0;
  size_t shown = 0;
  if (units)
    put_units(at, table, units, !table->json, arena);
  enclose(at, place, arena);
  for (size_t r = 0; r < table->row_count; r++) {
    if (!row_shown(table, r, FACE_JSON))
      continue;
    if (table->rows && table->rows[r].json)
      enclose(at, table->rows[r].json, arena);
    for (size_t c = first; c < table->column_count; c++) {
      if (!column_shown(table, c, FACE_JSON))
        continue;
      const struct place_names names = {
          table->rows && table->rows[r].key ? table->rows[r].key : cell_at(table, r, 0)->text,
          table->columns[c].key, shown, arena};
      put_cell(at, table, r, c, place, &names);
    }
    shown++;
  }
}

// ---- the document

static void put_notes(struct part *object, const struct answer *answer, struct arena *arena) {
  const struct word key = {"notes", strlen("notes")};
  for (size_t i = 0; i < answer->note_count; i++)
    if (note_shown(&answer->notes[i], FACE_JSON))
      add_text(member(object, key, true, arena), NULL,
               arena_printf(arena, "%s%s", answer->notes[i].label, answer->notes[i].text), arena);
}

static void put_drawn(struct part *object, const struct draws_made *drawn, struct arena *arena) {
  if (!drawn->count)
    return;
  struct part *part = append(object, "drawn", PART_OBJECT, arena);
  add(part, "draws", cell_counts(&drawn->count, 1), arena);
  add(part, "seed", cell_counts(&drawn->seed, 1), arena);
  add_text(part, "method", draw_method_names[drawn->method], arena);
}

static void put_answer(struct part *object, const struct answer *answer, struct texts warnings,
                       struct arena *arena) {
  add_text(object, "answer", answer->sentence, arena);
  add(object, "no", cell_flag(answer->no), arena);
  add(object, "warnings", cell_list(warnings), arena);
  add(object, "reasons", cell_list(answer->reasons), arena);
  put_notes(object, answer, arena);
  put_drawn(object, &answer->drawn, arena);
  for (size_t t = 0; t < answer->table_count; t++)
    if (table_shown(&answer->tables[t], FACE_JSON))
      (answer->tables[t].branches ? put_tree : put_table)(object, &answer->tables[t], arena);
}

static void put_listed(struct part *list, const struct answer *answer, struct arena *arena) {
  struct part *object = append(list, NULL, PART_OBJECT, arena);
  add_text(object, "kind", answer->kind, arena);
  add_text(object, "name", answer->name, arena);
  add_text(object, "title", answer->title, arena);
  put_answer(object, answer, answer->warnings, arena);
  member(object, (struct word){"tables", strlen("tables")}, false, arena);
}

static void put_list(struct part *root, const struct answers *answers, struct arena *arena) {
  if (answers->count)
    add(root, "warnings", cell_list(answers->list[0].inherited), arena);
  struct part *list = append(root, "answers", PART_LIST, arena);
  for (size_t i = 0; i < answers->count; i++)
    put_listed(list, &answers->list[i], arena);
}

static struct texts all_warnings(const struct answer *answer, struct arena *arena) {
  struct texts all = {0};
  for (size_t i = 0; i < answer->warnings.count; i++)
    texts_add(&all, arena, "%s", answer->warnings.list[i]);
  for (size_t i = 0; i < answer->inherited.count; i++)
    texts_add(&all, arena, "%s", answer->inherited.list[i]);
  return all;
}

// The labels of options that are not called by their ids; omitted if there are none.
static void put_labels(struct part *head, const struct scenario *scenario, struct arena *arena) {
  struct part *labels = NULL;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (!strcmp(option->id, option->label))
      continue;
    labels = labels ? labels : append(head, "labels", PART_OBJECT, arena);
    add_text(labels, option->id, option->label, arena);
  }
}

// The same for cases.
static void put_case_labels(struct part *head, const struct scenario *scenario,
                            struct arena *arena) {
  struct part *labels = NULL;
  for (size_t c = 0; c < scenario->case_count; c++) {
    if (!strcmp(scenario->cases[c], scenario->case_labels[c]))
      continue;
    labels = labels ? labels : append(head, "case_labels", PART_OBJECT, arena);
    add_text(labels, scenario->cases[c], scenario->case_labels[c], arena);
  }
}

static void put_scenario(struct part *root, const struct scenario *scenario, struct arena *arena) {
  struct part *head = append(root, "scenario", PART_OBJECT, arena);
  add_text(head, "title", scenario->title, arena);
  add_text(head, "case", scenario->cases[scenario->selected], arena);
  add_text(head, "sha256", scenario->digest, arena);
  put_labels(head, scenario, arena);
  put_case_labels(head, scenario, arena);
}

void json_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
                struct arena *arena) {
  const struct answer *first = answers->count ? &answers->list[0] : NULL;
  const int stated = first ? first->schema : 0;
  const uint64_t schema = stated ? (uint64_t)stated : 1;
  struct part root = {.kind = PART_OBJECT};
  add(&root, "schema", cell_counts(&schema, 1), arena);
  if (scenario)
    put_scenario(&root, scenario, arena);
  if (first && *first->stamp)
    add_text(&root, "stamp", first->stamp, arena);
  if (stated)
    put_answer(&root, first, all_warnings(first, arena), arena);
  else
    put_list(&root, answers, arena);
  struct json_stream stream = {.out = out};
  print_part(&stream, &root);
  putc('\n', out);
}
