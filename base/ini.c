#include "base/ini.h"

#include <ini.h>
#include <stdbool.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

// A section or a key seen before: "option h200", "option h200]discount".
struct seen {
  const char *id;
  int line;
  size_t section;
  UT_hash_handle hh;
};

struct ini_reader {
  const struct source *source;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct ini *ini;
  struct seen *seen;
  const char *next; // the first byte not read yet
  const char *line; // the current line: text, length without its line end, number
  size_t length;
  int number;
  size_t section;      // of the current keys, if in_section
  bool in_section;     // false before the first section and after a malformed one
  bool below_repeated; // the current section repeats an earlier one
  bool section_tried;  // a section was seen, good or malformed, or its absence was reported
};

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static struct place place_at(const struct ini_reader *reader, size_t offset) {
  return (struct place){reader->source, reader->number, (int)offset + 1};
}

static bool next_line(struct ini_reader *reader) {
  const char *end = reader->source->text + reader->source->size;
  if (reader->next >= end)
    return false;
  const char *line_end = memchr(reader->next, '\n', (size_t)(end - reader->next));
  reader->line = reader->next;
  reader->length = (size_t)((line_end ? line_end : end) - reader->line);
  reader->next = line_end ? line_end + 1 : end;
  reader->number++;
  if (reader->length > 0 && reader->line[reader->length - 1] == '\r')
    reader->length--;
  return true;
}

// The offset of the first non-blank character at or after `from`.
static size_t skip_blanks(const struct ini_reader *reader, size_t from) {
  while (from < reader->length && is_blank(reader->line[from]))
    from++;
  return from;
}

// The position at which the comment after a section or a key begins, or the length of the line. As
// in inih, a semicolon only counts after a blank.
static size_t find_comment(const struct ini_reader *reader) {
  for (size_t i = 1; i < reader->length; i++)
    if (reader->line[i] == ';' && is_blank(reader->line[i - 1]))
      return i;
  return reader->length;
}

// The offset of the first `wanted` in from..end, or `end`.
static size_t find_char(const struct ini_reader *reader, size_t from, size_t end, char wanted) {
  const char *found = from < end ? memchr(reader->line + from, wanted, end - from) : NULL;
  return found ? (size_t)(found - reader->line) : end;
}

static struct seen *find_seen(const struct ini_reader *reader, const char *id) {
  struct seen *seen;
  HASH_FIND_STR(reader->seen, id, seen);
  return seen;
}

static void add_seen(struct ini_reader *reader, const char *id) {
  struct arena *arena = reader->arena; // uthash takes its memory from it
  struct seen *seen = arena_alloc(arena, sizeof *seen);
  *seen = (struct seen){.id = id, .line = reader->number, .section = reader->section};
  HASH_ADD_KEYPTR(hh, reader->seen, seen->id, strlen(seen->id), seen);
}

static void add_section(struct ini_reader *reader, const char *kind, const char *argument) {
  struct ini *ini = reader->ini;
  ini->sections =
      arena_room(reader->arena, ini->sections, ini->section_count, sizeof *ini->sections);
  reader->section = ini->section_count++;
  ini->sections[reader->section] =
      (struct ini_section){.kind = kind, .argument = argument, .place = place_at(reader, 0)};
}

// Opens the section whose name is the bytes from..end, without blanks at either end.
static void open_section(struct ini_reader *reader, size_t from, size_t end) {
  size_t kind_end = from;
  while (kind_end < end && !is_blank(reader->line[kind_end]))
    kind_end++;
  size_t argument = skip_blanks(reader, kind_end);
  const char *kind = arena_copy_n(reader->arena, reader->line + from, kind_end - from);
  const char *text =
      argument < end ? arena_copy_n(reader->arena, reader->line + argument, end - argument) : "";
  const char *id = arena_printf(reader->arena, "%s%s%s", kind, *text ? " " : "", text);

  const struct seen *first = find_seen(reader, id);
  reader->in_section = true;
  reader->below_repeated = first != NULL;
  if (first) {
    diagnostics_error(reader->diagnostics, place_at(reader, 0),
                      "section [%s] was already opened in line %d; put its keys there", id,
                      first->line);
    reader->section = first->section;
    return;
  }
  add_section(reader, kind, text);
  add_seen(reader, id);
}

