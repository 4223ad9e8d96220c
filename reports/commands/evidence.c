#include "reports/records/evidence.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/output.h"
#include "base/source.h"
#include "base/source_file.h"
#include "base/tar.h"
#include "base/texts.h"
#include "base/version.h"
#include "model/delivery/cited.h"
#include "model/delivery/pack.h"
#include "model/records/records.h"
#include "model/scenario/scenario.h"
#include "reports/commands/commands.h"
#include "reports/commands/rows_used.h"
#include "reports/commands/run.h"
#include "reports/commands/signature.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- reading what is to be packed, so that everything it needs is read as well

struct gathering {
  struct run *run;
  struct records records;
  struct texts others; // files that are neither
  const struct scenario **scenarios;
  size_t scenario_count;
};

static bool ends_in(const char *text, const char *ending) {
  const size_t length = strlen(text), end = strlen(ending);
  return length > end && !strcmp(text + length - end, ending);
}

// An offer is packed as a file only.
static bool is_scenario(const struct source *source) {
  return strncmp(source->text, "[offer]", 7) != 0 && !strstr(source->text, "\n[offer]");
}

static int gather_ini(struct gathering *gathering, int argument) {
  struct run *run = gathering->run;
  const struct source *source =
      source_read(run->options.arguments[argument], run->arena, run->diagnostics);
  if (!source)
    return -1;
  if (!is_scenario(source))
    return 0;
  run->options.mixed = true; // packing ranks nothing
  const struct scenario *scenario = run_read_scenario(run, argument);
  gathering->scenarios = arena_room(run->arena, gathering->scenarios, gathering->scenario_count,
                                    sizeof(const struct scenario *));
  gathering->scenarios[gathering->scenario_count++] = scenario;
  return scenario ? 0 : -1;
}

static int gather(struct gathering *gathering, int argument) {
  struct run *run = gathering->run;
  const char *const path = run->options.arguments[argument];
  struct stat status;
  if (ends_in(path, ".ini"))
    return gather_ini(gathering, argument);
  if (!stat(path, &status) && S_ISDIR(status.st_mode))
    return records_read(path, &gathering->records, run->arena, run->diagnostics);
  if (!stat(path, &status) && !cited_is_record(path)) {
    texts_add(&gathering->others, run->arena, "%s", path);
    return 0;
  }
  return records_of_files(&path, 1, &gathering->records, run->arena, run->diagnostics);
}

// The files that the records are made from: those that were named, and those in the folder of
// --files. Noted as read, they are packed.
static int gather_cited(struct gathering *gathering) {
  struct run *run = gathering->run;
  const struct texts digests = cited_digests(&gathering->records, run->arena);
  for (size_t i = 0; i < gathering->others.count; i++) {
    const char *path = gathering->others.list[i];
    const char *digest = cited_digest_of(path, run->arena, run->diagnostics);
    if (digest && !texts_have(&digests, digest))
      diagnostics_error(run->diagnostics, nowhere,
                        "'%s' is neither a record nor a file that one of the records is made from: "
                        "none has its SHA-256, %s",
                        path, digest);
  }
  return run->options.files ? cited_find(run->options.files, &digests, run->arena, run->diagnostics)
                            : 0;
}

static struct texts kernels_of(const struct records *records, struct arena *arena) {
  struct texts kernels = {NULL, 0};
  for (size_t i = 0; i < records->count; i++) {
    const char *build = records->list[i]->environment.kernels_build;
    if (build && *build && !texts_have(&kernels, build))
      texts_add(&kernels, arena, "%s", build);
  }
  return kernels;
}

// ---- names in the archive

struct naming {
  const char *data; // the catalogue's folder, with a trailing slash
  size_t common;    // length of the common folder of all other files, with its slash
  const char *some; // one of those files
  struct arena *arena;
};

static const char *resolved(const char *path, struct arena *arena) {
  char *text = realpath(path, NULL);
  const char *kept = text ? arena_copy(arena, text) : path;
  free(text);
  return kept;
}

static bool is_below(const char *path, const char *folder) {
  return !strncmp(path, folder, strlen(folder));
}

static void share(struct naming *naming, const char *path) {
  const char *slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  if (!naming->some) {
    naming->some = path;
    naming->common = folder;
  }
  size_t alike = 0;
  for (size_t i = 0; i < naming->common && i < folder && path[i] == naming->some[i]; i++)
    if (path[i] == '/')
      alike = i + 1;
  naming->common = alike;
}

static const char *name_of(const void *context, const char *path) {
  const struct naming *naming = context;
  path = resolved(path, naming->arena);
  return is_below(path, naming->data)
             ? arena_printf(naming->arena, "data/%s", path + strlen(naming->data))
             : arena_printf(naming->arena, "files/%s", path + naming->common);
}

