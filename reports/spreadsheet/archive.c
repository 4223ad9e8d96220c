#include "reports/spreadsheet/archive.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// APPNOTE.TXT of PKWARE, 4.3: the sizes of the records and the offsets of their fields.
enum { END_SIZE = 22, END_PARTS = 10, END_DIRECTORY = 16 };
enum {
  ENTRY_SIZE = 46,
  ENTRY_METHOD = 10,
  ENTRY_CRC = 16,
  ENTRY_PACKED = 20,
  ENTRY_UNPACKED = 24,
  ENTRY_NAME = 28,
  ENTRY_EXTRA = 30,
  ENTRY_COMMENT = 32,
  ENTRY_OFFSET = 42
};
enum { PART_SIZE = 30, PART_NAME = 26, PART_EXTRA = 28 };
enum { STORED = 0, DEFLATED = 8, BLOCK = 1 << 16 };

static const unsigned char end_mark[] = "PK\5\6", entry_mark[] = "PK\1\2", part_mark[] = "PK\3\4";

static uint32_t number(const unsigned char *at, int bytes) {
  uint32_t value = 0;
  for (int i = bytes - 1; i >= 0; i--)
    value = value << 8 | at[i];
  return value;
}

static bool read_record(FILE *file, long at, void *record, size_t size,
                        const unsigned char mark[4]) {
  return fseek(file, at, SEEK_SET) == 0 && fread(record, 1, size, file) == size &&
         memcmp(record, mark, 4) == 0;
}

// What unpacking has found so far.
struct found {
  unsigned long crc;
  uint64_t bytes, tags;
  int64_t open;         // tags that have not been closed
  unsigned char before; // the last byte other than a space
};

// The library writes < and > only in tags.
static void count_tags(struct found *found, unsigned char byte) {
  if (found->before == '<') {
    found->tags++;
    found->open += byte == '/' ? -1 : byte != '?' && byte != '!';
  } else if (byte == '>' && found->before == '/')
    found->open--;
  if (byte > ' ')
    found->before = byte;
}

static void count(struct found *found, const unsigned char *bytes, size_t size) {
  found->crc = crc32(found->crc, bytes, (unsigned)size);
  found->bytes += size;
  for (size_t i = 0; i < size; i++)
    count_tags(found, bytes[i]);
}

// A block as it is stored, and one as it was: too large for a small stack.
struct blocks {
  unsigned char in[BLOCK], out[BLOCK];
};

// Unpacks another block. Returns whether that was possible.
static bool unpack(z_stream *stream, struct blocks *blocks, size_t size, struct found *found) {
  stream->next_in = blocks->in;
  stream->avail_in = (unsigned)size;
  int state = Z_OK;
  do {
    stream->next_out = blocks->out;
    stream->avail_out = BLOCK;
    state = inflate(stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      return false;
    count(found, blocks->out, BLOCK - stream->avail_out);
  } while (state == Z_OK && stream->avail_out == 0);
  return stream->avail_in == 0;
}

static bool unpack_all(FILE *file, uint32_t packed, int method, struct found *found) {
  z_stream stream = {0};
  struct blocks *blocks = malloc(sizeof *blocks);
  bool good = (method == STORED || method == DEFLATED) && inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  while (good && packed > 0) {
    const size_t size = packed < BLOCK ? packed : BLOCK;
    good = fread(blocks->in, 1, size, file) == size;
    if (good && method == DEFLATED)
      good = unpack(&stream, blocks, size, found);
    else if (good)
      count(found, blocks->in, size);
    packed -= (uint32_t)size;
  }
  inflateEnd(&stream);
  free(blocks);
  return good;
}

static bool part_is_whole(FILE *file, const unsigned char *entry) {
  unsigned char part[PART_SIZE];
  const long at = (long)number(entry + ENTRY_OFFSET, 4);
  if (!read_record(file, at, part, sizeof part, part_mark))
    return false;
  const long start =
      at + PART_SIZE + (long)number(part + PART_NAME, 2) + (long)number(part + PART_EXTRA, 2);
  struct found found = {.crc = crc32(0, NULL, 0)};
  return fseek(file, start, SEEK_SET) == 0 &&
         unpack_all(file, number(entry + ENTRY_PACKED, 4), (int)number(entry + ENTRY_METHOD, 2),
                    &found) &&
         found.crc == number(entry + ENTRY_CRC, 4) &&
         found.bytes == number(entry + ENTRY_UNPACKED, 4) && found.tags > 0 && found.open == 0 &&
         found.before == '>';
}

bool archive_is_whole(FILE *file, int parts) {
  unsigned char end[END_SIZE], entry[ENTRY_SIZE];
  // Archives written here have no comment after their last record.
  if (fseek(file, 0, SEEK_END) ||
      !read_record(file, ftell(file) - END_SIZE, end, sizeof end, end_mark))
    return false;
  const int listed = (int)number(end + END_PARTS, 2);
  long at = (long)number(end + END_DIRECTORY, 4);
  for (int i = 0; i < listed; i++) {
    if (!read_record(file, at, entry, sizeof entry, entry_mark) || !part_is_whole(file, entry))
      return false;
    at += ENTRY_SIZE + (long)number(entry + ENTRY_NAME, 2) + (long)number(entry + ENTRY_EXTRA, 2) +
          (long)number(entry + ENTRY_COMMENT, 2);
  }
  return listed >= parts;
}