static void read_section(struct ini_reader *reader) {
  size_t limit = find_comment(reader);
  size_t close = find_char(reader, 1, limit, ']');
  size_t from = skip_blanks(reader, 1), end = close;
  const bool doubled = from < limit && reader->line[from] == '[';
  if (doubled) {
    diagnostics_error(reader->diagnostics, place_at(reader, from),
                      "a section's name stands between one [ and one ]");
    from = skip_blanks(reader, from + 1);
  }
  while (end > from && is_blank(reader->line[end - 1]))
    end--;
  reader->in_section = false;
  reader->section_tried = true;

  // An unclosed section is opened anyway, so that its keys are checked and not missed.
  if (close == limit)
    diagnostics_error(reader->diagnostics, place_at(reader, end),
                      "expected ] after the section's name");
  else if (from >= end)
    diagnostics_error(reader->diagnostics, place_at(reader, close),
                      "expected a section's name, as in [scenario]");
  if (from >= end)
    return;
  if (close - 1 > MAX_INI_SECTION) {
    diagnostics_error(reader->diagnostics, place_at(reader, 1),
                      "a section's name has at most %d bytes, this one has %zu", MAX_INI_SECTION,
                      close - 1);
    return;
  }
  size_t rest = skip_blanks(reader, close + 1);
  if (rest < limit && !doubled)
    diagnostics_error(reader->diagnostics, place_at(reader, rest),
                      "expected the end of the line after the section's name");
  open_section(reader, from, end);
}

// Reports a section's header that lacks its [, and opens it like one that lacks its ]: its keys are
// not the previous section's. False: the line is none.
static bool read_unopened(struct ini_reader *reader) {
  size_t end = find_comment(reader);
  while (end > 0 && is_blank(reader->line[end - 1]))
    end--;
  const size_t close = find_char(reader, 0, end, ']');
  if (!close || close + 1 != end || find_char(reader, 0, end, '=') < end)
    return false;
  diagnostics_error(reader->diagnostics, place_at(reader, 0),
                    "expected [ before the section's name");
  reader->section_tried = true;
  reader->in_section = false;
  if (close < MAX_INI_SECTION)
    open_section(reader, 0, close);
  return true;
}

// Whether the current line is a key that inih can split. Reports an error if it is not.
static bool check_key(struct ini_reader *reader) {
  size_t limit = find_comment(reader);
  size_t equals = find_char(reader, 0, limit, '=');
  size_t colon = find_char(reader, 0, equals, ':');
  if (equals == limit || colon < equals) {
    const char *hint = colon < limit ? "; write '=' instead of ':'" : "";
    size_t offset = colon < equals ? colon : 0;
    diagnostics_error(reader->diagnostics, place_at(reader, offset),
                      "expected 'key = value', '[section]' or '; comment'%s", hint);
    return false;
  }
  if (equals == 0) {
    diagnostics_error(reader->diagnostics, place_at(reader, 0), "expected a key's name before '='");
    return false;
  }
  if (!reader->section_tried)
    diagnostics_error(reader->diagnostics, place_at(reader, 0),
                      "expected a section, as in [scenario], before the first key");
  reader->section_tried = true;
  return true;
}

// Whether inih may see the current line. Anything that it would misread is refused here.
static bool check_line(struct ini_reader *reader, size_t room) {
  for (size_t i = 0; i < reader->length; i++) {
    unsigned char c = (unsigned char)reader->line[i];
    if ((c >= ' ' && c != 127) || c == '\t')
      continue;
    diagnostics_error(reader->diagnostics, place_at(reader, i),
                      "control character 0x%02X; expected text with LF or CRLF line ends", c);
    return false;
  }
  size_t start = skip_blanks(reader, 0);
  if (start == reader->length || strchr(";#", reader->line[start]))
    return false;
  if (reader->length > MAX_INI_LINE || reader->length >= room) {
    diagnostics_error(reader->diagnostics, place_at(reader, MAX_INI_LINE),
                      "a line has at most %d bytes, this one has %zu: put a longer text in comment "
                      "lines of its own",
                      MAX_INI_LINE, reader->length);
    return false;
  }
  if (start > 0) {
    diagnostics_error(reader->diagnostics, place_at(reader, start),
                      "a key or section begins in the first column; a value cannot run over "
                      "several lines");
    return false;
  }
  if (reader->line[0] == '[')
    read_section(reader);
  else if (!read_unopened(reader))
    return check_key(reader);
  return false; // inih does not report sections without keys, so sections are read only here
}

