#include "reports/print/output_name.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "reports/print/format.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define LONGEST_ENDING 5

// A name's ending, without its point; NULL: there is none, or it is not a word.
static const char *ending_of(const char *path) {
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

static bool ends_in(const char *path, const char *ending) {
  const char *found = ending_of(path);
  return found && !strcasecmp(found, ending);
}

bool output_name_is_workbook(const char *path) {
  return ends_in(path, "xlsx");
}

const struct output_kind *output_name_other(const char *path) {
  static const struct output_kind kinds[] = {
      {"xlsx", "workbook", "report"}, {"html", "page", "page"}, {"htm", "page", "page"}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (ends_in(path, kinds[i].ending))
      return &kinds[i];
  return NULL;
}

enum output_format output_name_format(const char *path) {
  return ends_in(path, "csv") ? FORMAT_CSV : ends_in(path, "json") ? FORMAT_JSON : FORMAT_TABLE;
}

// Whether it is standard output, a device or a pipe, which may have any name; or a directory, which
// is refused with another error.
static bool is_no_file(const char *path) {
  struct stat there;
  return !strcmp(path, "-") || (!stat(path, &there) && !S_ISREG(there.st_mode));
}

int output_name_expect(const char *path, const char *what, const char *ending,
                       struct diagnostics *diagnostics) {
  if (!path || ends_in(path, ending) || is_no_file(path))
    return 0;
  diagnostics_error(diagnostics, nowhere, "the name of %s ends in .%s, and '%s' does not", what,
                    ending, path);
  return -1;
}
