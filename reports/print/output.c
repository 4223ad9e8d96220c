#include "reports/print/output.h"

#include "base/arena.h"
#include "base/source.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *what, const char *path, struct diagnostics *diagnostics) {
  const int reason = errno ? errno : EIO;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, (struct place){0}, "cannot %s '%s': %s", what, path,
                    strerror(reason));
  return -1;
}

// mkstemp makes files for their owner alone; a result gets the usual permissions.
static void widen_permissions(int fd) {
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
}

// A device or pipe is written to, never replaced.
static bool is_special(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

// A file that is there and that nobody may write is not to be replaced either, not even by root.
static bool is_protected(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && (!(status.st_mode & 0222) || access(path, W_OK) != 0);
}

// What a symbolic link points to is replaced, and not the link.
static const char *target_of(const char *path, struct arena *arena) {
  char *resolved = realpath(path, NULL);
  const char *target = arena_copy(arena, resolved ? resolved : path);
  free(resolved);
  return target;
}

int output_open(struct output *output, const char *path, struct arena *arena,
                struct diagnostics *diagnostics) {
  *output = (struct output){.stream = stdout};
  if (!path || !strcmp(path, "-"))
    return 0;
  output->path = path;
  if (is_special(path)) {
    output->stream = fopen(path, "w");
    return output->stream ? 0 : fail("write", path, diagnostics);
  }
  output->path = target_of(path, arena);
  if (is_protected(path)) {
    errno = EACCES;
    return fail("write", path, diagnostics);
  }
  char *temporary = arena_printf(arena, "%s.XXXXXX", output->path);
  const int fd = mkstemp(temporary);
  if (fd < 0)
    return fail("write", path, diagnostics);
  widen_permissions(fd);
  output->temporary = temporary;
  output->stream = fdopen(fd, "w");
  if (output->stream)
    return 0;
  fail("write", path, diagnostics);
  close(fd);
  unlink(temporary);
  return -1;
}

void output_discard(struct output *output) {
  if (!output->path || !output->stream)
    return;
  fclose(output->stream);
  if (output->temporary)
    unlink(output->temporary);
  output->stream = NULL;
}

// It has been reported; nobody is to find it again when the program ends.
static void forget_failure(FILE *stream) {
  __fpurge(stream);
  clearerr(stream);
}

int output_close(struct output *output, struct diagnostics *diagnostics) {
  const char *name = output->path ? output->path : "standard output";
  errno = 0;
  const bool failed = fflush(output->stream) || ferror(output->stream);
  if (failed) {
    fail("write", name, diagnostics);
    forget_failure(output->stream);
    output_discard(output);
    return -1;
  }
  if (!output->path)
    return 0;
  const bool closed = fclose(output->stream) == 0;
  output->stream = NULL;
  if (closed && (!output->temporary || rename(output->temporary, output->path) == 0))
    return 0;
  fail("write", name, diagnostics);
  if (output->temporary)
    unlink(output->temporary);
  return -1;
}
