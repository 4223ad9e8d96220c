#include "base/host_list.h"

#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 9, MAX_TEXT = 1 << 20 };

struct reading {
  const char *text; // all of it, for messages
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int refuse(const struct reading *reading, const char *why) {
  diagnostics_error(reading->diagnostics, nowhere,
                    "'%.200s' is not a list of machines such as n[1-3],login: %s", reading->text,
                    why);
  return -1;
}

// "3", "1-3", "08-10": each as text, with the width of the first.
static int read_range(const struct reading *reading, const char *at, size_t length,
                      struct texts *parts) {
  const size_t digits = strspn(at, "0123456789");
  const bool is_range = digits < length && at[digits] == '-';
  const char *end = is_range ? at + digits + 1 : at;
  const size_t end_digits = strspn(end, "0123456789");
  if (!digits || digits > MAX_DIGITS || !end_digits || end_digits > MAX_DIGITS ||
      end + end_digits != at + length)
    return refuse(reading, "expected numbers and ranges in brackets");
  const long first = strtol(at, NULL, 10), last = strtol(end, NULL, 10);
  if (last < first)
    return refuse(reading, "a range descends");
  if (last - first >= MAX_HOSTS - (long)parts->count)
    return refuse(reading, "there are too many");
  for (long number = first; number <= last; number++)
    texts_add(parts, reading->arena, "%0*ld", (int)digits, number);
  return 0;
}

// The text between brackets, [length].
static int read_ranges(const struct reading *reading, const char *at, size_t length,
                       struct texts *parts) {
  const char *end = at + length;
  for (;;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (read_range(reading, at, (size_t)((comma ? comma : end) - at), parts))
      return -1;
    if (!comma)
      return 0;
    at = comma + 1;
  }
}

// Replaces the names with every combination of one of them and one of the parts.
static int append(const struct reading *reading, struct texts *names, const struct texts *parts) {
  struct texts longer = {0};
  if (!names->count || parts->count > MAX_HOSTS / names->count)
    return refuse(reading, "there are too many");
  for (size_t n = 0; n < names->count; n++)
    for (size_t p = 0; p < parts->count; p++)
      texts_add(&longer, reading->arena, "%s%s", names->list[n], parts->list[p]);
  *names = longer;
  return 0;
}

// One item of the list, up to its comma: literal texts and brackets in alternation. Sets *at to its
// end.
static int read_item(const struct reading *reading, const char **at, struct texts *names) {
  texts_add(names, reading->arena, "%s", "");
  while (**at && **at != ',') {
    struct texts parts = {0};
    const bool is_open = **at == '[';
    const size_t length = is_open ? strcspn(++*at, "]") : strcspn(*at, "[],");
    if (is_open ? !(*at)[length] : !length)
      return refuse(reading, "a bracket has no counterpart");
    if (is_open && read_ranges(reading, *at, length, &parts))
      return -1;
    if (!is_open)
      texts_add(&parts, reading->arena, "%.*s", (int)length, *at);
    if (append(reading, names, &parts))
      return -1;
    *at += length + is_open;
  }
  return names->count && *names->list[0] ? 0 : refuse(reading, "a name is blank");
}

int host_list_read(const char *text, struct texts *names, struct arena *arena,
                   struct diagnostics *diagnostics) {
  const struct reading reading = {text, arena, diagnostics};
  const char *at = text;
  if (strlen(text) > MAX_TEXT)
    return refuse(&reading, "it is too long");
  for (;; at++) {
    struct texts item = {0};
    if (read_item(&reading, &at, &item))
      return -1;
    if (item.count > MAX_HOSTS - names->count)
      return refuse(&reading, "there are too many");
    for (size_t i = 0; i < item.count; i++)
      texts_add(names, arena, "%s", item.list[i]);
    if (!*at || !at[1])
      return 0;
  }
}
