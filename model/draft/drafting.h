// drafting: a draft while it is being made, shared by its parts.
#ifndef PERTOKEN_MODEL_DRAFT_DRAFTING_H
#define PERTOKEN_MODEL_DRAFT_DRAFTING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/draft/lines.h"
#include "model/draft/request.h"
#include "model/draft/template.h"
#include "model/draft/workload.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>
#include <stddef.h>

struct drafting {
  const struct draft_request *request;
  struct catalog *catalog;
  struct draft_tables tables;
  size_t model;
  size_t *accelerators;   // [request->accelerator_count] rows
  const char *const *ids; // of the options
  struct draft_workload workload;
  struct draft_throughput *throughputs; // [request->accelerator_count]
  int *needed;  // [request->accelerator_count] accelerators that hold the model; 0: unknown
  long *prices; // [request->accelerator_count] rows: its own, or the lender's; -1: none
  long
      *price_lenders; // [request->accelerator_count] rows of accelerators; -1: it has its own price
  struct draft_lines lines;
  struct draft *draft;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// A cell of the i-th accelerator; "" if blank.
const char *drafting_cell(const struct drafting *drafting, size_t i, const char *column);

// The label of the i-th option: "MI355X".
const char *drafting_label(const struct drafting *drafting, size_t i);

// Reports an error without a place. Returns -1.
int drafting_refuse(const struct drafting *drafting, const char *why);

// Whether the template's key applies to the draft's question; the other function adds the keys of a
// section.
bool drafting_counts(const struct drafting *drafting, const struct template_key *key);
void drafting_add_template(struct drafting *drafting, struct draft_section *section,
                           const char *name);

// Whether the accelerator of a row has a figure that another may borrow.
typedef bool (*drafting_has)(const struct drafting *drafting, size_t row, size_t borrower);

// The accelerator from which to borrow a figure: the draft's first that has it, else the nearest in
// memory bandwidth. -1 if none has it.
long drafting_lender(const struct drafting *drafting, size_t i, drafting_has has);

// Finds all prices, and who lends one that is not published: if any, an accelerator of the same
// form, since a card is not priced like a module.
void drafting_find_prices(struct drafting *drafting);

// The factor for a price that is lent to accelerator i: the ratio of memory bandwidths, as for a
// lent throughput, between cards, which range widely, and from another form; else 1.
double drafting_price_scale(const struct drafting *drafting, size_t i);

// Whether the price of the i-th accelerator is for a whole server or rack that includes this input
// of the template's hardware.
bool drafting_price_includes(const struct drafting *drafting, size_t i, const char *input);

// Whether any price includes any of it.
bool drafting_some_include_parts(const struct drafting *drafting);

#endif
