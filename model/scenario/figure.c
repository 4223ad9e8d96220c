#include "model/scenario/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const struct figure figure_none = {.origin = ORIGIN_NONE, .source = "", .date = ""};

const char *const figure_attributes[FIGURE_ATTRIBUTES] = {"source", "date", "quote"};

bool figure_is_stated(const struct figure *figure) {
  return figure->origin > ORIGIN_RENT;
}

bool figure_is_what_if(const struct figure *figure) {
  return figure->origin == ORIGIN_CASE || figure->origin == ORIGIN_SET ||
         figure->origin == ORIGIN_CASE_OPTION || figure->origin == ORIGIN_SET_OPTION;
}

bool figure_has_source(const struct figure *figure) {
  return figure->origin > ORIGIN_RENT && *figure->source;
}

double figure_highest(const struct figure *figure) {
  double highest = figure->value;
  for (size_t i = 0; i < figure->year_count; i++)
    highest = fmax(highest, figure->years[i].value);
  return highest;
}
