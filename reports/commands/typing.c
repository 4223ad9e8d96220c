#include "reports/commands/typing.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

enum {
  INTERRUPT = 0x03,
  END_OF_INPUT = 0x04,
  BACKSPACE = 0x08,
  TAB = 0x09,
  FORGET_LINE = 0x15,
  FORGET_WORD = 0x17,
  QUIT = 0x1C,
  ESCAPE = 0x1B,
  DELETE = 0x7F
};

struct typing {
  const char *prompt;
  const struct texts *words;
  struct arena *arena;
  char *line;
  size_t length;
  bool escaped; // in the escape sequence of a cursor key, which is skipped
};

static bool is_between_words(char c) {
  return c == ' ' || c == ',';
}

static size_t word_begins(const struct typing *typing) {
  size_t at = typing->length;
  while (at && !is_between_words(typing->line[at - 1]))
    at--;
  return at;
}

static void show(const char *text, size_t length) {
  fwrite(text, 1, length, stderr);
}

static void add(struct typing *typing, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    typing->line = arena_room(typing->arena, typing->line, typing->length, sizeof *typing->line);
    typing->line[typing->length++] = text[i];
  }
  show(text, length);
}

// Erases the end of the line from a byte on: a character is one column, however many bytes it has.
static void forget(struct typing *typing, size_t from) {
  for (; typing->length > from; typing->length--)
    if ((typing->line[typing->length - 1] & 0xC0) != 0x80)
      fputs("\b \b", stderr);
}

static size_t last_character(const struct typing *typing) {
  size_t at = typing->length;
  while (at && (typing->line[at - 1] & 0xC0) == 0x80)
    at--;
  return at ? at - 1 : 0;
}

static void forget_word(struct typing *typing) {
  size_t at = typing->length;
  while (at && is_between_words(typing->line[at - 1]))
    at--;
  while (at && !is_between_words(typing->line[at - 1]))
    at--;
  forget(typing, at);
}

// ---- completion

static size_t shared_length(const char *a, const char *b) {
  size_t length = 0;
  while (a[length] && a[length] == b[length])
    length++;
  return length;
}

static void list(const struct typing *typing, const struct texts *found) {
  fputs("\n", stderr);
  for (size_t i = 0; i < found->count; i++)
    fprintf(stderr, "  %s\n", found->list[i]);
  fputs(typing->prompt, stderr);
  show(typing->line, typing->length);
}

static void complete(struct typing *typing) {
  const size_t begin = word_begins(typing), typed = typing->length - begin;
  struct texts found = {0};
  size_t shared = 0;
  for (size_t i = 0; i < typing->words->count; i++) {
    const char *word = typing->words->list[i];
    if (strlen(word) < typed || strncasecmp(word, typing->line + begin, typed) != 0)
      continue;
    shared = found.count ? shared_length(arena_copy_n(typing->arena, found.list[0], shared), word)
                         : strlen(word);
    texts_add(&found, typing->arena, "%s", word);
  }
  if (found.count && shared >= typed && (shared > typed || found.count == 1)) {
    forget(typing, begin);
    add(typing, found.list[0], shared);
    if (found.count == 1)
      add(typing, " ", 1);
  } else if (found.count)
    list(typing, &found);
}

// ---- keys

enum state { GOES_ON, IS_WHOLE, HAS_ENDED };

static enum state type(struct typing *typing, char key) {
  if (typing->escaped) {
    typing->escaped = key == '[' || key == 'O' || key == ';' || (key >= '0' && key <= '9');
    return GOES_ON;
  }
  switch (key) {
  case '\n':
  case '\r': return IS_WHOLE;
  case 0: // a Ctrl-D that was typed ahead
  case END_OF_INPUT: return typing->length ? GOES_ON : HAS_ENDED;
  case TAB: complete(typing); return GOES_ON;
  case BACKSPACE:
  case DELETE: forget(typing, last_character(typing)); return GOES_ON;
  case FORGET_LINE: forget(typing, 0); return GOES_ON;
  case FORGET_WORD: forget_word(typing); return GOES_ON;
  case ESCAPE: typing->escaped = true; return GOES_ON;
  default:
    if ((unsigned char)key >= ' ')
      add(typing, &key, 1);
    return GOES_ON;
  }
}

// A key that ends the program leaves the terminal as it was.
static void raise_as(char key, const struct termios *before) {
  if (key != INTERRUPT && key != QUIT)
    return;
  fputs("\n", stderr);
  tcsetattr(STDIN_FILENO, TCSADRAIN, before);
  raise(key == INTERRUPT ? SIGINT : SIGQUIT);
}

const char *typing_line(const char *prompt, const struct texts *words, struct arena *arena) {
  struct typing typing = {
      .prompt = prompt, .words = words, .arena = arena, .line = arena_copy(arena, "")};
  struct termios before, raw;
  enum state state = GOES_ON;
  fputs(prompt, stderr);
  const bool is_terminal = !tcgetattr(STDIN_FILENO, &before);
  if (is_terminal) {
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  while (state == GOES_ON) {
    char key;
    fflush(stderr);
    const ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got == 1 && is_terminal)
      raise_as(key, &before);
    state = got == 1 ? type(&typing, key) : HAS_ENDED;
  }
  if (is_terminal)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  fputs("\n", stderr);
  return state == IS_WHOLE ? arena_copy_n(arena, typing.line, typing.length) : NULL;
}
