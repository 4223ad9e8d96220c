#include "model/evidence/date.h"

#include <string.h>

enum { first_year = 1900, last_year = 2199 };

static bool is_leap_year(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int date_days_of_month(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

// A number of exactly `digits` digits.
static bool read_number(const char *text, size_t digits, int *out) {
  int number = 0;
  for (size_t i = 0; i < digits; i++) {
    if (text[i] < '0' || text[i] > '9')
      return false;
    number = 10 * number + (text[i] - '0');
  }
  *out = number;
  return true;
}

// The days that a date's text can mean.
struct span {
  struct date first, last;
};

// Parses YYYY, YYYY-MM or YYYY-MM-DD.
static bool parse_calendar(const char *text, size_t length, struct span *out) {
  struct date date = {0, 12, 0};
  if (length != 4 && length != 7 && length != 10)
    return false;
  if (!read_number(text, 4, &date.year))
    return false;
  if (date.year < first_year || date.year > last_year)
    return false;

  if (length >= 7 && (text[4] != '-' || !read_number(text + 5, 2, &date.month)))
    return false;
  if (date.month < 1 || date.month > 12)
    return false;

  const int days = date_days_of_month(date.year, date.month);
  date.day = days;
  if (length == 10 && (text[7] != '-' || !read_number(text + 8, 2, &date.day)))
    return false;
  if (date.day < 1 || date.day > days)
    return false;
  out->first = (struct date){date.year, length == 4 ? 1 : date.month, length == 10 ? date.day : 1};
  out->last = date;
  return true;
}

static bool is_range_of_years(const char *text, size_t length) {
  int year;
  return length == 9 && text[4] == '-' && read_number(text + 5, 4, &year);
}

// Parses one date, or a range of years.
static bool parse_part(const char *text, size_t length, struct span *out) {
  static const char mid[] = "mid-";
  const size_t prefix = sizeof mid - 1;
  if (length == prefix + 4 && memcmp(text, mid, prefix) == 0) {
    if (!parse_calendar(text + prefix, 4, out))
      return false;
    out->first.month = 4;
    out->last.month = 9;
    out->last.day = 30;
    return true;
  }
  if (!is_range_of_years(text, length))
    return parse_calendar(text, length, out);

  struct span from, to;
  if (!parse_calendar(text, 4, &from) || !parse_calendar(text + 5, 4, &to))
    return false;
  if (from.last.year > to.last.year)
    return false;
  *out = to;
  return true;
}

// The end of the part that begins here; *next is where the following part begins, or NULL.
static const char *end_of_part(const char *text, const char **next) {
  static const char *const separators[] = {" / ", ".."};
  for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
    const char *found = strstr(text, separators[i]);
    if (!found)
      continue;
    *next = found + strlen(separators[i]);
    return found;
  }
  *next = NULL;
  return text + strlen(text);
}

static bool parse_span(const char *text, struct span *out) {
  struct span latest = {.last = {0}};
  while (text) {
    const char *next;
    const char *end = end_of_part(text, &next);
    struct span span;
    if (!parse_part(text, (size_t)(end - text), &span))
      return false;
    if (date_compare(span.last, latest.last) > 0)
      latest = span;
    text = next;
  }
  *out = latest;
  return true;
}

bool date_parse(const char *text, struct date *out) {
  struct span span;
  if (!parse_span(text, &span))
    return false;
  *out = span.last;
  return true;
}

bool date_parse_first(const char *text, struct date *out) {
  struct span span;
  if (!parse_span(text, &span))
    return false;
  *out = span.first;
  return true;
}

int date_compare(struct date a, struct date b) {
  if (a.year != b.year)
    return a.year - b.year;
  if (a.month != b.month)
    return a.month - b.month;
  return a.day - b.day;
}

struct date date_later(struct date from, int months, int days) {
  enum { YEAR = 12 };
  months += from.month - 1;
  struct date date = {from.year + months / YEAR, months % YEAR + 1, from.day};
  const int most = date_days_of_month(date.year, date.month);
  date.day = days + (date.day < most ? date.day : most);
  for (int length; date.day > (length = date_days_of_month(date.year, date.month));) {
    date.day -= length;
    date.year += date.month / YEAR;
    date.month = date.month % YEAR + 1;
  }
  return date;
}

bool date_is_stale(struct date of, struct date today) {
  of.year++;
  if (of.day > date_days_of_month(of.year, of.month))
    of.day = date_days_of_month(of.year, of.month);
  return date_compare(today, of) > 0;
}

bool date_is_ahead(struct date of, struct date today) {
  return date_compare(of, date_later(today, 0, 1)) > 0;
}
