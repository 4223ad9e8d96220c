// reply: the texts of an inference server, as bytes of HTTP.
#ifndef PERTOKEN_TESTS_STAND_INS_ENGINE_REPLY_H
#define PERTOKEN_TESTS_STAND_INS_ENGINE_REPLY_H

#include "tests/stand_ins/engine/bytes.h"
#include "tests/stand_ins/engine/request.h"

#include <stdbool.h>
#include <zlib.h>

// For the whole server, as in its /metrics.
struct counters {
  double prompt_tokens, generated_tokens, cached_tokens, chunks;
  int running, waiting;
};

// A stream in progress.
struct reply {
  const struct request *request;
  long sent, total; // tokens
  bool has_role;
  z_stream *deflate; // NULL: not compressed
};

// A complete answer with a body of JSON, or of type `type`.
void reply_whole(struct bytes *out, int status, const char *type, const char *more_headers,
                 const char *body);

// {"error": {"message": ...}}
void reply_error(struct bytes *out, int status, const char *message);

// The answer to a GET of a known path.
void reply_get(struct bytes *out, const struct request *request, const struct counters *counters);

// For a stream: what precedes it, its next chunk of tokens, with everything that follows the last,
// and an error as an event.
void reply_head(struct bytes *out, struct reply *reply);
void reply_role(struct bytes *out, struct reply *reply);
void reply_chunk(struct bytes *out, struct reply *reply);
void reply_complaint(struct bytes *out, struct reply *reply);

#endif
