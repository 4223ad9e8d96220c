// Any text as a vendor's offer, with the shipped catalogue, truncated by tests/fuzz/run.
#include "fuzz.h"

#include "model/delivery/offer.h"

#include <assert.h>
#include <math.h>

// What is offered is a finite amount, and the texts about it are terminated.
static void check_offer(struct fuzz *fuzz, const struct offer *offer) {
  assert(offer->accelerators > 0 && offer->nodes >= 0);
  for (int line = 0; line < OFFER_LINES; line++) {
    offer_line_input(offer, (enum offer_line)line, false, &fuzz->arena);
    offer_line_input(offer, (enum offer_line)line, true, &fuzz->arena);
    assert(isfinite(offer->prices[line].value) && offer->prices[line].value >= 0);
  }
  for (size_t g = 0; g < offer->guarantee_count; g++) {
    const struct offer_guarantee *guarantee = &offer->guarantees[g];
    const bool is_timed[] = {guarantee->latencies[OFFER_TTFT].seconds > 0,
                             guarantee->latencies[OFFER_TPOT].seconds > 0};
    assert(guarantee->tokens_per_s > 0 || is_timed[0] || is_timed[1]);
    assert(!(is_timed[0] || is_timed[1]) ||
           (guarantee->input_tokens > 0 && guarantee->output_tokens > 0 &&
            (guarantee->concurrency > 0) != (guarantee->request_rate > 0)));
  }
  assert(!(offer->acceptance.tolerance >= 1) && !(offer->acceptance.confidence >= 1));
  offer_has_expired(offer, "2026-11-20");
}

static void read_offer(struct fuzz *fuzz, const char *path) {
  struct catalog catalog;
  if (catalog_open(&catalog, "build/fuzz/data", &fuzz->arena, &fuzz->diagnostics))
    return;
  const struct offer *offer = offer_read(path, &catalog, &fuzz->arena, &fuzz->diagnostics);
  assert((offer != NULL) == (fuzz->diagnostics.errors == 0));
  if (offer)
    check_offer(fuzz, offer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, read_offer);
}
