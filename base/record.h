// record: a JSON file that a table of fields reads and writes, with a digest of its own content.
//
// A record is written whole and put in place at once, and carries a SHA-256 over its own content, so
// that a damaged or edited one is told from one that a program wrote. The digest is taken over the
// canonical form of what the file holds besides it: keys sorted, no blanks, reals with 17 digits.
// Beside the table's fields a record holds "schema" and "digest".
#ifndef PERTOKEN_BASE_RECORD_H
#define PERTOKEN_BASE_RECORD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stddef.h>

struct json_t; // of jansson

enum field_kind {
  FIELD_TEXT,
  FIELD_CONSTANT, // the text names[0], by which one kind of record is told from another
  FIELD_REAL,     // double, finite
  FIELD_MAYBE,    // double; null when NAN
  FIELD_INT,      // int
  FIELD_COUNT,    // uint64_t, up to INT64_MAX
  FIELD_BOOL,     // bool
  FIELD_NAME,     // an enum, as its text in `names`
  FIELD_REALS,    // const double *, and its size_t at `count_offset`
  FIELD_MAYBES,   // the same; null where NAN
  FIELD_OBJECT,   // a struct of `fields` in place
  FIELD_LIST      // a pointer to structs of `size` bytes, and their size_t at `count_offset`
};

// A table (base/record_fields.h) ends with a field without name. A record of a schema before `since` lacks the field: its
// texts are then "", its numbers NAN (0 for whole ones), its lists empty.
struct field {
  const char *name;
  enum field_kind kind;
  int since;
  size_t offset;
  double low, high; // of numbers
  size_t count_offset, size;
  const struct field *fields;
  const char *const *names; // of enum values, from 0; ends with NULL, "": never in a record
};

// A kind of record, and the schemas of it that are read: the newest is written.
struct record_form {
  const char *noun; // "measurement record", as messages call it
  int oldest, newest;
  const struct field *fields;
};

// The file's object into the struct that the form's table is of, which begins as zeros, and its
// digest. Refused, with an error each: another schema; a digest that does not match the content; a
// missing field, one of the wrong type, one that is not known; a number out of range. Returns 0
// or -1.
int record_of_json(const struct record_form *form, const struct json_t *object,
                   const struct source *source, void *record, const char **digest,
                   struct arena *arena, struct diagnostics *diagnostics);

// Writes beside `path`, flushes to the disk and renames, so that `path` holds the old record or the
// new one and never half of one. Sets *digest. A failure is an error with machine_failed set.
// Returns 0 or -1.
int record_write(const struct record_form *form, const void *record, const char **digest,
                 const char *path, struct arena *arena, struct diagnostics *diagnostics);

// SHA-256 of the JSON object without its member "digest", in canonical form, as 64 lower-case hex
// digits; NULL when memory is short.
const char *record_digest(const struct json_t *object, struct arena *arena);

#endif
