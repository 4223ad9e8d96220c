// crew: a thread for each of several devices, that all do the same job at the same time.
#ifndef PERTOKEN_KERNELS_GPU_HOST_CREW_H
#define PERTOKEN_KERNELS_GPU_HOST_CREW_H

#include "kernels/decode.h"

#include <stdbool.h>

struct crew;

// Done once by every member, on its own thread, with its number.
typedef enum decode_status crew_job(void *argument, int member);

enum crew_state {
  CREW_BUSY,  // none has failed, some are not done
  CREW_WORSE, // one has failed, some are not done
  CREW_DONE   // all are done, some may have failed
};

// `words` is asked on a member's thread what its failure was. NULL without memory or threads.
struct crew *crew_make(int count, const char *(*words)(void));

// Ends the threads and frees the crew; NULL is allowed. False, and nothing is freed, while a member
// is still at its job: a thread cannot be taken away from what it waits for.
bool crew_free(struct crew *crew);

// All members must be done with the job before.
void crew_start(struct crew *crew, crew_job *job, void *argument);

// Waits until something changes, `seconds` at most. *done: members that are.
enum crew_state crew_wait(struct crew *crew, double seconds, int *done);

// After a job: whose failure came first, -1 for none; of a member its status and words.
int crew_first_failed(const struct crew *crew);
enum decode_status crew_status(const struct crew *crew, int member);
const char *crew_words(const struct crew *crew, int member);

// The first that is still at its job, -1 for none.
int crew_first_busy(struct crew *crew);

#endif
