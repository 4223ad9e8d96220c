#include "reports/records/fleet_settings.h"

#include "model/delivery/fleet_item.h"
#include "reports/faces/parts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 12 };

const char *fleet_few_names(const struct texts *names, struct arena *arena) {
  const struct texts first = {names->list, names->count < MAX_NAMES ? names->count : MAX_NAMES};
  const char *list = texts_joined(&first, arena);
  return names->count <= MAX_NAMES
             ? list
             : arena_printf(arena, "%s and %zu more", list, names->count - MAX_NAMES);
}

struct said {
  const char *text;
  size_t device;
};

static int by_text(const void *a, const void *b) {
  const struct said *left = a, *right = b;
  const int order = strcmp(left->text, right->text);
  return order ? order : (left->device > right->device) - (left->device < right->device);
}

// The end of the run of equal statements.
static size_t alike(const struct said *said, size_t from, size_t count) {
  size_t end = from + 1;
  while (end < count && !strcmp(said[from].text, said[end].text))
    end++;
  return end;
}

static const char *shown_setting(const char *text) {
  return *text ? text : "not stated";
}

static const char *nodes_of(const struct fleet *fleet, const struct said *said, size_t count,
                            struct arena *arena) {
  struct texts names = {0};
  for (size_t i = 0; i < count; i++) {
    const char *name = fleet->nodes[fleet->devices[said[i].device].node].name;
    if (!names.count || strcmp(names.list[names.count - 1], name) != 0)
      texts_add(&names, arena, "%s", name);
  }
  return fleet_few_names(&names, arena);
}

static void add_setting(const struct fleet *fleet, struct answer_table *table, int setting,
                        struct said *said, struct arena *arena) {
  size_t count = 0, usual = 0, usual_end = 0;
  for (size_t d = 0; d < fleet->device_count; d++)
    if (fleet->devices[d].settings[setting])
      said[count++] = (struct said){fleet->devices[d].settings[setting], d};
  qsort(said, count, sizeof *said, by_text);
  for (size_t from = 0, end; from < count; from = end) {
    end = alike(said, from, count);
    if (end - from > usual_end - usual) {
      usual = from;
      usual_end = end;
    }
  }
  for (size_t from = 0, end; from < count; from = end) {
    end = alike(said, from, count);
    if (from == usual)
      continue;
    ANSWER_ROW(table, cell_words(fleet_setting_names[setting]),
               cell_words(setting == SETTING_THROTTLED && !*said[usual].text
                              ? "no"
                              : shown_setting(said[usual].text)),
               cell_words(shown_setting(said[from].text)), cell_value((double)(end - from)),
               cell_words(nodes_of(fleet, &said[from], end - from, arena)));
  }
}

void fleet_missing_add(const struct fleet *fleet, struct answer *answer, struct arena *arena) {
  if (!fleet->missing.count)
    return;
  answer_note(answer, "Missing: ", "%s", fleet_few_names(&fleet->missing, arena));
  struct answer_table *table =
      ANSWER_TABLE(answer, "missing", "Missing nodes", {"node", "Node", NULL});
  table->faces = FACE_SHEET;
  for (size_t i = 0; i < fleet->missing.count; i++)
    ANSWER_ROW(table, cell_words(fleet->missing.list[i]));
}

size_t fleet_settings_add(const struct fleet *fleet, struct answer *answer, struct arena *arena) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "settings", "Set up differently from most", {"setting", "Setting", NULL},
                   {"usual", "Most", NULL}, {"other", "These", NULL}, {"devices", "Devices", "-"},
                   {"nodes", "Nodes", NULL});
  struct said *said = arena_array(arena, fleet->device_count, sizeof *said);
  for (int setting = 0; setting < FLEET_SETTINGS; setting++)
    add_setting(fleet, table, setting, said, arena);
  const size_t rows = table->row_count;
  if (!rows)
    answer->table_count--;
  return rows;
}
