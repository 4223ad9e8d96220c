#include "model/scenario/rented.h"

#include "base/diagnostics.h"
#include "base/source.h"

#include <stddef.h>
#include <string.h>

// Inputs of a purchase that the rent does not contain, and what a rented option has instead.
static const struct not_in_rent {
  const char *input, *instead;
} not_in_rent[] = {
    {"purchase_tax",
     "is a share of a purchase; if a tax on the rent is not recovered, add it as an "
     "[item] with a formula such as rental_cost * 8 %"},
    {"purchase_unit",
     "applies to a purchase; if it is rented in instances, give 'accelerators' in whole ones"},
};

void rented_refuse(struct diagnostics *diagnostics, struct place place, const char *input,
                   const char *option) {
  for (size_t i = 0; i < sizeof not_in_rent / sizeof not_in_rent[0]; i++)
    if (!strcmp(not_in_rent[i].input, input)) {
      diagnostics_error(diagnostics, place, "option '%s' is rented: '%s' %s", option, input,
                        not_in_rent[i].instead);
      return;
    }
  diagnostics_error(diagnostics, place,
                    "'%s' is part of the rent of option '%s': a rented option does not pay for it",
                    input, option);
}
