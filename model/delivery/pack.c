#include "model/delivery/pack.h"

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/short_text.h"
#include "base/source.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGEST = 64, BETWEEN = 2 };

static const char *digest_of(const struct tar_member *member, struct arena *arena) {
  const struct source source = {member->name, member->bytes, member->size};
  return source_sha256(&source, arena);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct pack_file *)a)->member.name,
                ((const struct pack_file *)b)->member.name);
}

static const char *manifest_of(const struct pack *pack, struct arena *arena) {
  size_t size = 1, at = 0;
  for (size_t i = 0; i < pack->count; i++)
    size += DIGEST + BETWEEN + strlen(pack->files[i].member.name) + 1;
  char *text = arena_alloc(arena, size);
  for (size_t i = 0; i < pack->count; i++)
    at += (size_t)sprintf(text + at, "%s  %s\n", pack->files[i].digest, pack->files[i].member.name);
  return text;
}

static struct tar_member text_member(const char *name, const char *text) {
  return (struct tar_member){name, text, strlen(text)};
}

static struct cited_files find_cited(const struct pack *pack, struct arena *arena) {
  struct tar_member *members = arena_array(arena, pack->count + 1, sizeof *members);
  const char **digests = arena_array(arena, pack->count + 1, sizeof *digests);
  for (size_t i = 0; i < pack->count; i++) {
    members[i] = pack->files[i].member;
    digests[i] = pack->files[i].state == PACK_SAME ? pack->files[i].digest : NULL;
  }
  return cited_by_members(members, digests, pack->count, arena);
}

// ---- making one

static const char *about_text(const struct pack_about *about, struct arena *arena) {
  json_t *kernels = json_array();
  for (size_t i = 0; i < about->kernels.count; i++)
    json_array_append_new(kernels, json_string(about->kernels.list[i]));
  json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "program", "pertoken", "version",
                             about->version, "program_sha256", about->program, "kernels", kernels);
  char *text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS);
  const char *kept = arena_printf(arena, "%s\n", text ? text : "{}");
  free(text);
  json_decref(object);
  return kept;
}

static int check_names(const struct pack *pack, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  for (size_t i = 0; i < pack->count; i++) {
    const char *name = pack->files[i].member.name;
    if (!tar_name_fits(name) || !strcmp(name, PACK_MANIFEST))
      diagnostics_error(diagnostics, nowhere, "a file in an archive cannot be named '%s'", name);
    if (i && !strcmp(name, pack->files[i - 1].member.name))
      diagnostics_error(diagnostics, nowhere, "two files would be named '%s'", name);
  }
  return diagnostics->errors == errors ? 0 : -1;
}

const struct pack *pack_make(const struct pack_about *about, const struct tar_member *members,
                             size_t count, struct arena *arena, struct diagnostics *diagnostics) {
  struct pack *pack = arena_alloc(arena, sizeof *pack);
  const char *rows = row_digests_of(members, count, arena);
  *pack = (struct pack){.about = *about,
                        .files = arena_array(arena, count + 2, sizeof *pack->files),
                        .count = count + (rows ? 2 : 1)};
  pack->files[count].member = text_member(PACK_ABOUT, about_text(about, arena));
  if (rows)
    pack->files[count + 1].member = text_member(PACK_ROWS, rows);
  for (size_t i = 0; i < count; i++)
    pack->files[i].member = members[i];
  for (size_t i = 0; i < pack->count; i++)
    pack->files[i].digest = digest_of(&pack->files[i].member, arena);
  qsort(pack->files, pack->count, sizeof *pack->files, by_name);
  if (check_names(pack, diagnostics))
    return NULL;
  pack->states[PACK_SAME] = pack->count;
  pack->cited = find_cited(pack, arena);
  const struct tar_member manifest = text_member(PACK_MANIFEST, manifest_of(pack, arena));
  pack->digest = digest_of(&manifest, arena);
  return pack;
}

void pack_write(const struct pack *pack, FILE *stream, struct arena *arena) {
  struct tar_member *members = arena_array(arena, pack->count + 1, sizeof *members);
  members[0] = text_member(PACK_MANIFEST, manifest_of(pack, arena));
  for (size_t i = 0; i < pack->count; i++)
    members[1 + i] = pack->files[i].member;
  tar_write(stream, members, pack->count + 1);
}

// ---- comparing one with its manifest

