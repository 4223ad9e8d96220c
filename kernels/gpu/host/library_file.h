// library_file: a vendor's library, loaded at run time, and its functions.
#ifndef PERTOKEN_KERNELS_GPU_HOST_LIBRARY_FILE_H
#define PERTOKEN_KERNELS_GPU_HOST_LIBRARY_FILE_H

#include <stddef.h>

// A library, and where to look for it.
struct library_file {
  const char *kind;     // "NCCL"
  const char *need;     // who needs it: "devices that hold a model together"; or NULL
  const char *beside;   // another library whose folder is searched first; or NULL
  const char *names[4]; // library names, ending with NULL
  const char *variable; // an environment variable with the path of another library
  const char *install;  // what to do if there is none
};

// Loads it and never unloads it: such a library has threads of its own. NULL, with the reason in
// `why`, if there is none.
void *library_file_open(const struct library_file *file, char *why, size_t why_size);

// A function: the parts of its name, and where its address goes in a table.
struct library_symbol {
  size_t offset;
  const char *name;
};

// Fills `table` with the functions prefix + name. -1, with the reason in `why`, if one is missing.
int library_file_find(const struct library_file *file, void *library, const char *prefix,
                      const struct library_symbol *symbols, size_t count, void *table, char *why,
                      size_t why_size);

#endif
