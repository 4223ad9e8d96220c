#include "reports/page/plain.h"

#include "model/cost/model.h"
#include "model/evidence/grade.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "reports/page/markup.h"
#include "reports/print/number.h"
#include "reports/print/verdict.h"

#include <math.h>
#include <stddef.h>

enum { COST, LEVELIZED, TOTAL, RESULTS };

static const char *const results[RESULTS] = {"cost_per_mtok", "levelised_cost_per_mtok", "tco"};

// A result of all options.
struct figures {
  struct scale scale;
  double *values; // [option_count], in base units
};

static struct figures figures_of(const struct scenario *scenario, const char *item,
                                 struct arena *arena) {
  const int declaration = model_find(scenario->model, item);
  struct figures figures = {.values =
                                arena_array(arena, scenario->option_count, sizeof *figures.values)};
  for (size_t o = 0; o < scenario->option_count; o++)
    figures.values[o] = option_value(scenario, &scenario->options[o], declaration, 0);
  figures.scale = number_scale(&scenario->model->declarations[declaration].unit, figures.values,
                               scenario->option_count, arena);
  return figures;
}

static const char *saving_text(const struct scenario *scenario, const struct standing *standing,
                               size_t o, struct arena *arena) {
  if (o == scenario->baseline)
    return scenario->option_count > 1 ? "baseline" : "-";
  return isfinite(standing->saving)
             ? arena_printf(arena, "%s %%", number_percent(standing->saving, arena))
             : "-";
}

// The columns' headings, in the order of the page's own table.
static const char *head_row(const struct figures *figures, struct arena *arena) {
  return arena_printf(
      arena,
      "<tr><th scope=\"col\">Option</th><th scope=\"col\">Cost, %s</th>"
      "<th scope=\"col\">Saving</th><th scope=\"col\">Weakest evidence</th>"
      "<th scope=\"col\">Levelized, %s</th><th scope=\"col\">Total cost, %s</th></tr>\n",
      figures[COST].scale.unit, figures[LEVELIZED].scale.unit, figures[TOTAL].scale.unit);
}

static const char *number_of(const struct figures *figures, size_t o, struct arena *arena) {
  return number_scaled(figures->values[o], figures->scale, arena);
}

static const char *option_row(const struct scenario *scenario, const struct standing *standing,
                              const struct figures *figures, size_t o, struct arena *arena) {
  const struct option *option = &scenario->options[o];
  return arena_printf(arena,
                      "<tr class=\"card%s\"><th scope=\"row\" dir=\"auto\">%s</th>"
                      "<td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                      standing->cheapest ? " best" : "", markup_text(option->label, arena),
                      number_of(&figures[COST], o, arena),
                      saving_text(scenario, standing, o, arena), grade_name(option->headline_grade),
                      number_of(&figures[LEVELIZED], o, arena),
                      number_of(&figures[TOTAL], o, arena));
}

static const char *options_table(const struct scenario *scenario, const struct ranking *ranking,
                                 struct arena *arena) {
  struct figures figures[RESULTS];
  for (size_t i = 0; i < RESULTS; i++)
    figures[i] = figures_of(scenario, results[i], arena);
  const char *rows = "";
  for (size_t o = 0; o < scenario->option_count; o++)
    rows = arena_printf(arena, "%s%s", rows,
                        option_row(scenario, &ranking->options[o], figures, o, arena));
  return arena_printf(
      arena,
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Options\">"
      "<table class=\"options\">\n<thead>%s</thead>\n<tbody>\n%s</tbody></table></div>\n",
      head_row(figures, arena), rows);
}

static const char *paragraph(const char *class, const char *text, struct arena *arena) {
  return *text ? arena_printf(arena, "<p class=\"%s\" dir=\"auto\">%s</p>\n", class,
                              markup_text(text, arena))
               : "";
}

const char *page_plain(const struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_lasting(scenario, arena);
  const char *not_ranked = "";
  for (size_t o = 0; o < ranking->option_count; o++)
    if (!ranking->options[o].ranked && ranking->option_count > 1)
      not_ranked =
          arena_printf(arena, "%s%s", not_ranked,
                       paragraph("stamp", verdict_not_ranked(scenario, ranking, o, arena), arena));
  const char *verdict = arena_printf(arena, "%s%s.", verdict_text(scenario, ranking, NULL, arena),
                                     scenario->range_count ? VERDICT_BASE : "");
  const char *needs = "The inputs, the charts and the other tables need JavaScript, which does not "
                      "run here: these are the numbers that the page was written with.";
  return arena_printf(arena, "%s%s%s%s%s",
                      paragraph("stamp", scenario_lasting_stamp(scenario, arena), arena),
                      paragraph("verdict", verdict, arena), options_table(scenario, ranking, arena),
                      not_ranked, paragraph("notice", needs, arena));
}
