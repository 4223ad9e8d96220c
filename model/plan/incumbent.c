#include "model/plan/incumbent.h"

#include <math.h>
#include <string.h>

void incumbent_start(struct incumbent *incumbent, int columns, struct arena *arena) {
  pthread_mutex_init(&incumbent->lock, NULL);
  incumbent->columns = columns;
  incumbent->values = arena_array(arena, (size_t)columns + 1, sizeof *incumbent->values);
  incumbent->cost = INFINITY;
  incumbent->is_ended = false;
}

void incumbent_end(struct incumbent *incumbent) {
  pthread_mutex_destroy(&incumbent->lock);
}

void incumbent_offer(struct incumbent *incumbent, double cost, const double *values) {
  pthread_mutex_lock(&incumbent->lock);
  if (cost < incumbent->cost) {
    memcpy(incumbent->values, values, ((size_t)incumbent->columns + 1) * sizeof *values);
    incumbent->cost = cost;
  }
  pthread_mutex_unlock(&incumbent->lock);
}

double incumbent_copy(struct incumbent *incumbent, double *values) {
  pthread_mutex_lock(&incumbent->lock);
  const double cost = incumbent->cost;
  memcpy(values, incumbent->values, ((size_t)incumbent->columns + 1) * sizeof *values);
  pthread_mutex_unlock(&incumbent->lock);
  return cost;
}
