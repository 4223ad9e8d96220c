// document: a file of results as JSON values, whatever its format.
//
// JSON, JSON lines and concatenated JSON values are taken as they are; YAML, the rows of a CSV
// table and the "name : value" lines of a summary become objects. Any other file has no parts.
#ifndef PERTOKEN_MODEL_IMPORTS_DOCUMENT_H
#define PERTOKEN_MODEL_IMPORTS_DOCUMENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>
#include <stddef.h>

// A value in the file: if the whole file is a list, its elements count as the values.
struct document_part {
  const json_t *json; // an object; owned by the document
  int line;           // in which it begins; 0: unknown, or the whole file
  int number;         // in the file's list, from 1; 0: not in a list
};

struct document {
  const struct source *source;
  const char *written_in; // "JSON", "YAML", "CSV", "a summary", "text"
  struct document_part *parts;
  size_t count;
  json_t *root; // a list that owns the parts
};

// Errors: a file that source_read refuses; JSON, YAML or CSV with a mistake, such as a truncated
// file, with its place; YAML with aliases or nested too deep. Returns 0 or -1. Call document_close
// in either case.
int document_read(const char *path, struct document *document, struct arena *arena,
                  struct diagnostics *diagnostics);

void document_close(struct document *document);

#endif
