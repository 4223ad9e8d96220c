// Any line of text as a unit, and as a quantity in each of several expected units.
#include "fuzz.h"

#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <assert.h>
#include <math.h>

static void check_unit(struct fuzz *fuzz, struct place place) {
  struct unit unit;
  size_t errors = fuzz->diagnostics.errors;
  if (unit_parse(fuzz->source->text, place, &unit, &fuzz->arena, &fuzz->diagnostics) < 0) {
    assert(fuzz->diagnostics.errors > errors);
    return;
  }
  assert(fuzz->diagnostics.errors == errors);
  assert(unit_factor(&unit) > 0 && unit_cell_factor(&unit) > 0);
  assert(*dimension_text(unit.dimension, &fuzz->arena));
}

static void check_quantity(struct fuzz *fuzz, struct place place, const char *expected_text) {
  struct unit expected;
  assert(unit_parse(expected_text, place, &expected, &fuzz->arena, &fuzz->diagnostics) == 0);
  size_t errors = fuzz->diagnostics.errors;
  double value = 0;
  int result = quantity_parse(fuzz->source->text, place, &expected, &value, &fuzz->diagnostics);
  assert(result == 0 ? isfinite(value) : fuzz->diagnostics.errors > errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  const struct place place = {.source = fuzz.source, .line = 1, .column = 1};
  check_unit(&fuzz, place);
  static const char *const expected[] = {"USD/kWh", "%/yr", "gpu", "-"};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    check_quantity(&fuzz, place, expected[i]);
  fuzz_end(&fuzz);
  return 0;
}
