// A node of a fleet that measures several workloads of several trials each: it enters none before
// the other node does. The test controls the clock, and what the other node does while one waits.
#include "base/clock.h"
#include "probe/commands/fleet.h"
#include "probe/commands/offered.h"
#include "probe/commands/options.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"
#include "tests/support/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKLOADS = 3, TRIALS = 4, NODES = 2 };

struct node {
  struct fleet_member member;
  struct probe_options options;
  struct offered workloads[WORKLOADS];
};

struct yard {
  struct fixture fixture;
  char folder[64];
  struct clock clock;
  double now_s;
  struct node nodes[NODES];
  size_t waits;
  // What the other node does once this one waits for it: joins, or enters this trial.
  bool joins;
  size_t workload, trial;
  volatile sig_atomic_t stop;
};

static void enter(struct node *node, size_t workload, size_t number) {
  const struct trial trial = {.number = number};
  const struct session_gate *gate = &node->member.gate;
  node->member.workload = workload;
  assert_int_equal(gate->pass(gate->context, &trial, true), 0);
}

static struct protocol protocol_of(struct yard *yard) {
  return (struct protocol){.clock = &yard->clock,
                           .stop = &yard->stop,
                           .arena = &yard->fixture.arena,
                           .diagnostics = &yard->fixture.diagnostics};
}

static void join(struct yard *yard, int rank, const char *variant) {
  struct node *node = &yard->nodes[rank];
  const struct protocol protocol = protocol_of(yard);
  char number[2] = {(char)('0' + rank), '\0'}, name[8] = "node-";
  setenv("SLURM_PROCID", number, 1);
  setenv("SLURMD_NODENAME", strcat(name, number), 1);
  node->options = (struct probe_options){.device = "cpu",
                                         .model = "tiny",
                                         .kv = "bf16",
                                         .node = "",
                                         .variant = variant,
                                         .output_directory = yard->folder,
                                         .wall = {.typed_w = NAN, .note = ""},
                                         .fleet = {.wait_s = 60}};
  for (size_t w = 0; w < WORKLOADS; w++)
    node->workloads[w] = (struct offered){"", node->options};
  assert_int_equal(fleet_join(&node->member, &node->options, node->workloads, WORKLOADS, &protocol),
                   0);
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
    join(yard, 1, NULL);
  else
    enter(&yard->nodes[1], yard->workload, yard->trial);
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
  struct fleet_tally tally;
  for (int rank = count - 1; rank >= 0; rank--)
    assert_int_equal(fleet_leave(&yard->nodes[rank].member, false, &tally), 0);
  const char *command = arena_printf(&yard->fixture.arena, "rm -rf '%s'", yard->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&yard->fixture);
}

static void each_trial_is_entered_together(void **state) {
  struct yard yard;
  (void)state;
  start(&yard);
  yard.joins = true;
  join(&yard, 0, NULL);
  assert_int_equal(yard.waits, 1);
  yard.joins = false;
  for (yard.workload = 0; yard.workload < WORKLOADS; yard.workload++)
    for (yard.trial = 0; yard.trial < TRIALS; yard.trial++) {
      yard.waits = 0;
      enter(&yard.nodes[0], yard.workload, yard.trial);
      if (yard.waits != 1)
        fail_msg("workload %zu, trial %zu: the other node is not waited for", yard.workload,
                 yard.trial);
    }
  end(&yard, NODES);
}

// Having measured one variant of the kernels does not count for another.
static void variants_are_apart(void **state) {
  static const char *const variants[] = {NULL, "step=streaming", "matrix=registers"};
  const char *folders[3];
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    struct yard yard;
    start(&yard);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    join(&yard, 0, variants[i]);
    const char *folder = strrchr(yard.nodes[0].member.roll.folder, '/');
    folders[i] = strdup(folder);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(folders[i], folders[k]);
    end(&yard, 1);
  }
  for (size_t i = 0; i < 3; i++)
    free((char *)folders[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_trial_is_entered_together),
      cmocka_unit_test(variants_are_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
