// date: days of the calendar, and the texts that give a figure's date.
#ifndef PERTOKEN_MODEL_EVIDENCE_DATE_H
#define PERTOKEN_MODEL_EVIDENCE_DATE_H

#include <stdbool.h>

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

// The number of days in a month from 1 to 12.
int date_days_of_month(int year, int month);

// Negative, zero or positive if a is before, on or after b.
int date_compare(struct date a, struct date b);

// The day that many months and then days later; in a shorter month, its last day.
struct date date_later(struct date from, int months, int days);

// Whether a date is older than 12 months: today is after the same day of the following year (28
// February for 29 February).
bool date_is_stale(struct date of, struct date today);

// Whether a date is later than tomorrow: a local day may be one ahead of today, which is in UTC.
bool date_is_ahead(struct date of, struct date today);

#endif
