#include "probe/fleet/clerk.h"

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/records/measurement.h"
#include "model/records/measurement_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// How long a listing of the folder may be reused, however many ask for it.
static const double fresh_s = 0.1;

enum { MAX_NAME_LENGTH = 200 };

static struct clerk_reply reply(enum wire_kind kind, const char *text) {
  return (struct clerk_reply){kind, text, strlen(text)};
}

static struct clerk_reply refuse(const struct diagnostics *diagnostics) {
  return reply(WIRE_REFUSED, diagnostics->count ? diagnostics->list[0].message : "no reason given");
}

static const char *text_of(const struct frame *frame, struct arena *arena) {
  return memchr(frame->body, 0, frame->size) ? "" : arena_copy_n(arena, frame->body, frame->size);
}

// ---- entries

// NULL, or why such a process cannot send this entry.
static const char *why_not(const struct clerk *clerk, const struct clerk_peer *peer,
                           const struct roll_entry *entry, struct arena *arena) {
  if (strcmp(entry->key, clerk->launch->key) != 0 || entry->rank >= clerk->launch->size)
    return "it belongs to another launch";
  if (!entry->rank || !strcmp(entry->node, clerk->node))
    return arena_printf(arena, "two processes call their node '%s': name them with --node",
                        clerk->node);
  if (peer->roll.node &&
      (peer->launch.rank != entry->rank || strcmp(peer->roll.node, entry->node) != 0))
    return "one process reports two nodes";
  for (int rank = 0; rank < clerk->launch->size; rank++)
    if (rank != entry->rank && clerk->nodes[rank] && !strcmp(clerk->nodes[rank], entry->node))
      return arena_printf(arena, "two processes call their node '%s': name them with --node",
                          entry->node);
  return NULL;
}

static void meet(struct clerk *clerk, struct clerk_peer *peer, const struct roll_entry *entry) {
  peer->launch = *clerk->launch;
  peer->launch.rank = entry->rank;
  if (!clerk->nodes[entry->rank])
    clerk->nodes[entry->rank] = arena_copy(&clerk->arena, entry->node);
  peer->roll = (struct roll){.folder = clerk->roll_folder,
                             .launch = &peer->launch,
                             .node = clerk->nodes[entry->rank],
                             .arena = &peer->arena};
}

// The process counts its own beats.
static struct clerk_reply take_entry(struct clerk *clerk, struct clerk_peer *peer,
                                     const struct frame *frame, struct arena *arena) {
  struct roll_entry entry;
  struct diagnostics diagnostics = {.arena = arena};
  if (!roll_parse(text_of(frame, arena), &entry, arena))
    return reply(WIRE_REFUSED, "it is not an entry of the roll");
  if (!clerk->nodes)
    clerk->nodes = arena_array(&clerk->arena, (size_t)clerk->launch->size, sizeof(char *));
  const char *why = why_not(clerk, peer, &entry, arena);
  if (why)
    return reply(WIRE_REFUSED, why);
  if (!peer->roll.node)
    meet(clerk, peer, &entry);
  peer->roll.phase = entry.phase;
  peer->roll.beat = entry.beat - 1;
  peer->roll.diagnostics = &diagnostics;
  clerk->listed_s = -fresh_s; // the sender wants to see it
  return roll_tell(&peer->roll, entry.state) ? refuse(&diagnostics) : reply(WIRE_OK, "");
}

static int list_again(struct clerk *clerk, struct diagnostics *diagnostics) {
  struct arena arena = {NULL};
  struct texts lines = {0};
  struct roll_entry *entries;
  size_t count;
  const struct roll roll = {
      .folder = clerk->roll_folder, .arena = &arena, .diagnostics = diagnostics};
  const int result = roll_list(&roll, &entries, &count);
  for (size_t i = 0; !result && i < count; i++)
    if (!strcmp(entries[i].key, clerk->launch->key))
      texts_add(&lines, &arena, "%s\n", roll_entry_text(&entries[i], &arena));
  const char *list = texts_joined_by(&lines, "", &arena);
  if (result || (clerk->list && !strcmp(list, clerk->list))) {
    arena_free(&arena);
    return result;
  }
  arena_free(&clerk->list_arena);
  clerk->list_arena = arena;
  clerk->list = list;
  clerk->number++;
  return 0;
}

