#include "model/draft/lines.h"

#include "base/short_text.h"

#include <stdbool.h>
#include <string.h>

enum { COMMENT_WIDTH = 100 };

struct draft_section *draft_section_add(struct draft_lines *lines, const char *kind,
                                        const char *argument) {
  lines->sections =
      arena_room(lines->arena, lines->sections, lines->count, sizeof *lines->sections);
  struct draft_section *section = &lines->sections[lines->count++];
  *section = (struct draft_section){.kind = kind, .argument = argument};
  return section;
}

static void add(struct draft_lines *lines, struct draft_section *section, struct draft_line line) {
  section->lines = arena_room(lines->arena, section->lines, section->count, sizeof *section->lines);
  section->lines[section->count++] = line;
}

void draft_line_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                    const char *value, const char *comment) {
  add(lines, section, (struct draft_line){.comment = comment, .key = key, .value = value});
}

void draft_figure_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                      const char *value, const char *source, const char *date,
                      const char *comment) {
  draft_line_add(lines, section, key, value, comment);
  if (source)
    draft_line_add(lines, section, arena_printf(lines->arena, "%s.source", key), source, NULL);
  if (source && date)
    draft_line_add(lines, section, arena_printf(lines->arena, "%s.date", key), date, NULL);
}

void draft_missing_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                       const char *value, const char *missing, const char *how) {
  add(lines, section,
      (struct draft_line){.comment = arena_printf(lines->arena, "MISSING: %s. %s.", missing, how),
                          .key = key,
                          .value = value,
                          .missing = missing});
}

// ---- settings

// Pairs of keys with the same meaning: a section may have only one of each pair.
static const char *const twins[][2] = {{"price", "list_price"}, {"evidence", "throughput"}};

static bool says_the_same(const char *key, const char *set) {
  const size_t length = strlen(set);
  if (!strncmp(key, set, length) && (!key[length] || key[length] == '.'))
    return true;
  for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
    if ((!strcmp(set, twins[i][0]) && says_the_same(key, twins[i][1])) ||
        (!strcmp(set, twins[i][1]) && !strcmp(key, twins[i][0])))
      return true;
  return false;
}

// Drops every line with that meaning; whether there was one. *at: where.
static bool drop_key(struct draft_section *section, const char *key, size_t *at) {
  size_t count = 0;
  bool found = false;
  for (size_t i = 0; i < section->count; i++) {
    const char *its = section->lines[i].key;
    if (!its || !says_the_same(its, key)) {
      section->lines[count++] = section->lines[i];
      continue;
    }
    *at = found ? *at : count;
    found = true;
  }
  section->count = count;
  return found;
}

static void put(struct draft_lines *lines, struct draft_section *section, const char *key,
                const char *value) {
  size_t at = 0;
  const bool found = drop_key(section, key, &at);
  draft_line_add(lines, section, key, value, NULL);
  if (!found)
    return;
  const struct draft_line line = section->lines[section->count - 1];
  memmove(&section->lines[at + 1], &section->lines[at],
          (section->count - 1 - at) * sizeof *section->lines);
  section->lines[at] = line;
}

static bool is_common(const struct draft_section *section) {
  return !strcmp(section->kind, "scenario") || !strcmp(section->kind, "workload") ||
         !strcmp(section->kind, "common");
}

static bool has_key(const struct draft_section *section, const char *key) {
  for (size_t i = 0; i < section->count; i++)
    if (section->lines[i].key && !strcmp(section->lines[i].key, key))
      return true;
  return false;
}

// Whether the key, or the one that it says the source or date of, is of the report as a whole.
static bool is_of_report(const char *key) {
  static const char *const keys[] = {"currency", "exchange_rate", "period", "start"};
  const size_t length = strcspn(key, ".");
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strlen(keys[i]) == length && !strncmp(keys[i], key, length))
      return true;
  return false;
}

// The common section with the key, else that for a new one.
static struct draft_section *common_section(struct draft_lines *lines, const char *key) {
  const char *kind = is_of_report(key) ? "scenario" : "common";
  struct draft_section *common = NULL;
  for (size_t i = 0; i < lines->count; i++) {
    struct draft_section *section = &lines->sections[i];
    if (is_common(section) && has_key(section, key))
      return section;
    if (!strcmp(section->kind, kind))
      common = section;
  }
  return common;
}

