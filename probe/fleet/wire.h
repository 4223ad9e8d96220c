// wire: what the processes of a launch exchange with process 0 when they share no folder: frames
// over a connection on which both ends have proven that they belong to this launch.
//
// A frame has a head of WIRE_HEAD bytes and a body:
//   0   "ptf1"
//   4   its kind, and three zeros
//   8   bytes of the body, the highest first
//   12  HMAC-SHA256 over sender, number of the frame, kind, length and body
// The listening end begins with a nonce, and the other answers with its own; these two frames have
// a code of zeros. The key of the connection is derived from both nonces, the launch and the secret
// that its processes share, and authenticates every further frame. The first of these carry nothing
// else. A process without the secret is detected there, and so is a frame that was sent before or
// on another connection. Nothing is encrypted.
#ifndef PERTOKEN_PROBE_FLEET_WIRE_H
#define PERTOKEN_PROBE_FLEET_WIRE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HEAD = 44, WIRE_NONCE = 32, WIRE_KEY = 32, WIRE_STRANGER = 64 };

// Bytes of a body.
enum { WIRE_MOST_RECORD = 16 << 20, WIRE_MOST_LIST = 32 << 20 };

enum wire_kind {
  WIRE_GREETING = 'N', // a nonce
  WIRE_HELLO = 'H',    // the calling end has the key
  WIRE_WELCOME = 'W',  // and so does the listening one
  WIRE_TELL = 'T',     // an entry of the roll
  WIRE_LOOK = 'L',     // asks for all entries: the number of the list already known, in digits
  WIRE_RECORD = 'R',   // a record: its file's name, a line end, its text
  WIRE_OK = 'K',
  WIRE_LIST = 'E',   // a number, and the entries, each ended by a line end
  WIRE_SAME = 'S',   // the list already known is current
  WIRE_REFUSED = 'X' // why
};

// One end of a connection, without its socket. Zeroed except for `arena` and is_listening, it is
// ready.
struct wire {
  struct arena *arena;
  bool is_listening;
  bool has_key;
  unsigned char key[WIRE_KEY];
  uint64_t sent, received; // frames with a code
  size_t most;             // the largest body that is accepted; 0: WIRE_STRANGER
  char *in;                // [in_size], received and not read yet
  size_t in_size, in_room, in_taken;
};

struct frame {
  enum wire_kind kind;
  const char *body; // [size], until the next wire_feed
  size_t size;
};

enum wire_outcome { WIRE_MORE, WIRE_FRAME, WIRE_BROKEN };

// Computes a connection's key from the secret, the launch's key and both nonces. Needs has_key
// false.
void wire_agree(struct wire *wire, const char *secret, const char *launch,
                const unsigned char *listening, const unsigned char *calling);

// Takes bytes that were received.
void wire_feed(struct wire *wire, const char *bytes, size_t size);

// The next whole frame. WIRE_BROKEN for good: not a frame, longer than `most`, or a wrong code.
enum wire_outcome wire_next(struct wire *wire, struct frame *frame);

// A frame ready to be sent, [WIRE_HEAD + size], in the arena.
const char *wire_frame(struct wire *wire, enum wire_kind kind, const void *body, size_t size,
                       struct arena *arena);

#endif
