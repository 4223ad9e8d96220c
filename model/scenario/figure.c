#include "model/scenario/figure.h"

#include <math.h>
#include <stddef.h>

const struct figure figure_none = {.origin = ORIGIN_NONE, .source = "", .date = ""};

const char *const figure_attributes[FIGURE_ATTRIBUTES] = {"source", "date", "quote"};

double figure_highest(const struct figure *figure) {
  double highest = figure->value;
  for (size_t i = 0; i < figure->year_count; i++)
    highest = fmax(highest, figure->years[i].value);
  return highest;
}