static struct draft_section *named_section(struct draft_lines *lines, const char *name) {
  for (size_t i = 0; i < lines->count; i++) {
    struct draft_section *section = &lines->sections[i];
    const bool is_option = !strcmp(section->kind, "option");
    if (!strcmp(is_option ? section->argument : is_common(section) ? section->kind : "", name))
      return section;
  }
  return NULL;
}

static const char *trimmed(struct arena *arena, const char *text, size_t length) {
  while (length && *text == ' ') {
    text++;
    length--;
  }
  while (length && text[length - 1] == ' ')
    length--;
  return arena_copy_n(arena, text, length);
}

// Drops the range of a value that has been replaced.
static void drop_range(struct draft_lines *lines, const char *key) {
  size_t at;
  for (size_t i = 0; i < lines->count; i++)
    if (!strcmp(lines->sections[i].kind, "range"))
      drop_key(&lines->sections[i], key, &at);
}

void draft_set(struct draft_lines *lines, const char *setting) {
  const char *equals = strchr(setting, '=');
  const size_t length = equals ? (size_t)(equals - setting) : strlen(setting);
  const char *key = trimmed(lines->arena, setting, length);
  const char *value = equals ? trimmed(lines->arena, equals + 1, strlen(equals + 1)) : "";
  const char *point = strchr(key, '.');
  drop_range(lines, key);
  struct draft_section *section =
      point ? named_section(lines, arena_copy_n(lines->arena, key, (size_t)(point - key))) : NULL;
  if (section)
    key = point + 1;
  else
    section = common_section(lines, key);
  put(lines, section, key, value);
}

// ---- the text

// "; first words\n; more words\n".
static const char *wrapped(const char *text, struct arena *arena) {
  const char *out = "";
  while (*text) {
    size_t length = strlen(text);
    if (length > COMMENT_WIDTH) {
      length = COMMENT_WIDTH;
      while (length && text[length] != ' ')
        length--;
      length = length ? length : text_within(text, COMMENT_WIDTH);
    }
    out = arena_printf(arena, "%s; %.*s\n", out, (int)length, text);
    text += length;
    while (*text == ' ')
      text++;
  }
  return out;
}

// A comment's own line breaks are kept.
static const char *comment_text(const char *comment, struct arena *arena) {
  const char *out = "";
  while (*comment) {
    const size_t length = strcspn(comment, "\n");
    out = arena_printf(arena, "%s%s", out, wrapped(arena_copy_n(arena, comment, length), arena));
    comment += length + (comment[length] == '\n');
  }
  return out;
}

static const char *section_text(const struct draft_section *section, struct arena *arena) {
  const char *out = arena_printf(arena, "\n[%s%s%s]\n", section->kind,
                                 *section->argument ? " " : "", section->argument);
  for (size_t i = 0; i < section->count; i++) {
    const struct draft_line *line = &section->lines[i];
    if (line->comment)
      out = arena_printf(arena, "%s%s", out, comment_text(line->comment, arena));
    if (line->key)
      out = arena_printf(arena, "%s%s = %s\n", out, line->key, line->value);
  }
  return out;
}

const char *draft_print(const struct draft_lines *lines) {
  const char *out = comment_text(lines->comment, lines->arena);
  for (size_t i = 0; i < lines->count; i++)
    if (lines->sections[i].count)
      out =
          arena_printf(lines->arena, "%s%s", out, section_text(&lines->sections[i], lines->arena));
  return out;
}

struct texts draft_missing(const struct draft_lines *lines) {
  struct texts missing = {0};
  for (size_t i = 0; i < lines->count; i++)
    for (size_t k = 0; k < lines->sections[i].count; k++)
      if (lines->sections[i].lines[k].missing)
        texts_add(&missing, lines->arena, "%s: %s", lines->sections[i].argument,
                  lines->sections[i].lines[k].missing);
  return missing;
}
