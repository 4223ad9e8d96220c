#include "base/diagnostics.h"

#include "base/texts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

enum {
  bytes_per_column = 4, // a character without a column, such as an accent, takes room all the same
  max_line_columns = 160, // columns; a longer line is shown as a window around the place
  max_line_room = max_line_columns * bytes_per_column,
  max_tab_columns = 8,
  max_name = 127,
  most_shown = 50, // errors of one file, and warnings
};

static const char indent[] = "  ";
static const char ellipsis[] = "...";

static const struct {
  const char *word, *colour;
} severities[] = {
    [SEVERITY_ERROR] = {"error", "\033[1;31m"},
    [SEVERITY_WARNING] = {"warning", "\033[1;35m"},
};
static const char caret_colour[] = "\033[1;32m";
static const char plain_colour[] = "\033[0m";

static void add(struct diagnostics *diagnostics, enum severity severity, struct place place,
                const char *message) {
  if (diagnostics->about)
    message = arena_printf(diagnostics->arena, "%s: %s", diagnostics->about, message);
  diagnostics->list = arena_room(diagnostics->arena, diagnostics->list, diagnostics->count,
                                 sizeof *diagnostics->list);
  diagnostics->list[diagnostics->count++] = (struct diagnostic){severity, place, message};
  if (severity == SEVERITY_ERROR)
    diagnostics->errors++;
}

void diagnostics_error(struct diagnostics *diagnostics, struct place place, const char *format,
                       ...) {
  va_list arguments;
  va_start(arguments, format);
  add(diagnostics, SEVERITY_ERROR, place, arena_vprintf(diagnostics->arena, format, arguments));
  va_end(arguments);
}

void diagnostics_forward(struct diagnostics *diagnostics, const struct diagnostics *from) {
  for (size_t i = 0; i < from->count; i++)
    add(diagnostics, from->list[i].severity, from->list[i].place, from->list[i].message);
  diagnostics->machine_failed |= from->machine_failed;
}

static bool already_warned(const struct diagnostics *diagnostics, const char *message) {
  for (size_t i = 0; i < diagnostics->count; i++) {
    const struct diagnostic *given = &diagnostics->list[i];
    if (given->severity == SEVERITY_WARNING && strcmp(given->message, message) == 0)
      return true;
  }
  return false;
}

// The diagnostics in which to note that a file was read: those in which the errors may end up, if
// they are held back here.
static struct diagnostics *noting(struct diagnostics *diagnostics) {
  return diagnostics->held_for ? diagnostics->held_for : diagnostics;
}

void diagnostics_note_file(struct diagnostics *diagnostics, const char *path,
                           const struct stat *file) {
  struct diagnostics *of = noting(diagnostics);
  struct file_read *read = arena_alloc(of->arena, sizeof *read);
  *read = (struct file_read){arena_copy(of->arena, path), file->st_dev, file->st_ino, of->files};
  of->files = read;
}

void diagnostics_note_path(struct diagnostics *diagnostics, const char *path) {
  struct stat file;
  if (!stat(path, &file))
    diagnostics_note_file(diagnostics, path, &file);
}

bool diagnostics_have_read(const struct diagnostics *diagnostics, const struct stat *file) {
  for (const struct file_read *read = diagnostics->files; read; read = read->next)
    if (read->device == file->st_dev && read->inode == file->st_ino)
      return true;
  return false;
}

void diagnostics_warning(struct diagnostics *diagnostics, struct place place, const char *format,
                         ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *message = arena_vprintf(diagnostics->arena, format, arguments);
  va_end(arguments);
  if (!already_warned(diagnostics, message))
    add(diagnostics, SEVERITY_WARNING, place, message);
}

// One character of a text that may hold anything: characters that a terminal would act on (escape
// sequences, directions of writing) or could not show are replaced with U+FFFD.
struct character {
  uint8_t bytes[6];
  int length; // of bytes
  int used;   // bytes of the text
  int width;  // columns
  int room;   // at least its bytes, so that a window never has more of them than its room
};

static struct character next_character(const char *text, const char *end) {
  ucs4_t code;
  struct character character = {.used =
                                    u8_mbtouc(&code, (const uint8_t *)text, (size_t)(end - text))};
  if (code != '\t' && (!code || text_acts_on_terminal(code) || code == 0xFFFE || code == 0xFFFF))
    code = 0xFFFD;
  character.width = code == '\t' ? max_tab_columns : uc_width(code, "UTF-8");
  character.length = u8_uctomb(character.bytes, code, sizeof character.bytes);
  character.room = character.width * bytes_per_column;
  if (character.room < character.used)
    character.room = character.used;
  return character;
}

