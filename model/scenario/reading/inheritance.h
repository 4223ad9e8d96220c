// inheritance: what a scenario file's keys do to those of the files that it inherits.
//
//   KEY = VALUE   replaces the same key of the same section, and in a common section also that of
//                 the other common ones; with its source, date and quote, its parts (the years of a
//                 list, the tiers of a discount, the hours of a day), and the other name that it
//                 may have (NAME_usd, grid for grid_intensity)
//   api = ROW     also replaces the prices that were given beside another row
//   KEY.source    also replaces the value's date and quote, as KEY.quote does its source
//   formula       of an [item]: also replaces what was said of the numbers in the old one
//   KEY =         takes back what is inherited in the same place, or says that a number beside it
//                 comes from no row; it is then gone, too. One that does neither stays, to be
//                 refused: refusal.h
#ifndef PERTOKEN_MODEL_SCENARIO_READING_INHERITANCE_H
#define PERTOKEN_MODEL_SCENARIO_READING_INHERITANCE_H

#include "base/arena.h"
#include "base/ini.h"

#include <stdbool.h>
#include <stddef.h>

// Merges a file into what it inherits: sections[*count], which grows. is_common(): whether that
// kind of section holds for every option.
void inheritance_merge(struct ini_section **sections, size_t *count, const struct ini *file,
                       bool (*is_common)(const char *kind), struct arena *arena);

#endif
