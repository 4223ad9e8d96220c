// cited: the files that records are made from, of which a record holds names and digests: whoever
// has such a file can check that it is the one.
#ifndef PERTOKEN_MODEL_DELIVERY_CITED_H
#define PERTOKEN_MODEL_DELIVERY_CITED_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/tar.h"
#include "base/texts.h"
#include "model/records/records.h"

#include <stdbool.h>
#include <stddef.h>

struct cited_file {
  const char *record;        // the member that cites it
  const char *name, *sha256; // as the record has them
  const char *member;        // with that digest; NULL: there is none
};

struct cited_files {
  struct cited_file *list; // [count], by record
  size_t count, missing;
};

// The files that the records among these members [count] cite. `digests`: of each member; NULL for
// one that is not to be trusted.
struct cited_files cited_by_members(const struct tar_member *members, const char *const *digests,
                                    size_t count, struct arena *arena);

// The digests of the files that these records cite, each once.
struct texts cited_digests(const struct records *records, struct arena *arena);

// Whether the file is an object in JSON with a record's schema number, valid or not.
bool cited_is_record(const char *path);

// The digest of a file; it is then noted as read. NULL after an error.
const char *cited_digest_of(const char *path, struct arena *arena, struct diagnostics *diagnostics);

// Notes as read (diagnostics_note_path) the first file of each of these digests in a folder and the
// folders in it, in the order of their names. Links are not followed. A folder that cannot be read
// is an error. Returns 0 or -1.
int cited_find(const char *folder, const struct texts *digests, struct arena *arena,
               struct diagnostics *diagnostics);

#endif
