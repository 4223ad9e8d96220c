#include "base/output.h"

#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, struct diagnostics *diagnostics) {
  const int reason = errno ? errno : EIO;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot write '%s': %s", path, strerror(reason));
  return -1;
}

// ---- existing files

// Opened without waiting: a pipe without a reader would otherwise block the program forever.
static int open_special(struct output *output, const char *path, struct diagnostics *diagnostics) {
  const int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENXIO) {
    diagnostics_error(diagnostics, nowhere, "'%s' is a pipe with no reader", path);
    return -1;
  }
  if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0 ||
      !(output->stream = fdopen(fd, "w")))
    return fail(path, diagnostics);
  return 0;
}

// Replaces the target of a link, not the link itself.
static int follow_link(struct output *output, const char *path, struct arena *arena,
                       struct diagnostics *diagnostics) {
  struct stat status;
  char *resolved = realpath(path, NULL);
  output->path = arena_copy(arena, resolved ? resolved : path);
  free(resolved);
  if (resolved || stat(path, &status) == 0 || lstat(path, &status) || !S_ISLNK(status.st_mode))
    return 0; // a pipe behind /dev/fd has no path, but is there
  diagnostics_error(diagnostics, nowhere, "'%s' is a link to a file that does not exist", path);
  return -1;
}

// A file that nobody may write is not replaced either, not even by root.
static int check_target(const char *path, const struct stat *there,
                        struct diagnostics *diagnostics) {
  if ((there->st_mode & 0222) && access(path, W_OK) == 0)
    return 0;
  errno = EACCES;
  return fail(path, diagnostics);
}

// ---- a file without a name

static const char *name_in(const char *folder, const char *suffix, struct arena *arena) {
  return arena_printf(arena, "%s/.pertoken-%s", folder, suffix);
}

// If the file system cannot create a file without a name, the file's name is removed at once.
static int open_nameless(const struct output *output, struct arena *arena) {
  const int fd = open(output->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return fd;
  char *name = arena_copy(arena, name_in(output->folder, "XXXXXX", arena));
  const int named = mkstemp(name);
  if (named >= 0)
    unlink(name);
  return named;
}

static const char *folder_of(const char *path, struct arena *arena) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return ".";
  return slash == path ? "/" : arena_copy_n(arena, path, (size_t)(slash - path));
}

static bool is_directory(const char *path) {
  struct stat there;
  const size_t length = strlen(path);
  return (length && path[length - 1] == '/') || (!stat(path, &there) && S_ISDIR(there.st_mode));
}

static int check_name(const char *path, struct diagnostics *diagnostics) {
  if (*path && !is_directory(path))
    return 0;
  if (!*path)
    diagnostics_error(diagnostics, nowhere, "expected the name of a file to write, not ''");
  else
    diagnostics_error(diagnostics, nowhere, "'%s' is a directory: name a file in it", path);
  return -1;
}

int output_open(struct output *output, const char *path, struct arena *arena,
                struct diagnostics *diagnostics) {
  struct stat there;
  if (!path || stat(path, &there) || !S_ISREG(there.st_mode) ||
      !diagnostics_have_read(diagnostics, &there))
    return output_open_again(output, path, arena, diagnostics);
  diagnostics_error(diagnostics, nowhere,
                    "'%s' is an input of this command: choose another file to write", path);
  return -1;
}

// These names mean the open stream, as "-" does: reopening /dev/stdout could overwrite what the
// redirected file already holds.
static bool is_standard_output(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!path || !strcmp(path, names[i]))
      return true;
  return false;
}

int output_open_again(struct output *output, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics) {
  struct stat there;
  *output = (struct output){.stream = stdout};
  if (is_standard_output(path))
    return 0;
  output->stream = NULL;
  if (check_name(path, diagnostics) || follow_link(output, path, arena, diagnostics))
    return -1;
  const bool exists = stat(output->path, &there) == 0;
  if (exists && !S_ISREG(there.st_mode))
    return open_special(output, path, diagnostics);
  if (exists && check_target(path, &there, diagnostics))
    return -1;
  output->folder = folder_of(output->path, arena);
  const int fd = open_nameless(output, arena);
  output->stream = fd < 0 ? NULL : fdopen(fd, "w");
  if (!output->stream) {
    fail(path, diagnostics);
    if (fd >= 0)
      close(fd);
    return -1;
  }
  output->writable = arena_printf(arena, "/proc/self/fd/%d", fd);
  return 0;
}

// A pipe or device is not tried: its reader would take the end of the trial for that of the output.
int output_try(const char *path, struct arena *arena, struct diagnostics *diagnostics) {
  struct output output;
  struct stat there;
  if (!stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
    return 0;
  if (output_open_again(&output, path, arena, diagnostics))
    return -1;
  output_discard(&output);
  return 0;
}

int output_write_new(const char *path, const char *text, struct diagnostics *diagnostics) {
  const size_t length = strlen(text);
  size_t written = 0;
  if (check_name(path, diagnostics))
    return -1;
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) {
    diagnostics_error(diagnostics, nowhere,
                      "'%s' already exists and is not overwritten: choose another name with -o",
                      path);
    return -1;
  }
  if (fd < 0)
    return fail(path, diagnostics);
  for (ssize_t sent = 0; written < length && sent >= 0; written += sent > 0 ? (size_t)sent : 0)
    sent = write(fd, text + written, length - written);
  int reason = written == length && fsync(fd) == 0 ? 0 : errno;
  if (close(fd) && !reason)
    reason = errno;
  if (!reason)
    return 0;
  unlink(path);
  errno = reason;
  return fail(path, diagnostics);
}