static struct naming naming_of(const char *const *paths, size_t count, const char *data,
                               struct arena *arena) {
  struct naming naming = {.data = arena_printf(arena, "%s/", resolved(data, arena)),
                          .arena = arena};
  for (size_t i = 0; i < count; i++)
    if (!is_below(paths[i], naming.data))
      share(&naming, paths[i]);
  return naming;
}

// ---- packing

// Every file that this run has read, once each, with its path resolved.
static const char *const *files_read(const struct run *run, size_t *count) {
  struct texts paths = {NULL, 0};
  for (const struct file_read *file = run->diagnostics->files; file; file = file->next) {
    const char *path = resolved(file->path, run->arena);
    if (!texts_have(&paths, path))
      texts_add(&paths, run->arena, "%s", path);
  }
  *count = paths.count;
  return paths.list;
}

static int take_files(const struct gathering *gathering, struct tar_member **members,
                      size_t *count) {
  struct run *run = gathering->run;
  const char *data = installation_data(run->options.data_directory, run->arena, run->diagnostics);
  if (!data)
    return -1;
  const char *const *paths = files_read(run, count);
  const struct naming naming = naming_of(paths, *count, data, run->arena);
  *members = arena_array(run->arena, *count + 2, sizeof **members);
  for (size_t i = 0; i < *count; i++)
    if (tar_take(&(*members)[i], name_of(&naming, paths[i]), paths[i], run->arena,
                 run->diagnostics))
      return -1;
  const char *used =
      rows_used_text(gathering->scenarios, gathering->scenario_count, name_of, &naming, run->arena);
  if (used)
    (*members)[(*count)++] = (struct tar_member){PACK_USED, used, strlen(used)};
  return 0;
}

static const char *own_digest(struct run *run) {
  struct tar_member self;
  struct diagnostics unheard = {.arena = run->arena};
  if (tar_take(&self, "", "/proc/self/exe", run->arena, &unheard))
    return "";
  const struct source source = {"", self.bytes, self.size};
  return source_sha256(&source, run->arena);
}

static int write_pack(struct run *run, const struct pack *pack) {
  struct output output;
  if (run->options.sign)
    diagnostics_note_path(run->diagnostics, run->options.sign); // only now: a key is not packed
  if (run_open_output(run, &output))
    return -1;
  pack_write(pack, output.stream, run->arena);
  if (output_close(&output, run->diagnostics))
    return -1;
  return run->options.sign ? signature_make(run->options.output_path, run->options.sign, run->arena,
                                            run->diagnostics)
                           : 0;
}

static int refuse(struct run *run, const char *why) {
  diagnostics_error(run->diagnostics, nowhere, "%s", why);
  return -1;
}

static int pack_evidence(struct run *run) {
  struct gathering gathering = {.run = run};
  struct tar_member *members;
  size_t count;
  const char *path = run->options.output_path;
  if (!path || !strcmp(path, "-"))
    return refuse(run, "expected -o FILE, the archive to write");
  if (run->options.measurements_directory &&
      records_read(run->options.measurements_directory, &gathering.records, run->arena,
                   run->diagnostics))
    return -1;
  for (int argument = 1; argument < run->options.argument_count; argument++)
    if (gather(&gathering, argument))
      return -1;
  if (gather_cited(&gathering) || run->diagnostics->errors ||
      take_files(&gathering, &members, &count))
    return -1;
  const struct pack_about about = {PERTOKEN_VERSION, own_digest(run),
                                   kernels_of(&gathering.records, run->arena)};
  const struct pack *pack = pack_make(&about, members, count, run->arena, run->diagnostics);
  struct evidence_signature signature;
  if (!pack || write_pack(run, pack) ||
      signature_check(path, NULL, &signature, run->arena, run->diagnostics))
    return -1;
  run->options.output_path = NULL;
  return run_print_answer(run, NULL, evidence_answer(pack, true, &signature, run->arena));
}

static int verify_evidence(struct run *run) {
  const char *path = run->options.arguments[1];
  struct evidence_signature signature;
  if (run->options.argument_count > 2)
    return refuse(run, "expected one archive to verify");
  const struct pack *pack = pack_read(path, run->arena, run->diagnostics);
  if (!pack ||
      signature_check(path, run->options.signers, &signature, run->arena, run->diagnostics))
    return -1;
  return run_print_answer(run, NULL, evidence_answer(pack, false, &signature, run->arena));
}

int command_evidence(struct run *run) {
  const char *what = run->options.arguments[0];
  if (!strcmp(what, "pack"))
    return run->options.signers ? refuse(run, "--signers is for 'evidence verify'")
                                : pack_evidence(run);
  if (!strcmp(what, "verify"))
    return run->options.sign    ? refuse(run, "--sign is for 'evidence pack'")
           : run->options.files ? refuse(run, "--files is for 'evidence pack'")
                                : verify_evidence(run);
  diagnostics_error(run->diagnostics, nowhere,
                    "expected 'evidence pack' or 'evidence verify', not '%s'", what);
  return -1;
}
