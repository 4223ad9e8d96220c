#include "reports/commands/output_file.h"
#include "base/diagnostics.h"
#include "reports/commands/options.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LONGEST_ENDING 5

// Without its point; NULL: there is none, or it is no word.
static const char *ending_of(const struct run *run) {
  const char *path = run->options.output_path;
  const char *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path;
  const char *point = name ? strrchr(name, '.') : NULL;
  const size_t length = point ? strlen(point + 1) : 0;
  if (!point || point == name || length == 0 || length > LONGEST_ENDING)
    return NULL;
  for (size_t i = 1; i <= length; i++)
    if (!isalpha((unsigned char)point[i]))
      return NULL;
  return point + 1;
}

static bool ends_in(const struct run *run, const char *ending) {
  const char *found = ending_of(run);
  return found && !strcasecmp(found, ending);
}

bool output_file_is_workbook(const struct run *run) {
  return ends_in(run, "xlsx");
}

enum output_format output_file_format(const struct run *run) {
  if (run->options.format_given)
    return run->options.format;
  return ends_in(run, "csv") ? FORMAT_CSV : ends_in(run, "json") ? FORMAT_JSON : FORMAT_TABLE;
}

int output_file_refuse_workbook(struct run *run) {
  if (!output_file_is_workbook(run))
    return 0;
  diagnostics_error(run->diagnostics, (struct place){0},
                    "'%s' writes no workbook, 'report' does: write a file other than '%s', such as "
                    "x.csv",
                    run->options.command, run->options.output_path);
  return -1;
}

int output_file_expect(struct run *run, const char *what, const char *ending) {
  if (!ending_of(run) || ends_in(run, ending))
    return 0;
  diagnostics_error(run->diagnostics, (struct place){0},
                    "the name of %s ends in .%s, and '%s' does not", what, ending,
                    run->options.output_path);
  return -1;
}
