// choice: the rows of a table among which one is to be chosen, and the rules that they share: the
// best grade counts, and of that what is recent.
#ifndef PERTOKEN_MODEL_EVIDENCE_CHOICE_H
#define PERTOKEN_MODEL_EVIDENCE_CHOICE_H

#include "base/arena.h"
#include "base/csv.h"

#include <stdbool.h>
#include <stddef.h>

struct choice {
  const struct table *table;
  struct arena *arena;
  size_t *rows; // [count]
  size_t count;
};

void choice_add(struct choice *choice, size_t row);

// Keeps the rows that are marked in kept[count].
void choice_keep(struct choice *choice, const bool *kept);

void choice_keep_best_grade(struct choice *choice);

// Keeps the rows that are at most 12 months older than the newest. A bare month or year counts as
// its first day for the newest, so that no row is dropped that may be as new, and as its last for
// others.
void choice_keep_recent(struct choice *choice);

// Sorts the rows by the number in a column, ties by id.
void choice_sort(struct choice *choice, const char *column);

// Negative, zero or positive if row a is before b in that order.
int choice_compare(const struct table *table, const char *column, size_t a, size_t b);

#endif
