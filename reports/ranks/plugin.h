// plugin: the interface of the plugin that is linked with MPI, so that the program itself is not.
#ifndef PERTOKEN_REPORTS_RANKS_PLUGIN_H
#define PERTOKEN_REPORTS_RANKS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

enum { RANKS_ABI = 1 };

// Every rank calls the same functions in the same order. They return 0, or -1 when MPI failed.
struct ranks_plugin {
  int abi;
  int (*join)(int *rank, int *size);
  // The minimum over all ranks, on all of them.
  int (*least)(int *number);
  // Gives rank 0 the sums of all ranks' integers modulo 2^64, the minima and maxima.
  int (*reduce)(uint64_t *sums, size_t sum_count, double *lows, double *highs, size_t end_count);
  void (*leave)(void);
};

// The plugin's one symbol.
#define RANKS_PLUGIN "pertoken_ranks"
typedef const struct ranks_plugin *ranks_plugin_function(void);

#endif
