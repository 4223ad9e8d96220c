#include "model/draft/price.h"

#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct choosing {
  const struct table *table;
  const char *figure; // the column to compare
  size_t *rows;
  size_t count;
  struct arena *arena;
};

static double figure_of(const struct choosing *choosing, size_t row) {
  double value = 0;
  table_number(choosing->table, row, choosing->figure, &value);
  return value;
}

static void add_row(struct choosing *choosing, size_t row) {
  if (figure_of(choosing, row) <= 0)
    return;
  choosing->rows =
      arena_room(choosing->arena, choosing->rows, choosing->count, sizeof *choosing->rows);
  choosing->rows[choosing->count++] = row;
}

static struct choosing rows_of(const struct table *prices, const char *accelerator,
                               const char *basis, struct arena *arena) {
  struct choosing choosing = {.table = prices, .figure = "usd_per_gpu_equivalent", .arena = arena};
  for (size_t row = 0; row < prices->rows; row++)
    if (!strcmp(table_cell(prices, row, "accelerator"), accelerator) &&
        !strcmp(table_cell(prices, row, "price_basis"), basis))
      add_row(&choosing, row);
  return choosing;
}

static void keep(struct choosing *choosing, const bool *kept) {
  size_t count = 0;
  for (size_t i = 0; i < choosing->count; i++)
    if (kept[i])
      choosing->rows[count++] = choosing->rows[i];
  choosing->count = count;
}

static void keep_best_grade(struct choosing *choosing) {
  bool *kept = arena_array(choosing->arena, choosing->count + 1, sizeof *kept);
  enum grade best = GRADE_ASSUMED;
  for (size_t i = 0; i < choosing->count; i++) {
    const enum grade grade = catalog_grade(choosing->table, choosing->rows[i]);
    best = grade < best ? grade : best;
  }
  for (size_t i = 0; i < choosing->count; i++)
    kept[i] = catalog_grade(choosing->table, choosing->rows[i]) == best;
  keep(choosing, kept);
}

static void keep_recent(struct choosing *choosing) {
  bool *kept = arena_array(choosing->arena, choosing->count + 1, sizeof *kept);
  struct date newest = {0}, date;
  for (size_t i = 0; i < choosing->count; i++)
    if (catalog_date(choosing->table, choosing->rows[i], &date) && date_compare(date, newest) > 0)
      newest = date;
  for (size_t i = 0; i < choosing->count; i++)
    kept[i] =
        catalog_date(choosing->table, choosing->rows[i], &date) && !date_is_stale(date, newest);
  keep(choosing, kept);
}

static bool is_single(const struct choosing *choosing, size_t row) {
  const char *category = table_cell(choosing->table, row, "category");
  return strcmp(category, "server") != 0 && strcmp(category, "rack") != 0;
}

static void keep_single(struct choosing *choosing) {
  bool *kept = arena_array(choosing->arena, choosing->count + 1, sizeof *kept), some = false;
  for (size_t i = 0; i < choosing->count; i++)
    some |= kept[i] = is_single(choosing, choosing->rows[i]);
  if (some)
    keep(choosing, kept);
}

// By the figure, ties by the table's order.
static void sort_rows(struct choosing *choosing) {
  for (size_t i = 1; i < choosing->count; i++)
    for (size_t j = i;
         j && figure_of(choosing, choosing->rows[j]) < figure_of(choosing, choosing->rows[j - 1]);
         j--) {
      const size_t row = choosing->rows[j];
      choosing->rows[j] = choosing->rows[j - 1];
      choosing->rows[j - 1] = row;
    }
}

static long median_of(struct choosing *choosing) {
  keep_best_grade(choosing);
  keep_recent(choosing);
  sort_rows(choosing);
  return choosing->count ? (long)choosing->rows[choosing->count / 2] : -1;
}

long draft_price_find(const struct table *prices, const char *accelerator, const char *basis,
                      struct arena *arena) {
  struct choosing choosing = rows_of(prices, accelerator, basis, arena);
  keep_single(&choosing);
  return median_of(&choosing);
}

long draft_price_api(const struct table *api_prices, const char *model, struct arena *arena) {
  struct choosing choosing = {.table = api_prices, .figure = "output_usd_per_mtok", .arena = arena};
  for (size_t row = 0; row < api_prices->rows; row++)
    if (!strcmp(table_cell(api_prices, row, "model"), model))
      add_row(&choosing, row);
  return median_of(&choosing);
}

struct texts draft_price_list(const struct table *prices, const char *accelerator,
                              const char *basis, long taken, size_t most, size_t *count,
                              struct arena *arena) {
  struct choosing choosing = rows_of(prices, accelerator, basis, arena);
  struct texts list = {0};
  size_t at = 0;
  sort_rows(&choosing);
  *count = choosing.count;
  for (size_t i = 0; i < choosing.count; i++)
    if (taken >= 0 && choosing.rows[i] == (size_t)taken)
      at = i;
  const size_t first = at > most / 2 ? at - most / 2 : 0;
  const size_t last = choosing.count - first < most ? choosing.count : first + most;
  for (size_t i = last < most ? 0 : last - most; i < last; i++) {
    const size_t row = choosing.rows[i];
    texts_add(&list, arena, "%s: %g USD, %s, %s", table_cell(prices, row, "id"),
              figure_of(&choosing, row), table_cell(prices, row, "as_of"),
              grade_name(catalog_grade(prices, row)));
  }
  return list;
}
