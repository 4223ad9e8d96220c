// grade: how far a figure may be trusted, and the dates of figures.
#ifndef PERTOKEN_MODEL_EVIDENCE_GRADE_H
#define PERTOKEN_MODEL_EVIDENCE_GRADE_H

#include <stdbool.h>
#include <stddef.h>

// Strongest first, so the larger of two grades is the weaker.
enum grade {
  GRADE_MEASURED,  // a complete record of a run of one's own: by this tool's probe, or imported
  GRADE_QUOTED,    // a price from a written quote
  GRADE_BENCHMARK, // an audited public benchmark (MLPerf)
  GRADE_PUBLISHED, // a dated publication with method
  GRADE_PROJECTED, // computed by a stated rule from another device's figure
  GRADE_CLAIM,     // a statement without method
  GRADE_ASSUMED    // the user's own
};
enum { GRADES = GRADE_ASSUMED + 1 };

// "measured", "quoted", ...: as it stands on every face.
const char *grade_name(enum grade grade);

// "an audited public benchmark": what a figure of that grade is.
const char *grade_meaning(enum grade grade);

enum grade grade_weaker(enum grade a, enum grade b);

// The last day that a date's text can mean: "2026" is 2026-12-31, "2026-04" is 2026-04-30.
struct date {
  int year, month, day;
};

// Reads YYYY, YYYY-MM, YYYY-MM-DD, mid-YYYY (to its 30 September), and several of these as
// "2025-2026" (years only), "2024-12..2025-12" or "2025-09 / 2026-04", of which the latest counts.
// False for anything else and for a day that the calendar lacks (years 1900 to 2199); *out is then
// unchanged.
bool date_parse(const char *text, struct date *out);

// Below, at or above 0 as a is before, on or after b.
int date_compare(struct date a, struct date b);

// The day so many months and then days after another; of a month that is shorter, its last.
struct date date_later(struct date from, int months, int days);

// Older than 12 months: today is later than the same day of the year after (28 February for the
// 29th).
bool date_is_stale(struct date of, struct date today);

#endif
