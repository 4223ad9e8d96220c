// stream: a server's stream of events (text/event-stream) as it comes in, in pieces of any size.
//
// The events are those of OpenAI's completions and chat completions: chunks of text, the usage, in the
// last chunk or in one of its own, "[DONE]", errors. Every piece is given the time at which it was
// received, and an event has the time of the piece that ends it: several events of one piece came
// together. A chunk is no token: how many there were only the usage says.
#ifndef PERTOKEN_PROBE_SERVING_STREAM_H
#define PERTOKEN_PROBE_SERVING_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_EVENT = 4 << 20, MAX_COMPLAINT = 256 }; // bytes; a longer event is an error

struct usage {
  long prompt_tokens, completion_tokens; // -1: not told
  long cached_tokens;                    // of the prompt; -1: not told
};

struct stream {
  // What came so far.
  double first_s, last_s; // first piece with text; last with text or a finish; NAN: none
  size_t chunks;          // with text
  size_t receipts;        // pieces that ended at least one of them
  struct usage usage;     // as last told
  bool is_finished;       // a reason for the end was told
  bool is_done;           // "[DONE]"
  bool is_wrong; // an error, the server's or of the stream itself: nothing is read any more
  char complaint[MAX_COMPLAINT]; // of the first error, valid UTF-8
  // Of the reader.
  char *line, *data; // what there is of a line, and of an event's data
  size_t line_size, line_room, data_size, data_room;
  bool has_data, after_cr, is_started;
  // A chunk that was text alone: those that differ in the text alone need no parsing.
  char *known;                                      // [known_size], the event's data
  size_t known_size, known_room, text_at, text_end; // where its text stands; text_end 0: none known
  size_t next_lesson;                               // chunks from which on another one is looked at
};

// Ready for a stream; what an earlier one took is used again. A zeroed struct will do before the first.
void stream_start(struct stream *stream);
void stream_free(struct stream *stream);

// Takes the next `size` bytes, received at `received_s`, a clock's seconds.
void stream_feed(struct stream *stream, const char *bytes, size_t size, double received_s);

// The connection is at its end: an event that lacks only its blank line counts.
void stream_end(struct stream *stream, double received_s);

#endif
