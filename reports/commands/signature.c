#include "reports/commands/signature.h"

#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SAID = 4096, NOT_STARTED = -1 };

extern char **environ;

// Collects a program's output until it closes it; anything beyond the buffer is dropped.
static void collect(int fd, char said[MAX_SAID]) {
  size_t length = 0;
  char rest[MAX_SAID] = "";
  for (;;) {
    const bool full = length + 1 >= MAX_SAID;
    const ssize_t got =
        read(fd, full ? rest : said + length, full ? sizeof rest : MAX_SAID - 1 - length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    if (!full)
      length += (size_t)got;
  }
  said[length] = 0;
}

// Runs a program on `input` (NULL: nothing). What it prints goes to `said`. Returns its exit
// status, or NOT_STARTED.
static int run_program(char *const *arguments, const char *input, char said[MAX_SAID]) {
  int ends[2], status = 0;
  pid_t pid;
  *said = 0;
  if (pipe2(ends, O_CLOEXEC))
    return NOT_STARTED;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input ? input : "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const int failure = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (!failure)
    collect(ends[0], said);
  close(ends[0]);
  while (!failure && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return failure ? NOT_STARTED : WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// Runs ssh-keygen; `said` gets the first line of its output alone.
static int keygen(char *const *arguments, const char *input, char said[MAX_SAID]) {
  const int status = run_program(arguments, input, said);
  said[strcspn(said, "\r\n")] = 0;
  return status;
}

#define KEYGEN(input, said, ...)                                                                   \
  keygen((char *const[]){"ssh-keygen", "-Y", __VA_ARGS__, "-n", SIGNATURE_NAMESPACE, NULL}, input, \
         said)

static int refuse_missing_program(const char *program, struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s cannot be run: such signatures need %s", program,
                    !strcmp(program, "ssh-keygen") ? "OpenSSH" : "GnuPG");
  return -1;
}

static int refuse_missing(struct diagnostics *diagnostics) {
  return refuse_missing_program("ssh-keygen", diagnostics);
}

// ---- GnuPG

// The rest of a status line (doc/DETAILS of GnuPG) that begins so; NULL if there is none.
static const char *status_line(const char *said, const char *keyword, struct arena *arena) {
  const char *start = arena_printf(arena, "\n[GNUPG:] %s ", keyword);
  const char *at = strstr(arena_printf(arena, "\n%s", said), start); // not within a signer's name
  if (!at)
    return NULL;
  at += strlen(start);
  return arena_copy_n(arena, at, strcspn(at, "\r\n"));
}

// The last line says what was wrong.
static const char *last_line(char *said) {
  size_t length = strlen(said);
  while (length && said[length - 1] == '\n')
    said[--length] = 0;
  const char *line = strrchr(said, '\n');
  return line ? line + 1 : said;
}

static int gpg_make(const char *file, const char *user, struct arena *arena,
                    struct diagnostics *diagnostics) {
  char said[MAX_SAID];
  char *const arguments[] = {"gpg",
                             "--batch",
                             "--yes",
                             "--armor",
                             "--local-user",
                             arena_copy(arena, user),
                             "--output",
                             arena_printf(arena, "%s.asc", file),
                             "--detach-sign",
                             "--",
                             arena_copy(arena, file),
                             NULL};
  const int status = run_program(arguments, NULL, said);
  if (status == NOT_STARTED)
    return refuse_missing_program("gpg", diagnostics);
  if (!status)
    return 0;
  diagnostics_error(diagnostics, nowhere, "gpg could not sign with the key of '%s': %s", user,
                    last_line(said));
  return -1;
}

static const char gpg_prefix[] = "gpg:";

int signature_make(const char *file, const char *key, struct arena *arena,
                   struct diagnostics *diagnostics) {
  char said[MAX_SAID];
  unlink(arena_printf(arena, "%s.sig", file));
  unlink(arena_printf(arena, "%s.asc", file));
  if (!strncmp(key, gpg_prefix, strlen(gpg_prefix)))
    return gpg_make(file, key + strlen(gpg_prefix), arena, diagnostics);
  char *const arguments[] = {"ssh-keygen",
                             "-Y",
                             "sign",
                             "-n",
                             SIGNATURE_NAMESPACE,
                             "-f",
                             arena_copy(arena, key),
                             arena_copy(arena, file),
                             NULL};
  const int status = keygen(arguments, NULL, said);
  if (status == NOT_STARTED)
    return refuse_missing(diagnostics);
  if (!status)
    return 0;
  diagnostics_error(diagnostics, nowhere, "ssh-keygen could not sign with '%s': %s", key, said);
  return -1;
}

static struct evidence_signature good(const char *words) {
  return (struct evidence_signature){words, false};
}

static struct evidence_signature bad(const char *words) {
  return (struct evidence_signature){words, true};
}

// A keyring written by `gpg --export` begins with an OpenPGP packet, whose first byte has its
// highest bit set; a list of allowed signers is text.
static bool is_keyring(const char *path) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  const int first = file ? getc(file) : EOF;
  if (file)
    fclose(file);
  return first != EOF && first & 0x80;
}

// Checks FILE.asc with gpgv and the keyring, every key of which counts; without a keyring, with gpg
// and the user's own keys.
static int gpg_check(const char *file, const char *keyring, struct evidence_signature *found,
                     struct arena *arena, struct diagnostics *diagnostics) {
  char said[MAX_SAID];
  char *const signature = arena_printf(arena, "%s.asc", file),
              *signed_file = arena_copy(arena, file);
  char *const whole = keyring ? realpath(keyring, NULL) : NULL;
  char *const by_ring[] = {"gpgv", "--status-fd", "1",         "--keyring", whole,
                           "--",   signature,     signed_file, NULL};
  char *const by_own[] = {"gpg", "--batch", "--status-fd", "1", "--verify",
                          "--",  signature, signed_file,   NULL};
  char *const *const arguments = keyring ? by_ring : by_own;
  const int status = run_program(arguments, NULL, said);
  free(whole);
  if (status == NOT_STARTED)
    return refuse_missing_program(arguments[0], diagnostics);
  const char *name = status_line(said, "GOODSIG", arena),
             *key = status_line(said, "VALIDSIG", arena);
  const char *unknown = status_line(said, "NO_PUBKEY", arena);
  if (!status && name && key)
    *found = good(arena_printf(arena, "signed by %s, GnuPG key %.*s",
                               name + strcspn(name, " ") + (strchr(name, ' ') != NULL),
                               (int)strcspn(key, " "), key));
  else if (unknown && keyring)
    *found = bad("signed, but not by an accepted signer");
  else if (unknown)
    *found = good(arena_printf(arena,
                               "signed with GnuPG key %s, which your keyring does not have: the "
                               "signature was not checked",
                               unknown));
  else
    *found = bad("signed, but the signature does not match");
  return 0;
}

// A signature by a key that is not known to belong to anyone.
static int check_unknown(const char *file, char *signature, struct evidence_signature *found,
                         struct arena *arena, struct diagnostics *diagnostics) {
  char said[MAX_SAID];
  const int status = KEYGEN(file, said, "check-novalidate", "-s", signature);
  const char *key = strstr(said, "SHA256:");
  *found = status ? bad("signed, but the signature does not match")
                  : good(arena_printf(arena, "signed with key %s, holder unknown",
                                      key ? arena_copy(arena, key) : "unnamed"));
  return status == NOT_STARTED ? refuse_missing(diagnostics) : 0;
}

int signature_check(const char *file, const char *signers, struct evidence_signature *found,
                    struct arena *arena, struct diagnostics *diagnostics) {
  char said[MAX_SAID], name[MAX_SAID];
  char *signature = arena_printf(arena, "%s.sig", file);
  const bool has_sig = access(signature, F_OK) == 0;
  const bool has_asc = access(arena_printf(arena, "%s.asc", file), F_OK) == 0;
  const bool by_gpg = signers ? is_keyring(signers) : !has_sig;
  const char *const inputs[] = {signature, arena_printf(arena, "%s.asc", file), signers};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    if (inputs[i])
      diagnostics_note_path(diagnostics, inputs[i]);
  *found = (struct evidence_signature){"not signed", signers != NULL};
  if (by_gpg ? !has_asc : !has_sig)
    return 0;
  if (by_gpg)
    return gpg_check(file, signers, found, arena, diagnostics);
  if (!signers)
    return check_unknown(file, signature, found, arena, diagnostics);
  char *known = arena_copy(arena, signers);
  int status = KEYGEN(NULL, name, "find-principals", "-s", signature, "-f", known);
  if (status == NOT_STARTED)
    return refuse_missing(diagnostics);
  *found = bad("signed, but not by an accepted signer");
  if (status)
    return 0;
  status = KEYGEN(file, said, "verify", "-s", signature, "-f", known, "-I", name);
  *found = status ? bad("signed, but the signature does not match")
                  : good(arena_printf(arena, "signed by %s", name));
  return 0;
}
