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

struct nodes_fixture {
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

static void join(struct nodes_fixture *f, int rank) {
  struct member *node = &f->nodes[rank];
  char number[2] = {(char)('0' + rank), '\0'}, name[8] = "node-";
  setenv("SLURM_PROCID", number, 1);
  setenv("SLURMD_NODENAME", strcat(name, number), 1);
  *node = (struct member){.shared = f->folder,
                          .wait_s = 60,
                          .clock = &f->clock,
                          .stop = &f->stop,
                          .arena = &f->fixture.arena,
                          .diagnostics = &f->fixture.diagnostics};
  assert_int_equal(member_name(node, ""), 0);
  assert_int_equal(member_join(node, "0123456789abcdef"), 0);
}

static double now(void *context) {
  return ((struct nodes_fixture *)context)->now_s;
}

static void sleep_and_watch(void *context, double seconds) {
  struct nodes_fixture *f = context;
  f->now_s += seconds;
  if (f->waits++ > 0)
    fail_msg("the other node is there, and still it is waited for");
  if (f->joins)
    join(f, 1);
  else
    assert_int_equal(member_pass(&f->nodes[1], f->workload, f->trial, true), 0);
}

static void start(struct nodes_fixture *f) {
  *f = (struct nodes_fixture){.now_s = 1000};
  fixture_start(&f->fixture);
  snprintf(f->folder, sizeof f->folder, "/tmp/pertoken-phases-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  f->clock = (struct clock){now, sleep_and_watch, f};
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  setenv("SLURM_STEP_TASKS_PER_NODE", "1(x2)", 1);
}

static void end(struct nodes_fixture *f, int count) {
  struct node_lists lists;
  for (int rank = count - 1; rank >= 0; rank--)
    assert_int_equal(member_leave(&f->nodes[rank], false, &lists), 0);
  const char *command = arena_printf(&f->fixture.arena, "rm -rf '%s'", f->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&f->fixture);
}

static void test_each_trial_is_entered_together(void **state) {
  struct nodes_fixture f;
  (void)state;
  start(&f);
  f.joins = true;
  join(&f, 0);
  assert_int_equal(f.waits, 1);
  f.joins = false;
  for (f.workload = 0; f.workload < WORKLOADS; f.workload++)
    for (f.trial = 0; f.trial < TRIALS; f.trial++) {
      f.waits = 0;
      assert_int_equal(member_pass(&f.nodes[0], f.workload, f.trial, true), 0);
      if (f.waits != 1)
        fail_msg("workload %zu, trial %zu: the other node is not waited for", f.workload, f.trial);
    }
  end(&f, NODES);
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
