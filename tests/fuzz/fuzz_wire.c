// Any bytes as input from a stranger to process 0, and as frames from a sender that knows the
// secret: the first byte of a piece is its kind, the second its length. Any text as a host list.
#include "fuzz.h"

#include "base/clock.h"
#include "base/host_list.h"
#include "probe/fleet/clerk.h"
#include "probe/fleet/wire.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const unsigned char nonce[WIRE_NONCE];

static char folder[] = "/tmp/pertoken-fuzz-wire-XXXXXX";

static void remove_folder(void) {
  rmdir(folder);
}

static void clear_folder(void) {
  DIR *directory = opendir(folder);
  for (const struct dirent *found = readdir(directory); found; found = readdir(directory))
    unlinkat(dirfd(directory), found->d_name, 0);
  closedir(directory);
}

static void read_stranger(const char *bytes, size_t size) {
  struct arena arena = {NULL};
  struct wire wire = {.arena = &arena, .is_listening = true};
  struct frame frame;
  enum wire_outcome outcome = WIRE_MORE;
  for (size_t at = 0, piece; at < size && outcome != WIRE_BROKEN; at += piece) {
    piece = size - at < 13 ? size - at : 13;
    wire_feed(&wire, bytes + at, piece);
    while ((outcome = wire_next(&wire, &frame)) == WIRE_FRAME)
      assert(frame.size <= WIRE_STRANGER);
  }
  arena_free(&arena);
}

static void answer(struct clerk *clerk, struct clerk_peer *peer, struct wire *listening) {
  struct arena arena = {NULL};
  struct frame frame;
  assert(wire_next(listening, &frame) == WIRE_FRAME);
  const struct clerk_reply reply = clerk_reply_to(clerk, peer, &frame, &arena);
  assert(reply.kind == WIRE_OK || reply.kind == WIRE_LIST || reply.kind == WIRE_SAME ||
         (reply.kind == WIRE_REFUSED && reply.size));
  assert(!memchr(reply.body, 0, reply.size));
  arena_free(&arena);
}

static void read_known(const char *bytes, size_t size) {
  struct arena arena = {NULL};
  const struct launch launch = {0, 4, "node-0", "ff"};
  struct clerk clerk = {.folder = folder,
                        .roll_folder = folder,
                        .launch = &launch,
                        .node = launch.node,
                        .clock = &machine_clock};
  struct clerk_peer peer = {.arena = {NULL}};
  struct wire listening = {.arena = &arena, .is_listening = true, .most = WIRE_MOST_RECORD};
  struct wire calling = {.arena = &arena};
  wire_agree(&listening, "secret", launch.key, nonce, nonce);
  wire_agree(&calling, "secret", launch.key, nonce, nonce);
  for (size_t at = 0, length; at + 2 <= size; at += length) {
    const enum wire_kind kind = (enum wire_kind)(unsigned char)bytes[at];
    length = (unsigned char)bytes[at + 1];
    at += 2;
    length = length < size - at ? length : size - at;
    wire_feed(&listening, wire_frame(&calling, kind, bytes + at, length, &arena),
              WIRE_HEAD + length);
    answer(&clerk, &peer, &listening);
  }
  arena_free(&peer.arena);
  clerk_end(&clerk);
  arena_free(&arena);
  clear_folder();
}

static void read_hosts(struct fuzz *fuzz) {
  struct texts names = {NULL, 0};
  const int result = host_list_read(fuzz->source->text, &names, &fuzz->arena, &fuzz->diagnostics);
  assert((result == 0) == (fuzz->diagnostics.errors == 0));
  assert(result || (names.count && names.count <= MAX_HOSTS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *made;
  struct fuzz fuzz;
  if (!made) {
    made = mkdtemp(folder);
    assert(made);
    atexit(remove_folder);
  }
  read_stranger((const char *)data, size);
  read_known((const char *)data, size);
  if (fuzz_begin(&fuzz, data, size)) {
    read_hosts(&fuzz);
    fuzz_end(&fuzz);
  }
  return 0;
}
