// record_digest: what tells a record that was edited from one that a program wrote.
//
// It is the SHA-256 of the record's canonical form as 64 lower-case hex digits: the object without
// its member "digest", keys sorted, no blanks, reals with 17 digits.
#ifndef PERTOKEN_BASE_RECORD_DIGEST_H
#define PERTOKEN_BASE_RECORD_DIGEST_H

#include "base/arena.h"
#include "base/source.h"

struct json_t; // of jansson

// The object's; NULL when memory is short.
const char *record_digest(const struct json_t *object, struct arena *arena);

// The same from the text of the object, which must be JSON, with its numbers and strings taken as
// they are written. In a file that pertoken wrote they are canonical already, and most of the
// time that record_digest takes goes into writing numbers. Any other file has another digest here.
const char *record_digest_of_text(const struct source *text, struct arena *arena);

#endif
