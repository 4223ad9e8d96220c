// Nodes that wait for each other in a folder: which may start, which are left out, and what a
// launcher tells. The test controls the clock and what other nodes do while one waits.
#include "base/clock.h"
#include "probe/fleet/launch.h"
#include "probe/fleet/roll.h"
#include "tests/support/fixture.h"

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 4, LOOKS = 64 };

// An action of another node at this node's n-th look.
struct action {
  int look, rank;
  enum roll_state state;
  int phase;
};

struct nodes_fixture {
  struct fixture fixture;
  char folder[64];
  struct clock clock;
  double now_s;
  int looks;
  const struct action *actions; // ends with a look of 0
  volatile sig_atomic_t stop;
  struct launch launches[NODES];
  struct roll nodes[NODES];
};

static double now(void *context) {
  return ((struct nodes_fixture *)context)->now_s;
}

static void sleep_and_watch(void *context, double seconds) {
  struct nodes_fixture *f = context;
  f->now_s += seconds;
  f->looks++;
  assert_true(f->looks < LOOKS);
  for (const struct action *action = f->actions; action && action->look; action++)
    if (action->look == f->looks) {
      f->nodes[action->rank].phase = action->phase;
      assert_int_equal(roll_tell(&f->nodes[action->rank], action->state), 0);
    }
}

static void start(struct nodes_fixture *f, int size, bool one_by_one) {
  *f = (struct nodes_fixture){.now_s = 1000};
  fixture_start(&f->fixture);
  snprintf(f->folder, sizeof f->folder, "/tmp/pertoken-roll-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  f->clock = (struct clock){now, sleep_and_watch, f};
  for (int i = 0; i < NODES; i++) {
    f->launches[i] =
        (struct launch){i, size, arena_printf(&f->fixture.arena, "node=%d", i), "00112233445566ff"};
    f->nodes[i] = (struct roll){.folder = f->folder,
                                .launch = &f->launches[i],
                                .node = f->launches[i].node,
                                .one_by_one = one_by_one,
                                .wait_s = 1,
                                .clock = &f->clock,
                                .stop = &f->stop,
                                .arena = &f->fixture.arena,
                                .diagnostics = &f->fixture.diagnostics};
  }
}

static void end(struct nodes_fixture *f) {
  struct roll_entry *entries;
  size_t count;
  roll_list(&f->nodes[0], &entries, &count);
  for (int i = 0; i < NODES; i++)
    if (f->nodes[i].entry)
      unlink(f->nodes[i].entry);
  assert_int_equal(rmdir(f->folder), 0);
  fixture_end(&f->fixture);
}

static struct roll_entry only_entry(struct nodes_fixture *f) {
  struct roll_entry *entries;
  size_t count;
  assert_int_equal(roll_list(&f->nodes[0], &entries, &count), 0);
  assert_int_equal(count, 1);
  return entries[0];
}

// ---- names

static void test_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    bool is_one;
  } cases[] = {
      {"waiting=1=2=0=ff=node-1", true},
      {"done=1=2=0=ff=a=b", true},
      {"done=1=2=0=ff=.hidden", false},
      {"done=1=2=0=ff=", false},
      {"done=1=2=0==node", false},
      {"done=1=2=-1=ff=node", false},
      {"done=1=2=ff=node", false},
      {"gone=1=2=0=ff=node", false},
      {"done", false},
      {"", false},
      {"done=1=99999999999=0=ff=n", false},
  };
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct roll_entry entry;
    if (roll_parse(cases[i].name, &entry, &fixture.arena) != cases[i].is_one)
      fail_msg("expected '%s' to be %s entry", cases[i].name, cases[i].is_one ? "an" : "no");
  }
  assert_true(roll_is_node_name("node-1.example.org"));
  assert_false(roll_is_node_name(".."));
  assert_false(roll_is_node_name("a/b"));
  assert_false(roll_is_node_name(""));
  assert_false(roll_is_node_name("a\nb"));
  fixture_end(&fixture);
}

