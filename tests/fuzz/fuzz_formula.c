// Any line of text as a formula, and its tree converted back to text.
#include "fuzz.h"

#include "model/cost/formula.h"

#include <assert.h>
#include <string.h>

// A tree's text parses to a tree with the same text.
static void check_round_trip(const struct node *node, struct fuzz *fuzz, struct place place) {
  const char *text = formula_text(node, &fuzz->arena);
  const struct node *again = formula_parse(text, place, &fuzz->arena, &fuzz->diagnostics);
  assert(again && fuzz->diagnostics.errors == 0);
  assert(strcmp(formula_text(again, &fuzz->arena), text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  const struct place place = {.source = fuzz.source, .line = 1, .column = 1};
  const struct node *node = formula_parse(fuzz.source->text, place, &fuzz.arena, &fuzz.diagnostics);
  assert((node != NULL) == (fuzz.diagnostics.errors == 0));
  if (node)
    check_round_trip(node, &fuzz, nowhere);
  fuzz_end(&fuzz);
  return 0;
}
