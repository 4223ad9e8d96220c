// evidence: the contents of a pack, and whether they are unchanged since it was packed, as an
// answer.
#ifndef PERTOKEN_REPORTS_RECORDS_EVIDENCE_H
#define PERTOKEN_REPORTS_RECORDS_EVIDENCE_H

#include "base/arena.h"
#include "model/delivery/pack.h"
#include "reports/faces/answer.h"

#include <stdbool.h>

// Who signed the archive, according to ssh-keygen or GnuPG.
struct evidence_signature {
  const char *words; // the end of a sentence: "signed by alice@example.org", "not signed"
  bool is_bad;       // does not match, or is not by an expected signer
};

// The answer about a pack that was just made or read. It is no if a file has changed since it was
// packed or the signature is bad.
struct answer evidence_answer(const struct pack *pack, bool was_made,
                              const struct evidence_signature *signature, struct arena *arena);

#endif
