#include "model/questions/delivery_slip.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/chance/distribution_text.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/date.h"

#include <stdio.h>
#include <string.h>

enum { MONTHS_PER_YEAR = 12 };

bool slip_span(const char *text, double *middle, double *end) {
  static const struct {
    const char *format;
    int months; // of the span
    int first;  // month in which number 1 starts, from 0
    bool year_last;
  } shapes[] = {{"%4d-Q%1d%n", 3, 0, false},
                {"H%1d %4d%n", 6, 0, true},
                {"%4d-%2d%n", 1, 0, false},
                {"mid-%4d%n", 2, 5, false},
                {"%4d%n", 12, 0, false}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    int a = 0, b = 1, length = 0;
    const bool two = shapes[i].months < MONTHS_PER_YEAR && shapes[i].first == 0;
    if (two ? sscanf(text, shapes[i].format, &a, &b, &length) != 2
            : sscanf(text, shapes[i].format, &a, &length) != 1)
      continue;
    const int year = shapes[i].year_last ? b : a, number = shapes[i].year_last ? a : b;
    if (!length || text[length] || number < 1 || number * shapes[i].months > MONTHS_PER_YEAR)
      continue;
    const double start = year * MONTHS_PER_YEAR + shapes[i].first + (number - 1) * shapes[i].months;
    *middle = start + shapes[i].months / 2.;
    *end = start + shapes[i].months;
    return true;
  }
  return false;
}

static bool is_of_delivery(const struct table *claims, size_t row) {
  static const char *const words[] = {"shipping", "ships", "volume production"};
  const char *claim = table_cell(claims, row, "claim");
  if (strcmp(table_cell(claims, row, "topic"), "roadmap") != 0 ||
      strcmp(table_cell(claims, row, "unit"), "date") != 0)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strstr(claim, words[i]))
      return true;
  return false;
}

// The months from year 0 to a day.
static double months_at(const char *date) {
  struct date day = {0};
  date_parse(date, &day);
  return day.year * MONTHS_PER_YEAR + day.month - 1 + day.day / 31.;
}

int slip_from_data(const struct scenario *scenario, struct place place,
                   struct distribution *distribution, const char **words, struct arena *arena,
                   struct diagnostics *diagnostics) {
  const struct table *claims = catalog_table(scenario->catalog, CATALOG_CLAIMS);
  const char *atoms = "", *ids = "";
  double claimed, actual, end;
  size_t count = 0;
  for (size_t row = 0; claims && row < claims->rows; row++) {
    if (!is_of_delivery(claims, row) ||
        !slip_span(table_cell(claims, row, "value"), &claimed, &end) ||
        !slip_span(table_cell(claims, row, "reference_value"), &actual, &end) ||
        end > months_at(scenario->date))
      continue;
    const double slip = actual > claimed ? actual - claimed : 0;
    atoms = arena_printf(arena, "%s%s%g: 1", atoms, count ? ", " : "", slip);
    ids = arena_printf(arena, "%s%s%s (%g months)", ids, count ? ", " : "",
                       table_cell(claims, row, "id"), slip);
    count++;
  }
  if (!count) {
    diagnostics_error(diagnostics, place,
                      "the catalogue has no dated slip: type a distribution, such as triangular(0, "
                      "2, 8) month");
    return -1;
  }
  struct declaration input = {.name = "slip", .has_min = true};
  *words = arena_printf(arena, "of %zu dated claims: %s", count, ids);
  return unit_parse("month", place, &input.unit, arena, diagnostics) ||
                 distribution_parse(arena_printf(arena, "discrete(%s) month", atoms), place, &input,
                                    distribution, arena, diagnostics) ||
                 distribution_prepare(distribution, place, arena, diagnostics)
             ? -1
             : 0;
}
