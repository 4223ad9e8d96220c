#include "model/telemetry/utc.h"

#include "model/evidence/date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct parts {
  int year, month, day, hour, minute;
  double second;
};

static bool seconds_of(const struct parts *parts, double *out) {
  if (parts->year < 1970 || parts->year > 9999 || parts->month < 1 || parts->month > 12 ||
      parts->day < 1 || parts->day > date_days_of_month(parts->year, parts->month) ||
      parts->hour > 23 || parts->minute > 59 || !(parts->second < 61))
    return false;
  struct tm tm = {.tm_year = parts->year - 1900,
                  .tm_mon = parts->month - 1,
                  .tm_mday = parts->day,
                  .tm_hour = parts->hour,
                  .tm_min = parts->minute};
  *out = (double)timegm(&tm) + parts->second;
  return true;
}

// Exactly `count` digits.
static bool take_digits(const char **at, int count, int *out) {
  *out = 0;
  for (int i = 0; i < count; i++, ++*at) {
    if (**at < '0' || **at > '9')
      return false;
    *out = 10 * *out + (**at - '0');
  }
  return true;
}

static bool take_mark(const char **at, const char *marks) {
  if (!**at || !strchr(marks, **at))
    return false;
  ++*at;
  return true;
}

static bool take_second(const char **at, double *out) {
  int whole;
  if (!take_digits(at, 2, &whole))
    return false;
  *out = whole;
  if (!take_mark(at, "."))
    return true;
  double digit = 0.1;
  for (; **at >= '0' && **at <= '9'; ++*at, digit /= 10)
    *out += digit * (**at - '0');
  return true;
}

static bool take_clock(const char **at, struct parts *parts) {
  return take_digits(at, 2, &parts->hour) && take_mark(at, ":") &&
         take_digits(at, 2, &parts->minute) && take_mark(at, ":") &&
         take_second(at, &parts->second);
}

static bool take_year_first(const char **at, const char *dash, const char *blank,
                            struct parts *parts) {
  return take_digits(at, 4, &parts->year) && take_mark(at, dash) &&
         take_digits(at, 2, &parts->month) && take_mark(at, dash) &&
         take_digits(at, 2, &parts->day) && take_mark(at, blank) && take_clock(at, parts);
}

bool utc_offset_parse(const char *text, double *out) {
  int hours, minutes = 0;
  *out = 0;
  if (!strcmp(text, "Z") || !strcmp(text, "UTC"))
    return true;
  const double sign = *text == '-' ? -1 : 1;
  const char *at = text;
  if (!take_mark(&at, "+-") || !take_digits(&at, 2, &hours))
    return false;
  take_mark(&at, ":");
  if ((*at && !take_digits(&at, 2, &minutes)) || *at || hours > 14 || minutes > 59)
    return false;
  *out = sign * (3600.0 * hours + 60.0 * minutes);
  return true;
}

bool utc_parse(const char *text, double *out) {
  struct parts parts;
  double offset_s;
  const char *at = text;
  if (!take_year_first(&at, "-", "T ", &parts) || !utc_offset_parse(at, &offset_s) ||
      !seconds_of(&parts, out))
    return false;
  *out -= offset_s;
  return true;
}

bool utc_parse_local(const char *text, double *out) {
  struct parts parts;
  const char *at = text;
  return take_year_first(&at, "/-", " T", &parts) && !*at && seconds_of(&parts, out);
}

bool utc_parse_american(const char *text, bool day_first, double *out) {
  struct parts parts;
  const char *at = text;
  return take_digits(&at, 2, day_first ? &parts.day : &parts.month) && take_mark(&at, "-") &&
         take_digits(&at, 2, day_first ? &parts.month : &parts.day) && take_mark(&at, "-") &&
         take_digits(&at, 4, &parts.year) && take_mark(&at, " ") && take_clock(&at, &parts) &&
         !*at && seconds_of(&parts, out);
}

const char *utc_text(double time_s, struct arena *arena) {
  const time_t seconds = (time_t)floor(time_s);
  struct tm utc;
  char text[32];
  gmtime_r(&seconds, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return arena_copy(arena, text);
}

const char *utc_now(struct arena *arena) {
  return utc_text((double)time(NULL), arena);
}