// inih's reader: an accepted line as it is, an empty line in place of any other.
static char *feed_line(char *buffer, int size, void *user) {
  struct ini_reader *reader = user;
  if (!next_line(reader))
    return NULL;
  size_t length = check_line(reader, (size_t)size) ? reader->length : 0;
  memcpy(buffer, reader->line, length);
  buffer[length] = '\0';
  return buffer;
}

static struct place value_place(const struct ini_reader *reader, const char *value) {
  size_t after = find_char(reader, 0, reader->length, '=') + 1;
  return place_at(reader, *value ? skip_blanks(reader, after) : after);
}

// inih's handler, called for the line that feed_line returned last.
static int take_key(void *user, const char *section_name, const char *name, const char *value) {
  (void)section_name;
  struct ini_reader *reader = user;
  if (!reader->in_section)
    return 1;
  struct ini_section *section = &reader->ini->sections[reader->section];
  const char *id = arena_printf(reader->arena, "%s %s]%s", section->kind, section->argument, name);
  const struct seen *first = find_seen(reader, id);
  if (first) {
    // One error is enough for a repeated section: its keys usually repeat, too.
    if (!reader->below_repeated)
      diagnostics_error(reader->diagnostics, place_at(reader, 0),
                        "key '%s' was already given in line %d", name, first->line);
    return 1;
  }
  add_seen(reader, id);
  section->keys =
      arena_room(reader->arena, section->keys, section->key_count, sizeof *section->keys);
  section->keys[section->key_count++] = (struct ini_key){
      .name = arena_copy(reader->arena, name),
      .value = arena_copy(reader->arena, value),
      .place = place_at(reader, 0),
      .value_place = value_place(reader, value),
  };
  return 1;
}

// An object, or a list of objects: every line of it would be an error.
static bool is_json(const char *text) {
  static const char blanks[] = " \t\r\n";
  const char *at = text + strspn(text, blanks);
  if (*at == '[')
    at += 1 + strspn(at + 1, blanks);
  return *at == '{';
}

const struct ini *ini_read(const struct source *source, struct arena *arena,
                           struct diagnostics *diagnostics) {
  struct ini_reader reader = {
      .source = source,
      .arena = arena,
      .diagnostics = diagnostics,
      .ini = arena_alloc(arena, sizeof *reader.ini),
      .next = source->text,
  };
  reader.ini->source = source;
  if (is_json(source->text)) {
    diagnostics_error(diagnostics, (struct place){.source = source},
                      "expected sections with keys, found JSON: 'pertoken import' makes a record "
                      "of another program's result");
    return NULL;
  }
  size_t errors = diagnostics->errors;
  int bad_line = ini_parse_stream(feed_line, &reader, take_key, &reader);

  // Every line that inih refuses was already refused above, unless inih was built with other rules.
  if (bad_line != 0 && diagnostics->errors == errors)
    diagnostics_error(diagnostics, (struct place){source, bad_line > 0 ? bad_line : 0, 1},
                      "the INI library cannot read this line");
  if (reader.ini->section_count > 0)
    return reader.ini;
  if (diagnostics->errors == errors)
    diagnostics_error(diagnostics, (struct place){.source = source},
                      "no section; expected [scenario] or another one");
  return NULL;
}

const struct ini_section *ini_section(const struct ini *ini, const char *kind,
                                      const char *argument) {
  for (size_t i = 0; i < ini->section_count; i++) {
    const struct ini_section *section = &ini->sections[i];
    if (strcmp(section->kind, kind) == 0 && strcmp(section->argument, argument) == 0)
      return section;
  }
  return NULL;
}

const struct ini_key *ini_find(const struct ini_section *section, const char *name) {
  for (size_t i = 0; i < section->key_count; i++)
    if (strcmp(section->keys[i].name, name) == 0)
      return &section->keys[i];
  return NULL;
}
