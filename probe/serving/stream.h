// stream: a server's stream of events (text/event-stream) as it arrives, in pieces of any size.
//
// The events are those of OpenAI's completions and chat completions: chunks of text, the usage, in
// the last chunk or in one of its own, "[DONE]", errors. Every piece is given the time at which it
// was received, and an event has the time of the piece that completes it: several events in one
// piece came together. A chunk is not a token: only the usage says how many there were.
#ifndef PERTOKEN_PROBE_SERVING_STREAM_H
#define PERTOKEN_PROBE_SERVING_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_EVENT = 4 << 20, MAX_COMPLAINT = 256 }; // bytes; a longer event is an error

struct usage {
  long prompt_tokens, completion_tokens; // -1: not reported
  long cached_tokens;                    // of the prompt; -1: not reported
  bool hides_tokens; // thoughts are among the completion's, and came as no text of their own
};

extern const struct usage usage_unknown; // nothing reported

struct stream {
  // What has come so far.
  double first_s, last_s; // first piece with text; last with a token; NAN: none
  double text_s;          // last piece with text
  size_t chunks;          // with text
  size_t receipts;        // pieces that completed at least one of them
  struct usage usage;     // as last reported
  bool has_thoughts;      // text of a reasoning model's thoughts
  bool is_finished;       // a finish reason was reported
  bool is_done;           // "[DONE]"
  bool is_wrong;          // an error, the server's or of the stream itself: nothing more is read
  char complaint[MAX_COMPLAINT]; // of the first error, valid UTF-8
  // The reader's own.
  char *line, *data; // the incomplete line, and an event's data so far
  size_t line_size, line_room, data_size, data_room;
  bool has_data, after_cr, is_started;
  // A chunk that was text alone: those that differ only in the text need no parsing.
  char *known;                                      // [known_size], the event's data
  size_t known_size, known_room, text_at, text_end; // where its text is; text_end 0: none known
  size_t next_lesson;                               // the number of chunks at which to learn again
};

// Ready for a stream; memory of an earlier one is reused. A zeroed struct will do before the first.
void stream_start(struct stream *stream);
void stream_free(struct stream *stream);

// Takes the next `size` bytes, received at `received_s`, a clock's seconds.
void stream_feed(struct stream *stream, const char *bytes, size_t size, double received_s);

// The connection has ended: an event that lacks only its blank line counts.
void stream_end(struct stream *stream, double received_s);

#endif
