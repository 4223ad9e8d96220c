// Fleets that are not the cheapest do not pass for it, and one that is passes when it is known
// beforehand.
#include "tests/support/fixture.h"
#include "tests/support/small_plan.h"

#include "base/arena.h"
#include "model/plan/challenge.h"
#include "model/plan/fleet.h"
#include "model/plan/programme.h"

#include <cmocka.h>
#include <math.h>

// One lot more than needed.
static bool add_lot(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  for (size_t a = 0; a < problem->action_count; a++)
    if (fleet->lots[a] > 0 && !fleet_tiers(problem, a)) {
      fleet->lots[a]++;
      return true;
    }
  return false;
}

// One lot at another time, or for longer, at a higher cost.
static bool move_lot(const struct fleet_problem *problem, struct planned_fleet *fleet) {
  for (size_t a = 0; a < problem->action_count; a++)
    for (size_t b = 0; b < problem->action_count; b++) {
      const struct fleet_action *from = &problem->actions[a], *to = &problem->actions[b];
      struct arena arena = {NULL};
      struct planned_fleet moved = fleet_copy(problem, fleet, &arena);
      bool is_kept = fleet->lots[a] > 0 && from->option == to->option && to->cost > from->cost &&
                     !fleet_tiers(problem, a);
      moved.lots[a]--;
      moved.lots[b]++;
      is_kept = is_kept && !fleet_broken(problem, &moved);
      arena_free(&arena);
      if (!is_kept)
        continue;
      fleet->lots[a]--;
      fleet->lots[b]++;
      return true;
    }
  return false;
}

// The best fleet without the only option that the best fleet has.
static bool leave_out(const struct fleet_problem *problem, struct planned_fleet *fleet,
                      struct arena *arena) {
  bool has[OPTIONS] = {false};
  for (size_t o = 0; o < OPTIONS; o++)
    for (int t = 0; t < problem->periods; t++)
      has[o] |= fleet_has(problem, fleet, o, t);
  if (has[0] == has[1])
    return false;
  const struct fleet_problem other = challenge_without(problem, has[0] ? 0 : 1, arena);
  const struct programme_limits limits = {.time_s = 60, .cost = INFINITY};
  const struct programme_result result = programme_solve(&other, limits, arena);
  *fleet = result.fleet;
  return programme_has_fleet(&result);
}

static void test_challenges(void **state) {
  enum { KINDS = 3, EACH = 12 };
  unsigned worsened[KINDS] = {0};
  (void)state;
  if (!programme_available())
    skip();
  for (unsigned number = 0; worsened[0] < EACH || worsened[1] < EACH || worsened[2] < EACH;
       number++) {
    struct arena arena = {NULL};
    struct small_plan plan;
    small_plan_make(&plan, number);
    assert_true(number < 1000);
    const struct programme_result best = challenge_prove(&plan.problem, NULL, 60, &arena);
    const unsigned kind = number % KINDS;
    struct programme_result worse = best;
    if (best.status == PROGRAMME_OPTIMAL) {
      struct planned_fleet fleet = fleet_copy(&plan.problem, &best.fleet, &arena);
      const bool made = kind == 0   ? add_lot(&plan.problem, &fleet)
                        : kind == 1 ? move_lot(&plan.problem, &fleet)
                                    : leave_out(&plan.problem, &fleet, &arena);
      fleet_sum(&plan.problem, &fleet);
      worse.fleet = fleet;
      worse.bound = fleet.cost;
      const bool is_worse =
          made && !fleet_broken(&plan.problem, &fleet) && fleet.cost > best.fleet.cost * (1 + 1e-4);
      challenge_hold(&plan.problem, &worse, 60, &arena);
      if (is_worse &&
          (worse.status != PROGRAMME_UNPROVEN || worse.fleet.cost > best.fleet.cost * (1 + 1e-6)))
        fail_msg("plan %u, kind %u: %.9g passes for the least, which is %.9g", number, kind,
                 worse.fleet.cost, best.fleet.cost);
      worsened[kind] += is_worse;
    }
    arena_free(&arena);
  }
}

// A plan known beforehand is kept unless something costs less.
static void test_known(void **state) {
  struct arena arena = {NULL};
  struct small_plan plan;
  unsigned number = 0;
  (void)state;
  if (!programme_available())
    skip();
  struct programme_result best = {.status = PROGRAMME_FAILED};
  for (; best.status != PROGRAMME_OPTIMAL; number++) {
    small_plan_make(&plan, number);
    best = challenge_prove(&plan.problem, NULL, 60, &arena);
  }
  const struct programme_result again = challenge_prove(&plan.problem, &best.fleet, 60, &arena);
  assert_int_equal(again.status, PROGRAMME_OPTIMAL);
  assert_true(fabs(again.fleet.cost - best.fleet.cost) <= 1e-9 * best.fleet.cost);
  const struct programme_result late = challenge_prove(&plan.problem, &best.fleet, 0, &arena);
  assert_true(programme_has_fleet(&late));
  assert_true(fabs(late.fleet.cost - best.fleet.cost) <= 1e-9 * best.fleet.cost);
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_challenges),
                                     cmocka_unit_test(test_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
