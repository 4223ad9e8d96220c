#include "reports/workbook/provenance.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"

#include <string.h>

const char *figure_source(const struct figure *figure) {
  if (figure->origin == ORIGIN_DEFAULT)
    return "default of the cost model";
  if (*figure->source)
    return figure->source;
  bool set = figure->origin == ORIGIN_SET || figure->origin == ORIGIN_SET_OPTION;
  return set ? "own assumption, --set" : "own assumption";
}

const char *figure_grade(const struct figure *figure) {
  bool given = figure->origin != ORIGIN_DEFAULT && figure->origin != ORIGIN_RENT;
  return given ? grade_name(figure->grade) : "default";
}

const char *figure_date(const struct figure *figure, struct arena *arena) {
  static const size_t lengths[] = {4, 7, 10};
  struct date date;
  if (!date_parse(figure->date, &date))
    return "-";
  size_t digits = strspn(figure->date, "0123456789-"), length = strlen(figure->date);
  for (size_t i = 0; i < 3; i++)
    if (length == lengths[i] && digits == length && (length == 4 || figure->date[4] == '-') &&
        strcspn(figure->date, "-") == 4)
      return figure->date;
  return arena_printf(arena, "%04d-%02d-%02d", date.year, date.month, date.day);
}

const char *figure_place(const struct scenario *scenario, const struct figure *figure,
                         int declaration, struct arena *arena) {
  struct place place = figure->place;
  if (place.source && !place.line) { // a record as a whole
    const char *slash = strrchr(place.source->name, '/');
    return slash ? slash + 1 : place.source->name;
  }
  if (!place.source)
    place = scenario->model->declarations[declaration].place;
  if (!place.source)
    return "cost model";
  // The catalogue's path differs between machines and is not informative.
  const char *directory = scenario->catalog->directory, *name = place.source->name;
  const size_t length = strlen(directory);
  if (!strncmp(name, directory, length) && name[length] == '/')
    return arena_printf(arena, "data%s:%d", name + length, place.line);
  return arena_printf(arena, "%s:%d", place.source->name, place.line);
}
