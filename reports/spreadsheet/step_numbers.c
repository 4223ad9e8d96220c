#include "reports/spreadsheet/step_numbers.h"

#include <stdbool.h>
#include <string.h>

static bool is_declared(const struct model *model, const char *item, int number,
                        struct arena *arena) {
  return model_find(model, arena_printf(arena, "%s_step_%d", item, number)) >= 0;
}

static void add(struct step_numbers *numbers, struct numbered_step step, struct arena *arena) {
  if (numbers->count == numbers->capacity) {
    const size_t capacity = 2 * numbers->capacity + 64;
    numbers->list =
        arena_grow(arena, numbers->list, numbers->count, capacity, sizeof *numbers->list);
    numbers->capacity = capacity;
  }
  numbers->list[numbers->count++] = step;
}

int step_number(struct step_numbers *numbers, const struct model *model, const char *item,
                const char *what, struct arena *arena) {
  int number = 1;
  for (size_t i = 0; i < numbers->count; i++) {
    const struct numbered_step *other = &numbers->list[i];
    if (strcmp(other->item, item) != 0)
      continue;
    if (!strcmp(other->what, what))
      return other->number;
    number = other->number + 1;
  }
  while (is_declared(model, item, number, arena))
    number++;
  add(numbers, (struct numbered_step){item, what, number}, arena);
  return number;
}
