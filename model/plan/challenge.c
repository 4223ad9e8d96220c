#include "model/plan/challenge.h"

#include "base/arena.h"
#include "base/clock.h"
#include "model/plan/fleet.h"

#include <math.h>
#include <string.h>

// Costs that differ by less than this share count as equal.
static const double tie = 1e-6;

static const double solving_share = 0.9; // maximum share of the time

// ---- the same fleet, moved

// Replaces one lot of action a, or all of them, with as many of b, or with nothing if b == a,
// provided that this keeps every constraint and costs less.
static bool try_move(const struct fleet_problem *problem, struct planned_fleet *fleet, size_t a,
                     size_t b, double most, struct arena *arena) {
  struct planned_fleet moved = fleet_copy(problem, fleet, arena);
  fleet_gather_tiers(problem, &moved);
  const double part = fmin(most, moved.lots[a]);
  moved.lots[a] -= part;
  if (b != a)
    moved.lots[b] += part;
  fleet_take_tiers(problem, &moved);
  fleet_sum(problem, &moved);
  if (moved.cost >= fleet->cost - tie * fabs(fleet->cost) || fleet_broken(problem, &moved))
    return false;
  memcpy(fleet->lots, moved.lots, problem->action_count * sizeof *moved.lots);
  fleet->cost = moved.cost;
  fleet->outlay = moved.outlay;
  return true;
}

// Whether replacing a with b can pay: with volume tiers, what is more expensive per lot can be
// cheaper per order.
static bool may_pay(const struct fleet_problem *problem, size_t a, size_t b) {
  const struct fleet_action *from = &problem->actions[a], *to = &problem->actions[b];
  if (from->option != to->option || from->tier)
    return false;
  return a == b || (fleet_tiers(problem, a) ? to->tier == 0 : to->cost < from->cost);
}

static bool move_any(const struct fleet_problem *problem, struct planned_fleet *fleet,
                     struct arena *arena) {
  for (size_t a = 0; a < problem->action_count; a++)
    for (size_t b = 0; b < problem->action_count && fleet_lots_of_tiers(problem, fleet, a) > 0; b++)
      if (may_pay(problem, a, b) &&
          (try_move(problem, fleet, a, b, 1, arena) ||
           (fleet_tiers(problem, a) && try_move(problem, fleet, a, b, INFINITY, arena))))
        return true;
  return false;
}

// Moves purchases of a fleet to other periods and lengths, or drops them, as long as that saves
// anything and keeps every constraint. Returns the number of moves.
static size_t move_purchases(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  enum { MAX_MOVES = 1000 };
  size_t moves = 0;
  bool moved = true;
  while (moved && moves < MAX_MOVES) {
    struct arena scratch = {NULL};
    moved = move_any(problem, fleet, &scratch);
    moves += moved;
    arena_free(&scratch);
  }
  return moves;
}

// ---- other fleets

static struct fleet_problem with_pairs(const struct fleet_problem *problem, struct arena *arena,
                                       struct fleet_pair **pairs) {
  const size_t count = problem->workload_count * problem->option_count;
  struct fleet_problem other = *problem;
  *pairs = arena_array(arena, count, sizeof **pairs);
  memcpy(*pairs, problem->pairs, count * sizeof **pairs);
  other.pairs = *pairs;
  return other;
}

static void bar(const struct fleet_problem *problem, struct fleet_pair *pairs, size_t option,
                struct arena *arena) {
  double *nothing = arena_array(arena, (size_t)problem->periods, sizeof *nothing);
  memset(nothing, 0, (size_t)problem->periods * sizeof *nothing);
  for (size_t w = 0; w < problem->workload_count; w++)
    pairs[w * problem->option_count + option].capacity = nothing;
}

struct fleet_problem challenge_without(const struct fleet_problem *problem, size_t option,
                                       struct arena *arena) {
  struct fleet_pair *pairs;
  const struct fleet_problem other = with_pairs(problem, arena, &pairs);
  bar(problem, pairs, option, arena);
  return other;
}

