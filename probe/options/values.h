// values: the texts of the probe's options as numbers. What cannot be read is reported by argp,
// which then exits with status 2.
#ifndef PERTOKEN_PROBE_OPTIONS_VALUES_H
#define PERTOKEN_PROBE_OPTIONS_VALUES_H

#include <stddef.h>
#include <stdint.h>

struct argp_state;

enum { MAX_LIST_VALUES = 32 };

struct number_list {
  int values[MAX_LIST_VALUES];
  size_t count;
};

// A whole number from low to high, followed by one of `ends` or the end of the text. Returns what
// follows it.
const char *value_int(const char *text, const char *ends, long low, long high, const char *option,
                      struct argp_state *state, int *out);

// "1,2,4": numbers from 1 to high, each once.
void value_list(const char *text, long high, const char *option, struct argp_state *state,
                struct number_list *out);

// "10", "10 s", "5min": from low to a day.
double value_seconds(const char *text, const char *option, double low, struct argp_state *state);

// A whole number from 0 to 2^63 - 1.
uint64_t value_seed(const char *text, struct argp_state *state);

#endif
