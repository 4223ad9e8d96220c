#include "base/tar.h"

#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, NAME = 100, PREFIX = 155, MAX_BYTES = 1 << 30 };

// The header of a member. Numbers are octal texts.
struct header {
  char name[NAME], mode[8], owner[8], group[8], size[12], time[12], checksum[8];
  char type, link[100], magic[6], version[2], owner_name[32], group_name[32];
  char device_major[8], device_minor[8], prefix[PREFIX], rest[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

// ---- names

static bool is_part(const char *name, size_t length) {
  return length && !(length == 1 && name[0] == '.') &&
         !(length == 2 && name[0] == '.' && name[1] == '.');
}

static bool stays_below(const char *name) {
  for (;;) {
    const size_t length = strcspn(name, "/");
    if (!is_part(name, length))
      return false;
    if (!name[length])
      return true;
    name += length + 1;
  }
}

static bool is_plain_text(const char *name) {
  for (const unsigned char *c = (const unsigned char *)name; *c; c++)
    if (*c < ' ' || *c == 0x7f || *c == '\\')
      return false;
  return !source_invalid_utf8(name, strlen(name));
}

// The length of the name's part before the slash at which it is divided; 0: nothing; -1: it does
// not fit.
static long divided_at(const char *name) {
  const size_t length = strlen(name);
  if (length <= NAME)
    return 0;
  if (length > PREFIX + 1 + NAME)
    return -1;
  const char *slash = strchr(name + length - NAME - 1, '/');
  return slash && slash - name <= PREFIX ? slash - name : -1;
}

bool tar_name_fits(const char *name) {
  return stays_below(name) && is_plain_text(name) && divided_at(name) >= 0;
}

// ---- writing

static unsigned checksum_of(const struct header *header) {
  struct header blank = *header;
  unsigned sum = 0;
  memset(blank.checksum, ' ', sizeof blank.checksum);
  for (size_t i = 0; i < BLOCK; i++)
    sum += ((const unsigned char *)&blank)[i];
  return sum;
}

static struct header header_of(const struct tar_member *member) {
  struct header header = {.mode = "0000644",
                          .owner = "0000000",
                          .group = "0000000",
                          .time = "00000000000",
                          .type = '0',
                          .magic = "ustar",
                          .version = {'0', '0'}};
  const size_t at = (size_t)divided_at(member->name);
  const char *name = member->name + at + (at > 0);
  memcpy(header.prefix, member->name, at);
  memcpy(header.name, name, strlen(name));
  snprintf(header.size, sizeof header.size, "%011zo", member->size);
  snprintf(header.checksum, sizeof header.checksum, "%06o", checksum_of(&header));
  header.checksum[7] = ' ';
  return header;
}

void tar_write(FILE *stream, const struct tar_member *members, size_t count) {
  static const char zeros[2 * BLOCK];
  for (size_t i = 0; i < count; i++) {
    const struct header header = header_of(&members[i]);
    const size_t over = members[i].size % BLOCK;
    fwrite(&header, sizeof header, 1, stream);
    fwrite(members[i].bytes, 1, members[i].size, stream);
    fwrite(zeros, 1, over ? BLOCK - over : 0, stream);
  }
  fwrite(zeros, sizeof zeros, 1, stream);
}

// ---- reading

struct parsing {
  const char *bytes, *path;
  size_t size, at;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int refuse(const struct parsing *parsing, const char *why) {
  diagnostics_error(parsing->diagnostics, nowhere, "'%s', byte %zu: %s", parsing->path, parsing->at,
                    why);
  return -1;
}

// The value of octal digits followed by a NUL or blank; -1 for anything else.
static long long octal(const char *text, size_t length) {
  long long value = 0;
  for (size_t i = 0; i + 1 < length; i++) {
    if (text[i] < '0' || text[i] > '7')
      return -1;
    value = 8 * value + (text[i] - '0');
  }
  return text[length - 1] && text[length - 1] != ' ' ? -1 : value;
}

static bool is_zeros(const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i])
      return false;
  return true;
}

static const char *name_in(const struct header *header, struct arena *arena) {
  const char *name = arena_copy_n(arena, header->name, strnlen(header->name, NAME));
  const size_t length = strnlen(header->prefix, PREFIX);
  if (!length)
    return name;
  return arena_printf(arena, "%s/%s", arena_copy_n(arena, header->prefix, length), name);
}

static int parse_header(const struct parsing *parsing, const struct header *header,
                        struct tar_member *member) {
  const long long sum = octal(header->checksum, 7);
  const long long size = octal(header->size, sizeof header->size);
  if (memcmp(header->magic, "ustar", sizeof header->magic) != 0 ||
      memcmp(header->version, "00", sizeof header->version) != 0)
    return refuse(parsing, "expected the header of a file in a ustar archive");
  if (sum < 0 || header->checksum[7] != ' ' || (unsigned long long)sum != checksum_of(header))
    return refuse(parsing, "the header does not match its checksum");
  if (header->type != '0' || header->link[0])
    return refuse(parsing, "expected a regular file: links, folders and devices are refused");
  if (size < 0 || size > TAR_MAX_MEMBER)
    return refuse(parsing, "expected a file of at most 256 MiB");
  member->name = name_in(header, parsing->arena);
  if (!tar_name_fits(member->name))
    return refuse(parsing, "the file's name leads outside the folder, or is not plain text");
  member->size = (size_t)size;
  return 0;
}

static int parse_member(struct parsing *parsing, struct tar_member *member) {
  struct header header;
  memcpy(&header, parsing->bytes + parsing->at, sizeof header);
  if (parse_header(parsing, &header, member))
    return -1;
  const size_t left = parsing->size - parsing->at - BLOCK;
  const size_t room = (member->size + BLOCK - 1) / BLOCK * BLOCK;
  if (room > left)
    return refuse(parsing, "the archive ends within this file");
  member->bytes = parsing->bytes + parsing->at + BLOCK;
  if (!is_zeros(member->bytes + member->size, room - member->size))
    return refuse(parsing, "there is data after the file's end");
  parsing->at += BLOCK + room;
  return 0;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct tar_member *)a)->name, ((const struct tar_member *)b)->name);
}

