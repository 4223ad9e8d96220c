// threads: a team that is started once and then synchronized by barriers.
#ifndef PERTOKEN_KERNELS_CPU_THREADS_H
#define PERTOKEN_KERNELS_CPU_THREADS_H

#include <stdatomic.h>

// Cores that this process may use; the hardware threads of one core count once.
int threads_default(void);

// Runs body(argument, thread) on `count` threads, the caller being thread 0, and waits for all. A
// team as large as the machine is bound to its cores, so that each thread stays with its memory.
// -1, with nothing run, if the system cannot start that many threads.
int threads_run(int count, void (*body)(void *argument, int thread), void *argument);

// Ends the threads that are waiting for the next run.
void threads_release(void);

// All threads of a team wait for the last.
struct barrier {
  _Alignas(64) atomic_uint arrived;
  _Alignas(64) atomic_uint generation;
};

void barrier_wait(struct barrier *barrier, int count);

#endif
