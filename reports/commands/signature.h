// signature: a file's detached signature, made and checked by the user's own ssh-keygen (OpenSSH
// 8.2 and newer, ssh-keygen(1), -Y) or GnuPG. No key is ever read here.
#ifndef PERTOKEN_REPORTS_COMMANDS_SIGNATURE_H
#define PERTOKEN_REPORTS_COMMANDS_SIGNATURE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "reports/records/evidence.h"

#define SIGNATURE_NAMESPACE "pertoken-evidence" // a signature with another namespace does not count

// Writes FILE.sig with that OpenSSH key, or FILE.asc for "gpg:USER", replacing an existing one.
// Errors: the program is missing (machine_failed), or fails. Returns 0 or -1.
int signature_make(const char *file, const char *key, struct arena *arena,
                   struct diagnostics *diagnostics);

// What FILE.sig or FILE.asc says about the file. signers: an allowed_signers file or, for FILE.asc,
// a keyring written by `gpg --export`; NULL: no signer is known, and FILE.sig counts if both exist.
// An error if a program is needed and missing (machine_failed). Nothing is written over these files
// from then on. Returns 0 or -1.
int signature_check(const char *file, const char *signers, struct evidence_signature *signature,
                    struct arena *arena, struct diagnostics *diagnostics);

#endif
