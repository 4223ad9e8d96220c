// document: a file of results as JSON values, whatever it was written in.
//
// JSON, JSON lines and JSON values one behind another stay what they are; YAML, the rows of a CSV
// table and the "name : value" lines of a summary become objects. What is none of these has no parts.
#ifndef PERTOKEN_MODEL_IMPORTS_DOCUMENT_H
#define PERTOKEN_MODEL_IMPORTS_DOCUMENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>
#include <stddef.h>

// A value of the file: the elements of a list that is the whole file count as its values.
struct document_part {
  const json_t *json; // an object; of the document
  int line;           // that it begins in; 0: unknown
};

struct document {
  const struct source *source;
  const char *written_in; // "JSON", "YAML", "CSV", "a summary", "text"
  struct document_part *parts;
  size_t count;
  json_t *root; // a list that owns the parts
};

// Errors: a file that source_read refuses; JSON, YAML or CSV with a mistake, such as one cut short,
// with its place; YAML with aliases or nested too deep. Returns 0 or -1. document_close in any case.
int document_read(const char *path, struct document *document, struct arena *arena,
                  struct diagnostics *diagnostics);

void document_close(struct document *document);

#endif
