// ranking: which options may be ranked against each other and why not, which is the cheapest, what
// is saved, what is a tie. The one judge: every face shows this verdict, and none has a rule of its
// own.
//
//   compared   a saving against the baseline may be shown: both throughputs are of serving, or both
//              are upper bounds of decoding alone
//   ranked     compared, measured on a workload like the baseline's, and the option serves all of
//              the demand in every period, where there is one, within the power of the site, where that is
//              limited. Where the baseline leaves the workload open and two
//              options are unlike each other, neither is ranked. An option that is not ranked is
//              never the cheapest, and never keeps another one from being it.
//   cheapest   of at least two ranked options, the lowest cost_per_mtok; costs that a spreadsheet
//              takes for equal (model/cost/arithmetic.h) are a tie, which all of them win
//
// --mixed lets unlike workloads be compared; it does not make them alike.
#ifndef PERTOKEN_MODEL_SCENARIO_RANKING_H
#define PERTOKEN_MODEL_SCENARIO_RANKING_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Why an option is not ranked.
enum rank_bar {
  RANK_FREE,        // it is
  RANK_UPPER_BOUND, // decoding alone beside serving
  RANK_UNLIKE,      // another workload than the baseline's
  RANK_UNMET,       // the demand is not served
  RANK_SITE,        // the site's power is exceeded
  RANK_BARS
};

// How an option stands in the selected case.
struct standing {
  enum rank_bar bar;
  const char *why_not; // a clause such as "precision: fp8 and bf16"; "" for a ranked option
  bool compared, ranked;
  bool cheapest; // one of the cheapest
  // 1 - cost / the baseline's, a fraction; NAN for the baseline and where `compared` is false.
  double saving, saving_levelised;
};

struct ranking {
  const struct standing *options; // [option_count]
  size_t option_count;
  const char *asked;     // ranking_asked
  int cheapest;          // the first of the cheapest, an index; -1 when fewer than two are ranked
  size_t cheapest_count; // above 1: a tie
  const char *why_none;  // why nobody is the cheapest: a clause; "" when someone is
  // Whom the cheapest is set against: the baseline or, where that is not ranked or is one of the
  // cheapest, the next cheapest of the ranked; -1 when all of the ranked tie. And what it saves over
  // it, a fraction.
  int against;
  double saving;
};

// The verdict of the selected case, in the arena.
const struct ranking *ranking_of(const struct scenario *scenario, struct arena *arena);

// Whether nothing but amounts can keep the option from being ranked: true in all cases or none.
bool ranking_is_eligible(const struct standing *standing);

// Whether two options are: without that, no case and no amount makes one the cheapest.
bool ranking_may_rank(const struct ranking *ranking);

// Why nobody is the cheapest whenever fewer than two are ranked: a clause, the same in all cases.
const char *ranking_why_nobody(const struct ranking *ranking, struct arena *arena);

// Whether a serving figure and an upper bound would meet: the part of the rule that neither a case
// nor a draw changes. Symmetric.
bool ranking_compares(const struct option *a, const struct option *b);

// What of an option's standing does not change with its amounts: every bar but theirs. `why`
// (or NULL) as standing.why_not.
enum rank_bar ranking_fixed_bar(const struct scenario *scenario, const struct option *option,
                                const char **why, struct arena *arena);

// An item of the model that keeps an option from being ranked where it is beyond a limit. The limits
// forgive rounding, so that an exact fit does not fall out.
struct ranking_amount {
  const char *item;
  enum rank_bar bar;
  bool at_most;                      // the limit is the most that it may be, else the least
  double limit, shown;               // what is said of it stays on the worse side of `shown`
  const char *before, *after;        // "at worst it serves ", " % of the demand"
  const char *beside, *beside_words; // said after it where that item is above zero; NULL: nothing
};

enum { RANKING_AMOUNTS = 2 };
extern const struct ranking_amount ranking_amounts[RANKING_AMOUNTS];

// The declaration of the item, or -1 where the option has none.
int ranking_amount_of(const struct scenario *scenario, const struct option *option,
                      const struct ranking_amount *amount);

bool ranking_holds(const struct ranking_amount *amount, double value);

// "at worst it serves 93.2 % of the demand"
const char *ranking_words(const struct ranking_amount *amount, double value, struct arena *arena);

// What the amounts ask of an option: "serve the demand", "keep within the site's power".
const char *ranking_asked(const struct scenario *scenario);

// Whether the cost is as low as the lowest: the rule of ties.
bool ranking_is_lowest(double cost, double lowest);

// Marks the cheapest of the ranked in `cheapest`, ties included, and returns how many there are: none
// where fewer than two are ranked. All three are [count]; the cost of an option that is not ranked
// does not matter.
size_t ranking_mark(const double *cost, const bool *ranked, size_t count, bool *cheapest);

// The same from the number of options, and of those with a bar that no amount changes.
const char *ranking_why_none(size_t option_count, size_t barred, const char *asked,
                             struct arena *arena);

#endif
