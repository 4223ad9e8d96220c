#include "model/draft/drafting.h"

#include "base/source.h"
#include "model/draft/price.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *drafting_cell(const struct drafting *drafting, size_t i, const char *column) {
  return table_cell(drafting->tables.accelerators, drafting->accelerators[i], column);
}

double drafting_number(const struct table *table, size_t row, const char *column) {
  double value = NAN;
  table_number(table, row, column, &value);
  return value;
}

const char *drafting_label(const struct drafting *drafting, size_t i) {
  char *label = arena_copy(drafting->arena, drafting->ids[i]);
  for (char *c = label; *c; c++)
    *c = *c == '_' ? ' ' : (char)toupper((unsigned char)*c);
  return label;
}

int drafting_refuse(const struct drafting *drafting, const char *why) {
  diagnostics_error(drafting->diagnostics, (struct place){0}, "%s", why);
  return -1;
}

bool drafting_counts(const struct drafting *drafting, const struct template_key *key) {
  return key->questions & (1u << drafting->request->question);
}

void drafting_add_template(struct drafting *drafting, struct draft_section *section,
                           const char *name) {
  for (size_t i = 0; i < template_key_count; i++) {
    const struct template_key *key = &template_keys[i];
    if (drafting_counts(drafting, key) && !strcmp(key->section, name))
      draft_figure_add(&drafting->lines, section, key->key, key->value, key->source, key->date,
                       key->comment);
  }
}

bool drafting_contains_parts(const struct drafting *drafting, size_t i) {
  if (drafting->prices[i] < 0)
    return false;
  const char *category =
      table_cell(drafting->tables.prices, (size_t)drafting->prices[i], "category");
  return !strcmp(category, "server") || !strcmp(category, "rack");
}

bool drafting_some_contain_parts(const struct drafting *drafting) {
  for (size_t i = 0; i < drafting->request->accelerator_count; i++)
    if (drafting_contains_parts(drafting, i))
      return true;
  return false;
}

long drafting_price(const struct drafting *drafting, size_t row) {
  return draft_price_find(drafting->tables.prices,
                          table_cell(drafting->tables.accelerators, row, "id"), "purchase",
                          drafting->arena);
}
