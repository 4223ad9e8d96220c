// lines: a scenario file while it is being drafted: sections of keys, each with a comment above it,
// and the file's text.
#ifndef PERTOKEN_MODEL_DRAFT_LINES_H
#define PERTOKEN_MODEL_DRAFT_LINES_H

#include "base/arena.h"
#include "base/texts.h"

#include <stddef.h>

struct draft_line {
  const char *comment;     // above the key, wrapped when printed; NULL: none
  const char *key, *value; // key NULL: only the comment
  const char *missing;     // what a stand-in replaces, and what would supply it; else NULL
};

struct draft_section {
  const char *kind, *argument; // "option", "h200"; "scenario", ""
  struct draft_line *lines;
  size_t count;
};

struct draft_lines {
  const char *comment; // at the top of the file
  struct draft_section *sections;
  size_t count;
  struct arena *arena;
};

// Adds a section: the pointer is valid until the next call.
struct draft_section *draft_section_add(struct draft_lines *lines, const char *kind,
                                        const char *argument);

// Adds a key to a section. Comments may be NULL.
void draft_line_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                    const char *value, const char *comment);

// The same with its source and date, NULL for none.
void draft_figure_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                      const char *value, const char *source, const char *date, const char *comment);

// The same for a stand-in.
void draft_missing_add(struct draft_lines *lines, struct draft_section *section, const char *key,
                       const char *value, const char *missing, const char *how);

// "KEY=VALUE" or "SECTION.KEY=VALUE", as for --set, where SECTION is `common`, `workload`,
// `scenario` or an option's id: replaces the line with that key, its source and date, and any other
// line with the same meaning (a row of prices and a list price), or is added: what concerns the
// report as a whole to [scenario], else to [common].
void draft_set(struct draft_lines *lines, const char *setting);

// The file's text; no line is longer than an INI file allows.
const char *draft_print(const struct draft_lines *lines);

// The values that the remaining stand-ins replace: "mi355x: ...".
struct texts draft_missing(const struct draft_lines *lines);

#endif
