#include "reports/spreadsheet/tabs.h"

#include "base/texts.h"
#include "reports/spreadsheet/cells.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unicase.h>
#include <unigbrk.h>
#include <uninorm.h>
#include <unistr.h>

enum { MAX_TAB = 31 }; // UTF-16 units, the way Excel counts

// Excel keeps this name for itself.
static const char reserved[] = "History";

// A straight apostrophe may neither begin nor end a name, and is doubled in references; a curly one
// is an ordinary letter.
static const struct {
  const char *sign, *instead;
} replaced[] = {{":", " -"}, {"/", "-"}, {"\\", "-"}, {"?", ""},
                {"*", "x"},  {"[", "("}, {"]", ")"},  {"'", "\u2019"}};

static const char *replacement(char sign) {
  for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++)
    if (*replaced[i].sign == sign)
      return replaced[i].instead;
  return NULL;
}

// The text with only those characters that a name may have, and single spaces between words.
// Characters that change the direction of writing would also affect the names of the sheet's
// neighbors.
static const char *cleaned(const char *text, struct arena *arena) {
  const char *safe = safe_text(text, strlen(text), arena);
  char *clean = arena_alloc(arena, 3 * strlen(safe) + 1);
  size_t used = 0;
  ucs4_t code;
  for (const uint8_t *at = (const uint8_t *)safe, *next; (next = u8_next(&code, at)); at = next) {
    const char *other = code < 0x80 ? replacement((char)code) : NULL;
    const char *part = other ? other : (const char *)at;
    const size_t size = other ? strlen(other) : (size_t)(next - at);
    if (text_turns_direction(code) || (*part == ' ' && (!used || clean[used - 1] == ' ')))
      continue;
    memcpy(clean + used, part, size);
    used += size;
  }
  while (used && clean[used - 1] == ' ')
    used--;
  clean[used] = 0;
  return clean;
}

// The number of UTF-16 units in that many bytes.
static size_t units_of(const char *text, size_t size) {
  size_t units = 0;
  ucs4_t code;
  for (size_t at = 0; at < size;) {
    at += (size_t)u8_mbtoucr(&code, (const uint8_t *)text + at, size - at);
    units += code > 0xFFFF ? 2 : 1;
  }
  return units;
}

// As much of the beginning as leaves room for `tail`: whole words if that is most of it, and always
// whole characters, however many code points they have.
static const char *cut(const char *text, const char *tail, struct arena *arena) {
  const uint8_t *start = (const uint8_t *)text, *end = start + strlen(text);
  const size_t most = MAX_TAB - units_of(tail, strlen(tail));
  while (end > start && units_of(text, (size_t)(end - start)) > most) {
    const uint8_t *before = u8_grapheme_prev(end, start);
    end = before ? before : start;
  }
  size_t size = (size_t)(end - start);
  if (text[size]) {
    size_t word = size;
    while (word && text[word] != ' ')
      word--;
    size = 2 * word > size ? word : size;
  }
  while (size && (text[size - 1] == ' ' || text[size - 1] == ','))
    size--;
  return arena_printf(arena, "%.*s%s", (int)size, text, tail);
}

static bool same(const char *a, const char *b) {
  int order;
  if (u8_casecmp((const uint8_t *)a, strlen(a), (const uint8_t *)b, strlen(b), NULL, UNINORM_NFKC,
                 &order))
    return !strcmp(a, b);
  return !order;
}

static bool is_taken(const struct tabs *tabs, const char *name) {
  for (size_t i = 0; i < tabs->names.count; i++)
    if (same(tabs->names.list[i], name))
      return true;
  return same(name, reserved);
}

const char *tabs_add(struct tabs *tabs, const char *wanted, const char *otherwise) {
  const char *clean = cleaned(wanted, tabs->arena);
  clean = *clean ? clean : otherwise;
  const bool fits = units_of(clean, strlen(clean)) <= MAX_TAB;
  const char *name = fits ? clean : cut(clean, "\u2026", tabs->arena);
  for (int number = 2; is_taken(tabs, name); number++)
    name =
        cut(clean, arena_printf(tabs->arena, fits ? " (%d)" : "\u2026 (%d)", number), tabs->arena);
  texts_add(&tabs->names, tabs->arena, "%s", name);
  return tabs->names.list[tabs->names.count - 1];
}
