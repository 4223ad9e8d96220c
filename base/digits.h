// digits: numbers as decimal digits, written so that the same are read back; whole numbers, read.
#ifndef PERTOKEN_BASE_DIGITS_H
#define PERTOKEN_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

enum { DIGITS_ROOM = 32 };

// "0.1", "4017.43", "0.30000000000000004", "1e+22": the fewest of 15, 16 or 17 significant digits
// that read back as exactly the same double, without trailing zeros; -0 is "0". Returns `text`.
const char *digits_shortest(double value, char text[DIGITS_ROOM]);

// Reads the whole number that a text begins with: digits alone, without a sign or a blank before
// them. Returns what follows them; or NULL, with *out unchanged, if there are none or the number is
// not from `low` to `high`.
const char *whole_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

// Whether the number is the whole text.
bool is_whole_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

#endif
