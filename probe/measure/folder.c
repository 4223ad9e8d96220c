#include "probe/measure/folder.h"

#include "base/output.h"
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct folder *folder, int reason, struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot write to the directory '%s': %s", folder->path,
                    strerror(reason));
  return -1;
}

static int refuse_second(const struct folder *folder, int fd, struct diagnostics *diagnostics) {
  char owner[32];
  const ssize_t length = pread(fd, owner, sizeof owner - 1, 0);
  owner[length > 0 ? length : 0] = 0;
  owner[strcspn(owner, "\n")] = 0;
  diagnostics_error(diagnostics, nowhere,
                    "another run (process %s) is writing to the directory '%s': wait for it, or "
                    "choose another directory with -o",
                    *owner ? owner : "unknown", folder->path);
  return -1;
}

// Its last owner may have removed the file after we opened it and before we locked it.
static bool is_current(const struct folder *folder, int fd) {
  struct stat mine, theirs;
  return fstat(fd, &mine) == 0 && lstat(folder->lock, &theirs) == 0 && mine.st_ino == theirs.st_ino;
}

// A full disk shows here rather than after the first result.
static int write_owner(int fd) {
  char owner[32];
  const int length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
  if (ftruncate(fd, 0) || pwrite(fd, owner, (size_t)length, 0) != length)
    return errno ? errno : ENOSPC;
  return 0;
}

// A lock file is overwritten, so it must be a file of its own, not a link to something else.
static int refuse_link(int fd) {
  struct stat status;
  if (fstat(fd, &status))
    return errno;
  return S_ISREG(status.st_mode) && status.st_nlink <= 1 ? 0 : EEXIST;
}

// Opens and locks the file: returns its descriptor, or -1 with the errno in *reason. A file left by
// a run that was killed is taken over.
static int lock_file(const struct folder *folder, int *reason) {
  for (;;) {
    const int fd = open(folder->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    *reason = fd < 0 ? errno : refuse_link(fd);
    if (fd >= 0 && !*reason && flock(fd, LOCK_EX | LOCK_NB))
      *reason = errno;
    if (fd < 0 || *reason || is_current(folder, fd))
      return fd;
    close(fd);
  }
}

int folder_open(struct folder *folder, const char *path, struct diagnostics *diagnostics) {
  *folder =
      (struct folder){path, arena_printf(diagnostics->arena, "%s/.pertoken-probe.lock", path), -1};
  if (output_make_directory(path, diagnostics))
    return -1;
  int reason;
  const int fd = lock_file(folder, &reason);
  if (reason == EWOULDBLOCK) {
    refuse_second(folder, fd, diagnostics);
  } else if (reason == ELOOP || reason == EEXIST) {
    diagnostics_error(diagnostics, nowhere, "'%s' is a link, not a lock: remove it", folder->lock);
  } else if (reason) {
    fail(folder, reason, diagnostics);
  } else if ((reason = write_owner(fd)) != 0) {
    unlink(folder->lock);
    fail(folder, reason, diagnostics);
  } else {
    folder->fd = fd;
    return 0;
  }
  if (fd >= 0)
    close(fd);
  return -1;
}

const char *folder_record(const char *path, const char *model, const char *kind,
                          const char *identity, struct arena *arena) {
  const char *hash = source_sha256(source_from_text("run", identity, arena), arena);
  return arena_printf(arena, "%s/%s-%s-%.8s.json", path, model, kind, hash);
}

int folder_refuse_record(const char *record, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, nowhere,
                    "this run would resume '%s': move it away, or choose another directory with -o",
                    record);
  return -1;
}

void folder_close(struct folder *folder) {
  if (folder->fd < 0)
    return;
  unlink(folder->lock);
  close(folder->fd);
  folder->fd = -1;
}
