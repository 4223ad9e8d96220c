#include "model/draft/proposals.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/texts.h"
#include "model/draft/lines.h"
#include "model/evidence/date.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { STAGE_MONTHS = 6, YEAR_MONTHS = 12 };

void draft_stages_add(struct drafting *drafting, struct draft_section *section) {
  struct date day = {0};
  date_parse(drafting->request->date, &day);
  const int months = day.year * YEAR_MONTHS + day.month - 1 + STAGE_MONTHS;
  draft_line_add(&drafting->lines, section, "period", "6 month",
                 "A stage: orders are placed for the beginning of each.");
  draft_line_add(
      &drafting->lines, section, "start",
      arena_printf(drafting->arena, "%04d-%02d", months / YEAR_MONTHS, months % YEAR_MONTHS + 1),
      "When the first stage serves. Made up; replace with your own date.");
}

const char *draft_proposals_unit(const struct drafting *drafting) {
  double most = 1;
  for (size_t i = 0; i < drafting->request->accelerator_count; i++) {
    const double own = table_number_or(drafting->tables.accelerators, drafting->accelerators[i],
                                       "gpus_per_node", NAN);
    most = own > most ? own : most;
  }
  return arena_printf(drafting->arena, "%.0f", most);
}

const char *draft_proposals_offer(const struct drafting *drafting, size_t i) {
  return arena_printf(
      drafting->arena,
      "Once the vendor has answered, in place of the price: quote = %s-offer.ini, in "
      "the form that docs/offer.md describes.",
      drafting->ids[i]);
}

// "nvidia" for NVIDIA, the spelling in a vendor's share.
static const char *vendor_of(const struct drafting *drafting, size_t i) {
  char *vendor = arena_copy(drafting->arena, drafting_cell(drafting, i, "vendor"));
  for (char *c = vendor; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  return vendor;
}

static void add_shares(struct drafting *drafting) {
  struct texts vendors = {0};
  for (size_t i = 0; i < drafting->request->accelerator_count; i++) {
    bool known = false;
    for (size_t k = 0; k < vendors.count; k++)
      known |= !strcmp(vendors.list[k], vendor_of(drafting, i));
    if (!known)
      texts_add(&vendors, drafting->arena, "%s", vendor_of(drafting, i));
  }
  struct draft_section *section = draft_section_add(&drafting->lines, "portfolio", "");
  for (size_t k = 0; k < vendors.count && vendors.count > 1; k++)
    draft_line_add(&drafting->lines, section,
                   arena_printf(drafting->arena, "minimum_share.%s", vendors.list[k]), "20 %",
                   k ? NULL
                     : "Of the tokens, in every stage. Made up; replace with your own policy.");
}

void draft_proposals_add(struct drafting *drafting) {
  struct draft_lines *lines = &drafting->lines;
  struct draft_section *section = draft_section_add(lines, "demand", "all");
  draft_line_add(lines, section, "tokens", drafting->request->demand, NULL);
  draft_line_add(lines, section, "growth", "triangular(10, 30, 50) %/yr",
                 "Made up; replace with your own plan.");
  for (size_t i = 0; i < drafting->request->accelerator_count; i++) {
    section = draft_section_add(lines, "supply", drafting->ids[i]);
    draft_line_add(lines, section, "lead_time", "4 month",
                   i ? NULL
                     : "From the order to the day it serves. Made up; the vendor's answer replaces "
                       "it. An accelerator that is yet to come: available = 12 month.");
  }
  add_shares(drafting);
  section = draft_section_add(lines, "plan", "");
  draft_line_add(lines, section, "time", "10",
                 "Seconds to search. Limits of your own: yearly_budget = 40e6, 25e6 USD; "
                 "site_power = 3 MW.");
}
