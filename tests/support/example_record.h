// example_record: a measurement record with every field that one can have, for suites that write
// it, alter it and read it back.
#ifndef PERTOKEN_TESTS_SUPPORT_EXAMPLE_RECORD_H
#define PERTOKEN_TESTS_SUPPORT_EXAMPLE_RECORD_H

#include "base/arena.h"
#include "model/records/measurement.h"

extern const struct measurement example_measurement;

// With that many of it.
struct measurement_record *example_record(struct arena *arena, size_t count);

// A file's text.
char *example_text(const char *path, struct arena *arena);

#endif
