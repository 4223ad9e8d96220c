#include "probe/fleet/wire.h"

#include "base/source.h"

#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

static const char magic[4] = {'p', 't', 'f', '1'};

enum { AT_KIND = 4, AT_SIZE = 8, AT_CODE = 12, CODE = WIRE_HEAD - AT_CODE, MIN_ROOM = 4096 };

struct piece {
  const void *bytes;
  size_t size;
};

// The code that authenticates a frame. Aborts without memory for a few hundred bytes: no caller
// could go on.
static void code_of(const void *key, size_t key_size, const struct piece *pieces, size_t count,
                    unsigned char *out) {
  gcry_md_hd_t code;
  if (gcry_md_open(&code, GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC) || gcry_md_setkey(code, key, key_size))
    abort();
  for (size_t i = 0; i < count; i++)
    gcry_md_write(code, pieces[i].bytes, pieces[i].size);
  memcpy(out, gcry_md_read(code, GCRY_MD_SHA256), CODE);
  gcry_md_close(code);
}

// The secret's digest, 64 digits, is computed first: that also initializes libgcrypt.
void wire_agree(struct wire *wire, const char *secret, const char *launch,
                const unsigned char *listening, const unsigned char *calling) {
  static const char use[] = "pertoken fleet 1";
  const char *digest = source_sha256(source_from_text("secret", secret, wire->arena), wire->arena);
  const struct piece pieces[] = {{use, sizeof use},
                                 {launch, strlen(launch) + 1},
                                 {listening, WIRE_NONCE},
                                 {calling, WIRE_NONCE}};
  code_of(digest, strlen(digest), pieces, sizeof pieces / sizeof pieces[0], wire->key);
  wire->has_key = true;
}

static void put_number(unsigned char *at, size_t bytes, uint64_t number) {
  for (size_t i = 0; i < bytes; i++)
    at[i] = (unsigned char)(number >> (8 * (bytes - 1 - i)));
}

// Sender and number of the frame, as both ends know them.
static void seal(const struct wire *wire, bool by_listening, uint64_t number,
                 const struct piece *head, const struct piece *body, unsigned char *code) {
  unsigned char first[9] = {by_listening ? 'l' : 'c'};
  put_number(first + 1, sizeof first - 1, number);
  const struct piece pieces[] = {{first, sizeof first}, *head, *body};
  memset(code, 0, CODE);
  if (wire->has_key)
    code_of(wire->key, sizeof wire->key, pieces, sizeof pieces / sizeof pieces[0], code);
}

const char *wire_frame(struct wire *wire, enum wire_kind kind, const void *body, size_t size,
                       struct arena *arena) {
  char *bytes = arena_alloc(arena, WIRE_HEAD + size + 1);
  memcpy(bytes, magic, sizeof magic);
  bytes[AT_KIND] = (char)kind;
  put_number((unsigned char *)bytes + AT_SIZE, AT_CODE - AT_SIZE, size);
  if (size)
    memcpy(bytes + WIRE_HEAD, body, size);
  seal(wire, wire->is_listening, wire->sent, &(struct piece){bytes, AT_CODE},
       &(struct piece){bytes + WIRE_HEAD, size}, (unsigned char *)bytes + AT_CODE);
  wire->sent += wire->has_key;
  return bytes;
}

// First frees the room of what has been read.
void wire_feed(struct wire *wire, const char *bytes, size_t size) {
  if (wire->in_taken) {
    wire->in_size -= wire->in_taken;
    memmove(wire->in, wire->in + wire->in_taken, wire->in_size);
    wire->in_taken = 0;
  }
  const size_t needed = wire->in_size + size;
  if (needed > wire->in_room) {
    const size_t twice = 2 * wire->in_room, least = twice > MIN_ROOM ? twice : MIN_ROOM;
    wire->in_room = needed > least ? needed : least;
    wire->in = arena_grow(wire->arena, wire->in, wire->in_size, wire->in_room, 1);
  }
  if (size)
    memcpy(wire->in + wire->in_size, bytes, size);
  wire->in_size += size;
}

static bool is_head(const char *head) {
  static const char zeros[AT_SIZE - AT_KIND - 1];
  return !memcmp(head, magic, sizeof magic) && !memcmp(head + AT_KIND + 1, zeros, sizeof zeros);
}

static size_t size_in(const char *head) {
  size_t size = 0;
  for (int i = AT_SIZE; i < AT_CODE; i++)
    size = size << 8 | (unsigned char)head[i];
  return size;
}

// Takes equally long wherever the two differ.
static bool has_code(const struct wire *wire, const char *head, const struct frame *frame) {
  unsigned char wanted[CODE], differences = 0;
  seal(wire, !wire->is_listening, wire->received, &(struct piece){head, AT_CODE},
       &(struct piece){frame->body, frame->size}, wanted);
  for (size_t i = 0; i < CODE; i++)
    differences |= wanted[i] ^ (unsigned char)head[AT_CODE + i];
  return !differences;
}

enum wire_outcome wire_next(struct wire *wire, struct frame *frame) {
  const size_t there = wire->in_size - wire->in_taken;
  if (there < WIRE_HEAD)
    return WIRE_MORE;
  const char *head = wire->in + wire->in_taken;
  const size_t size = size_in(head);
  if (!is_head(head) || size > (wire->most ? wire->most : WIRE_STRANGER))
    return WIRE_BROKEN;
  if (there < WIRE_HEAD + size)
    return WIRE_MORE;
  *frame = (struct frame){(enum wire_kind)(unsigned char)head[AT_KIND], head + WIRE_HEAD, size};
  if (!has_code(wire, head, frame))
    return WIRE_BROKEN;
  wire->received += wire->has_key;
  wire->in_taken += WIRE_HEAD + size;
  return WIRE_FRAME;
}
