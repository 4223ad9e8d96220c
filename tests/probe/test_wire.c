// What processes without a shared folder send to process 0: frames that are complete, of this
// launch and in order, with everything else refused; what process 0 accepts from another process,
// and what it does not.
#include "base/clock.h"
#include "probe/fleet/clerk.h"
#include "probe/fleet/wire.h"
#include "tests/support/fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char secret[] = "a secret of the job", launch_key[] = "00112233445566ff";

static const unsigned char nonces[2][WIRE_NONCE] = {{1, 2, 3}, {4, 5, 6}};

// Both ends of a connection that has been agreed.
struct line {
  struct wire listening, calling;
};

static struct line connect_ends(struct arena *arena) {
  struct line line = {{.arena = arena, .is_listening = true, .most = 1000},
                      {.arena = arena, .most = 1000}};
  wire_agree(&line.listening, secret, launch_key, nonces[0], nonces[1]);
  wire_agree(&line.calling, secret, launch_key, nonces[0], nonces[1]);
  return line;
}

static enum wire_outcome read_once(struct wire *wire, const char *bytes, size_t size) {
  struct frame frame;
  wire_feed(wire, bytes, size);
  return wire_next(wire, &frame);
}

// ---- frames

static void test_in_pieces(void **state) {
  struct fixture *fixture = *state;
  static const char *const bodies[] = {"", "waiting=1=2=0=ff=node-1", "three"};
  for (size_t piece = 1; piece < 200; piece += piece < 50 ? 1 : 37) {
    struct line line = connect_ends(&fixture->arena);
    char all[4 * WIRE_HEAD + 200];
    size_t size = 0, read = 0;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
      const size_t length = strlen(bodies[i]);
      memcpy(all + size, wire_frame(&line.calling, WIRE_TELL, bodies[i], length, &fixture->arena),
             WIRE_HEAD + length);
      size += WIRE_HEAD + length;
    }
    for (size_t at = 0; at < size; at += piece) {
      struct frame frame;
      wire_feed(&line.listening, all + at, size - at < piece ? size - at : piece);
      while (wire_next(&line.listening, &frame) == WIRE_FRAME) {
        assert_int_equal(frame.kind, WIRE_TELL);
        assert_int_equal(frame.size, strlen(bodies[read]));
        assert_memory_equal(frame.body, bodies[read], frame.size);
        read++;
      }
    }
    assert_int_equal(read, sizeof bodies / sizeof bodies[0]);
  }
}

// Any byte of it is changed.
static void test_changed(void **state) {
  struct fixture *fixture = *state;
  enum { SIZE = WIRE_HEAD + 5 };
  for (size_t at = 0; at < SIZE; at++) {
    struct line line = connect_ends(&fixture->arena);
    char bytes[SIZE];
    memcpy(bytes, wire_frame(&line.calling, WIRE_TELL, "hello", 5, &fixture->arena), SIZE);
    bytes[at] ^= 1;
    // If the length is one less, a byte is left over; if it is about 1000 more, the rest is
    // awaited.
    if (read_once(&line.listening, bytes, SIZE) == WIRE_FRAME)
      fail_msg("byte %zu is altered, and the frame is taken", at);
    line = connect_ends(&fixture->arena);
    bytes[at] ^= 1;
    assert_int_equal(read_once(&line.listening, bytes, SIZE), WIRE_FRAME);
  }
}

static void test_out_of_order(void **state) {
  struct fixture *fixture = *state;
  struct line line = connect_ends(&fixture->arena);
  const char *first = wire_frame(&line.calling, WIRE_TELL, "1", 1, &fixture->arena);
  const char *second = wire_frame(&line.calling, WIRE_TELL, "2", 1, &fixture->arena);
  struct wire again = line.listening, skipping = line.listening;
  assert_int_equal(read_once(&line.listening, first, WIRE_HEAD + 1), WIRE_FRAME);
  assert_int_equal(read_once(&line.listening, second, WIRE_HEAD + 1), WIRE_FRAME);
  assert_int_equal(read_once(&again, first, WIRE_HEAD + 1), WIRE_FRAME);
  assert_int_equal(read_once(&again, first, WIRE_HEAD + 1), WIRE_BROKEN);
  assert_int_equal(read_once(&skipping, second, WIRE_HEAD + 1), WIRE_BROKEN);
}

