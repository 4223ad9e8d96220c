#include "model/scenario/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const struct origin_layer origin_layers[ORIGINS] = {
    [ORIGIN_NONE] = {.name = "none"},
    [ORIGIN_DEFAULT] = {.name = "default"},
    [ORIGIN_RENT] = {.name = "rent"},
    [ORIGIN_CATALOGUE] = {.name = "catalogue"},
    [ORIGIN_COMMON] = {.name = "common", .written = "[common] KEY"},
    [ORIGIN_CASE] = {.name = "case", .written = "[case NAME] KEY", .of_case = true},
    [ORIGIN_SET] = {.name = "set", .written = "--set KEY", .is_set = true},
    [ORIGIN_OPTION] = {.name = "option", .written = "[option ID] KEY", .of_option = true},
    [ORIGIN_CASE_OPTION] = {.name = "case_option",
                            .written = "[case NAME] ID.KEY",
                            .of_option = true,
                            .of_case = true},
    [ORIGIN_SET_OPTION] = {.name = "set_option",
                           .written = "--set ID.KEY",
                           .of_option = true,
                           .is_set = true},
};

const struct figure figure_none = {.origin = ORIGIN_NONE, .source = "", .date = ""};

const char *const figure_attributes[FIGURE_ATTRIBUTES] = {"source", "date", "quote"};

struct figure figure_found(double value, struct place place, enum grade grade, const char *source,
                           const char *date) {
  return (struct figure){.origin = ORIGIN_CATALOGUE,
                         .value = value,
                         .place = place,
                         .grade = grade,
                         .source = source,
                         .date = date};
}

bool figure_is_stated(const struct figure *figure) {
  return figure->origin > ORIGIN_RENT;
}

bool figure_exists(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

bool figure_is_given(const struct figure *figure) {
  return figure_exists(figure) && figure->origin != ORIGIN_RENT;
}

bool figure_is_of_option(const struct figure *figure) {
  return origin_layers[figure->origin].of_option;
}

bool figure_is_own(const struct figure *figure) {
  return figure_is_of_option(figure) || figure->origin == ORIGIN_CATALOGUE;
}

bool figure_is_what_if(const struct figure *figure) {
  const struct origin_layer *layer = &origin_layers[figure->origin];
  return layer->of_case || layer->is_set;
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
