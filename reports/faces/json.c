// Answers as JSON.
#include "base/arena.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/faces.h"
#include "reports/print/json_out.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// What the placeholders of a place stand for.
struct place_names {
  const char *row, *column;
  size_t number; // of the row among those shown
  size_t *found; // where in a list the last object was found
  struct arena *arena;
};

static json_t *number_json(double value, const struct unit *unit) {
  return json_out_number(machine_number(value, unit));
}

static json_t *series_json(const struct answer_cell *cell, const struct unit *unit) {
  json_t *list = json_array();
  for (size_t i = 0; i < cell->value_count; i++)
    json_array_append_new(list, number_json(cell->values[i], unit));
  return list;
}

static json_t *counts_json(const struct answer_cell *cell) {
  json_t *list = json_array();
  for (size_t i = 0; i < cell->value_count; i++)
    json_array_append_new(list, json_integer((json_int_t)cell->counts[i]));
  return list;
}

static json_t *cell_json(const struct answer_cell *cell, const struct unit *unit) {
  if (cell->kind == CELL_FLAG)
    return json_boolean(cell->value != 0);
  if (cell->kind == CELL_COUNT)
    return json_integer((json_int_t)cell->counts[0]);
  if (cell->kind == CELL_COUNTS)
    return counts_json(cell);
  if (cell->kind == CELL_LIST)
    return json_out_texts(cell->list.list, cell->list.count);
  if (cell->kind == CELL_SERIES)
    return series_json(cell, unit);
  return cell->text && cell->kind != CELL_PUBLISHED ? json_out_text(cell->text)
                                                    : number_json(cell->value, unit);
}

static json_t *sourced_json(const struct answer_cell *cell, const struct unit *unit) {
  json_t *object = json_object();
  json_object_set_new(object, "value", cell_json(cell, unit));
  json_object_set_new(object, "unit", json_out_text(unit ? unit->text : ""));
  json_object_set_new(object, "source", json_out_text(cell->source ? cell->source : ""));
  json_object_set_new(object, "date", json_out_text(cell->date ? cell->date : ""));
  json_object_set_new(object, "grade", json_out_text(cell->grade ? cell->grade : ""));
  return object;
}

// ---- places

// Where a value goes.
struct spot {
  json_t *object;
  const char *key;
  bool is_list; // the key's value is a list, to which the value is appended
};

static const char *named(const struct place_names *names, const char *text, size_t length) {
  if (length == 2 && !strncmp(text, "%r", 2))
    return names->row;
  const bool column = length == 2 && (!strncmp(text, "%c", 2) || !strncmp(text, "%k", 2));
  return column ? names->column : arena_copy_n(names->arena, text, length);
}

static json_t *member(json_t *object, const char *key, bool is_list) {
  json_t *there = json_object_get(object, key);
  if (!there) {
    there = is_list ? json_array() : json_object();
    json_object_set_new(object, key, there);
  }
  return there;
}

// The object of a list whose field has that value, or a new one at its end. Usually it is the one
// found last, or the next.
static json_t *element_with(json_t *list, const char *field, const char *value, size_t *found) {
  const size_t count = json_array_size(list);
  for (size_t i = 0; i < count; i++) {
    const size_t at = (*found + i) % count;
    json_t *there = json_array_get(list, at);
    const char *text = json_string_value(json_object_get(there, field));
    if (text && !strcmp(text, value)) {
      *found = at;
      return there;
    }
  }
  json_array_append_new(list, json_object());
  json_t *there = json_array_get(list, count);
  *found = count;
  json_object_set_new(there, field, json_out_text(value));
  return there;
}

static json_t *element_at(json_t *list, size_t number) {
  while (json_array_size(list) <= number)
    json_array_append_new(list, json_object());
  return json_array_get(list, number);
}

// The element of a list that "[id=%c]" or "[#]" means.
static json_t *element(json_t *list, const char *place, const struct place_names *names) {
  const char *inside = place + 1, *equals = strchr(inside, '='), *close = strchr(inside, ']');
  if (*inside == '#')
    return element_at(list, names->number);
  return element_with(list, arena_copy_n(names->arena, inside, (size_t)(equals - inside)),
                      named(names, equals + 1, (size_t)(close - equals - 1)), names->found);
}

