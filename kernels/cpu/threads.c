#include "kernels/cpu/threads.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

// After this many rounds, the thread being waited for has probably lost its core to someone else.
enum { SPINS = 2000 };

// The lowest-numbered thread of a core: 1 for "1,65" or "1-2". The CPU itself if Linux does not
// say.
static int first_sibling(int cpu) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  FILE *file = fopen(path, "re");
  int first = cpu;
  if (!file)
    return cpu;
  if (fscanf(file, "%d", &first) != 1)
    first = cpu;
  fclose(file);
  return first;
}

// Fills cores[most] with one CPU for each core that may be used.
static int list_cores(int *cores, int most) {
  cpu_set_t allowed;
  int count = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < most; cpu++)
    if (CPU_ISSET((size_t)cpu, &allowed)) {
      int first = first_sibling(cpu);
      if (first == cpu || !CPU_ISSET((size_t)first, &allowed))
        cores[count++] = cpu;
    }
  return count;
}

int threads_default(void) {
  int cores[CPU_SETSIZE];
  int count = list_cores(cores, CPU_SETSIZE);
  return count > 0 ? count : 1;
}

#ifdef _OPENMP
static void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int threads_run(int count, void (*body)(void *argument, int thread), void *argument) {
  int cores[CPU_SETSIZE];
  cpu_set_t before;
  bool bind = count > 1 && list_cores(cores, CPU_SETSIZE) == count &&
              sched_getaffinity(0, sizeof before, &before) == 0;
  int failed = 0;
#pragma omp parallel num_threads(count)
  {
    int thread = omp_get_thread_num();
    if (omp_get_num_threads() != count) {
#pragma omp atomic write
      failed = -1;
    } else {
      if (bind)
        bind_to(cores[thread]);
      body(argument, thread);
    }
    if (bind)
      sched_setaffinity(0, sizeof before, &before);
  }
  return failed;
}

void threads_release(void) {
  omp_pause_resource_all(omp_pause_hard);
}
#else
int threads_run(int count, void (*body)(void *argument, int thread), void *argument) {
  if (count != 1)
    return -1;
  body(argument, 0);
  return 0;
}

void threads_release(void) {}
#endif

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void barrier_wait(struct barrier *barrier, int count) {
  unsigned generation = atomic_load_explicit(&barrier->generation, memory_order_relaxed);
  unsigned arrived = atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1;
  if (arrived == (unsigned)count) {
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&barrier->generation, generation + 1, memory_order_release);
    return;
  }
  for (int spins = 0;
       atomic_load_explicit(&barrier->generation, memory_order_acquire) == generation; spins++) {
    if (spins < SPINS)
      relax();
    else
      sched_yield();
  }
}
