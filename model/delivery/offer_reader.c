#include "model/delivery/offer_reader.h"

#include <limits.h>
#include <math.h>
#include <string.h>

void offer_refuse(const struct offer_reader *reader, struct place place, const char *what,
                  const char *text) {
  diagnostics_error(reader->diagnostics, place, "expected %s, not '%s'", what, text);
}

bool offer_is_whole(double value, double least) {
  return value >= least && value <= INT_MAX && value == floor(value);
}

void offer_unknown_key(const struct offer_reader *reader, const struct ini_section *section,
                       const struct ini_key *key, const char *const *names, size_t count) {
  diagnostics_error(reader->diagnostics, key->place, "unknown key '%s' in [%s]%s", key->name,
                    section->kind, name_hint(key->name, names, count, reader->arena));
}

const char *offer_per_what(const char *unit) {
  return strstr(unit, "/gpu") ? "/gpu" : strstr(unit, "/node") ? "/node" : "";
}
