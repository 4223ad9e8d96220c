// place_of_work: a folder of a test's own with one record in it, "a.json", written, spoilt and read again.
#ifndef PERTOKEN_TESTS_PLACE_OF_WORK_H
#define PERTOKEN_TESTS_PLACE_OF_WORK_H

#include "tests/support/fixture.h"

struct json_t; // of jansson

struct place_of_work {
  struct fixture fixture;
  char folder[64];
  const char *path; // of the record
};

void place_of_work_start(struct place_of_work *work);
void place_of_work_end(struct place_of_work *work);

// The record as this text, with no error told so far.
void place_of_work_write(struct place_of_work *work, const char *text);

// The object's text, in the arena; the object is gone.
const char *place_of_work_text(struct place_of_work *work, struct json_t *object);

#endif
