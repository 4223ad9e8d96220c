#include "reports/print/heading.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "reports/print/number.h"

#include <stdio.h>
#include <string.h>

// "3 yr" or "1 day", or each option's if they differ.
static const char *horizon_text(const struct scenario *scenario, struct arena *arena) {
  const int horizon = model_find(scenario->model, "horizon");
  const struct unit *unit = &scenario->model->declarations[horizon].unit;
  struct texts all = {0};
  const char *first = NULL;
  bool same = true;
  for (size_t i = 0; i < scenario->option_count; i++) {
    const struct option *option = &scenario->options[i];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, horizon);
    const char *text = number_of_figure(figure, unit, arena);
    first = first ? first : text;
    same &= !strcmp(text, first);
    texts_add(&all, arena, "%s %s", option->label, text);
  }
  return same ? first : texts_joined(&all, arena);
}

// ", periods of 1 month"; "" if a period is a year.
static const char *period_text(const struct scenario *scenario, struct arena *arena) {
  if (scenario->period_h == HOURS_PER_YEAR)
    return "";
  const int length = model_find(scenario->model, "period_length");
  return arena_printf(arena, ", periods of %s",
                      scenario->model->declarations[length].alternatives[0].text);
}

void heading_print(const struct scenario *scenario, const char *stamp, const struct style *style) {
  style_block(style, EMPHASIS_STRONG, scenario->title);
  style_paragraph(style, "",
                  arena_printf(style->arena, "horizon %s%s, baseline %s, case %s, as of %s",
                               horizon_text(scenario, style->arena),
                               period_text(scenario, style->arena),
                               scenario->options[scenario->baseline].label,
                               scenario->case_labels[scenario->selected], scenario->date));
  if (*stamp)
    style_block(style, EMPHASIS_ALARM, stamp);
  putc('\n', style->out);
}
