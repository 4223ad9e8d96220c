// crew: a thread for each of several devices, all of which do the same job at the same time.
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

// `words` is called on a member's thread to say what its failure was. NULL without memory or
// threads.
struct crew *crew_make(int count, const char *(*words)(void));

// Ends the threads and frees the crew; NULL is allowed. False, and nothing is freed, while a member
// is still at its job: a thread cannot be taken away from what it waits for.
bool crew_free(struct crew *crew);

// All members must be done with the previous job.
void crew_start(struct crew *crew, crew_job *job, void *argument);

// Waits until something changes, for `seconds` at most. *done: how many members are done.
enum crew_state crew_wait(struct crew *crew, double seconds, int *done);

// After a job: which member failed first, -1: none; and a member's status and words.
int crew_first_failed(const struct crew *crew);
enum decode_status crew_status(const struct crew *crew, int member);
const char *crew_words(const struct crew *crew, int member);

// The first member that is still at its job, -1: none.
int crew_first_busy(struct crew *crew);

#endif