static void test_an_entry_is_replaced(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 1, false);
  struct roll earlier = f.nodes[0];
  const struct launch before = {3, 9, "node=0", "ffffffffffffffff"};
  earlier.launch = &before;
  assert_int_equal(roll_tell(&earlier, ROLL_DONE), 0);
  f.nodes[0].phase = 2;
  assert_int_equal(roll_tell(&f.nodes[0], ROLL_WAITING), 0);
  assert_int_equal(only_entry(&f).rank, 0);
  unlink(f.nodes[0].entry); // a clumsy deletion
  assert_int_equal(roll_tell(&f.nodes[0], ROLL_MEASURING), 0);
  const struct roll_entry entry = only_entry(&f);
  assert_int_equal(entry.state, ROLL_MEASURING);
  assert_int_equal(entry.beat, 2);
  assert_string_equal(entry.node, "node=0");
  end(&f);
}

static void test_a_folder_that_is_gone(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 1, false);
  f.nodes[0].folder = "/nonexistent/folder";
  assert_int_equal(roll_tell(&f.nodes[0], ROLL_WAITING), -1);
  assert_true(f.fixture.diagnostics.machine_failed);
  end(&f);
}

// ---- waiting

// What rank `who` of `size` waits for, and how it ends: how often it looked, and its warnings.
static const struct wait_case {
  const char *what;
  int size, who, phase;
  bool one_by_one;
  struct action actions[6];
  int looks, result;
  const char *said; // NULL: nothing
} waits[] = {
    {"alone", 1, 0, 1, false, {{0}}, 0, 0, NULL},
    {"all at once",
     3,
     0,
     1,
     false,
     {{3, 1, ROLL_WAITING, 1}, {5, 2, ROLL_WAITING, 1}, {0}},
     5,
     0,
     NULL},
    {"others are further on",
     3,
     0,
     2,
     false,
     {{1, 1, ROLL_DONE, 9}, {2, 2, ROLL_MEASURING, 4}, {0}},
     2,
     0,
     NULL},
    {"others have failed",
     3,
     0,
     1,
     false,
     {{1, 1, ROLL_FAILED, 0}, {2, 2, ROLL_STOPPED, 0}, {0}},
     2,
     0,
     NULL},
    {"one is behind, and lost",
     3,
     0,
     2,
     false,
     {{1, 1, ROLL_WAITING, 2}, {1, 2, ROLL_MEASURING, 1}, {0}},
     12,
     0,
     "no sign of life for 1 s: continuing without node=2"},
    {"slow, but not lost",
     3,
     0,
     2,
     false,
     {{1, 1, ROLL_WAITING, 2},
      {9, 2, ROLL_MEASURING, 1},
      {17, 2, ROLL_MEASURING, 1},
      {25, 2, ROLL_WAITING, 2},
      {0}},
     25,
     0,
     NULL},
    {"nobody is there", 2, 1, 1, false, {{0}}, 10, -1, "none of the other 1 nodes was seen"},
    {"the first is lost",
     3,
     1,
     1,
     false,
     {{1, 2, ROLL_WAITING, 1}, {0}},
     12,
     0,
     "continuing without process 0"},
    {"its turn", 3, 1, 1, true, {{1, 0, ROLL_WAITING, 1}, {4, 0, ROLL_DONE, 1}, {0}}, 4, 0, NULL},
    {"the first has its turn at once", 3, 0, 1, true, {{0}}, 0, 0, NULL},
    {"both before it are lost",
     3,
     2,
     1,
     true,
     {{1, 0, ROLL_MEASURING, 1}, {1, 1, ROLL_WAITING, 1}, {0}},
     12,
     0,
     "continuing without node=0, node=1"},
    {"who gets on does not make up for who is lost",
     3,
     0,
     2,
     false,
     {{1, 2, ROLL_MEASURING, 1},
      {2, 1, ROLL_WAITING, 2},
      {6, 1, ROLL_MEASURING, 2},
      {9, 1, ROLL_DONE, 2},
      {0}},
     12,
     0,
     "continuing without node=2"},
    {"late, while others arrive",
     4,
     0,
     1,
     false,
     {{9, 1, ROLL_WAITING, 1}, {17, 2, ROLL_WAITING, 1}, {25, 3, ROLL_WAITING, 1}, {0}},
     25,
     0,
     NULL},
    {"waits itself, and says so",
     3,
     0,
     ROLL_END,
     false,
     {{1, 1, ROLL_DONE, 9},
      {8, 2, ROLL_WAITING, 2},
      {16, 2, ROLL_WAITING, 2},
      {24, 2, ROLL_DONE, 2},
      {0}},
     24,
     0,
     NULL},
};

static int wait_for(struct roll *roll, int phase) {
  return phase == ROLL_END ? roll_wait_for_end(roll) : roll_wait(roll, phase);
}