static void print_text(FILE *stream, const char *text, const char *end) {
  while (text < end) {
    const struct character character = next_character(text, end);
    fwrite(character.bytes, 1, (size_t)character.length, stream);
    text += character.used;
  }
}

static void print_string(FILE *stream, const char *text) {
  print_text(stream, text, text + strlen(text));
}

// A message's own line breaks are kept: it may contain a list of candidates.
static void print_message(FILE *stream, const char *text) {
  for (const char *line; (line = strchr(text, '\n')); text = line + 1) {
    print_text(stream, text, line);
    putc('\n', stream);
  }
  print_string(stream, text);
}

static int text_room(const char *text, const char *end) {
  int room = 0;
  while (text < end) {
    const struct character character = next_character(text, end);
    room += character.room;
    text += character.used;
  }
  return room;
}

// The first position, from `text` on, that has at least that room before it.
static const char *after_room(const char *text, const char *end, int room) {
  while (text < end && room > 0) {
    const struct character character = next_character(text, end);
    room -= character.room;
    text += character.used;
  }
  return text;
}

// The first character, from `text` on, of those that may lie in the same window before `at`.
static const char *near_before(const char *text, const char *at) {
  if (at - text <= max_line_room)
    return text;
  const char *near = at - max_line_room;
  while (near < at && ((unsigned char)*near & 0xC0) == 0x80)
    near++;
  return near;
}

// Blanks as wide as the text; a tab stays one, since only the terminal knows its width.
static void print_blank(FILE *stream, const char *text, const char *end) {
  while (text < end) {
    const struct character character = next_character(text, end);
    if (*text == '\t')
      putc('\t', stream);
    else
      fprintf(stream, "%*s", character.width, "");
    text += character.used;
  }
}

// The part of a line that is shown, from start to end. `at` lies within it.
struct window {
  const char *start, *end, *at;
  bool cut_before, cut_after;
};

static struct window choose_window(const char *line, size_t length, int column) {
  const char *end = line + length;
  const size_t offset = column > 0 ? (size_t)column - 1 : 0;
  struct window window = {line, end, line + (offset < length ? offset : length), false, false};
  window.end = after_room(line, end, max_line_room);
  if (window.end == end && text_room(line, end) <= max_line_room)
    return window;

  const char *near = near_before(line, window.at);
  window.start = after_room(near, window.at, text_room(near, window.at) - max_line_room / 2);
  window.end = after_room(window.start, end, max_line_room);
  window.cut_before = window.start > line;
  window.cut_after = window.end < end;
  return window;
}

// The place where the last shown line was found, so that each line of a file is passed only once.
struct cursor {
  const struct source *source; // NULL: none
  const char *start;
  int line;
};

// source_line, starting from the cursor if the cursor comes before the line.
static bool find_line(struct cursor *cursor, struct place place, const char **start,
                      size_t *length) {
  struct source rest = *place.source;
  int line = place.line;
  if (cursor->source == place.source && cursor->line <= line) {
    rest.size -= (size_t)(cursor->start - rest.text);
    rest.text = cursor->start;
    line -= cursor->line - 1;
  }
  if (!source_line(&rest, line, start, length))
    return false;
  *cursor = (struct cursor){place.source, *start, place.line};
  return true;
}

// A line with a NUL byte is not shown: it is of a binary file, or of UTF-16.
static void print_line(struct place place, struct cursor *cursor, FILE *stream, bool colour) {
  const char *line;
  size_t length;
  if (!find_line(cursor, place, &line, &length) || memchr(line, '\0', length))
    return;

  const struct window window = choose_window(line, length, place.column);
  const char *before = window.cut_before ? ellipsis : "";
  fprintf(stream, "%s%s", indent, before);
  print_text(stream, window.start, window.end);
  fprintf(stream, "%s\n", window.cut_after ? ellipsis : "");
  if (place.column < 1)
    return;

  fprintf(stream, "%s%*s", indent, (int)strlen(before), "");
  print_blank(stream, window.start, window.at);
  fprintf(stream, "%s^%s\n", colour ? caret_colour : "", colour ? plain_colour : "");
}

static void print_place(struct place place, FILE *stream) {
  if (!place.source)
    return;
  print_string(stream, place.source->name);
  if (place.line > 0)
    fprintf(stream, ":%d", place.line);
  if (place.line > 0 && place.column > 0)
    fprintf(stream, ":%d", place.column);
  fputs(": ", stream);
}

