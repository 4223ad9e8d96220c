// json_out: JSON values that are sure to be printable, and their printing.
#ifndef PERTOKEN_REPORTS_PRINT_JSON_OUT_H
#define PERTOKEN_REPORTS_PRINT_JSON_OUT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

// A number; -0 becomes 0, what is not finite becomes null.
json_t *json_out_number(double value);

// A text; one that is no UTF-8 (a file's name may be none) has ? for every byte beyond ASCII.
json_t *json_out_text(const char *text);

json_t *json_out_texts(const char *const *texts, size_t count);

// As jansson dumps it, with as many digits as read back as the same number; NULL when memory ends,
// else to be freed. jansson itself writes all 17 of 0.1.
char *json_out_text_of(json_t *value, size_t flags);

// Prints it, and frees the value.
void json_out_print(json_t *value, FILE *out);

#endif
