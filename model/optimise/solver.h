// solver: GLPK without its abort().
//
// GLPK checks its arguments and itself by assertions, and an assertion that fails ends the program.
// Here it ends the work on the programme alone.
#ifndef PERTOKEN_MODEL_OPTIMISE_SOLVER_H
#define PERTOKEN_MODEL_OPTIMISE_SOLVER_H

#include <stdbool.h>

// Numbers that a programme may have: GLPK's own tolerances mean nothing beyond.
#define MAX_SOLVER_NUMBER 1e15

// Calls `work`, in which GLPK is silent. False where GLPK gave up in the middle of it: `work` did
// not return then, and every programme of this thread is gone. It must hold nothing but memory of
// an arena across GLPK's functions.
bool solver_run(void (*work)(void *context), void *context);

#endif
