#include "reports/print/style.h"

#include "base/process.h"
#include "base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <unistr.h>
#include <unitypes.h>
#include <uniwidth.h>

enum { USUAL_WIDTH = 80, MIN_WIDTH = 60, MAX_WIDTH = 132, WIDEST_SCREEN = 1000 };

// The value of COLUMNS, else the terminal's width.
static int width_of(int fd, bool terminal) {
  struct winsize size;
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width < 1 && terminal && !ioctl(fd, TIOCGWINSZ, &size))
    width = size.ws_col;
  if (width < 1)
    return USUAL_WIDTH;
  return width < MIN_WIDTH ? MIN_WIDTH : width > WIDEST_SCREEN ? WIDEST_SCREEN : (int)width;
}

struct style style_of(FILE *out, struct arena *arena) {
  const int fd = fileno(out);
  struct style style = {.out = out, .arena = arena};
  style.terminal = fd >= 0 && isatty(fd);
  style.colour = process_shows_colour(out);
  style.utf8 = process_shows_utf8();
  style.screen = width_of(fd, style.terminal);
  style.width = style.screen > MAX_WIDTH ? MAX_WIDTH : style.screen;
  return style;
}

int style_width(const char *text) {
  const int width = u8_strwidth((const uint8_t *)text, "UTF-8");
  return width > 0 ? width : 0;
}

const char *style_text(const struct style *style, const char *text) {
  char *out = arena_alloc(style->arena, strlen(text) + 1), *next = out;
  const uint8_t *at = (const uint8_t *)text;
  while (*at) {
    ucs4_t code;
    const int bytes = u8_strmbtouc(&code, at);
    const bool bad = bytes <= 0 || text_acts_on_terminal(code) || (!style->utf8 && code > 127);
    const size_t used = bytes > 0 ? (size_t)bytes : 1;
    if (bad)
      *next++ = '?';
    else
      next = mempcpy(next, at, used);
    at += used;
  }
  return out;
}

const char *style_mark(const struct style *style, enum emphasis emphasis, const char *text) {
  static const char *const codes[] = {
      [EMPHASIS_STRONG] = "1",
      [EMPHASIS_FAINT] = "2",
      [EMPHASIS_GOOD] = "1;32",
      [EMPHASIS_ALARM] = "1;33",
  };
  if (!style->colour || emphasis == EMPHASIS_NONE || !*text)
    return text;
  return arena_printf(style->arena, "\033[%sm%s\033[0m", codes[emphasis], text);
}

// The number of bytes of `text` that fit into `width` columns if it is broken at a space.
static size_t line_length(const char *text, int width, struct arena *arena) {
  size_t fits = 0;
  for (size_t end = 0; text[end];) {
    end += strspn(text + end, " ");
    end += strcspn(text + end, " ");
    if (fits && style_width(arena_copy_n(arena, text, end)) > width)
      return fits;
    fits = end;
  }
  return fits;
}

size_t style_wrap(const char *text, int width, struct arena *arena, const char ***lines) {
  size_t count = 0;
  *lines = arena_array(arena, strlen(text) / 2 + 2, sizeof **lines);
  do {
    const size_t length = line_length(text, width, arena);
    (*lines)[count++] = arena_copy_n(arena, text, length);
    text += length;
    text += strspn(text, " ");
  } while (*text);
  return count;
}

const char *style_cut(const char *text, int width, struct arena *arena) {
  static const char mark[] = "..";
  if (style_width(text) <= width)
    return text;
  size_t length = 0;
  for (;;) {
    const int bytes = u8_strmblen((const uint8_t *)text + length);
    const size_t next = length + (bytes > 0 ? (size_t)bytes : 1);
    if (style_width(arena_copy_n(arena, text, next)) + (int)sizeof mark - 1 > width)
      return arena_printf(arena, "%.*s%s", (int)length, text, mark);
    length = next;
  }
}

void style_paragraph(const struct style *style, const char *first, const char *text) {
  const char **lines;
  const int indent = style_width(first);
  const size_t count =
      style_wrap(style_text(style, text), style->width - indent, style->arena, &lines);
  for (size_t i = 0; i < count; i++)
    fprintf(style->out, "%s%*s%s\n", i ? "" : first, i ? indent : 0, "", lines[i]);
}

void style_block(const struct style *style, enum emphasis emphasis, const char *text) {
  const char **lines;
  const size_t count = style_wrap(style_text(style, text), style->width, style->arena, &lines);
  for (size_t i = 0; i < count; i++)
    fprintf(style->out, "%s\n", style_mark(style, emphasis, lines[i]));
}

void style_rule(const struct style *style, int width) {
  const char *piece = style->utf8 ? "\u2500" : "-", *line = "";
  for (int i = 0; i < width; i++)
    line = arena_printf(style->arena, "%s%s", line, piece);
  fprintf(style->out, "%s\n", style_mark(style, EMPHASIS_FAINT, line));
}
