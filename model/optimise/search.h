// search: where in a box are all of some functions within their bounds, and how close can one get
// to a goal there?
//
// The box is the unit cube. A global look at Sobol points chooses where to start; from there the
// functions are repeatedly replaced by their tangents within a shrinking trust region, and each
// linear program is solved exactly (sequential linear programming with an exact penalty: R.
// Fletcher and E. Sainz de la Maza, "Nonlinear programming and nonsmooth optimization by successive
// linear programming", Mathematical Programming 43, 1989). That converges to a corner of several
// functions at once as well as to a smooth optimum. If no start finds a point, none is proven not
// to exist: the answer is only as good as the global look.
#ifndef PERTOKEN_MODEL_OPTIMISE_SEARCH_H
#define PERTOKEN_MODEL_OPTIMISE_SEARCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  MAX_SEARCH_DIMENSIONS = 32,
  MAX_SEARCH_FUNCTIONS = 64,
  SEARCH_POINTS = 2048 // of the global look
};

// A bound counts as met if it is violated by no more than this.
#define SEARCH_TOLERANCE 1e-7

// Computes the values of all functions at `count` points: points [count][dimensions] within [0, 1],
// values [count][functions]. A value that cannot be computed is not finite.
typedef void search_function(void *context, const double *points, size_t count, double *values);

struct search {
  int dimensions, functions;
  search_function *evaluate;
  void *context;
  double *points, *values; // of the global look
};

struct search_bound {
  double low, high; // infinite: none
};

struct search_point {
  double at[MAX_SEARCH_DIMENSIONS];
  double values[MAX_SEARCH_FUNCTIONS];
  double violation; // the largest violation of a bound; negative: all met, with margin
};

// The goal for a point within the bounds.
enum search_wish { SEARCH_LOWEST, SEARCH_HIGHEST, SEARCH_NEAREST };
struct search_goal {
  enum search_wish wish;
  bool coordinate; // for a coordinate, else for a function
  int which;
  double target; // SEARCH_NEAREST: to this
};

// Whether this build has GLPK, without which no program can be solved.
bool search_available(void);

// Takes the global look.
void search_start(struct search *search, struct arena *arena);

// The point with the smallest violation, or the first one found with at most `enough`.
void search_least_violation(const struct search *search, const struct search_bound *bounds,
                            double enough, struct search_point *best);

// The best point by `goal` within the bounds; false if none was found. `known`: a point within them
// to start from as well, or NULL.
bool search_best(const struct search *search, const struct search_bound *bounds,
                 const struct search_goal *goal, const struct search_point *known,
                 struct search_point *best);

#endif