struct fleet_problem challenge_single(const struct fleet_problem *problem, int vendor,
                                      struct arena *arena) {
  struct fleet_pair *pairs;
  struct fleet_problem other = with_pairs(problem, arena, &pairs);
  double *shares = arena_array(arena, (size_t)problem->vendor_count, sizeof *shares);
  memset(shares, 0, (size_t)problem->vendor_count * sizeof *shares);
  other.minimum_shares = shares;
  for (size_t o = 0; o < problem->option_count; o++)
    if (problem->options[o].vendor != vendor)
      bar(problem, pairs, o, arena);
  return other;
}

bool challenge_may_be_single(const struct fleet_problem *problem, int vendor) {
  for (int v = 0; v < problem->vendor_count; v++)
    if (v != vendor && problem->minimum_shares[v] > 0)
      return false;
  return true;
}

// A fleet that beats another shows that the other was not the cheapest. Any beats none.
static void challenge(const struct fleet_problem *other, double time_s,
                      struct programme_result *best, struct arena *arena) {
  const double to_beat = programme_has_fleet(best) ? best->fleet.cost - tie * fabs(best->fleet.cost)
                                                   : (double)INFINITY;
  const struct programme_limits limits = {.time_s = time_s, .cost = to_beat};
  const struct programme_result result = programme_solve(other, limits, arena);
  if (!programme_has_fleet(&result) || result.fleet.cost >= to_beat)
    return;
  best->fleet = result.fleet;
  best->status = PROGRAMME_UNPROVEN;
}

static bool is_refuted(const struct programme_result *best, bool was_proven) {
  return was_proven && best->status != PROGRAMME_OPTIMAL;
}

// Solves smaller problems, each with an equal part of the time: what was proven until one beats it,
// otherwise all.
static void challenge_all(const struct fleet_problem *problem, struct programme_result *best,
                          double end_s, struct arena *arena) {
  const bool was_proven = best->status == PROGRAMME_OPTIMAL;
  size_t left = problem->option_count + (size_t)problem->vendor_count;
  for (int v = 0; v < problem->vendor_count && !is_refuted(best, was_proven); v++) {
    const struct fleet_problem other = challenge_single(problem, v, arena);
    if (challenge_may_be_single(problem, v))
      challenge(&other, clock_part_until(&machine_clock, end_s, left), best, arena);
    left--;
  }
  for (size_t o = 0; o < problem->option_count && !is_refuted(best, was_proven); o++) {
    const struct fleet_problem other = challenge_without(problem, o, arena);
    challenge(&other, clock_part_until(&machine_clock, end_s, left--), best, arena);
  }
}

void challenge_hold(const struct fleet_problem *problem, struct programme_result *best,
                    double time_s, struct arena *arena) {
  const double end_s = clock_now(&machine_clock) + time_s;
  if (move_purchases(problem, &best->fleet))
    best->status = PROGRAMME_UNPROVEN;
  if (best->status == PROGRAMME_OPTIMAL)
    challenge_all(problem, best, end_s, arena);
  best->bound = fmin(best->bound, best->fleet.cost);
}

// Uses the fleet known beforehand if nothing cheaper was found.
static void take_known(const struct fleet_problem *problem, const struct planned_fleet *known,
                       struct programme_result *best, struct arena *arena) {
  if (programme_has_fleet(best) && best->fleet.cost <= known->cost)
    return;
  if (best->status == PROGRAMME_BEATEN)
    best->bound = known->cost;
  best->status = best->status == PROGRAMME_BEATEN || best->status == PROGRAMME_OPTIMAL
                     ? PROGRAMME_OPTIMAL
                     : PROGRAMME_UNPROVEN;
  best->fleet = fleet_copy(problem, known, arena);
}

struct programme_result challenge_prove(const struct fleet_problem *problem,
                                        const struct planned_fleet *known, double time_s,
                                        struct arena *arena) {
  const double end_s = clock_now(&machine_clock) + time_s;
  const struct programme_limits limits = {.time_s = solving_share * time_s,
                                          .cost = known ? known->cost - tie * fabs(known->cost)
                                                        : INFINITY};
  struct programme_result best = programme_solve(problem, limits, arena);
  if (known)
    take_known(problem, known, &best, arena);
  // What is too large as a whole may be solved without a part of it.
  if (best.status == PROGRAMME_FAILED)
    challenge_all(problem, &best, end_s, arena);
  if (programme_has_fleet(&best))
    challenge_hold(problem, &best, clock_part_until(&machine_clock, end_s, 1), arena);
  return best;
}