// Its own frame sent back; and a frame of another connection.
static void test_of_others(void **state) {
  struct fixture *fixture = *state;
  const struct {
    const char *secret, *launch;
    const unsigned char *listening, *calling;
  } others[] = {{"another secret of it", launch_key, nonces[0], nonces[1]},
                {secret, "00112233445566fe", nonces[0], nonces[1]},
                {secret, launch_key, nonces[1], nonces[1]},
                {secret, launch_key, nonces[0], nonces[0]}};
  struct line line = connect_ends(&fixture->arena);
  const char *own = wire_frame(&line.listening, WIRE_HELLO, "", 0, &fixture->arena);
  assert_int_equal(read_once(&line.listening, own, WIRE_HEAD), WIRE_BROKEN);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    struct wire other = {.arena = &fixture->arena};
    line = connect_ends(&fixture->arena);
    wire_agree(&other, others[i].secret, others[i].launch, others[i].listening, others[i].calling);
    const char *frame = wire_frame(&other, WIRE_HELLO, "", 0, &fixture->arena);
    assert_int_equal(read_once(&line.listening, frame, WIRE_HEAD), WIRE_BROKEN);
  }
}

// It is detected from its head, before memory is allocated for it.
static void test_too_long(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    unsigned char length[4];
    bool fits;
  } cases[] = {{{0, 0, 0, WIRE_STRANGER}, true},
               {{0, 0, 0, WIRE_STRANGER + 1}, false},
               {{0, 1, 0, 0}, false},
               {{0xff, 0xff, 0xff, 0xff}, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct wire wire = {.arena = &fixture->arena, .is_listening = true};
    char head[WIRE_HEAD] = "ptf1N";
    memcpy(head + 8, cases[i].length, 4);
    assert_int_equal(read_once(&wire, head, sizeof head), cases[i].fits ? WIRE_MORE : WIRE_BROKEN);
  }
}

// ---- what process 0 does

struct desk {
  char folder[64];
  struct launch launch;
  struct clerk clerk;
  struct clerk_peer peers[2];
};

static void open_desk(struct desk *desk) {
  *desk = (struct desk){.launch = {0, 3, "node-0", launch_key}};
  snprintf(desk->folder, sizeof desk->folder, "/tmp/pertoken-wire-XXXXXX");
  assert_non_null(mkdtemp(desk->folder));
  desk->clerk = (struct clerk){.folder = desk->folder,
                               .roll_folder = desk->folder,
                               .launch = &desk->launch,
                               .node = desk->launch.node,
                               .clock = &machine_clock};
}

static void close_desk(struct desk *desk) {
  DIR *directory = opendir(desk->folder);
  for (const struct dirent *found = readdir(directory); found; found = readdir(directory))
    unlinkat(dirfd(directory), found->d_name, 0);
  closedir(directory);
  assert_int_equal(rmdir(desk->folder), 0);
  arena_free(&desk->peers[0].arena);
  arena_free(&desk->peers[1].arena);
  clerk_end(&desk->clerk);
}

static struct clerk_reply say(struct fixture *fixture, struct desk *desk, int peer,
                              enum wire_kind kind, const char *body) {
  const struct frame frame = {kind, body, strlen(body)};
  return clerk_reply_to(&desk->clerk, &desk->peers[peer], &frame, &fixture->arena);
}

