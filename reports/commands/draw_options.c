#include "reports/commands/draw_options.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/chance/draw.h"
#include "model/simulate/part.h"
#include "reports/print/format.h"
#include "reports/print/output_name.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { USUAL_SEED = 1 };

// "3/8": the third of eight.
static int read_shard(const struct run *run, const char *text, struct simulate_request *request) {
  const char *slash = strchr(text, '/');
  uint64_t number = 0, shards = 0;
  const char *first = arena_copy_n(run->arena, text, slash ? (size_t)(slash - text) : 0);
  if (!slash || run_read_count(run, "--shard", first, &number) ||
      run_read_count(run, "--shard", slash + 1, &shards) || number < 1 || number > shards ||
      shards > MAX_SIMULATE_SHARDS) {
    diagnostics_error(run->diagnostics, nowhere,
                      "--shard: expected I/N with I from 1 to N and N at most %d, not '%s'",
                      MAX_SIMULATE_SHARDS, text);
    return -1;
  }
  const char *path = run->options.output_path;
  if (run->options.format == FORMAT_CSV || output_name_format(path) == FORMAT_CSV ||
      output_name_other(path)) {
    diagnostics_error(run->diagnostics, nowhere,
                      "--shard writes a part in JSON for 'pertoken merge', which then writes %s",
                      run->options.format == FORMAT_CSV ? "--format csv" : path);
    return -1;
  }
  request->shard = (unsigned)number - 1;
  request->shards = (unsigned)shards;
  return 0;
}

static int read_method(const struct run *run, const char *text, enum draw_method *method) {
  for (size_t i = 0; i < DRAW_METHODS; i++)
    if (!strcmp(draw_method_names[i], text)) {
      *method = (enum draw_method)i;
      return 0;
    }
  diagnostics_error(run->diagnostics, nowhere, "--method: expected sobol or random, not '%s'",
                    text);
  return -1;
}

// Set by Ctrl-C: the draws made so far are shown.
static volatile sig_atomic_t stop_wanted;

static void want_stop(int number) {
  (void)number;
  stop_wanted = 1;
}

static void show_progress(void *data, uint64_t done, uint64_t all) {
  (void)data;
  fprintf(stderr, "\r%3.0f %%", 100 * (double)done / (double)all);
  if (done == all)
    fputs("\r     \r", stderr);
  fflush(stderr);
}

bool draw_options_given(const struct run *run) {
  return run->options.draws || run->options.seed || run->options.method;
}

int draw_options_read(const struct run *run, uint64_t draws, struct simulate_request *request) {
  const struct options *options = &run->options;
  const struct sigaction action = {.sa_handler = want_stop, .sa_flags = (int)SA_RESETHAND};
  *request = (struct simulate_request){.draws = draws, .seed = USUAL_SEED, .stop = &stop_wanted};
  if (isatty(STDERR_FILENO) && !options->quiet)
    request->progress = show_progress;
  if ((options->draws && run_read_count(run, "--draws", options->draws, &request->draws)) ||
      (options->seed && run_read_count(run, "--seed", options->seed, &request->seed)) ||
      (options->method && read_method(run, options->method, &request->method)) ||
      (options->shard && read_shard(run, options->shard, request)))
    return -1;
  if (request->seed > INT64_MAX) { // JSON has no larger integers
    diagnostics_error(run->diagnostics, nowhere, "--seed: at most %" PRId64 ", not '%s'", INT64_MAX,
                      options->seed);
    return -1;
  }
  sigaction(SIGINT, &action, NULL);
  return 0;
}
