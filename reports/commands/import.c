#include "model/imports/import.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/process.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/imports/fact.h"
#include "model/imports/format.h"
#include "model/imports/imported.h"
#include "model/imports/watts.h"
#include "model/records/serving.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/records/import.h"

#include <stddef.h>

// The files of the command line that could be read, in its order, and what they state; errors in
// the others are reported together.
struct files {
  struct texts names;
  struct imported_list all;
};

static struct files read_files(const struct run *run) {
  struct files files = {0};
  for (int i = 0; i < run->options.argument_count; i++)
    if (!format_read(run->options.arguments[i], &files.all, run->arena, run->diagnostics))
      texts_add(&files.names, run->arena, "%s", run->options.arguments[i]);
  return files;
}

static void tell_what_was_read(const struct run *run, const struct files *files,
                               struct answer *answer) {
  answer_warn(answer, "%zu of %d files imported: %s; the others are refused", files->names.count,
              run->options.argument_count, texts_joined(&files->names, run->arena));
}

static int write_records(const struct run *run, const char *folder, struct import *import) {
  if (output_make_directory(folder, run->diagnostics))
    return -1;
  for (size_t i = 0; i < import->count; i++) {
    struct serving_record *record = &import->records[i].record;
    const char *path =
        arena_printf(run->arena, "%s/%s", folder, import_file_name(record, run->arena));
    if (serving_write(record, path, run->arena, run->diagnostics))
      return -1;
  }
  return 0;
}

static int import_files(struct run *run, const struct files *files, struct import *import) {
  const struct options *options = &run->options;
  const struct import_statement statement = {.facts = {[FACT_ACCELERATOR] = options->accelerator,
                                                       [FACT_ACCELERATORS] = options->accelerators,
                                                       [FACT_PRECISION] = options->precision,
                                                       [FACT_MODEL] = options->model,
                                                       [FACT_DATE] = options->date},
                                             .published = options->published,
                                             .node = options->node ? options->node : "",
                                             .today = process_today(run->arena)};
  struct catalog catalog;
  if (!files->all.count || run_open_catalog(run, &catalog) ||
      import_join(files->all.list, files->all.count, &statement, &catalog, import, run->arena,
                  run->diagnostics))
    return -1;
  const struct watts_statement watts = {options->power, options->devices, options->utc_offset,
                                        options->clock_offset};
  return !options->power ? 0
                         : watts_join(import, files->all.list, files->all.count, &watts,
                                      &import->doubts, run->arena, run->diagnostics);
}

// --devices and similar options describe --power's file.
static int check_options(const struct run *run) {
  const struct options *options = &run->options;
  if (!options->output_path)
    diagnostics_error(run->diagnostics, nowhere, "-o DIR is missing: the directory for the record");
  else if (!options->power && (options->devices || options->utc_offset || options->clock_offset))
    diagnostics_error(run->diagnostics, nowhere,
                      "--devices, --utc-offset and --clock-offset need --power");
  else
    return 0;
  return -1;
}

int command_import(struct run *run) {
  const char *folder = run->options.output_path;
  struct import import = {0};
  const bool is_production = folder && import_is_production(run);
  if (!is_production && check_options(run))
    return -1;
  run->options.output_path = NULL; // the answer itself goes to standard output
  if (is_production)
    return output_make_directory(folder, run->diagnostics) ? -1 : import_production(run, folder);
  const struct files files = read_files(run);
  if (import_files(run, &files, &import) || write_records(run, folder, &import))
    return -1;
  struct answer answer = import_answer(&import, run->arena);
  const bool is_whole = files.names.count == (size_t)run->options.argument_count;
  if (!is_whole)
    tell_what_was_read(run, &files, &answer);
  return run_print_answer(run, NULL, answer) || !is_whole ? -1 : 0;
}
