#include "base/source.h"

#include "base/diagnostics.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unistr.h>

static const size_t largest_file = (size_t)256 << 20;
static const char byte_order_mark[] = "\xEF\xBB\xBF";

// The length of the plain ASCII at the start, eight bytes at a time: most files are nothing else.
static size_t ascii_prefix(const char *text, size_t size) {
  size_t at = 0;
  for (uint64_t word; at + sizeof word <= size; at += sizeof word) {
    memcpy(&word, text + at, sizeof word);
    if (word & UINT64_C(0x8080808080808080))
      break;
  }
  return at;
}

static const uint8_t *invalid_utf8(const char *text, size_t size) {
  size_t ascii = ascii_prefix(text, size);
  return u8_check((const uint8_t *)text + ascii, size - ascii);
}

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

// Opened without waiting: a pipe without a writer would otherwise hold the program for ever.
static int open_regular(const char *path, struct place whole, struct stat *status,
                        struct diagnostics *diagnostics) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, status) < 0) {
    diagnostics_error(diagnostics, whole, "cannot be opened: %s", strerror(errno));
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

// Reads to the end and not to the size told beforehand: some regular files (/proc) tell 0.
// Stops once the text is longer than the largest file. Returns 0, or -1 with errno set.
static int read_to_end(int fd, size_t expected, struct source *source, struct arena *arena) {
  size_t capacity = expected + 2, size = 0;
  char *text = arena_alloc(arena, capacity);
  while (size <= largest_file) {
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
  if (expected <= largest_file && read_to_end(fd, expected, source, arena) < 0) {
    diagnostics_error(diagnostics, whole, "cannot be read: %s", strerror(errno));
    diagnostics->machine_failed = true;
  } else if (expected > largest_file || source->size > largest_file) {
    diagnostics_error(diagnostics, whole, "expected a file of at most 256 MiB");
  } else {
    result = 0;
  }
  close(fd);
  return result;
}

static int check_text(const struct source *source, struct diagnostics *diagnostics) {
  const char *nul = memchr(source->text, '\0', source->size);
  if (nul) {
    diagnostics_error(
        diagnostics, place_at(source, nul),
        "expected UTF-8 text, found a NUL byte (a file in UTF-16, or no text at all)");
    return -1;
  }
  const uint8_t *invalid = invalid_utf8(source->text, source->size);
  if (invalid) {
    diagnostics_error(diagnostics, place_at(source, (const char *)invalid),
                      "expected UTF-8 text, found the byte 0x%02X", *invalid);
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

const struct source *source_from_text(const char *name, const char *text, struct arena *arena) {
  const size_t size = strlen(text);
  assert(!invalid_utf8(text, size));
  struct source *source = arena_alloc(arena, sizeof *source);
  *source = (struct source){arena_copy(arena, name), arena_copy_n(arena, text, size), size};
  return source;
}

struct place source_text_start(const char *name, const char *text, struct arena *arena) {
  return (struct place){source_from_text(name, text, arena), 1, 1};
}

bool source_line(const struct source *source, int line, const char **start, size_t *length) {
  const char *p = source->text, *end = source->text + source->size;
  for (int i = 1; i < line && p < end; i++) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    p = newline ? newline + 1 : end;
  }
  if (line < 1 || p == end)
    return false;

  const char *newline = memchr(p, '\n', (size_t)(end - p));
  const char *stop = newline ? newline : end;
  if (newline && stop > p && stop[-1] == '\r')
    stop--;
  *start = p;
  *length = (size_t)(stop - p);
  return true;
}

static void start_gcrypt(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
    return;
  gcry_check_version(NULL);
  gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

char *source_sha256(const struct source *source, struct arena *arena) {
  unsigned char digest[32];
  start_gcrypt();
  gcry_md_hash_buffer(GCRY_MD_SHA256, digest, source->text, source->size);

  char *hex = arena_alloc(arena, 2 * sizeof digest + 1);
  for (size_t i = 0; i < sizeof digest; i++)
    snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  return hex;
}
