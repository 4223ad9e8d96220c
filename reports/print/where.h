// where: the conditions of --where on columns of a table: COLUMN=VALUE, COLUMN~TEXT.
#ifndef PERTOKEN_REPORTS_PRINT_WHERE_H
#define PERTOKEN_REPORTS_PRINT_WHERE_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct where {
  size_t column;
  bool contains; // else equal, case-insensitive; numbers by value
  const char *value;
};

// Fills conditions[count]; `names` are the columns of `what`. Errors: no = or ~, an unknown column.
// Returns 0 or -1.
int where_parse(const char *const *texts, size_t count, const char *const *names, size_t columns,
                const char *what, struct where *conditions, struct diagnostics *diagnostics);

bool where_holds(const struct where *condition, const char *cell);

#endif
