// incumbent: the best solution of a program found so far by searches in several threads.
#ifndef PERTOKEN_MODEL_PLAN_INCUMBENT_H
#define PERTOKEN_MODEL_PLAN_INCUMBENT_H

#include "base/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct incumbent {
  pthread_mutex_t lock;
  int columns;
  double *values;       // [columns + 1], from 1
  _Atomic double cost;  // by the program's objective; INFINITY: no solution
  atomic_bool is_ended; // all searches should stop
};

void incumbent_start(struct incumbent *incumbent, int columns, struct arena *arena);
void incumbent_end(struct incumbent *incumbent);

// Replaces the solution if this one costs less.
void incumbent_offer(struct incumbent *incumbent, double cost, const double *values);

// Copies it, and returns its cost.
double incumbent_copy(struct incumbent *incumbent, double *values);

#endif
