// option: a draft's sections for what is compared: an accelerator that is bought, its rents, a
// token API; with the catalogue's evidence, or stand-ins.
#ifndef PERTOKEN_MODEL_DRAFT_OPTION_H
#define PERTOKEN_MODEL_DRAFT_OPTION_H

#include "model/draft/drafting.h"

#include <stddef.h>

// Adds [option ID] for the i-th accelerator.
void draft_option_add(struct drafting *drafting, size_t i);

// Adds [rent ID] with its published rents. Returns 0, or -1 with an error if there are none.
int draft_rent_add(struct drafting *drafting, size_t i);

// Adds [option api] with a published price of the model's tokens. Returns 0, or -1 with an error if
// there is none.
int draft_api_add(struct drafting *drafting);

#endif
