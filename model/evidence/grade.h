// grade: how far a figure can be trusted, and the dates of figures.
#ifndef PERTOKEN_MODEL_EVIDENCE_GRADE_H
#define PERTOKEN_MODEL_EVIDENCE_GRADE_H

#include <stdbool.h>
#include <stddef.h>

// Strongest first, so the larger of two grades is the weaker one.
enum grade {
  GRADE_MEASURED,  // a complete record of one's own run: by this tool's probe, or imported
  GRADE_QUOTED,    // a price from a written quote
  GRADE_BENCHMARK, // an audited public benchmark (MLPerf)
  GRADE_PUBLISHED, // a dated publication that states its method
  GRADE_PROJECTED, // computed by a stated rule from another device's figure
  GRADE_CLAIM,     // a statement that does not state its method
  GRADE_ASSUMED    // the user's own assumption
};
enum { GRADES = GRADE_ASSUMED + 1 };

// "measured", "quoted", ...: as every face shows it.
const char *grade_name(enum grade grade);

// "an audited public benchmark": what a figure of that grade is.
const char *grade_meaning(enum grade grade);

enum grade grade_weaker(enum grade a, enum grade b);

// The last day that a date text can mean: "2026" is 2026-12-31, "2026-04" is 2026-04-30.
struct date {
  int year, month, day;
};

// Reads YYYY, YYYY-MM, YYYY-MM-DD, mid-YYYY (up to 30 September of that year), and ranges such as
// "2025-2026" (years only), "2024-12..2025-12" or "2025-09 / 2026-04", of which the latest date
// counts. False for anything else and for a day that the calendar lacks (years 1900 to 2199); *out
// is then unchanged.
bool date_parse(const char *text, struct date *out);

// The same for the first day that the text can mean: "2026" is 2026-01-01, mid-2026 begins on 1
// April, and of a range the latest date counts.
bool date_parse_first(const char *text, struct date *out);

// Negative, zero or positive if a is before, on or after b.
int date_compare(struct date a, struct date b);

// The day that many months and then days later; in a shorter month, its last day.
struct date date_later(struct date from, int months, int days);

// Older than 12 months: today is after the same day of the following year (28 February for 29
// February).
bool date_is_stale(struct date of, struct date today);

// Later than tomorrow: a local day may be one ahead of today, which is in UTC.
bool date_is_ahead(struct date of, struct date today);

#endif
