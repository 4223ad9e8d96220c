// json_out: JSON values that can always be printed, and their text.
#ifndef PERTOKEN_REPORTS_PRINT_JSON_OUT_H
#define PERTOKEN_REPORTS_PRINT_JSON_OUT_H

#include <jansson.h>
#include <stddef.h>

// A number; -0 becomes 0, infinities and NAN become null.
json_t *json_out_number(double value);

// A text; if it is not UTF-8 (a file's name need not be), ? replaces every byte beyond ASCII.
json_t *json_out_text(const char *text);

json_t *json_out_texts(const char *const *texts, size_t count);

// jansson's output, but with only as many digits as it takes to read back the same number (jansson
// writes all 17 of 0.1). NULL if memory runs out; else free it.
char *json_out_text_of(json_t *value, size_t flags);

#endif
