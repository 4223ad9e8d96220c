// A node of a fleet that measures several workloads of several trials each: it enters none before
// the other node does. The test controls the clock, and what the other node does while one waits.
#include "base/clock.h"
#include "probe/fleet/member.h"
#include "probe/fleet/node_lists.h"
#include "probe/options/offered.h"
#include "probe/options/options.h"
#include "tests/support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKLOADS = 3, TRIALS = 4, NODES = 2 };

struct yard {
  struct fixture fixture;
  char folder[64];
  struct clock clock;
  double now_s;
  struct member nodes[NODES];
  size_t waits;
  // What the other node does once this one waits for it: joins, or enters this trial.
  bool joins;
  size_t workload, trial;
  volatile sig_atomic_t stop;
};

static void join(struct yard *yard, int rank) {
  struct member *node = &yard->nodes[rank];
  char number[2] = {(char)('0' + rank), '\0'}, name[8] = "node-";
  setenv("SLURM_PROCID", number, 1);
  setenv("SLURMD_NODENAME", strcat(name, number), 1);
  *node = (struct member){.shared = yard->folder,
                          .wait_s = 60,
                          .clock = &yard->clock,
                          .stop = &yard->stop,
                          .arena = &yard->fixture.arena,
                          .diagnostics = &yard->fixture.diagnostics};
  assert_int_equal(member_name(node, ""), 0);
  assert_int_equal(member_join(node, "0123456789abcdef"), 0);
}

static double now(void *context) {
  return ((struct yard *)context)->now_s;
}

static void sleep_and_watch(void *context, double seconds) {
  struct yard *yard = context;
  yard->now_s += seconds;
  if (yard->waits++ > 0)
    fail_msg("the other node is there, and still it is waited for");
  if (yard->joins)
    join(yard, 1);
  else
    assert_int_equal(member_pass(&yard->nodes[1], yard->workload, yard->trial, true), 0);
}

static void start(struct yard *yard) {
  *yard = (struct yard){.now_s = 1000};
  fixture_start(&yard->fixture);
  snprintf(yard->folder, sizeof yard->folder, "/tmp/pertoken-phases-XXXXXX");
  assert_non_null(mkdtemp(yard->folder));
  yard->clock = (struct clock){now, sleep_and_watch, yard};
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  setenv("SLURM_STEP_TASKS_PER_NODE", "1(x2)", 1);
}

static void end(struct yard *yard, int count) {
  struct node_lists lists;
  for (int rank = count - 1; rank >= 0; rank--)
    assert_int_equal(member_leave(&yard->nodes[rank], false, &lists), 0);
  const char *command = arena_printf(&yard->fixture.arena, "rm -rf '%s'", yard->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&yard->fixture);
}

static void test_each_trial_is_entered_together(void **state) {
  struct yard yard;
  (void)state;
  start(&yard);
  yard.joins = true;
  join(&yard, 0);
  assert_int_equal(yard.waits, 1);
  yard.joins = false;
  for (yard.workload = 0; yard.workload < WORKLOADS; yard.workload++)
    for (yard.trial = 0; yard.trial < TRIALS; yard.trial++) {
      yard.waits = 0;
      assert_int_equal(member_pass(&yard.nodes[0], yard.workload, yard.trial, true), 0);
      if (yard.waits != 1)
        fail_msg("workload %zu, trial %zu: the other node is not waited for", yard.workload,
                 yard.trial);
    }
  end(&yard, NODES);
}

// Having measured one variant of the kernels does not count for another.
static void test_variants_are_apart(void **state) {
  static const char *const variants[] = {NULL, "step=streaming", "matrix=registers"};
  const char *plans[3];
  struct fixture fixture;
  (void)state;
  fixture_start(&fixture);
  for (size_t i = 0; i < 3; i++) {
    const struct offered workload = {
        "", {.device = "cpu", .model = "tiny", .kv = "bf16", .variant = variants[i]}};
    plans[i] = offered_plan(&workload, 1, &fixture.arena);
    assert_int_equal(strlen(plans[i]), 16);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(plans[i], plans[k]);
  }
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_trial_is_entered_together),
      cmocka_unit_test(test_variants_are_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