static struct spot find_spot(json_t *at, const char *place, const struct place_names *names) {
  const char *column = names->column ? strstr(place, ".%c") : NULL;
  if (column) // its key may be a place itself
    place = arena_printf(names->arena, "%.*s.%s%s", (int)(column - place), place, names->column,
                         column + 3);
  for (;;) {
    const size_t length = strcspn(place, ".[");
    const char *key = named(names, place, length);
    place += length;
    if (!*place || !strcmp(place, "[#]"))
      return (struct spot){at, key, *place == '['};
    const bool is_list = *place == '[';
    at = member(at, key, is_list);
    if (is_list) {
      at = element(at, place, names);
      place = strchr(place, ']') + 1;
    }
    place++;
  }
}

static void put(json_t *at, const char *place, const struct place_names *names, json_t *value) {
  const struct spot spot = find_spot(at, place, names);
  if (spot.is_list)
    json_array_append_new(member(spot.object, spot.key, true), value);
  else
    json_object_set_new(spot.object, spot.key, value);
}

// The containers of all values of a place, created even if they stay empty: {} of "saving.%c", []
// of "options[id=%c].grade".
static void enclose(json_t *at, const char *place, struct arena *arena) {
  size_t length = strcspn(place, "%#");
  if (!place[length])
    return;
  while (length && place[length] != '.' && place[length] != '[')
    length--;
  if (!length)
    return;
  size_t found = 0;
  const struct place_names names = {.found = &found, .arena = arena};
  const struct spot spot = find_spot(at, arena_copy_n(arena, place, length), &names);
  member(spot.object, spot.key, place[length] == '[');
}

// ---- tables

// The shared units of a table's numbers, at their place; `usual`: the table has no place of its
// own.
static void put_units(json_t *at, const struct answer_table *table, const char *place, bool usual,
                      struct arena *arena) {
  const bool of_rows = strstr(place, "%r") != NULL;
  size_t found = 0;
  enclose(at, place, arena);
  for (size_t i = 0; i < (of_rows ? table->row_count : table->column_count); i++) {
    const struct unit *unit = of_rows ? table->rows[i].unit : table->columns[i].unit;
    const char *key = of_rows ? table->rows[i].key : table->columns[i].key;
    const struct place_names names = {key, key, 0, &found, arena};
    if (unit && (!of_rows || (row_shown(table, i, FACE_JSON) && !table->rows[i].json)))
      put(at, place, &names, json_out_text(usual ? unit_name(unit) : unit->text));
  }
}

static void put_cell(json_t *at, const struct answer_table *table, size_t r, size_t c,
                     const char *place, const struct place_names *names) {
  const struct answer_cell *cell = cell_at(table, r, c);
  const struct answer_row *row = table->rows ? &table->rows[r] : NULL;
  const struct unit *unit = unit_at(table, r, c);
  place = row && row->json ? row->json : table->columns[c].json ? table->columns[c].json : place;
  if (cell->kind == CELL_EMPTY)
    find_spot(at, place, names);
  if (cell->kind == CELL_ABSENT || cell->kind == CELL_EMPTY || cell->kind == CELL_BAR ||
      cell->kind == CELL_HISTOGRAM)
    return;
  put(at, place, names, row && row->sourced ? sourced_json(cell, unit) : cell_json(cell, unit));
  if (table->json || !cell->unit || !cell_has_number(cell))
    return;
  const struct place_names beside = {names->row,
                                     arena_printf(names->arena, "%s_unit", names->column),
                                     names->number, names->found, names->arena};
  put(at, place, &beside, json_out_text(unit_name(cell->unit)));
}

// A tree of steps: each is an object of its cells, with its children in a list.
static void put_tree(json_t *at, const struct answer_table *table, struct arena *arena) {
  json_t **above = arena_array(arena, table->row_count + 1, sizeof(json_t *));
  size_t found = 0;
  const struct place_names names = {.found = &found, .arena = arena};
  for (size_t r = 0; r < table->row_count; r++) {
    const int depth = table->rows[r].depth;
    json_t *step = json_object();
    for (size_t c = 0; c < table->column_count; c++)
      if (column_shown(table, c, FACE_JSON) && cell_at(table, r, c)->kind != CELL_ABSENT)
        json_object_set_new(step, table->columns[c].key,
                            cell_json(cell_at(table, r, c), unit_at(table, r, c)));
    if (depth)
      json_array_append_new(member(above[depth - 1], table->branches, true), step);
    else
      put(at, table->json, &names, step);
    above[depth] = step;
  }
}