static void run_wait(const struct wait_case *wait) {
  struct nodes_fixture f;
  start(&f, wait->size, wait->one_by_one);
  f.actions = wait->actions;
  const int result = wait_for(&f.nodes[wait->who], wait->phase);
  const struct diagnostics *diagnostics = &f.fixture.diagnostics;
  const char *said = diagnostics->count ? diagnostics->list[diagnostics->count - 1].message : NULL;
  if (result != wait->result || abs(f.looks - wait->looks) > 1)
    fail_msg("%s: expected %d after %d looks, found %d after %d", wait->what, wait->result,
             wait->looks, result, f.looks);
  if (!said != !wait->said || (said && !strstr(said, wait->said)))
    fail_msg("%s: expected '%s', found '%s'", wait->what, wait->said ? wait->said : "",
             said ? said : "");
  if (!result)
    assert_int_equal(f.nodes[wait->who].left_out != NULL, true);
  end(&f);
}

static void test_waiting(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
    run_wait(&waits[i]);
}

// A rank that was left out is not waited for a second time, unless it has made progress meanwhile.
static void test_left_out_once(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 2, false);
  struct roll *here = &f.nodes[0], *there = &f.nodes[1];
  there->phase = 1;
  assert_int_equal(roll_tell(there, ROLL_MEASURING), 0);
  assert_int_equal(roll_wait(here, 2), 0);
  assert_true(here->has_left_out);
  const int looks = f.looks;
  assert_int_equal(roll_wait(here, 3), 0);
  assert_int_equal(f.looks, looks);
  const struct action back[] = {{f.looks + 3, 1, ROLL_WAITING, 4}, {0}};
  assert_int_equal(roll_tell(there, ROLL_MEASURING), 0);
  f.actions = back;
  assert_int_equal(roll_wait(here, 4), 0);
  assert_int_equal(f.looks, looks + 3);
  end(&f);
}

// While a node waits, the others see that it is alive, without more signs than they need.
static void test_signs(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 2, false);
  const struct action actions[] = {{8, 1, ROLL_MEASURING, 1}, {16, 1, ROLL_WAITING, 2}, {0}};
  struct roll *here = &f.nodes[0];
  f.actions = actions;
  assert_int_equal(roll_wait(here, 2), 0);
  assert_int_equal(f.looks, 16);
  assert_in_range(here->beat, 2 + 4, 2 + 8);
  const int beat = here->beat;
  const struct action ends[] = {{f.looks + 8, 1, ROLL_DONE, 2}, {0}};
  f.actions = ends;
  assert_int_equal(roll_tell(here, ROLL_DONE), 0);
  assert_int_equal(roll_wait_for_end(here), 0);
  assert_int_equal(here->beat, beat + 1);
  end(&f);
}

static void test_stopped(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 2, false);
  f.stop = SIGTERM;
  assert_int_equal(roll_wait(&f.nodes[0], 1), 0);
  assert_int_equal(f.looks, 0);
  end(&f);
}

// Nothing of another launch in the same folder counts.
static void test_another_launch(void **state) {
  (void)state;
  struct nodes_fixture f;
  start(&f, 2, false);
  const struct launch other = {1, 2, "node=1", "ffffffffffffffff"};
  const struct action actions[] = {{6, 1, ROLL_WAITING, 1}, {0}};
  const struct launch own = f.launches[1];
  f.launches[1] = other;
  f.nodes[1].phase = 7;
  assert_int_equal(roll_tell(&f.nodes[1], ROLL_DONE), 0);
  unlink(f.nodes[1].entry);
  assert_int_equal(roll_tell(&f.nodes[1], ROLL_DONE), 0);
  f.launches[1] = own;
  f.actions = actions;
  assert_int_equal(roll_wait(&f.nodes[0], 1), 0);
  assert_int_equal(f.looks, 6);
  end(&f);
}

// ---- what launchers tell

struct variable {
  const char *name, *value;
};

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMIX_NAMESPACE",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_JOB_ID",
    "SLURM_JOB_NUM_NODES",
    "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT",
    "SLURMD_NODENAME",
    "SLURM_CLUSTER_NAME",
    "OMPI_MCA_orte_hnp_uri",
};