static struct clerk_reply show_list(struct clerk *clerk, const struct frame *frame,
                                    struct arena *arena) {
  struct diagnostics diagnostics = {.arena = arena};
  const double now_s = clock_now(clerk->clock);
  if (!clerk->list || now_s - clerk->listed_s >= fresh_s) {
    if (list_again(clerk, &diagnostics))
      return refuse(&diagnostics);
    clerk->listed_s = now_s;
  }
  const char *number = arena_printf(arena, "%lu", clerk->number);
  if (!strcmp(text_of(frame, arena), number))
    return reply(WIRE_SAME, "");
  return reply(WIRE_LIST, arena_printf(arena, "%s\n%s", number, clerk->list));
}

// ---- records

static bool is_record_name(const char *name) {
  const size_t length = strlen(name);
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return *name != '.' && length <= MAX_NAME_LENGTH && strspn(name, letters) == length &&
         text_ends_in(name, ".json");
}

// An error if the record is not this node's.
static int check_record(const struct clerk_peer *peer, const char *name, const char *text,
                        size_t size, struct arena *arena, struct diagnostics *diagnostics) {
  if (memchr(text, 0, size) || source_invalid_utf8(text, size)) {
    diagnostics_error(diagnostics, nowhere, "'%s' is not text", name);
    return -1;
  }
  const struct source *source = source_from_text(name, arena_copy_n(arena, text, size), arena);
  json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  const struct measurement_record *record =
      object ? measurement_of_json(object, source, arena, diagnostics) : NULL;
  json_decref(object);
  if (!object)
    diagnostics_error(diagnostics, nowhere, "'%s' is not a record", name);
  else if (record && strcmp(record->environment.node, peer->roll.node) != 0)
    diagnostics_error(diagnostics, nowhere, "'%s' is a record of node '%s'", name,
                      record->environment.node);
  return diagnostics->errors ? -1 : 0;
}

static int keep_record(const struct clerk *clerk, const struct clerk_peer *peer, const char *name,
                       const char *text, size_t size, struct arena *arena,
                       struct diagnostics *diagnostics) {
  const char *folder = arena_printf(arena, "%s/%s", clerk->folder, peer->roll.node);
  struct output output;
  if (output_make_directory(folder, diagnostics) ||
      output_open_again(&output, arena_printf(arena, "%s/%s", folder, name), arena, diagnostics))
    return -1;
  if (fwrite(text, 1, size, output.stream) == size && !fflush(output.stream))
    return output_close(&output, diagnostics);
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot write '%s/%s': %s", folder, name,
                    strerror(errno));
  output_discard(&output);
  return -1;
}

static struct clerk_reply take_record(const struct clerk *clerk, const struct clerk_peer *peer,
                                      const struct frame *frame, struct arena *arena) {
  struct diagnostics diagnostics = {.arena = arena};
  const char *end = memchr(frame->body, '\n', frame->size);
  if (!peer->roll.node)
    return reply(WIRE_REFUSED, "it has not named its node");
  if (!end || memchr(frame->body, 0, (size_t)(end - frame->body)))
    return reply(WIRE_REFUSED, "the record has no name");
  const char *name = arena_copy_n(arena, frame->body, (size_t)(end - frame->body));
  const size_t size = frame->size - (size_t)(end + 1 - frame->body);
  if (!is_record_name(name))
    return reply(WIRE_REFUSED, "this is not a name for a record");
  return check_record(peer, name, end + 1, size, arena, &diagnostics) ||
                 keep_record(clerk, peer, name, end + 1, size, arena, &diagnostics)
             ? refuse(&diagnostics)
             : reply(WIRE_OK, "");
}

struct clerk_reply clerk_reply_to(struct clerk *clerk, struct clerk_peer *peer,
                                  const struct frame *frame, struct arena *arena) {
  switch (frame->kind) {
  case WIRE_TELL: return take_entry(clerk, peer, frame, arena);
  case WIRE_LOOK: return show_list(clerk, frame, arena);
  case WIRE_RECORD: return take_record(clerk, peer, frame, arena);
  default: return reply(WIRE_REFUSED, "unknown request");
  }
}

void clerk_end(struct clerk *clerk) {
  arena_free(&clerk->arena);
  arena_free(&clerk->list_arena);
}
