// ini: the text of an INI file as sections and keys, each with its place.
//
// The grammar is inih's, made strict: what inih would silently accept is an error here.
//   [kind]  or  [kind argument]     a section; spaces around kind and argument do not count
//   key = value                     the value runs to the end of the line or to " ;"
//   ; comment   # comment           whole lines; " ;" (a blank, a semicolon) also starts a comment
//                                   after a value or a section, inside quotes too; "#" does not
// Lines may end in LF or CRLF. Refused, each with its place: a line over MAX_INI_LINE bytes that
// is no comment, an indented key, a key outside any section, a key without a name, a line that is
// not a section, key or comment, a malformed section name or one over MAX_INI_SECTION bytes, a
// repeated section or key, JSON, and a file without any section. An empty value is read as "":
// callers decide.
#ifndef PERTOKEN_BASE_INI_H
#define PERTOKEN_BASE_INI_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stddef.h>

// Limits in bytes, for a line without its line end and for a name between its brackets: inih
// silently cuts longer ones.
enum { MAX_INI_LINE = 199, MAX_INI_SECTION = 49 };

struct ini_key {
  const char *name, *value;
  struct place place;       // of the name's first character
  struct place value_place; // of the value's first character; for "", where it would be
};

struct ini_section {
  const char *kind, *argument; // "[option h200]": "option", "h200"; "[scenario]": "scenario", ""
  struct place place;          // of the opening bracket
  struct ini_key *keys;        // in the order of the file
  size_t key_count;
};

struct ini {
  const struct source *source;
  struct ini_section *sections; // in the order of the file
  size_t section_count;
};

// Carries on after an error, so that one run shows all errors of a file; they are counted in
// `diagnostics`. A repeated section or key is dropped: the first one counts. NULL only when the
// file has no section, or is JSON. (inih's own function is called ini_parse.)
const struct ini *ini_read(const struct source *source, struct arena *arena,
                           struct diagnostics *diagnostics);

// The section of that kind and argument ("" for none), or NULL.
const struct ini_section *ini_section(const struct ini *ini, const char *kind,
                                      const char *argument);

// The key of that name, or NULL. Names are case-sensitive.
const struct ini_key *ini_find(const struct ini_section *section, const char *name);

#endif