static const struct {
  int peer;
  enum wire_kind kind;
  const char *body;
  enum wire_kind reply;
  const char *fragment;
} talk[] = {
    {0, WIRE_RECORD, "a.json\n{}", WIRE_REFUSED, "has not named its node"},
    {0, WIRE_TELL, "", WIRE_REFUSED, "not an entry of the roll"},
    {0, WIRE_TELL, "waiting=1=1=1=00112233445566fe=node-1", WIRE_REFUSED,
     "belongs to another launch"},
    {0, WIRE_TELL, "waiting=1=1=3=00112233445566ff=node-1", WIRE_REFUSED,
     "belongs to another launch"},
    {0, WIRE_TELL, "waiting=1=1=0=00112233445566ff=node-1", WIRE_REFUSED, "two processes"},
    {0, WIRE_TELL, "waiting=1=1=1=00112233445566ff=node-0", WIRE_REFUSED, "two processes"},
    {0, WIRE_TELL, "waiting=1=1=1=00112233445566ff=a/../b", WIRE_REFUSED,
     "not an entry of the roll"},
    {0, WIRE_TELL, "waiting=1=1=1=00112233445566ff=node-1", WIRE_OK, ""},
    {0, WIRE_TELL, "waiting=1=2=2=00112233445566ff=node-2", WIRE_REFUSED, "two nodes"},
    {1, WIRE_TELL, "waiting=1=1=2=00112233445566ff=node-1", WIRE_REFUSED, "'node-1'"},
    {1, WIRE_LOOK, "", WIRE_LIST, "1\nwaiting=1=1=1=00112233445566ff=node-1\n"},
    {1, WIRE_LOOK, "1", WIRE_SAME, ""},
    {0, WIRE_TELL, "measuring=1=2=1=00112233445566ff=node-1", WIRE_OK, ""},
    {1, WIRE_LOOK, "1", WIRE_LIST, "2\nmeasuring=1=2=1=00112233445566ff=node-1\n"},
    {0, WIRE_RECORD, "{}", WIRE_REFUSED, "has no name"},
    {0, WIRE_RECORD, "\n{}", WIRE_REFUSED, "not a name for a record"},
    {0, WIRE_RECORD, "../a.json\n{}", WIRE_REFUSED, "not a name for a record"},
    {0, WIRE_RECORD, ".json\n{}", WIRE_REFUSED, "not a name for a record"},
    {0, WIRE_RECORD, ".a.json\n{}", WIRE_REFUSED, "not a name for a record"},
    {0, WIRE_RECORD, "a.sh\n{}", WIRE_REFUSED, "not a name for a record"},
    {0, WIRE_RECORD, "a.json\n", WIRE_REFUSED, "is not a record"},
    {0, WIRE_RECORD, "a.json\n[", WIRE_REFUSED, "is not a record"},
    {0, WIRE_RECORD, "a.json\n\xff", WIRE_REFUSED, "is not text"},
    {0, WIRE_RECORD, "a.json\n{}", WIRE_REFUSED, ""},
    {0, WIRE_RECORD, "a.json\n{\"record\": \"measurement\"}", WIRE_REFUSED, ""},
    {0, WIRE_WELCOME, "", WIRE_REFUSED, "unknown request"},
};

static void test_talk(void **state) {
  struct fixture *fixture = *state;
  struct desk desk;
  open_desk(&desk);
  for (size_t i = 0; i < sizeof talk / sizeof talk[0]; i++) {
    const struct clerk_reply reply = say(fixture, &desk, talk[i].peer, talk[i].kind, talk[i].body);
    const char *said = arena_copy_n(&fixture->arena, reply.body, reply.size);
    if (reply.kind != talk[i].reply || !strstr(said, talk[i].fragment) ||
        (reply.kind == WIRE_REFUSED && !*said))
      fail_msg("'%s': expected %c '%s', found %c '%s'", talk[i].body, talk[i].reply,
               talk[i].fragment, reply.kind, said);
  }
  close_desk(&desk);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_in_pieces), FIXTURE_TEST(test_changed),  FIXTURE_TEST(test_out_of_order),
      FIXTURE_TEST(test_of_others), FIXTURE_TEST(test_too_long), FIXTURE_TEST(test_talk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
