// tar: plain files in one archive, in the ustar format (POSIX.1-2017, pax, "ustar Interchange
// Format").
//
// The archive depends only on names and bytes: every member has mode 0644 and neither owner nor
// time. Only archives that could have been written this way are read: regular files with names that
// stay below the folder they are unpacked in. Any other archive is refused.
#ifndef PERTOKEN_BASE_TAR_H
#define PERTOKEN_BASE_TAR_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tar_member {
  const char *name;  // tar_name_fits
  const char *bytes; // [size]
  size_t size;
};

enum { TAR_MAX_MEMBER = 256 << 20, TAR_MAX_MEMBERS = 100000 };

// A UTF-8 path down from the archive's folder, without control characters, that fits into a header:
// 100 bytes, or 155 before a slash and 100 after it.
bool tar_name_fits(const char *name);

// Writes the members [count], in order. Failures stay with the stream.
void tar_write(FILE *stream, const struct tar_member *members, size_t count);

// The members of an archive in memory, whose bytes point into `bytes`. Refused, with an error that
// begins with `path`: another format, or a header that does not match its checksum; anything but a
// regular file, including links; a name that tar_name_fits does not allow, or that occurs twice; a
// member over TAR_MAX_MEMBER bytes; an archive that ends early, or continues after its end. Returns
// 0 or -1.
int tar_parse(const char *bytes, size_t size, const char *path, struct tar_member **members,
              size_t *count, struct arena *arena, struct diagnostics *diagnostics);

// A file's bytes, as a member with that name. Errors: a file that cannot be read, is not a regular
// file, or is too large. Returns 0 or -1.
int tar_take(struct tar_member *member, const char *name, const char *path, struct arena *arena,
             struct diagnostics *diagnostics);

// The members of an archive file of at most 1 GiB.
int tar_read(const char *path, struct tar_member **members, size_t *count, struct arena *arena,
             struct diagnostics *diagnostics);

#endif
