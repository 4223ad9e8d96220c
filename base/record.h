// record: a JSON file, read and written through a table of fields, with a digest of its own
// content.
//
// A record is written whole and put in place at once. It carries the digest of its own content
// (base/record_digest.h), so that a damaged or edited record can be distinguished from one that a
// program wrote. Besides the table's fields a record holds "schema" and "digest".
#ifndef PERTOKEN_BASE_RECORD_H
#define PERTOKEN_BASE_RECORD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; // of jansson

enum field_kind {
  FIELD_TEXT,
  FIELD_CONSTANT, // the text names[0], which distinguishes one kind of record from another
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

// A table (base/record_fields.h) ends with a field without a name. A record of a schema before
// `since` lacks the field: a text is then "", a number NAN (0 for whole numbers), a list empty.
struct field {
  const char *name;
  enum field_kind kind;
  int since;
  size_t offset;
  double low, high; // of numbers
  size_t count_offset, size;
  const struct field *fields;
  const char *const *names; // of enum values, from 0; ends with NULL; "": a value never in a record
};

// A kind of record, and which of its schemas are read; the newest is written.
struct record_form {
  const char *noun; // "measurement record", as messages call it
  int oldest, newest;
  const struct field *fields;
};

// Reads the file's object, whose text is `source`, into the struct that the form's table describes,
// which must be zeroed, and returns its digest. Refused, with an error each: another schema; a
// digest that does not match the content; a field that is missing, of the wrong type or unknown; a
// number out of range. Returns 0 or -1.
int record_of_json(const struct record_form *form, const struct json_t *object,
                   const struct source *source, void *record, const char **digest,
                   struct arena *arena, struct diagnostics *diagnostics);

// Why reading would refuse a struct's numbers, had they been written: "ttft.mean_s: expected a
// number of at least 0, found -0.005"; NULL if it would not. It does not look into lists.
const char *record_wrong_number(const struct field *fields, const void *base, struct arena *arena);

// Sets all fields to what a record that lacks them has: unknown.
void record_leave_unknown(const struct field *fields, void *base);

// Whether an object states that it is a record of that form, whatever else is wrong with it.
bool record_is(const struct record_form *form, const struct json_t *object);

// Writes beside `path`, flushes to disk and renames, so that `path` holds either the old record or
// the new one, never part of one. Sets *digest. A failure is an error with machine_failed set.
// Returns 0 or -1.
int record_write(const struct record_form *form, const void *record, const char **digest,
                 const char *path, struct arena *arena, struct diagnostics *diagnostics);

#endif
