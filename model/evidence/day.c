#include "model/evidence/day.h"

#include "base/csv.h"
#include "model/catalog/columns.h"
#include "model/cost/list_text.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// The keyword for the day in an option's record of production.
static const char day_measured[] = "measured";

static void fill(struct day *day, double value) {
  day->row = -1;
  for (int hour = 0; hour < HOURS_OF_DAY; hour++)
    day->share[hour] = value;
}

// Published shares are rounded, so only their proportions count.
static void take_row(const struct table *table, long row, struct day *day, struct arena *arena) {
  double sum = 0;
  day->row = row;
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    table_number(table, (size_t)row, arena_printf(arena, "share_%d", hour + 1), &day->share[hour]);
    sum += day->share[hour];
  }
  for (int hour = 0; hour < HOURS_OF_DAY; hour++)
    day->share[hour] /= sum;
}

static int unknown_word(const char *text, struct place place, const struct table *table,
                        struct arena *arena, struct diagnostics *diagnostics) {
  const size_t rows = table ? table->rows : 0;
  const char **words = arena_array(arena, rows + 2, sizeof *words), *list = "flat, ";
  words[0] = "flat";
  words[1] = day_measured;
  for (size_t row = 0; row < rows; row++) {
    words[2 + row] = table_cell(table, row, "id");
    list = arena_printf(arena, "%s%s, ", list, words[2 + row]);
  }
  diagnostics_error(diagnostics, place, "expected %s%s or %d shares of a day, not '%s'%s", list,
                    day_measured, HOURS_OF_DAY, text, name_hint(text, words, rows + 2, arena));
  return -1;
}

static int read_shares(const char *text, struct place place, struct day *day, struct arena *arena,
                       struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  size_t count;
  double sum = 0;
  const struct list_value *list = list_split(text, place, &count, arena);
  fill(day, 1.0 / HOURS_OF_DAY);
  if (count != HOURS_OF_DAY) {
    diagnostics_error(diagnostics, place, "expected %d shares of a day, one for each hour, not %zu",
                      HOURS_OF_DAY, count);
    return -1;
  }
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    double *share = &day->share[hour];
    if (!quantity_parse(list[hour].text, list[hour].place, &unit_percent, share, diagnostics) &&
        *share < 0)
      diagnostics_error(diagnostics, list[hour].place, "a share of a day must be at least 0 %%");
    sum += *share;
  }
  if (diagnostics->errors == errors && fabs(sum - 1) > 1e-9)
    diagnostics_error(diagnostics, place, "the shares of a day sum to %.10g %%, not to 100 %%",
                      100 * sum);
  return diagnostics->errors == errors ? 0 : -1;
}

int day_read(const char *text, struct place place, struct catalog *catalog, struct day *day,
             struct arena *arena, struct diagnostics *diagnostics) {
  fill(day, 1.0 / HOURS_OF_DAY);
  if (!strcmp(text, "flat"))
    return 0;
  if (!strcmp(text, day_measured)) {
    fill(day, NAN);
    return 0;
  }
  if (!isalpha((unsigned char)*text))
    return read_shares(text, place, day, arena, diagnostics);
  const struct table *table = catalog_table(catalog, CATALOG_DAY_PROFILES);
  const long row = table ? catalog_find(table, text) : -1;
  if (row < 0)
    return unknown_word(text, place, table, arena, diagnostics);
  take_row(table, row, day, arena);
  return 0;
}
