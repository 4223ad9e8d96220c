// ranking: which options may be ranked against each other and why not, which is the cheapest, what
// it saves, and what is a tie. The only judge: every face shows this verdict, and none has its own
// rule.
//
//   compared   a saving against the baseline may be shown: both throughputs are of serving, or both
//              are decode-only upper bounds
//   ranked     compared, measured on a workload like the baseline's, and the option serves all of
//              the demand in every period, if there is one, within the site power, if that is
//              limited. If the baseline leaves the workload open and two options are unlike each
//              other, neither is ranked. An option that is not ranked is never the cheapest, and
//              never keeps another one from being it.
//   cheapest   of at least two ranked options, the one with the lowest cost_per_mtok; costs that a
//              spreadsheet treats as equal (model/cost/arithmetic.h) are a tie, won by all of them
//
// --mixed allows unlike workloads to be compared; it does not make them alike.
#ifndef PERTOKEN_MODEL_SCENARIO_RANKING_H
#define PERTOKEN_MODEL_SCENARIO_RANKING_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The reason why an option is not ranked.
enum rank_bar {
  RANK_FREE,        // it is ranked
  RANK_UPPER_BOUND, // decode only beside serving
  RANK_UNLIKE,      // another workload than the baseline's
  RANK_UNMET,       // some of the demand is not served
  RANK_SITE,        // the site's power is exceeded
  RANK_BARS
};

// The verdict on an option in the selected case.
struct standing {
  enum rank_bar bar;
  const char *why_not; // a clause such as "precision: fp8 and bf16"; "" for a ranked option
  bool compared, ranked;
  bool cheapest; // one of the cheapest
  // The option's saving, as of option_saving: a fraction; NAN also for the baseline and if
  // `compared` is false.
  double saving, saving_levelised;
};

struct ranking {
  const struct standing *options; // [option_count]
  size_t option_count;
  const char *asked;     // ranking_asked
  int cheapest;          // the first of the cheapest, an index; -1 if fewer than two are ranked
  size_t cheapest_count; // above 1: a tie
  const char *why_none;  // why there is no cheapest: a clause; "" if there is one
  // The option that the cheapest is compared with: the baseline or, if that is not ranked or is one
  // of the cheapest, the next cheapest ranked option; -1 if all ranked options tie. `saving` is the
  // cheapest's saving over it, a fraction; NAN if the cheapest costs less than nothing: that is no
  // share of a cost.
  int against;
  double saving;
  // The first of the cheapest by levelised_cost_per_mtok, if none of the cheapest is one of those:
  // then the discount rate decides who wins. Otherwise -1.
  int turned_to;
  // The same without what vendors owe for slow accelerators or a delay: then that decides who wins.
  int without_credit;
};

// The cost of a token if no vendor owes a remedy or damages, in base units.
double ranking_cost_without_credit(const struct scenario *scenario, const struct option *option);

// The verdict for the selected case, in the arena.
const struct ranking *ranking_of(const struct scenario *scenario, struct arena *arena);

// The same for a face in which another case can be selected: an option whose workload differs in
// one of them is not ranked in any.
const struct ranking *ranking_lasting(const struct scenario *scenario, struct arena *arena);

// Whether only amounts can keep the option from being ranked.
bool ranking_is_eligible(const struct standing *standing);

// Whether at least two options are eligible: otherwise no amount makes one the cheapest.
bool ranking_may_rank(const struct ranking *ranking);

// The reason why there is no cheapest option whenever fewer than two are ranked: a clause.
const char *ranking_why_nobody(const struct ranking *ranking, struct arena *arena);

// Whether both have serving figures or both have upper bounds: the part of the rule that neither a
// case nor a draw changes. Symmetric.
bool ranking_compares(const struct option *a, const struct option *b);

// The part of an option's standing that does not change with its amounts: every bar other than
// theirs. `why` is as standing.why_not.
struct fixed_bar {
  enum rank_bar bar;
  const char *why;
};

// The fixed bars of all options, [option_count], in the arena.
const struct fixed_bar *ranking_fixed_bars(const struct scenario *scenario, struct arena *arena);

// The first such bar of any case, as ranking_lasting counts it.
const struct fixed_bar *ranking_lasting_bars(const struct scenario *scenario, struct arena *arena);

// An item of the model that keeps an option from being ranked if it is beyond a limit. The limits
// allow for rounding, so that an exact fit passes.
struct ranking_amount {
  const char *item;
  enum rank_bar bar;
  bool at_most;                      // the limit is a maximum, else a minimum
  double limit, shown;               // the amount displayed stays on the worse side of `shown`
  const char *before, *after;        // "at worst it serves ", " % of the demand"
  const char *beside, *beside_words; // appended if that item is above zero; NULL: nothing
};

enum { RANKING_AMOUNTS = 2 };
extern const struct ranking_amount ranking_amounts[RANKING_AMOUNTS];

// The declaration of the item, or -1 if the option does not have it.
int ranking_amount_of(const struct scenario *scenario, const struct option *option,
                      const struct ranking_amount *amount);

bool ranking_holds(const struct ranking_amount *amount, double value);

// "at worst it serves 93.2 % of the demand"
const char *ranking_words(const struct ranking_amount *amount, double value, struct arena *arena);

// The requirement that the amounts put on an option: "serve the demand", "stay within the site
// power".
const char *ranking_asked(const struct scenario *scenario);

// Whether the verdict names the option: it is one of the cheapest, or ties with the one they are
// compared with.
bool ranking_names(const struct scenario *scenario, const struct ranking *ranking, size_t option);

// Whether a buyer who turns an option down may take `other`: both can be compared.
bool ranking_is_alternative(const struct ranking *ranking, size_t option, size_t other);

// The cheapest of an option's alternatives that are ranked or, if none is, of all: the first of
// equals; -1 without any.
int ranking_alternative(const struct scenario *scenario, const struct ranking *ranking,
                        size_t option);

// The option whose saving is looked into if none is named: the cheapest of those that are ranked
// other than the baseline, the first of equals; if none is ranked, of those that are compared, then
// of all. With a single option, that one.
size_t ranking_contender(const struct scenario *scenario);

// Marks the cheapest of the ranked options in `cheapest`, ties included, and returns how many there
// are: none if fewer than two are ranked. All three are [count]; the cost of an option that is not
// ranked does not matter.
size_t ranking_mark(const double *cost, const bool *ranked, size_t count, bool *cheapest);

// The same, given the number of options and the number with a bar that no amount changes.
const char *ranking_why_none(size_t option_count, size_t barred, const char *asked,
                             struct arena *arena);

#endif
