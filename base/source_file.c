#include "base/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t max_file_bytes = (size_t)256 << 20;
static const char byte_order_mark[] = "\xEF\xBB\xBF";

static struct place place_at(const struct source *source, const char *position) {
  struct place place = {source, 1, 1};
  for (const char *p = source->text; p < position; p++) {
    place.column++;
    if (*p == '\n') {
      place.line++;
      place.column = 1;
    }
  }
  return place;
}

// Opened without waiting: a pipe without a writer would otherwise block the program forever.
static int open_regular(const char *path, struct place whole, struct stat *status,
                        struct diagnostics *diagnostics) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, status) < 0) {
    diagnostics_error(diagnostics, whole, "cannot be opened: %s%s", strerror(errno),
                      strcmp(path, "-") ? "" : "; standard input is not read: name a file");
  } else if (S_ISDIR(status->st_mode)) {
    diagnostics_error(diagnostics, whole, "expected a file, found a directory");
  } else if (!S_ISREG(status->st_mode)) {
    diagnostics_error(diagnostics, whole, "expected a regular file, found a device or pipe");
  } else {
    return fd;
  }
  if (fd >= 0)
    close(fd);
  return -1;
}

// Reads to the end of the file, not to the size from fstat: some regular files (/proc) report 0.
// Stops once the text is longer than the largest allowed file. Returns 0, or -1 with errno set.
static int read_to_end(int fd, size_t expected, struct source *source, struct arena *arena) {
  size_t capacity = expected + 2, size = 0;
  char *text = arena_alloc(arena, capacity);
  while (size <= max_file_bytes) {
    ssize_t got = read(fd, text + size, capacity - size - 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    size += (size_t)got;
    if (size + 1 < capacity)
      continue;
    text = arena_grow(arena, text, capacity, 2 * capacity, 1);
    capacity *= 2;
  }
  text[size] = '\0';
  source->text = text;
  source->size = size;
  return 0;
}

// Fills in text and size. Returns 0, or -1 after an error.
static int read_text(const char *path, struct source *source, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct place whole = {source, 0, 0};
  struct stat status;
  int result = -1;
  int fd = open_regular(path, whole, &status, diagnostics);
  if (fd < 0)
    return -1;

  size_t expected = (size_t)status.st_size;
  if (expected <= max_file_bytes && read_to_end(fd, expected, source, arena) < 0) {
    diagnostics_error(diagnostics, whole, "cannot be read: %s", strerror(errno));
    diagnostics->machine_failed = true;
  } else if (expected > max_file_bytes || source->size > max_file_bytes) {
    diagnostics_error(diagnostics, whole, "expected a file of at most 256 MiB");
  } else {
    result = 0;
  }
  close(fd);
  if (!result)
    diagnostics_note_file(diagnostics, path, &status);
  return result;
}

// U+FFFE and U+FFFF are not characters, and XML must not contain them: a workbook would be
// unreadable.
static const char *find_noncharacter(const char *text) {
  static const char *const codes[] = {"\xEF\xBF\xBE", "\xEF\xBF\xBF"};
  const char *first = NULL;
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    const char *found = strstr(text, codes[i]);
    if (found && (!first || found < first))
      first = found;
  }
  return first;
}

static int check_text(const struct source *source, struct diagnostics *diagnostics) {
  const char *nul = memchr(source->text, '\0', source->size);
  if (nul) {
    diagnostics_error(diagnostics, place_at(source, nul),
                      "expected UTF-8 text, found a NUL byte (a UTF-16 or binary file)");
    return -1;
  }
  const uint8_t *invalid = source_invalid_utf8(source->text, source->size);
  if (invalid) {
    diagnostics_error(diagnostics, place_at(source, (const char *)invalid),
                      "expected UTF-8 text, found the byte 0x%02X", *invalid);
    return -1;
  }
  const char *noncharacter = find_noncharacter(source->text);
  if (noncharacter) {
    diagnostics_error(diagnostics, place_at(source, noncharacter),
                      "expected text, found U+FFF%c, which is not a character",
                      noncharacter[2] == '\xBE' ? 'E' : 'F');
    return -1;
  }
  return 0;
}

static void drop_byte_order_mark(struct source *source) {
  const size_t length = sizeof byte_order_mark - 1;
  if (source->size < length || memcmp(source->text, byte_order_mark, length) != 0)
    return;
  source->text += length;
  source->size -= length;
}

const struct source *source_read(const char *path, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  struct source *source = arena_alloc(arena, sizeof *source);
  *source = (struct source){arena_copy(arena, path), "", 0};
  if (read_text(path, source, arena, diagnostics) < 0)
    return NULL;
  drop_byte_order_mark(source);
  return check_text(source, diagnostics) < 0 ? NULL : source;
}
