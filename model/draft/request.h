// request: the inputs of a draft, and its results.
#ifndef PERTOKEN_MODEL_DRAFT_REQUEST_H
#define PERTOKEN_MODEL_DRAFT_REQUEST_H

#include "base/texts.h"
#include "model/draft/template.h"

#include <stddef.h>

struct draft_request {
  enum draft_question question;
  const char *const *accelerators; // [accelerator_count] as typed
  size_t accelerator_count;
  const char *model;           // as typed
  const char *count, *demand;  // as typed; one of them is NULL
  const char *date;            // YYYY-MM-DD, the scenario's
  const char *const *settings; // [setting_count] "KEY=VALUE", for draft_set (lines.h)
  size_t setting_count;
};

struct draft {
  const char *text;
  const char *name;     // a suggested file name: "mi355x-vs-b200.ini"
  struct texts notes;   // how names were read
  struct texts missing; // "mi355x: ...": a sentence without a full stop per stand-in
};

#endif
