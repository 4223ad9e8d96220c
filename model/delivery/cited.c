#include "model/delivery/cited.h"

#include "base/short_text.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/records/production.h"
#include "model/records/serving.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- what members cite

struct digested {
  const char *digest, *member;
};

static int by_digest(const void *a, const void *b) {
  const struct digested *left = a, *right = b;
  const int digest = strcmp(left->digest, right->digest);
  return digest ? digest : strcmp(left->member, right->member);
}

static const char *member_with(const struct digested *all, size_t count, const char *digest) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (strcmp(all[middle].digest, digest) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && !strcmp(all[low].digest, digest) ? all[low].member : NULL;
}

// A record's files are a list of objects with a name and a digest, whatever kind of record it is.
static void add_cited(struct cited_files *cited, const json_t *object, const char *record,
                      struct arena *arena) {
  const json_t *files = json_object_get(object, "files");
  for (size_t i = 0; json_object_get(object, "record") && i < json_array_size(files); i++) {
    const json_t *file = json_array_get(files, i);
    const char *name = json_string_value(json_object_get(file, "name"));
    const char *sha256 = json_string_value(json_object_get(file, "sha256"));
    if (!name || !sha256)
      continue;
    cited->list = arena_room(arena, cited->list, cited->count, sizeof *cited->list);
    cited->list[cited->count++] = (struct cited_file){.record = record,
                                                      .name = text_readable(name, arena),
                                                      .sha256 = text_readable(sha256, arena)};
  }
}

struct cited_files cited_by_members(const struct tar_member *members, const char *const *digests,
                                    size_t count, struct arena *arena) {
  struct cited_files cited = {0};
  struct digested *all = arena_array(arena, count + 1, sizeof *all);
  size_t trusted = 0;
  for (size_t i = 0; i < count; i++) {
    if (!digests[i])
      continue;
    all[trusted++] = (struct digested){digests[i], members[i].name};
    if (!text_ends_in(members[i].name, ".json"))
      continue;
    json_t *object = json_loadb(members[i].bytes, members[i].size, 0, NULL);
    add_cited(&cited, object, members[i].name, arena);
    json_decref(object);
  }
  qsort(all, trusted, sizeof *all, by_digest);
  for (size_t i = 0; i < cited.count; i++) {
    cited.list[i].member = member_with(all, trusted, cited.list[i].sha256);
    cited.missing += !cited.list[i].member;
  }
  return cited;
}

// ---- files to add

static void add_digests(struct texts *digests, const struct serving_file *files, size_t count,
                        struct arena *arena) {
  for (size_t i = 0; i < count; i++)
    if (!texts_have(digests, files[i].sha256))
      texts_add(digests, arena, "%s", files[i].sha256);
}

struct texts cited_digests(const struct records *records, struct arena *arena) {
  struct texts digests = {0};
  for (size_t i = 0; i < records->serving_count; i++)
    add_digests(&digests, records->servings[i]->files, records->servings[i]->file_count, arena);
  for (size_t i = 0; i < records->production_count; i++)
    add_digests(&digests, records->productions[i]->files, records->productions[i]->file_count,
                arena);
  return digests;
}

bool cited_is_record(const char *path) {
  struct stat status;
  const bool is_file = !stat(path, &status) && S_ISREG(status.st_mode);
  json_t *object = is_file ? json_load_file(path, 0, NULL) : NULL;
  const bool is_record = json_is_integer(json_object_get(object, "schema"));
  json_decref(object);
  return is_record;
}

const char *cited_digest_of(const char *path, struct arena *arena,
                            struct diagnostics *diagnostics) {
  struct tar_member member;
  if (tar_take(&member, "", path, arena, diagnostics))
    return NULL;
  const struct source source = {path, member.bytes, member.size};
  return source_sha256(&source, arena);
}

struct finding {
  const struct texts *digests;
  struct texts found; // of them
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// A file is read into an arena of its own: most are not cited, and they may be large.
static void find_file(struct finding *finding, const char *path) {
  struct arena scratch = {NULL};
  struct diagnostics unheard = {.arena = &scratch};
  const char *digest = cited_digest_of(path, &scratch, &unheard);
  if (digest && texts_have(finding->digests, digest) && !texts_have(&finding->found, digest)) {
    texts_add(&finding->found, finding->arena, "%s", digest);
    diagnostics_note_path(finding->diagnostics, path);
  }
  arena_free(&scratch);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_inside(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int find_below(struct finding *finding, const char *folder) {
  struct dirent **entries;
  const int count = scandir(folder, &entries, is_inside, by_name);
  int result = 0;
  if (count < 0) {
    diagnostics_error(finding->diagnostics, nowhere, "'%s' cannot be read: %s", folder,
                      strerror(errno));
    return -1;
  }
  for (int i = 0; i < count; i++) {
    struct stat status;
    const char *path = arena_printf(finding->arena, "%s/%s", folder, entries[i]->d_name);
    free(entries[i]);
    if (result || lstat(path, &status))
      continue;
    if (S_ISDIR(status.st_mode))
      result = find_below(finding, path);
    else if (S_ISREG(status.st_mode))
      find_file(finding, path);
  }
  free(entries);
  return result;
}

int cited_find(const char *folder, const struct texts *digests, struct arena *arena,
               struct diagnostics *diagnostics) {
  struct finding finding = {digests, {0}, arena, diagnostics};
  return find_below(&finding, folder);
}
