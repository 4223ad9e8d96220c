// place_of_work: a test's own folder with one record in it, "a.json", that is written, corrupted
// and read again.
#ifndef PERTOKEN_TESTS_SUPPORT_PLACE_OF_WORK_H
#define PERTOKEN_TESTS_SUPPORT_PLACE_OF_WORK_H

#include "tests/support/fixture.h"

#include <stddef.h>

struct json_t; // of jansson

struct place_of_work {
  struct fixture fixture;
  char folder[64];
  const char *path; // of the record
};

void place_of_work_start(struct place_of_work *work);
void place_of_work_end(struct place_of_work *work);

// Writes this text as the record, and clears the errors.
void place_of_work_write(struct place_of_work *work, const char *text);

// The object's text, in the arena; frees the object.
const char *place_of_work_text(struct place_of_work *work, struct json_t *object);

// The record's text with another value, in JSON, in one place, or (NULL) without it, and its digest
// renewed; frees the record. The place: "power.covers" of list[index], or "/grade" of the record.
const char *place_of_work_edited(struct place_of_work *work, struct json_t *record,
                                 const char *list, size_t index, const char *name,
                                 const char *value);

#endif
