// measurement_fields: the fields of a record as one table, from which records are read and written.
#ifndef PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_FIELDS_H
#define PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_FIELDS_H

#include "base/arena.h"

#include <stddef.h>

struct json_t; // of jansson

enum field_kind {
  FIELD_TEXT,
  FIELD_REAL,   // double, finite
  FIELD_MAYBE,  // double; null when NAN
  FIELD_INT,    // int
  FIELD_COUNT,  // uint64_t, up to INT64_MAX
  FIELD_BOOL,   // bool
  FIELD_GRADE,  // enum grade, measured or projected
  FIELD_REALS,  // const double *, and its size_t at `count_offset`
  FIELD_MAYBES, // the same; null where NAN
  FIELD_OBJECT, // a struct of `fields` in place
  FIELD_LIST    // a pointer to structs of `size` bytes, and their size_t at `count_offset`
};

// A table ends with a field without name. A record of a schema before `since` lacks the field: its
// texts are then "", its numbers NAN (0 for whole ones), its lists empty.
struct field {
  const char *name;
  enum field_kind kind;
  int since;
  size_t offset;
  double low, high; // of numbers
  size_t count_offset, size;
  const struct field *fields;
};

// Of struct measurement_record in measurement.h, without schema, basis and digest.
extern const struct field measurement_record_fields[];

// SHA-256 of the JSON object without its member "digest", in canonical form, as 64 lower-case hex
// digits; NULL when memory is short.
const char *measurement_digest(const struct json_t *object, struct arena *arena);

#endif