static void print_diagnostic(const struct diagnostic *diagnostic, struct cursor *cursor,
                             FILE *stream, bool colour) {
  print_place(diagnostic->place, stream);
  fprintf(stream, "%s%s:%s ", colour ? severities[diagnostic->severity].colour : "",
          severities[diagnostic->severity].word, colour ? plain_colour : "");
  print_message(stream, diagnostic->message);
  putc('\n', stream);
  if (diagnostic->place.source)
    print_line(diagnostic->place, cursor, stream, colour);
}

// The number of messages about a file so far.
struct tally {
  const struct source *source;
  size_t count[sizeof severities / sizeof severities[0]];
};

struct tallies {
  struct arena *arena;
  struct tally *list;
  size_t count;
};

// Messages of a file come together, as a rule.
static struct tally *tally_of(struct tallies *tallies, const struct source *source) {
  for (size_t i = tallies->count; i-- > 0;)
    if (tallies->list[i].source == source)
      return &tallies->list[i];
  tallies->list = arena_room(tallies->arena, tallies->list, tallies->count, sizeof *tallies->list);
  tallies->list[tallies->count] = (struct tally){.source = source};
  return &tallies->list[tallies->count++];
}

static void print_left_out(const struct tally *tally, FILE *stream) {
  for (size_t s = 0; s < sizeof severities / sizeof severities[0]; s++) {
    if (tally->count[s] <= most_shown)
      continue;
    const size_t more = tally->count[s] - most_shown;
    print_place((struct place){.source = tally->source}, stream);
    fprintf(stream, "and %zu more %s%s\n", more, severities[s].word, more == 1 ? "" : "s");
  }
}

// Standard error is unbuffered and would write each character separately, so the text is assembled
// first.
void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream, bool colour) {
  struct cursor cursor = {0};
  struct tallies tallies = {.arena = diagnostics->arena};
  char *text = NULL;
  size_t size = 0;
  FILE *memory = diagnostics->count ? open_memstream(&text, &size) : NULL;
  if (!memory)
    return;
  for (size_t i = 0; i < diagnostics->count; i++) {
    const struct diagnostic *diagnostic = &diagnostics->list[i];
    struct tally *tally = tally_of(&tallies, diagnostic->place.source);
    if (tally->count[diagnostic->severity]++ < most_shown)
      print_diagnostic(diagnostic, &cursor, memory, colour);
  }
  for (size_t i = 0; i < tallies.count; i++)
    print_left_out(&tallies.list[i], memory);
  fclose(memory);
  fwrite(text, 1, size, stream);
  free(text);
}

static int least(int a, int b) {
  return a < b ? a : b;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// The number of letters to insert, drop, replace or swap with their neighbor to turn `b` into `a`
// (the optimal string alignment distance), row by row; row i holds the distances of the first i
// letters of a.
static int edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  int rows[3][max_name + 1];
  int *two_back = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b_length; j++)
    last[j] = (int)j;

  for (size_t i = 1; i <= a_length; i++) {
    row[0] = (int)i;
    for (size_t j = 1; j <= b_length; j++) {
      const int replaced = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
      row[j] = least(replaced, least(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = least(row[j], two_back[j - 2] + 1);
    }
    int *spare = two_back;
    two_back = last;
    last = row;
    row = spare;
  }
  return last[b_length];
}

const char *nearest_name(const char *name, const char *const *candidates, size_t count) {
  const char *nearest = NULL;
  int nearest_distance = 0;
  const size_t name_length = strlen(name);
  if (name_length > max_name || count > MAX_CANDIDATES)
    return NULL;

  for (size_t i = 0; i < count; i++) {
    const size_t length = strlen(candidates[i]);
    if (length > max_name)
      continue;
    const int longer = (int)(length > name_length ? length : name_length);
    const int allowed = longer < 3 ? 1 : longer / 3;
    const int most = nearest && nearest_distance <= allowed ? nearest_distance - 1 : allowed;
    if (longer - least((int)length, (int)name_length) > most)
      continue;
    const int distance = edit_distance(name, name_length, candidates[i], length);
    if (distance > most)
      continue;
    nearest = candidates[i];
    nearest_distance = distance;
  }
  return nearest;
}

const char *did_you_mean(const char *name, struct arena *arena) {
  return name ? arena_printf(arena, "; did you mean '%s'?", name) : "";
}

const char *name_hint(const char *name, const char *const *candidates, size_t count,
                      struct arena *arena) {
  const char *nearest = nearest_name(name, candidates, count);
  const char *list = "";
  for (size_t i = 0; !nearest && count <= MAX_HINTED && i < count; i++)
    list =
        arena_printf(arena, "%s%s%s", list, i ? i + 1 < count ? ", " : " and " : "", candidates[i]);
  if (*list)
    return arena_printf(arena, "; there %s %s", count > 1 ? "are" : "is", list);
  return did_you_mean(nearest, arena);
}