void output_discard(struct output *output) {
  if (!output->path || !output->stream)
    return;
  fclose(output->stream);
  output->stream = NULL;
}

// ---- putting it in place

// An existing file keeps its mode and, if the system allows it, its owner.
static void keep_identity(int fd, const char *path) {
  struct stat there;
  if (stat(path, &there))
    return;
  if (fchown(fd, there.st_uid, there.st_gid) && fchown(fd, (uid_t)-1, there.st_gid))
    errno = 0;
  fchmod(fd, there.st_mode & 0777);
}

static int copy_to(int fd, const char *path, const char *name) {
  const int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  struct stat status;
  off_t at = 0;
  if (to < 0)
    return -1;
  keep_identity(to, path);
  ssize_t sent = fstat(fd, &status) ? -1 : 1;
  while (sent > 0 && at < status.st_size)
    sent = sendfile(to, fd, &at, (size_t)(status.st_size - at));
  const bool whole = sent >= 0 && at == status.st_size && fsync(to) == 0;
  const int reason = errno;
  close(to);
  if (!whole)
    unlink(name);
  errno = reason;
  return whole ? 0 : -1;
}

// Gives the file an unused name; if that is not possible, makes a copy of it.
static int name_it(const struct output *output, int fd, struct arena *arena, const char **name) {
  enum { NAMES = 1000 };
  int done = -1;
  errno = EEXIST;
  for (int i = 0; done && errno == EEXIST && i < NAMES; i++) {
    *name = name_in(output->folder, arena_printf(arena, "%ld-%d", (long)getpid(), i), arena);
    done = linkat(AT_FDCWD, output->writable, AT_FDCWD, *name, AT_SYMLINK_FOLLOW);
    if (done && errno != EEXIST)
      done = copy_to(fd, output->path, *name);
  }
  return done;
}

// Without this a crash of the machine could still undo the rename; not every file system supports
// it.
static void flush_folder(const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

void output_hold_signals(sigset_t *before) {
  static const int held[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  sigset_t during;
  sigemptyset(&during);
  for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
    sigaddset(&during, held[i]);
  sigprocmask(SIG_BLOCK, &during, before);
}

void output_release_signals(const sigset_t *before) {
  sigprocmask(SIG_SETMASK, before, NULL);
}

static int put_in_place(const struct output *output, int fd, struct arena *arena) {
  const char *name;
  sigset_t before;
  output_hold_signals(&before);
  int result = name_it(output, fd, arena, &name);
  if (!result && (result = rename(name, output->path))) {
    const int reason = errno;
    unlink(name);
    errno = reason;
  }
  const int reason = errno;
  flush_folder(output->folder);
  output_release_signals(&before);
  errno = reason;
  return result;
}

int output_make_directory(const char *path, struct diagnostics *diagnostics) {
  char *made = arena_copy(diagnostics->arena, path);
  int reason = 0;
  for (char *at = made; *at && !reason;) {
    at += strspn(at, "/");
    at += strcspn(at, "/");
    const char behind = *at;
    *at = 0;
    reason = mkdir(made, 0777) && errno != EEXIST ? errno : 0;
    *at = behind;
  }
  if (!reason)
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot create the directory '%s': %s", path,
                    strerror(reason));
  return -1;
}

// The failure has been reported; the program's exit must not find it again.
static void forget_failure(FILE *stream) {
  __fpurge(stream);
  clearerr(stream);
}

// The errno of a stream's failed write, or 0. stdio keeps that a write failed but not why, so
// another byte is written, which fails for the same reason.
int output_failure(FILE *stream) {
  errno = 0;
  if (fflush(stream) == 0 && !ferror(stream))
    return 0;
  if (!errno) {
    clearerr(stream);
    if (putc('\n', stream) != EOF)
      fflush(stream);
  }
  return errno ? errno : EIO;
}

int output_close(struct output *output, struct diagnostics *diagnostics) {
  FILE *stream = output->stream;
  const char *name = output->path ? output->path : "standard output";
  int result = output_failure(stream);
  if (!result && output->folder && output->path) {
    keep_identity(fileno(stream), output->path);
    result = (fsync(fileno(stream)) && errno != EINVAL) ||
             put_in_place(output, fileno(stream), diagnostics->arena);
  }
  if (result) {
    errno = result > 0 ? result : errno;
    fail(name, diagnostics);
    forget_failure(stream);
  }
  output->stream = NULL;
  if (output->path && fclose(stream) && !result)
    result = fail(name, diagnostics);
  return result ? -1 : 0;
}
