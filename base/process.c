#include "base/process.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const long long last_second = 253402300799; // of 9999

static void check_arguments(int argc, char **argv, struct diagnostics *diagnostics) {
  for (int i = 1; i < argc; i++) {
    const uint8_t *invalid = source_invalid_utf8(argv[i], strlen(argv[i]));
    if (!invalid)
      continue;
    const int before = (int)((const char *)invalid - argv[i]);
    diagnostics_error(diagnostics, nowhere,
                      "expected UTF-8 text, found the byte 0x%02X in argument %d, after '%.*s'",
                      *invalid, i, before, argv[i]);
  }
}

// SOURCE_DATE_EPOCH; NULL if it is not set, or set to an empty text.
static const char *epoch_text(void) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  return text && *text ? text : NULL;
}

static bool is_second(const char *text, long long *second) {
  char *end;
  errno = 0;
  *second = strtoll(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && !errno && *second <= last_second;
}

static void check_epoch(struct diagnostics *diagnostics) {
  const char *text = epoch_text();
  long long second;
  if (text && !is_second(text, &second))
    diagnostics_error(
        diagnostics, nowhere,
        "SOURCE_DATE_EPOCH: expected seconds since 1970, before the year 10000, not '%s'", text);
}

// Output by argp and the help may fail as well, and nothing else would notice.
static void check_standard_output(void) {
  const int reason = output_failure(stdout);
  if (!reason)
    return;
  fprintf(stderr, "%s: cannot write 'standard output': %s\n", program_invocation_short_name,
          strerror(reason));
  _exit(PROCESS_OUTPUT_FAILED);
}

int process_start(int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_DFL);
  atexit(check_standard_output);
  check_arguments(argc, argv, &diagnostics);
  check_epoch(&diagnostics);
  diagnostics_print(&diagnostics, stderr, process_shows_colour(stderr));
  const int result = diagnostics.errors ? -1 : 0;
  arena_free(&arena);
  return result;
}

bool process_epoch(time_t *epoch) {
  const char *text = epoch_text();
  long long second;
  if (!text || !is_second(text, &second))
    return false;
  *epoch = (time_t)second;
  return true;
}

bool process_may_open(size_t files, size_t *most) {
  struct rlimit limit;
  *most = SIZE_MAX;
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= files)
    return true;
  *most = limit.rlim_max;
  limit.rlim_cur = files;
  return files <= *most && !setrlimit(RLIMIT_NOFILE, &limit);
}

bool process_shows_utf8(void) {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (!locale)
    return false;
  const bool utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
  freelocale(locale);
  return utf8;
}

bool process_shows_colour(FILE *stream) {
  const int descriptor = fileno(stream);
  const char *without = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return descriptor >= 0 && isatty(descriptor) && !(without && *without) &&
         !(terminal && !strcmp(terminal, "dumb"));
}

const char *process_today(struct arena *arena) {
  time_t now;
  struct tm day;
  char text[16];
  if (!process_epoch(&now))
    now = time(NULL);
  gmtime_r(&now, &day);
  strftime(text, sizeof text, "%Y-%m-%d", &day);
  return arena_copy(arena, text);
}

void process_turn_help(int argc, char **argv) {
  static char option[] = "--help";
  if (argc < 3 || strcmp(argv[1], "help") != 0)
    return;
  memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
  argv[argc - 1] = option;
}
