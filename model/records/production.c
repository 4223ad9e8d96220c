#include "model/records/production.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/record.h"
#include "base/record_fields.h"
#include "base/source.h"
#include "model/evidence/day.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const kinds[] = {"production", NULL};

static const struct field hour_fields[] = {
    TEXT(production_hour, start),
    REAL(production_hour, covered_s, 0),
    REAL(production_hour, input_tokens, 0),
    REAL(production_hour, output_tokens, 0),
    END,
};

static const struct field production_fields[] = {
    CONSTANT("record", kinds),
    TEXT(production, engine),
    TEXT(production, accelerator),
    INT(production, accelerators, 1),
    TEXT(production, precision),
    TEXT(production, model),
    TEXT(production, started),
    TEXT(production, finished),
    REAL(production, covered_s, 0),
    REAL(production, input_tokens, 0),
    REAL(production, output_tokens, 0),
    REAL(production, output_tokens_per_s, 0),
    MAYBE(production, peak_over_mean, 0),
    MAYBE(production, cache_hit, 0),
    MAYBE(production, running, 0),
    INT(production, resets, 0),
    INT(production, utc_offset_min, -1440),
    REALS(production, day_profile, day_profile_count),
    LIST(production, hours, hour_count, production_hour, hour_fields),
    LIST(production, files, file_count, serving_file, serving_file_fields),
    END,
};

static const struct record_form form = {
    .noun = "production record",
    .oldest = PRODUCTION_SCHEMA,
    .newest = PRODUCTION_SCHEMA,
    .fields = production_fields,
};

int production_write(struct production *production, const char *path, struct arena *arena,
                     struct diagnostics *diagnostics) {
  production->path = arena_copy(arena, path);
  return record_write(&form, production, &production->digest, path, arena, diagnostics);
}

static bool is_like(double a, double b) {
  return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

static const char *check(const struct production *production) {
  double output = 0, covered_s = 0;
  for (size_t i = 0; i < production->hour_count; i++) {
    output += production->hours[i].output_tokens;
    covered_s += production->hours[i].covered_s;
  }
  if (!is_like(output, production->output_tokens) || !is_like(covered_s, production->covered_s))
    return "the hours do not add up to the whole";
  if (!(production->covered_s > 0) ||
      !is_like(production->output_tokens / production->covered_s, production->output_tokens_per_s))
    return "the mean is not the tokens over the time";
  if (production->day_profile_count && production->day_profile_count != HOURS_OF_DAY)
    return "a day's profile has 24 hours";
  return production->cache_hit > 1 ? "a hit rate above 100 %" : NULL;
}

struct production *production_of_json(const json_t *object, const struct source *source,
                                      struct arena *arena, struct diagnostics *diagnostics) {
  struct production *production = arena_alloc(arena, sizeof *production);
  if (record_of_json(&form, object, source, production, &production->digest, arena, diagnostics))
    return NULL;
  production->source = source;
  production->path = source->name;
  const char *why = check(production);
  if (!why)
    return production;
  diagnostics_error(diagnostics, (struct place){source, 0, 0}, "%s", why);
  return NULL;
}

bool production_is_one(const json_t *object) {
  return record_is(&form, object);
}

double production_throughput(const struct production *production) {
  return production->output_tokens_per_s / production->accelerators;
}
