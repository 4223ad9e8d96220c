// An RCCL for tests, on the fake HIP runtime: all-reduces meet in host threads, in the order of the
// ranks. As with RCCL, they are recorded with a stream that is being recorded, the communicators of
// one process are created together, and one that is aborted releases whatever waits, without an
// error, and returns when no graph holds its all-reduces any more.
//
// Environment, read when needed:
//   FAKE_RCCL_FAIL_INIT    1: communicators cannot be created
//   FAKE_RCCL_RANK         the rank for the two below
//   FAKE_RCCL_FAIL_REDUCE  n: this rank's n-th all-reduce, from 1, is refused
//   FAKE_RCCL_HANG         n: this rank never contributes to its n-th, and the library notices
//   FAKE_RCCL_NO_CAPTURE   1: streams that are being recorded accept no all-reduce
#include "tests/stand_ins/hip/fake_hip.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  SUCCESS = 0, // ncclResult_t
  UNHANDLED = 1,
  SYSTEM_ERROR = 2,
  INVALID_USAGE = 5,
  REMOTE_ERROR = 6,
  FLOAT = 7,
  UINT64 = 5,
  SUM = 0,
  MAX = 2,
  MAX_RANKS = 16
};

// Never freed, so that recorded work may outlive it.
struct communicator {
  bool alive;
  int rank, asked, done; // all-reduces
};

struct reduction {
  const void *from;
  void *to;
  size_t count;
  int type, operation;
  struct communicator *communicator;
};

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct communicator ranks[MAX_RANKS];
  struct reduction brought[MAX_RANKS];
  int count, arrived;
  unsigned round;
  bool broken, hanging;
} clique = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : otherwise;
}

static bool is_told(const struct communicator *communicator, const char *what, int number) {
  return setting("FAKE_RCCL_RANK", -1) == communicator->rank && setting(what, 0) == number;
}

int ncclGetVersion(int *version) {
  *version = 22703;
  return SUCCESS;
}

const char *ncclGetErrorString(int code) {
  return code == REMOTE_ERROR    ? "remote process exited or there was a network error"
         : code == SYSTEM_ERROR  ? "unhandled system error"
         : code == INVALID_USAGE ? "invalid usage"
                                 : "unhandled cuda error";
}

int ncclCommInitAll(void **communicators, int count, const int *devices) {
  if (setting("FAKE_RCCL_FAIL_INIT", 0))
    return SYSTEM_ERROR;
  pthread_mutex_lock(&clique.mutex);
  clique.count = count;
  clique.arrived = 0;
  clique.broken = clique.hanging = false;
  for (int rank = 0; rank < count; rank++) {
    for (int other = 0; other < rank; other++)
      if (devices[other] == devices[rank])
        abort(); // RCCL: "Duplicate GPU detected"
    clique.ranks[rank] = (struct communicator){.alive = true, .rank = rank};
    communicators[rank] = &clique.ranks[rank];
  }
  pthread_mutex_unlock(&clique.mutex);
  return SUCCESS;
}

int ncclCommDestroy(void *communicator) {
  struct communicator *own = communicator;
  if (!own->alive)
    abort();
  own->alive = false;
  return SUCCESS;
}

int ncclCommAbort(void *communicator) {
  pthread_mutex_lock(&clique.mutex);
  clique.broken = true;
  pthread_cond_broadcast(&clique.changed);
  pthread_mutex_unlock(&clique.mutex);
  while (fake_hip_executables() > 0)
    usleep(1000);
  return ncclCommDestroy(communicator);
}

int ncclCommGetAsyncError(void *communicator, int *error) {
  (void)communicator;
  pthread_mutex_lock(&clique.mutex);
  *error = clique.hanging ? REMOTE_ERROR : SUCCESS;
  pthread_mutex_unlock(&clique.mutex);
  return SUCCESS;
}

int fake_rccl_alive(void) {
  int alive = 0;
  for (int rank = 0; rank < MAX_RANKS; rank++)
    alive += clique.ranks[rank].alive;
  return alive;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                  void *communicator, void *stream) {
  struct communicator *own = communicator;
  const struct reduction reduction = {from, to, count, type, operation, own};
  const bool known = (type == FLOAT && operation == SUM) || (type == UINT64 && operation == MAX);
  if (!known || !own->alive ||
      (fake_hip_is_recording(stream) && setting("FAKE_RCCL_NO_CAPTURE", 0)))
    return INVALID_USAGE;
  if (is_told(own, "FAKE_RCCL_FAIL_REDUCE", ++own->asked))
    return UNHANDLED;
  return fake_hip_queue(stream, &reduction, sizeof reduction) ? UNHANDLED : SUCCESS;
}

static void reduce_element(size_t i) {
  float sum = 0;
  uint64_t most = 0;
  const bool sums = clique.brought[0].operation == SUM;
  for (int rank = 0; rank < clique.count; rank++) {
    const void *from = clique.brought[rank].from;
    if (sums)
      sum += ((const float *)from)[i];
    else if (((const uint64_t *)from)[i] > most)
      most = ((const uint64_t *)from)[i];
  }
  for (int rank = 0; rank < clique.count; rank++) {
    void *to = clique.brought[rank].to;
    if (sums)
      ((float *)to)[i] = sum;
    else
      ((uint64_t *)to)[i] = most;
  }
}

static void finish_round(void) {
  for (size_t i = 0; i < clique.brought[0].count; i++)
    reduce_element(i);
  clique.arrived = 0;
  clique.round++;
  pthread_cond_broadcast(&clique.changed);
}

int fake_rccl_execute(const void *arguments) {
  struct reduction own;
  memcpy(&own, arguments, sizeof own);
  pthread_mutex_lock(&clique.mutex);
  const unsigned round = clique.round;
  clique.brought[own.communicator->rank] = own;
  if (is_told(own.communicator, "FAKE_RCCL_HANG", ++own.communicator->done))
    clique.hanging = true;
  else if (!clique.broken && ++clique.arrived == clique.count)
    finish_round();
  while (!clique.broken && clique.round == round)
    pthread_cond_wait(&clique.changed, &clique.mutex);
  pthread_mutex_unlock(&clique.mutex);
  return SUCCESS;
}
