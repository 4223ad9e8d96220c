// template: the questions for which a draft can be made, and what it contains for each besides the
// accelerators, the model and the catalogue's figures for them.
#ifndef PERTOKEN_MODEL_DRAFT_TEMPLATE_H
#define PERTOKEN_MODEL_DRAFT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

enum draft_question {
  DRAFT_TWO_VENDORS, // which accelerator serves the model for less
  DRAFT_RENT_OR_OWN, // one accelerator, bought or rented at published rates
  DRAFT_OWN_OR_API,  // accelerators of one's own or a provider's token API
  DRAFT_STAGES,      // a growing demand, with purchases year by year
  DRAFT_PROPOSALS,   // a request for proposals: vendors' offers and shares, in stages with dates
  DRAFT_QUESTIONS
};

// "two-vendors", "rent-or-own", ...
extern const char *const draft_question_names[DRAFT_QUESTIONS];

// Whether the question needs a demand instead of a number of accelerators.
bool draft_needs_demand(enum draft_question question);

enum { TEMPLATE_PER_NODE = 8 }; // accelerators of the server that the template prices

// One key of a section of every draft, or of the drafts of some questions.
struct template_key {
  const char *section; // "scenario", "workload", "common"; "hardware": in the options if
                       // the price of one already includes some of it; else a case
  unsigned questions;  // 1 << DRAFT_..., or ~0u
  const char *key, *value;
  const char *source, *date; // NULL: the user's own assumption
  const char *comment;       // NULL: none
};

extern const struct template_key template_keys[];
extern const size_t template_key_count;

#endif
