// digits: a number as text, with as many digits as it takes to read the same number back.
#ifndef PERTOKEN_BASE_DIGITS_H
#define PERTOKEN_BASE_DIGITS_H

enum { DIGITS_ROOM = 32 };

// "0.1", "4017.43", "0.30000000000000004", "1e+22": the fewest of 15, 16 or 17 significant digits
// that read back as exactly the same double, without trailing zeros; -0 is "0". Returns `text`.
const char *digits_shortest(double value, char text[DIGITS_ROOM]);

#endif
