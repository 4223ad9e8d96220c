#include "model/evidence/choice.h"

#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"

#include <string.h>

void choice_add(struct choice *choice, size_t row) {
  choice->rows = arena_room(choice->arena, choice->rows, choice->count, sizeof *choice->rows);
  choice->rows[choice->count++] = row;
}

void choice_keep(struct choice *choice, const bool *kept) {
  size_t count = 0;
  for (size_t i = 0; i < choice->count; i++)
    if (kept[i])
      choice->rows[count++] = choice->rows[i];
  choice->count = count;
}

void choice_keep_best_grade(struct choice *choice) {
  bool *kept = arena_array(choice->arena, choice->count, sizeof *kept);
  enum grade best = GRADE_ASSUMED;
  for (size_t i = 0; i < choice->count; i++) {
    const enum grade grade = catalog_grade(choice->table, choice->rows[i]);
    best = grade < best ? grade : best;
  }
  for (size_t i = 0; i < choice->count; i++)
    kept[i] = catalog_grade(choice->table, choice->rows[i]) == best;
  choice_keep(choice, kept);
}

void choice_keep_recent(struct choice *choice) {
  bool *kept = arena_array(choice->arena, choice->count, sizeof *kept);
  struct date newest = {0}, date;
  for (size_t i = 0; i < choice->count; i++)
    if (date_parse_first(table_cell(choice->table, choice->rows[i], "as_of"), &date) &&
        date_compare(date, newest) > 0)
      newest = date;
  for (size_t i = 0; i < choice->count; i++) {
    date = (struct date){0};
    catalog_date(choice->table, choice->rows[i], &date);
    kept[i] = !date_is_stale(date, newest);
  }
  choice_keep(choice, kept);
}

int choice_compare(const struct table *table, const char *column, size_t a, size_t b) {
  const double left = table_number_or(table, a, column, 0);
  const double right = table_number_or(table, b, column, 0);
  if (left != right)
    return left < right ? -1 : 1;
  return strcmp(table_cell(table, a, "id"), table_cell(table, b, "id"));
}

void choice_sort(struct choice *choice, const char *column) {
  for (size_t i = 1; i < choice->count; i++)
    for (size_t j = i;
         j && choice_compare(choice->table, column, choice->rows[j], choice->rows[j - 1]) < 0;
         j--) {
      const size_t row = choice->rows[j];
      choice->rows[j] = choice->rows[j - 1];
      choice->rows[j - 1] = row;
    }
}
