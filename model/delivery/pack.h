// pack: evidence in one archive (base/tar.h), with a manifest of digests from which two parties can
// see whether they have the same.
//
// The first member, MANIFEST, has a line for each of the others, ordered by name: the 64
// hexadecimal digits of its SHA-256, two blanks and its name, as sha256sum writes and checks it
// (GNU coreutils). about.json states which program packed it, and which builds of the probe's
// kernels measured. If there are tables, rows.json has the digests of their rows (row_digests.h),
// so that a change in one can be pinpointed. used.csv, which the packer gives, states which of
// these rows the scenarios' inputs come from: columns scenario, option, input, file, row. A file
// that a record is made from is a member like any other: the record has its digest.
#ifndef PERTOKEN_MODEL_DELIVERY_PACK_H
#define PERTOKEN_MODEL_DELIVERY_PACK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/tar.h"
#include "base/texts.h"
#include "model/delivery/cited.h"
#include "model/delivery/row_digests.h"

#include <stddef.h>
#include <stdio.h>

#define PACK_MANIFEST "MANIFEST"
#define PACK_ABOUT    "about.json"
#define PACK_ROWS     "rows.json"
#define PACK_USED     "used.csv"

enum pack_state { PACK_SAME, PACK_CHANGED, PACK_MISSING, PACK_ADDED, PACK_STATES };

struct pack_file {
  struct tar_member member; // for a missing one only the name
  const char *digest;       // SHA-256, as in the manifest; for an added one its own
  enum pack_state state;
};

// The program that made the pack; "" if unknown, or if the member is not as it was packed.
struct pack_about {
  const char *version, *program; // of pertoken: its version, and the SHA-256 of its executable
  struct texts kernels;          // the builds that the records name, each once
};

struct pack {
  struct pack_about about;
  struct pack_file *files; // by name, without the manifest
  size_t count;
  size_t states[PACK_STATES];  // how many there are in each state
  const char *digest;          // SHA-256 of the manifest: it covers everything
  struct row_differences rows; // of the changed tables, if rows.json is as it was packed
  struct cited_files cited;    // by the records that are as they were packed
};

// The pack of these members [count], in any order, and of the information about it. Errors: a name
// that is invalid in an archive, or repeated, or one of the pack's own. NULL after errors.
const struct pack *pack_make(const struct pack_about *about, const struct tar_member *members,
                             size_t count, struct arena *arena, struct diagnostics *diagnostics);

// Writes it. Failures stay with the stream.
void pack_write(const struct pack *pack, FILE *stream, struct arena *arena);

// The pack from an archive's members, each compared with the manifest. Errors: a manifest that is
// not the first member, or has a malformed line, or whose lines are not ordered by name. `path`
// names it. NULL after errors.
const struct pack *pack_of_members(const struct tar_member *members, size_t count, const char *path,
                                   struct arena *arena, struct diagnostics *diagnostics);

// The same for a file.
const struct pack *pack_read(const char *path, struct arena *arena,
                             struct diagnostics *diagnostics);

#endif
