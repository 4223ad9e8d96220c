#include "model/draft/drafting.h"

#include "base/csv.h"
#include "base/source.h"
#include "model/draft/price.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *drafting_cell(const struct drafting *drafting, size_t i, const char *column) {
  return table_cell(drafting->tables.accelerators, drafting->accelerators[i], column);
}

const char *drafting_label(const struct drafting *drafting, size_t i) {
  char *label = arena_copy(drafting->arena, drafting->ids[i]);
  for (char *c = label; *c; c++)
    *c = *c == '_' ? ' ' : (char)toupper((unsigned char)*c);
  return label;
}

int drafting_refuse(const struct drafting *drafting, const char *why) {
  diagnostics_error(drafting->diagnostics, nowhere, "%s", why);
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

// ---- prices

static long price_of(const struct drafting *drafting, size_t row) {
  return draft_price_find(drafting->tables.prices,
                          table_cell(drafting->tables.accelerators, row, "id"), "purchase",
                          drafting->arena);
}

// The form of a part decides its cost: a card, a module of a server's baseboard, a rack's share. A
// form_factor with none of these words is a form of its own.
static const struct form {
  const char *word, *name;
  bool is_alike; // all of the form cost about the same
} forms[] = {{"PCIe", "card", false},
             {"SXM", "module", true},
             {"OAM", "module", true},
             {"rack", "rack", true},
             {"superchip", "superchip", true}};

static struct form form_of(const struct drafting *drafting, size_t row) {
  const char *text = table_cell(drafting->tables.accelerators, row, "form_factor");
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (strstr(text, forms[i].word))
      return forms[i];
  return (struct form){text, text, true};
}

static bool are_of_one_form(const struct drafting *drafting, size_t a, size_t b) {
  return !strcmp(form_of(drafting, a).name, form_of(drafting, b).name);
}

static bool has_price(const struct drafting *drafting, size_t row, size_t borrower) {
  (void)borrower;
  return price_of(drafting, row) >= 0;
}

static bool has_price_of_the_form(const struct drafting *drafting, size_t row, size_t borrower) {
  return are_of_one_form(drafting, row, borrower) && has_price(drafting, row, borrower);
}

long drafting_lender(const struct drafting *drafting, size_t i, drafting_has has) {
  const struct table *table = drafting->tables.accelerators;
  const size_t borrower = drafting->accelerators[i];
  const double own = table_number_or(table, borrower, "memory_bw_tbs", NAN);
  long nearest = -1;
  double best = INFINITY;
  for (size_t k = 0; k < drafting->request->accelerator_count; k++)
    if (k != i && has(drafting, drafting->accelerators[k], borrower))
      return (long)drafting->accelerators[k];
  for (size_t row = 0; row < table->rows; row++) {
    const double distance = fabs(log(table_number_or(table, row, "memory_bw_tbs", NAN) / own));
    if (row == borrower || !has(drafting, row, borrower) || (nearest >= 0 && !(distance < best)))
      continue;
    nearest = (long)row;
    best = isnan(distance) ? INFINITY : distance;
  }
  return nearest;
}

static long price_lender(const struct drafting *drafting, size_t i) {
  const long alike = drafting_lender(drafting, i, has_price_of_the_form);
  return alike >= 0 ? alike : drafting_lender(drafting, i, has_price);
}

double drafting_price_scale(const struct drafting *drafting, size_t i) {
  const struct table *table = drafting->tables.accelerators;
  const size_t own = drafting->accelerators[i];
  const long from = drafting->price_lenders[i];
  if (from < 0 || (form_of(drafting, own).is_alike && are_of_one_form(drafting, own, (size_t)from)))
    return 1;
  const double scale = table_number_or(table, own, "memory_bw_tbs", NAN) /
                       table_number_or(table, (size_t)from, "memory_bw_tbs", NAN);
  return isfinite(scale) ? scale : 1;
}

void drafting_find_prices(struct drafting *drafting) {
  const size_t count = drafting->request->accelerator_count;
  drafting->prices = arena_array(drafting->arena, count + 1, sizeof *drafting->prices);
  drafting->price_lenders =
      arena_array(drafting->arena, count + 1, sizeof *drafting->price_lenders);
  for (size_t i = 0; i < count; i++) {
    drafting->prices[i] = price_of(drafting, drafting->accelerators[i]);
    drafting->price_lenders[i] = drafting->prices[i] < 0 ? price_lender(drafting, i) : -1;
    if (drafting->price_lenders[i] >= 0)
      drafting->prices[i] = price_of(drafting, (size_t)drafting->price_lenders[i]);
  }
}

bool drafting_price_includes(const struct drafting *drafting, size_t i, const char *input) {
  static const struct {
    const char *category, *input;
  } parts[] = {{"server", "node_price"}, {"rack", "node_price"}, {"rack", "network_price"}};
  if (drafting->prices[i] < 0)
    return false;
  const char *category =
      table_cell(drafting->tables.prices, (size_t)drafting->prices[i], "category");
  for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
    if (!strcmp(parts[p].category, category) && !strcmp(parts[p].input, input))
      return true;
  return false;
}

bool drafting_some_include_parts(const struct drafting *drafting) {
  for (size_t i = 0; i < drafting->request->accelerator_count; i++)
    if (drafting_price_includes(drafting, i, "node_price"))
      return true;
  return false;
}
