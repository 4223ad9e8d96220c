#include "model/draft/price.h"

#include "model/evidence/catalog.h"
#include "model/evidence/choice.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const price_column = "usd_per_gpu_equivalent";

static void add_row(struct choice *choice, const char *column, size_t row) {
  if (table_number_or(choice->table, row, column, 0) > 0)
    choice_add(choice, row);
}

static struct choice rows_of(const struct table *prices, const char *accelerator, const char *basis,
                             struct arena *arena) {
  struct choice choice = {.table = prices, .arena = arena};
  for (size_t row = 0; row < prices->rows; row++)
    if (!strcmp(table_cell(prices, row, "accelerator"), accelerator) &&
        !strcmp(table_cell(prices, row, "price_basis"), basis))
      add_row(&choice, price_column, row);
  return choice;
}

static bool is_single(const struct choice *choice, size_t row) {
  const char *category = table_cell(choice->table, row, "category");
  return strcmp(category, "server") != 0 && strcmp(category, "rack") != 0;
}

static void keep_single(struct choice *choice) {
  bool *kept = arena_array(choice->arena, choice->count, sizeof *kept), some = false;
  for (size_t i = 0; i < choice->count; i++)
    some |= kept[i] = is_single(choice, choice->rows[i]);
  if (some)
    choice_keep(choice, kept);
}

static long median_of(struct choice *choice, const char *column) {
  choice_keep_best_grade(choice);
  choice_keep_recent(choice);
  choice_sort(choice, column);
  return choice->count ? (long)choice->rows[choice->count / 2] : -1;
}

long draft_price_find(const struct table *prices, const char *accelerator, const char *basis,
                      struct arena *arena) {
  struct choice choice = rows_of(prices, accelerator, basis, arena);
  keep_single(&choice);
  return median_of(&choice, price_column);
}

long draft_price_api(const struct table *api_prices, const char *model, struct arena *arena) {
  static const char *const column = "output_usd_per_mtok";
  struct choice choice = {.table = api_prices, .arena = arena};
  for (size_t row = 0; row < api_prices->rows; row++)
    if (!strcmp(table_cell(api_prices, row, "model"), model))
      add_row(&choice, column, row);
  return median_of(&choice, column);
}

struct texts draft_price_list(const struct table *prices, const char *accelerator,
                              const char *basis, long taken, size_t most, size_t *count,
                              struct arena *arena) {
  struct choice choice = rows_of(prices, accelerator, basis, arena);
  struct texts list = {0};
  size_t at = 0;
  choice_sort(&choice, price_column);
  *count = choice.count;
  for (size_t i = 0; i < choice.count; i++)
    if (taken >= 0 && choice.rows[i] == (size_t)taken)
      at = i;
  const size_t first = at > most / 2 ? at - most / 2 : 0;
  const size_t last = choice.count - first < most ? choice.count : first + most;
  for (size_t i = last < most ? 0 : last - most; i < last; i++) {
    const size_t row = choice.rows[i];
    texts_add(&list, arena, "%s: %g USD, %s, %s", table_cell(prices, row, "id"),
              table_number_or(prices, row, price_column, 0), table_cell(prices, row, "as_of"),
              grade_name(catalog_grade(prices, row)));
  }
  return list;
}