static const struct launch_case {
  const char *what;
  struct variable set[8];
  int rank, size; // 0: refused
  const char *said;
} launch_cases[] = {
    {"by itself", {{0}}, 0, 1, NULL},
    {"srun",
     {{"SLURM_PROCID", "2"},
      {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x8)"},
      {"SLURMD_NODENAME", "n2"}},
     2,
     8,
     NULL},
    {"srun on one node",
     {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1"}},
     0,
     1,
     NULL},
    {"two tasks on some nodes",
     {{"SLURM_PROCID", "2"},
      {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x2),2(x3)"}},
     0,
     0,
     "--ntasks-per-node=1"},
    {"twelve tasks on a node",
     {{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "12"}, {"SLURM_STEP_TASKS_PER_NODE", "12"}},
     0,
     0,
     "--ntasks-per-node=1"},
    {"without srun",
     {{"SLURM_PROCID", "0"}, {"SLURM_JOB_NUM_NODES", "8"}},
     0,
     0,
     "this job has 8 nodes"},
    {"a job of one node", {{"SLURM_PROCID", "0"}, {"SLURM_JOB_NUM_NODES", "1"}}, 0, 1, NULL},
    {"mpirun in a job of Slurm's",
     {{"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
      {"SLURM_PROCID", "1"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}},
     3,
     4,
     NULL},
    {"two of mpirun on a node",
     {{"OMPI_COMM_WORLD_RANK", "0"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
     0,
     0,
     "mpirun --map-by ppr:1:node"},
    {"no number",
     {{"SLURM_PROCID", "two"}, {"SLURM_STEP_NUM_TASKS", "8"}},
     0,
     0,
     "SLURM_PROCID is 'two'"},
    {"beyond the last",
     {{"SLURM_PROCID", "8"}, {"SLURM_STEP_NUM_TASKS", "8"}},
     0,
     0,
     "from 0 to 7"},
};

static void set_environment(const struct variable *set) {
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  for (; set->name; set++)
    setenv(set->name, set->value, 1);
}

static void test_launchers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof launch_cases / sizeof launch_cases[0]; i++) {
    const struct launch_case *expected = &launch_cases[i];
    struct fixture fixture;
    struct launch launch;
    fixture_start(&fixture);
    set_environment(expected->set);
    const int result = launch_read(&launch, &fixture.arena, &fixture.diagnostics);
    if (result != (expected->size ? 0 : -1) ||
        (!result && (launch.rank != expected->rank || launch.size != expected->size)))
      fail_msg("%s: expected %d of %d, found %d of %d", expected->what, expected->rank,
               expected->size, launch.rank, launch.size);
    if (expected->said && !strstr(fixture.diagnostics.list[0].message, expected->said))
      fail_msg("%s: expected '%s' in '%s'", expected->what, expected->said,
               fixture.diagnostics.list[0].message);
    fixture_end(&fixture);
  }
}

// All ranks of a launch agree; the next step, a requeued job and another cluster do not.
static void test_keys(void **state) {
  (void)state;
  static const struct variable others[] = {{"SLURM_STEP_ID", "1"},
                                           {"SLURM_RESTART_COUNT", "1"},
                                           {"SLURM_JOB_ID", "8"},
                                           {"SLURM_CLUSTER_NAME", "b"}};
  const struct variable first[] = {
      {"SLURM_PROCID", "0"},  {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
      {"SLURM_STEP_ID", "0"}, {"SLURM_JOB_ID", "7"},         {0}};
  struct fixture fixture;
  struct launch launch, next;
  fixture_start(&fixture);
  set_environment(first);
  assert_int_equal(launch_read(&launch, &fixture.arena, &fixture.diagnostics), 0);
  setenv("SLURM_PROCID", "1", 1);
  assert_int_equal(launch_read(&next, &fixture.arena, &fixture.diagnostics), 0);
  assert_string_equal(launch.key, next.key);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    set_environment(first);
    setenv(others[i].name, others[i].value, 1);
    assert_int_equal(launch_read(&next, &fixture.arena, &fixture.diagnostics), 0);
    assert_string_not_equal(launch.key, next.key);
  }
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),          cmocka_unit_test(test_an_entry_is_replaced),
      cmocka_unit_test(test_waiting),        cmocka_unit_test(test_a_folder_that_is_gone),
      cmocka_unit_test(test_left_out_once),  cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_another_launch), cmocka_unit_test(test_launchers),
      cmocka_unit_test(test_keys),           cmocka_unit_test(test_signs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
