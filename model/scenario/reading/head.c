#include "model/scenario/reading/head.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/process.h"
#include "base/short_text.h"
#include "base/source.h"
#include "model/cost/words.h"
#include "model/evidence/date.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <string.h>

static const char *const head_keys[] = {"title",    "date",   "start",    "horizon",
                                        "baseline", "period", "inherits", "currency"};

enum { HEAD_KEYS = sizeof head_keys / sizeof head_keys[0] };

bool head_is_key(const char *name) {
  for (size_t i = 0; i < HEAD_KEYS; i++)
    if (!strcmp(head_keys[i], name))
      return true;
  return false;
}

const char *head_nearest_key(const char *name) {
  const char *meant = model_word_meaning(name);
  return meant != name ? meant : nearest_name(name, head_keys, HEAD_KEYS);
}

static void read_date(struct reading *reading) {
  const struct ini_key *key = reading_head_key(reading, "date");
  struct date date;
  reading->scenario->date = key ? key->value : process_today(reading->arena);
  if (key && (!date_parse(key->value, &date) || strlen(key->value) != 10))
    diagnostics_error(reading->diagnostics, key->value_place,
                      "expected a day such as 2026-10-01, not '%s'", key->value);
}

// A month means its first day.
static void read_start(struct reading *reading) {
  const struct ini_key *key = reading_head_key(reading, "start");
  struct scenario *scenario = reading->scenario;
  struct date date;
  const bool month = key && strlen(key->value) == strlen("2027-01");
  scenario->start = !key    ? scenario->date
                    : month ? arena_printf(reading->arena, "%s-01", key->value)
                            : key->value;
  if (key && (!date_parse(key->value, &date) || strlen(scenario->start) != strlen("2027-01-01")))
    diagnostics_error(reading->diagnostics, key->value_place,
                      "expected a month or a day such as 2027-01 or 2027-01-15, not '%s'",
                      key->value);
}

static void read_title(struct reading *reading) {
  const struct ini_key *key = reading_head_key(reading, "title");
  reading->scenario->title =
      key ? key->value : text_readable(reading->scenario->path, reading->arena);
  if (key)
    short_text_check("a title", key->value, key->value_place, reading->diagnostics);
}

static void read_baseline(struct reading *reading) {
  const struct ini_key *key = reading_head_key(reading, "baseline");
  int found = key ? scenario_option(reading->scenario, key->value) : 0;
  reading->scenario->baseline = found < 0 ? 0 : (size_t)found;
  if (found >= 0)
    return;
  diagnostics_error(reading->diagnostics, key->value_place, "the baseline '%s' is not an option%s",
                    key->value,
                    scenario_option_hint(reading->scenario, key->value, reading->arena));
}

static void select_case(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const char *wanted = reading->request->case_name;
  int which = wanted ? reading_case(reading, wanted) : 0;
  scenario->selected = which < 0 ? 0 : (size_t)which;
  if (which >= 0)
    return;
  diagnostics_error(reading->diagnostics, (struct place){.source = scenario->source},
                    "there is no [case %s]%s", wanted,
                    name_hint(wanted, scenario->cases, scenario->case_count, reading->arena));
}

void head_read(struct reading *reading) {
  read_title(reading);
  read_date(reading);
  read_start(reading);
  read_baseline(reading);
  select_case(reading);
}