static int refuse_twice(const struct parsing *parsing, const struct tar_member *members,
                        size_t count) {
  struct tar_member *sorted = arena_array(parsing->arena, count + 1, sizeof *sorted);
  for (size_t i = 0; i < count; i++)
    sorted[i] = members[i];
  qsort(sorted, count, sizeof *sorted, by_name);
  for (size_t i = 1; i < count; i++)
    if (!strcmp(sorted[i].name, sorted[i - 1].name)) {
      diagnostics_error(parsing->diagnostics, nowhere, "'%s': '%s' appears twice", parsing->path,
                        sorted[i].name);
      return -1;
    }
  return 0;
}

int tar_parse(const char *bytes, size_t size, const char *path, struct tar_member **members,
              size_t *count, struct arena *arena, struct diagnostics *diagnostics) {
  struct parsing parsing = {bytes, path, size, 0, arena, diagnostics};
  *members = NULL;
  *count = 0;
  for (;;) {
    struct tar_member member;
    if (size - parsing.at < 2 * BLOCK)
      return refuse(&parsing,
                    "expected an archive that 'pertoken evidence pack' wrote: it ends early");
    if (is_zeros(bytes + parsing.at, BLOCK))
      break;
    if (*count == TAR_MAX_MEMBERS)
      return refuse(&parsing, "more than 100,000 files");
    if (parse_member(&parsing, &member))
      return -1;
    *members = arena_room(arena, *members, *count, sizeof member);
    (*members)[(*count)++] = member;
  }
  // Other programs fill their archives up with zeros.
  if (!is_zeros(bytes + parsing.at, size - parsing.at))
    return refuse(&parsing, "there is data after the archive's end");
  return refuse_twice(&parsing, *members, *count);
}

static int fail(const char *path, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, nowhere, "'%s' cannot be read: %s", path, strerror(errno));
  return -1;
}

static ssize_t read_all(int fd, char *bytes, size_t size) {
  size_t at = 0;
  while (at < size) {
    const ssize_t got = read(fd, bytes + at, size - at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? -1 : (ssize_t)at;
    at += (size_t)got;
  }
  return (ssize_t)at;
}

// The whole file; NULL after an error.
static const char *read_file(const char *path, size_t most, size_t *size, struct arena *arena,
                             struct diagnostics *diagnostics) {
  struct stat status;
  char *bytes = NULL;
  ssize_t got = -1;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &status)) {
    fail(path, diagnostics);
  } else if (S_ISDIR(status.st_mode)) {
    diagnostics_error(diagnostics, nowhere, "'%s': expected a file, found a directory", path);
  } else if (!S_ISREG(status.st_mode)) {
    diagnostics_error(diagnostics, nowhere, "'%s': expected a regular file, found a device or pipe",
                      path);
  } else if ((size_t)status.st_size > most) {
    diagnostics_error(diagnostics, nowhere, "'%s': expected a file of at most %zu MiB", path,
                      most >> 20);
  } else {
    bytes = arena_alloc(arena, (size_t)status.st_size + 1);
    got = read_all(fd, bytes, (size_t)status.st_size);
    if (got < 0)
      fail(path, diagnostics);
  }
  if (fd >= 0)
    close(fd);
  if (got >= 0)
    diagnostics_note_file(diagnostics, path, &status);
  *size = (size_t)got;
  return got < 0 ? NULL : bytes;
}

int tar_take(struct tar_member *member, const char *name, const char *path, struct arena *arena,
             struct diagnostics *diagnostics) {
  member->name = name;
  member->bytes = read_file(path, TAR_MAX_MEMBER, &member->size, arena, diagnostics);
  return member->bytes ? 0 : -1;
}

int tar_read(const char *path, struct tar_member **members, size_t *count, struct arena *arena,
             struct diagnostics *diagnostics) {
  size_t size;
  const char *bytes = read_file(path, MAX_BYTES, &size, arena, diagnostics);
  return bytes ? tar_parse(bytes, size, path, members, count, arena, diagnostics) : -1;
}
