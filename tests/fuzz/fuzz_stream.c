// Any bytes as a stream of events, in pieces of any size: the result depends neither on the cuts
// nor on what was learned from earlier chunks.
#include "base/source.h"
#include "fuzz.h"

#include "probe/serving/stream.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static void check(const struct stream *stream) {
  assert(stream->receipts <= stream->chunks && (stream->chunks == 0) == isnan(stream->first_s));
  assert(isnan(stream->first_s) || stream->last_s >= stream->first_s);
  assert(stream->usage.prompt_tokens >= -1 && stream->usage.completion_tokens >= -1 &&
         stream->usage.cached_tokens >= -1);
  assert(stream->is_wrong == (*stream->complaint != '\0'));
  assert(!source_invalid_utf8(stream->complaint, strlen(stream->complaint)));
}

static void check_same(const struct stream *one, const struct stream *two) {
  assert(one->chunks == two->chunks && one->is_wrong == two->is_wrong);
  assert(one->is_done == two->is_done && one->is_finished == two->is_finished);
  assert(one->usage.prompt_tokens == two->usage.prompt_tokens &&
         one->usage.completion_tokens == two->usage.completion_tokens &&
         one->usage.cached_tokens == two->usage.cached_tokens &&
         one->usage.hides_tokens == two->usage.hides_tokens);
  assert(strcmp(one->complaint, two->complaint) == 0);
}

// The first byte determines the length of the pieces.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct stream whole = {0}, cut = {0};
  if (size == 0)
    return -1;
  const size_t piece = 1 + data[0] % 16;
  const char *text = (const char *)data + 1;
  size--;
  stream_start(&whole);
  stream_feed(&whole, text, size, 1);
  stream_end(&whole, 1);
  stream_start(&cut);
  cut.next_lesson = SIZE_MAX; // parses every event
  for (size_t at = 0; at < size; at += piece)
    stream_feed(&cut, text + at, size - at < piece ? size - at : piece, (double)at);
  stream_end(&cut, (double)size);
  check(&whole);
  check(&cut);
  check_same(&whole, &cut);
  stream_free(&whole);
  stream_free(&cut);
  return 0;
}
