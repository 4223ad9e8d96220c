#include "probe/fleet/node_lists.h"

#include "base/arena.h"
#include "base/output.h"
#include "probe/fleet/launch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const list_names[NODE_LISTS] = {
    [NODES_DONE] = "done", [NODES_FAILED] = "failed", [NODES_MISSING] = "missing"};

enum { REWRITES = 10 }; // of lists that change meanwhile: whoever changed them writes them too

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_entry(const void *key, const void *entry) {
  return strcmp(key, ((const struct roll_entry *)entry)->node);
}

static enum node_list list_of(const struct roll_entry *entry) {
  return entry->state == ROLL_DONE     ? NODES_DONE
         : entry->state == ROLL_FAILED ? NODES_FAILED
                                       : NODES_MISSING;
}

static int make(const struct roll *roll, const struct table *expected, struct node_lists *lists) {
  struct roll_entry *entries;
  size_t count, launched = 0;
  if (roll_list(roll, &entries, &count))
    return -1;
  *lists = (struct node_lists){0};
  for (size_t i = 0; i < count; i++) {
    texts_add(&lists->names[list_of(&entries[i])], roll->arena, "%s", entries[i].node);
    launched += !strcmp(entries[i].key, roll->launch->key);
  }
  for (size_t row = 0; expected && row < expected->rows; row++) {
    const char *node = table_cell(expected, row, "node");
    if (!bsearch(node, entries, count, sizeof *entries, by_entry))
      texts_add(&lists->names[NODES_MISSING], roll->arena, "%s", node);
  }
  lists->unseen = (size_t)roll->launch->size - launched;
  for (int list = 0; list < NODE_LISTS; list++)
    if (lists->names[list].count)
      qsort(lists->names[list].list, lists->names[list].count, sizeof(char *), by_text);
  return 0;
}

static bool are_same(const struct node_lists *a, const struct node_lists *b, struct arena *arena) {
  for (int list = 0; list < NODE_LISTS; list++)
    if (a->names[list].count != b->names[list].count ||
        strcmp(texts_joined_by(&a->names[list], "\n", arena),
               texts_joined_by(&b->names[list], "\n", arena)) != 0)
      return false;
  return true;
}

static int write_list(const struct roll *roll, const struct texts *names, const char *path) {
  struct output output;
  if (output_open_again(&output, path, roll->arena, roll->diagnostics))
    return -1;
  for (size_t i = 0; i < names->count; i++)
    fprintf(output.stream, "%s\n", names->list[i]);
  return output_close(&output, roll->diagnostics);
}

int node_lists_write(const struct roll *roll, const struct table *expected, const char *folder,
                     struct node_lists *lists) {
  struct node_lists written;
  int rewrites = 0;
  if (make(roll, expected, lists))
    return -1;
  do {
    written = *lists;
    for (int list = 0; list < NODE_LISTS; list++)
      if (write_list(roll, &lists->names[list],
                     arena_printf(roll->arena, "%s/%s", folder, list_names[list])))
        return -1;
    if (make(roll, expected, lists))
      return -1;
  } while (!are_same(&written, lists, roll->arena) && ++rewrites < REWRITES);
  return 0;
}
