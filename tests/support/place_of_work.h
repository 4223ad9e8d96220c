// place_of_work: a test's own folder with one record in it, "a.json", that is written, corrupted
// and read again.
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

// Writes this text as the record, and clears the errors.
void place_of_work_write(struct place_of_work *work, const char *text);

// The object's text, in the arena; frees the object.
const char *place_of_work_text(struct place_of_work *work, struct json_t *object);

#endif