struct reading {
  const char *path;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int refuse_line(const struct reading *reading, size_t line, const char *why) {
  diagnostics_error(reading->diagnostics, nowhere, "'%s', line %zu of its manifest: %s",
                    reading->path, line, why);
  return -1;
}

// "DIGEST  NAME" without its line end. Returns 0 or -1.
static int parse_line(const struct reading *reading, const char *text, size_t length, size_t line,
                      struct pack_file *file) {
  if (length <= DIGEST + BETWEEN || strspn(text, "0123456789abcdef") != DIGEST ||
      strncmp(text + DIGEST, "  ", BETWEEN) != 0)
    return refuse_line(reading, line, "expected 64 hexadecimal digits, two spaces and a name");
  file->digest = arena_copy_n(reading->arena, text, DIGEST);
  file->member.name =
      arena_copy_n(reading->arena, text + DIGEST + BETWEEN, length - DIGEST - BETWEEN);
  if (!tar_name_fits(file->member.name) || !strcmp(file->member.name, PACK_MANIFEST))
    return refuse_line(reading, line, "a file in an archive cannot have this name");
  file->state = PACK_MISSING;
  return 0;
}

static int parse_manifest(const struct reading *reading, const struct tar_member *manifest,
                          struct pack *pack) {
  const char *text = arena_copy_n(reading->arena, manifest->bytes, manifest->size);
  if (strlen(text) != manifest->size)
    return refuse_line(reading, 1, "expected text, found a NUL byte");
  for (size_t line = 1; *text; line++) {
    const size_t length = strcspn(text, "\n");
    if (!text[length])
      return refuse_line(reading, line, "expected a line end");
    pack->files = arena_room(reading->arena, pack->files, pack->count, sizeof *pack->files);
    struct pack_file *file = &pack->files[pack->count];
    if (parse_line(reading, text, length, line, file))
      return -1;
    if (pack->count && by_name(file - 1, file) >= 0)
      return refuse_line(reading, line, "the names are not sorted");
    pack->count++;
    text += length + 1;
  }
  return 0;
}

static void hold_against(struct pack *pack, const struct tar_member *members, size_t count,
                         struct arena *arena) {
  const size_t listed = pack->count;
  pack->files = arena_grow(arena, pack->files, listed, listed + count, sizeof *pack->files);
  for (size_t i = 0; i < count; i++) {
    const struct pack_file key = {.member = members[i], .digest = digest_of(&members[i], arena)};
    struct pack_file *file =
        listed ? bsearch(&key, pack->files, listed, sizeof *pack->files, by_name) : NULL;
    if (!file) {
      pack->files[pack->count] = key;
      pack->files[pack->count++].state = PACK_ADDED;
    } else {
      file->member = members[i];
      file->state = strcmp(file->digest, key.digest) ? PACK_CHANGED : PACK_SAME;
    }
  }
  if (pack->count)
    qsort(pack->files, pack->count, sizeof *pack->files, by_name);
  for (size_t i = 0; i < pack->count; i++)
    pack->states[pack->files[i].state]++;
}

static const char *text_of(const json_t *object, const char *key, struct arena *arena) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? arena_copy(arena, text) : "";
}

// The pack's file of that name, if it is as it was packed; else NULL.
static const struct tar_member *own_member(const struct pack *pack, const char *name) {
  const struct pack_file key = {.member.name = name};
  const struct pack_file *file =
      pack->count ? bsearch(&key, pack->files, pack->count, sizeof key, by_name) : NULL;
  return file && file->state == PACK_SAME ? &file->member : NULL;
}

static json_t *own_file(const struct pack *pack, const char *name) {
  const struct tar_member *member = own_member(pack, name);
  return member ? json_loadb(member->bytes, member->size, 0, NULL) : NULL;
}

// Notes which inputs come from the rows that differ.
static void note_uses(const struct pack *pack, struct arena *arena) {
  static const char *const columns[] = {"option", "input", "file", "row"};
  const struct tar_member *member = own_member(pack, PACK_USED);
  struct diagnostics unheard = {.arena = arena};
  const char *text = member ? arena_copy_n(arena, member->bytes, member->size) : "";
  const struct table *uses =
      csv_read(source_from_text(PACK_USED, text, arena), PACK_USED, arena, &unheard);
  for (size_t c = 0; uses && c < sizeof columns / sizeof columns[0]; c++)
    if (table_column(uses, columns[c]) < 0)
      return;
  for (size_t i = 0; uses && i < pack->rows.count; i++) {
    struct row_difference *difference = &pack->rows.list[i];
    for (size_t r = 0; r < uses->rows; r++)
      if (!strcmp(table_cell(uses, r, "file"), difference->file) &&
          !strcmp(table_cell(uses, r, "row"), difference->row))
        difference->used =
            arena_printf(arena, "%s%s%s.%s", difference->used, *difference->used ? ", " : "",
                         text_readable(table_cell(uses, r, "option"), arena),
                         text_readable(table_cell(uses, r, "input"), arena));
  }
}

static void compare_rows(struct pack *pack, struct arena *arena) {
  json_t *digests = own_file(pack, PACK_ROWS);
  for (size_t i = 0; digests && i < pack->count; i++)
    if (pack->files[i].state == PACK_CHANGED)
      row_digests_compare(digests, &pack->files[i].member, &pack->rows, arena);
  json_decref(digests);
}

static void read_about(struct pack *pack, struct arena *arena) {
  json_t *object = own_file(pack, PACK_ABOUT);
  pack->about.version = text_of(object, "version", arena);
  pack->about.program = text_of(object, "program_sha256", arena);
  const json_t *kernels = json_object_get(object, "kernels");
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const char *build = json_string_value(json_array_get(kernels, i));
    if (build)
      texts_add(&pack->about.kernels, arena, "%s", build);
  }
  json_decref(object);
}

const struct pack *pack_of_members(const struct tar_member *members, size_t count, const char *path,
                                   struct arena *arena, struct diagnostics *diagnostics) {
  const struct reading reading = {path, arena, diagnostics};
  struct pack *pack = arena_alloc(arena, sizeof *pack);
  if (!count || strcmp(members[0].name, PACK_MANIFEST) != 0) {
    diagnostics_error(diagnostics, nowhere,
                      "'%s': expected an archive that begins with its " PACK_MANIFEST, path);
    return NULL;
  }
  if (parse_manifest(&reading, &members[0], pack))
    return NULL;
  pack->digest = digest_of(&members[0], arena);
  hold_against(pack, members + 1, count - 1, arena);
  read_about(pack, arena);
  compare_rows(pack, arena);
  note_uses(pack, arena);
  pack->cited = find_cited(pack, arena);
  return pack;
}

const struct pack *pack_read(const char *path, struct arena *arena,
                             struct diagnostics *diagnostics) {
  struct tar_member *members;
  size_t count;
  if (tar_read(path, &members, &count, arena, diagnostics))
    return NULL;
  return pack_of_members(members, count, path, arena, diagnostics);
}
