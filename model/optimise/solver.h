// solver: GLPK without its abort().
//
// GLPK checks its arguments and itself by assertions, and a failed assertion ends the program. Here
// it ends only GLPK's own work.
#ifndef PERTOKEN_MODEL_OPTIMISE_SOLVER_H
#define PERTOKEN_MODEL_OPTIMISE_SOLVER_H

#include <stdbool.h>

// Limit for the numbers in a GLPK problem: GLPK's own tolerances are meaningless beyond it.
#define MAX_SOLVER_NUMBER 1e15

// Calls `work` with GLPK silent. False if GLPK gave up in the middle: `work` then did not return,
// and every GLPK problem of this thread is gone. Across GLPK's functions it must hold no memory
// other than an arena's.
bool solver_run(void (*work)(void *context), void *context);

#endif
