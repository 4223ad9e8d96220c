#include "model/scenario/sources/projected_throughput.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/records/projection.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/published_throughput.h"
#include "model/scenario/sources/recorded_throughput.h"

#include <stddef.h>

static const char *find(const struct sources *sources, struct projection *projection) {
  return projection_make(sources->scenario->records, sources->projection->value,
                         sources->scenario->catalog, sources->option->accelerator,
                         &sources->option->workload, projection, sources->arena);
}

static const char *why_not(const struct sources *its, const void *chosen) {
  const struct projection *projection = chosen;
  struct projection other;
  const char *why = find(its, &other);
  if (why || other.tokens_per_s == projection->tokens_per_s)
    return why;
  return arena_printf(its->arena,
                      "requests of these lengths decode at another rate than those of the base "
                      "case: give '%s.decode_throughput' in the case",
                      its->option->id);
}

void projected_throughput_apply(const struct sources *sources) {
  struct projection projection;
  const char *why = find(sources, &projection);
  if (why) {
    sources_report(sources, sources_lack(sources, SELECT_PROJECTION, why));
    resolving_pretend(sources->resolving, "decode_throughput");
    return;
  }
  if (sources_follow_lengths(sources)) {
    sources_check_cases(sources, why_not, &projection);
    sources_found_for_lengths(sources->resolving, GRADE_PROJECTED, "decoding");
  }
  sources_take_workload(sources, projection.from);
  resolving_fill(sources->resolving, sources->decode,
                 figure_found(rate_per_hour(projection.tokens_per_s), projection.from->place,
                              GRADE_PROJECTED, projection.source, projection.date));
}

bool projected_throughput_counts(const struct sources *sources) {
  const char *better = !sources->projection                   ? NULL
                       : recorded_throughput_exists(sources)  ? "measured"
                       : published_throughput_exists(sources) ? "published"
                                                              : NULL;
  if (better && !sources->resolving->amendment)
    diagnostics_warning(sources->resolving->diagnostics, sources->projection->place,
                        "the projection of option '%s' is not used: its accelerator's own figure "
                        "is %s",
                        sources->option->id, better);
  return sources->projection && !better;
}
