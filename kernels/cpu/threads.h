// threads: a team that enters once and then keeps step through barriers.
#ifndef PERTOKEN_KERNELS_CPU_THREADS_H
#define PERTOKEN_KERNELS_CPU_THREADS_H

#include <stdatomic.h>

// Cores that this process may use; threads of one core count once.
int threads_default(void);

// Runs body(argument, thread) on `count` threads, the caller being thread 0, and waits for all. A
// team as large as the machine is bound to its cores, so that each thread stays with its memory.
// -1, and nothing has run, when the system has not that many threads.
int threads_run(int count, void (*body)(void *argument, int thread), void *argument);

// Ends the threads that wait for the next run.
void threads_release(void);

// All of one team wait for the last.
struct barrier {
  _Alignas(64) atomic_uint arrived;
  _Alignas(64) atomic_uint generation;
};

void barrier_wait(struct barrier *barrier, int count);

#endif
