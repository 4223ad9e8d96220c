#include "reports/print/where.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"

#include <string.h>
#include <strings.h>

static int parse_one(const char *text, const char *const *names, size_t columns, const char *what,
                     struct where *condition, struct diagnostics *diagnostics) {
  const size_t length = strcspn(text, "=~");
  if (!text[length] || length == 0) {
    diagnostics_error(diagnostics, nowhere,
                      "expected --where COLUMN=VALUE or COLUMN~TEXT, found '%s'", text);
    return -1;
  }
  const char *name = arena_copy_n(diagnostics->arena, text, length);
  condition->contains = text[length] == '~';
  condition->value = text + length + 1;
  for (condition->column = 0; condition->column < columns; condition->column++)
    if (strcasecmp(names[condition->column], name) == 0)
      return 0;
  diagnostics_error(diagnostics, nowhere, "expected a column of %s, found '%s'%s", what, name,
                    name_hint(name, names, columns, diagnostics->arena));
  return -1;
}

int where_parse(const char *const *texts, size_t count, const char *const *names, size_t columns,
                const char *what, struct where *conditions, struct diagnostics *diagnostics) {
  int result = 0;
  for (size_t i = 0; i < count; i++)
    if (parse_one(texts[i], names, columns, what, &conditions[i], diagnostics))
      result = -1;
  return result;
}

static bool are_equal(const char *a, const char *b) {
  double x, y;
  return strcasecmp(a, b) == 0 || (csv_number(a, &x) && csv_number(b, &y) && x == y);
}

bool where_holds(const struct where *condition, const char *cell) {
  return condition->contains ? strcasestr(cell, condition->value) != NULL
                             : are_equal(cell, condition->value);
}