static void put_table(json_t *at, const struct answer_table *table, struct arena *arena) {
  const char *place =
      table->json ? table->json : arena_printf(arena, "tables.%s.rows[#].%%c", table->key);
  const char *units =
      table->json ? table->json_units : arena_printf(arena, "tables.%s.units.%%c", table->key);
  // A place without the row's name would be the same for all rows: then the first cell is a cell
  // like any other.
  const size_t first = strstr(place, "%r") ? 1 : 0;
  size_t shown = 0, found = 0;
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
          table->columns[c].key, shown, &found, arena};
      put_cell(at, table, r, c, place, &names);
    }
    shown++;
  }
}

// ---- the document

static void put_answer(json_t *object, const struct answer *answer, struct arena *arena) {
  json_object_set_new(object, "answer", json_out_text(answer->sentence));
  json_object_set_new(object, "no", json_boolean(answer->no));
  json_object_set_new(object, "warnings",
                      json_out_texts(answer->warnings.list, answer->warnings.count));
  json_object_set_new(object, "reasons",
                      json_out_texts(answer->reasons.list, answer->reasons.count));
  json_t *notes = answer->note_count ? member(object, "notes", true) : NULL;
  for (size_t i = 0; i < answer->note_count; i++)
    json_array_append_new(notes, json_out_text(arena_printf(arena, "%s%s", answer->notes[i].label,
                                                            answer->notes[i].text)));
  for (size_t t = 0; t < answer->table_count; t++)
    if (table_shown(&answer->tables[t], FACE_JSON))
      (answer->tables[t].branches ? put_tree : put_table)(object, &answer->tables[t], arena);
}

static json_t *listed_json(const struct answer *answer, struct arena *arena) {
  json_t *object = json_object();
  json_object_set_new(object, "kind", json_out_text(answer->kind));
  json_object_set_new(object, "name", json_out_text(answer->name));
  json_object_set_new(object, "title", json_out_text(answer->title ? answer->title : ""));
  put_answer(object, answer, arena);
  member(object, "tables", false);
  return object;
}

// The labels of options that are not called by their ids.
static json_t *labels_json(const struct scenario *scenario) {
  json_t *labels = json_object();
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (strcmp(option->id, option->label) != 0)
      json_object_set_new(labels, option->id, json_out_text(option->label));
  }
  return labels;
}

// The same for cases.
static json_t *case_labels_json(const struct scenario *scenario) {
  json_t *labels = json_object();
  for (size_t c = 0; c < scenario->case_count; c++)
    if (strcmp(scenario->cases[c], scenario->case_labels[c]) != 0)
      json_object_set_new(labels, scenario->cases[c], json_out_text(scenario->case_labels[c]));
  return labels;
}

// Omitted if it would be empty.
static void put_labels(json_t *head, const char *key, json_t *labels) {
  if (json_object_size(labels))
    json_object_set(head, key, labels);
  json_decref(labels);
}

static json_t *scenario_json(const struct scenario *scenario) {
  json_t *head = json_object();
  json_object_set_new(head, "title", json_out_text(scenario->title));
  json_object_set_new(head, "case", json_out_text(scenario->cases[scenario->selected]));
  json_object_set_new(head, "sha256", json_out_text(scenario->digest));
  put_labels(head, "labels", labels_json(scenario));
  put_labels(head, "case_labels", case_labels_json(scenario));
  return head;
}

void json_print(const struct scenario *scenario, const struct answers *answers, FILE *out,
                struct arena *arena) {
  const int schema = answers->count ? answers->list[0].schema : 0;
  json_t *root = json_object(), *list = json_array();
  json_object_set_new(root, "schema", json_integer(schema ? schema : 1));
  if (scenario)
    json_object_set_new(root, "scenario", scenario_json(scenario));
  if (schema)
    put_answer(root, &answers->list[0], arena);
  for (size_t i = 0; i < answers->count && !schema; i++)
    json_array_append_new(list, listed_json(&answers->list[i], arena));
  if (!schema)
    json_object_set(root, "answers", list);
  json_decref(list);
  json_out_print(root, out);
}
