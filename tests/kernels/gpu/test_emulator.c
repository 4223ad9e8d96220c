// The host emulator of GPUs: correct kernels are correct on every schedule, and errors in the
// others are detected.
// Seconds: 4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stand_ins/emulator/check_kernels.h"
#include "tests/support/library.h"

#define SEEDS 40

static const char *const libraries[] = {"checks32", "checks64", "checks64fnuz"};
#define LIBRARIES (sizeof libraries / sizeof libraries[0])

static void *handles[LIBRARIES];
static check_function *checks[LIBRARIES];

static int load(void **state) {
  (void)state;
  for (size_t i = 0; i < LIBRARIES; i++) {
    handles[i] = library_open(libraries[i]);
    *(void **)&checks[i] = library_symbol(handles[i], "emulator_check");
    if (!checks[i]) {
      return -1;
    }
  }
  return 0;
}

static int unload(void **state) {
  (void)state;
  for (size_t i = 0; i < LIBRARIES; i++) {
    dlclose(handles[i]);
  }
  return 0;
}

static void test_right_kernels_are_right_on_every_schedule(void **state) {
  static const char *const kernels[] = {
      "sum",      "sum_by_warps", "sum_by_copies", "sum_by_ring",      "last_arriver",
      "grid_sum", "cluster_sum",  "read_cluster",  "sum_by_lane_ring", "grid_sum_as_found"};
  (void)state;
  for (size_t library = 0; library < LIBRARIES; library++) {
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
      for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct check_outcome outcome = checks[library](kernels[k], seed);
        if (!outcome.right) {
          fail_msg("%s, %s, schedule seed %llu: %s", libraries[library], kernels[k],
                   (unsigned long long)seed, outcome.error ? outcome.error : "wrong");
        }
      }
    }
  }
}

// Each lacks one wait, or guesses which block is last. `words`: those of every message there is.
static const char in_shared[] = "with no wait in between";
static const struct {
  const char *kernel, *words;
} without_wait[] = {
    // Reported as a race in shared memory, or wrong on some schedules, though not on all.
    {"sum_without_barrier_1", in_shared},
    {"sum_without_barrier_2", in_shared},
    {"sum_without_barrier_3", in_shared},
    {"sum_without_barrier_4", in_shared},
    {"sum_without_warp_wait", in_shared},
    {"last_by_number", in_shared},
    {"grid_sum_of_too_few", in_shared},
    {"grid_sum_without_standing_by", ""},
    // On most schedules, a copy that is not waited for arrives too late; filling a stage too early
    // is reported.
    {"copies_without_full", ""},
    {"copies_without_empty", ""},
    {"ring_without_wait", ""},
    {"ring_refilled_early", ""},
    {"lane_ring_without_wait", ""},
    {"lane_ring_refilled_early", ""},
    {"lane_ring_waits_too_little", ""},
    // A block of a cluster that does not wait for the other, or for half of its warps only, meets
    // barriers that were not made, contents of another round or none, or a block that has ended.
    {"cluster_without_begin", ""},
    {"cluster_without_empty", ""},
    {"cluster_without_end", ""},
    {"cluster_without_half", ""},
    {"read_cluster_early", ""},
    {"read_cluster_without_end", ""},
    {"read_cluster_own", ""},
};

// Each of the kernels is wrong on a quarter of the schedules or more.
static void test_a_missing_wait_is_noticed(void **state) {
  (void)state;
  for (size_t library = 0; library < LIBRARIES; library++) {
    for (size_t k = 0; k < sizeof without_wait / sizeof without_wait[0]; k++) {
      int wrong = 0;
      for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct check_outcome outcome = checks[library](without_wait[k].kernel, seed);
        assert_true(!outcome.error || strstr(outcome.error, without_wait[k].words));
        wrong += !outcome.right;
      }
      print_message("%s: %s is wrong by %d of %d schedules\n", libraries[library],
                    without_wait[k].kernel, wrong, SEEDS);
      assert_true(wrong >= SEEDS / 4);
    }
  }
}

static const struct {
  const char *kernel, *words[3]; // parts of the message
} faults[] = {
    {"barrier_for_some", {"block_wait", "is for the whole block", "has left the kernel"}},
    {"barrier_for_some_lanes", {"warp_wait", "is for the whole warp", "is at block_wait"}},
    {"barriers_apart", {"block_wait", "while others of its block are at block_wait"}},
    {"shuffle_for_some", {"shuffle_xor", "is for the whole warp", "has left the kernel"}},
    {"shuffles_apart", {"shuffle_xor", "while others of its warp are at shuffle_xor"}},
    {"last_of_too_few", {"arrive_last finds"}},
    {"read_too_early", {"load_published_float before wait_for_previous"}},
    {"never_waits", {"has not called wait_for_previous"}},
    {"grid_sum_of_too_many", {"is for the whole block", "thread 0 is at grid_wait"}},
    {"grid_arrives_twice", {"grid_arrive with no wait since the last"}},
    {"grid_sum_by_plain_loads", {"a plain load of what another block has published at once"}},
    {"grid_stands_by_forever", {"deadlock", "stand_by"}},
    {"grid_read_too_early", {"load_published_float before wait_for_previous"}},
    {"unaligned_words", {"load_weights", "no multiple of 16"}},
    {"copies_without_barriers", {"a barrier is used that was not made"}},
    {"ring_waits_too_often", {"deadlock", "ring_wait"}},
    {"shared_words_overrun", {"store_shared", "of shared memory"}},
    {CHECK_NO_KERNEL, {"no such kernel"}},
    {CHECK_ARGUMENTS, {"arguments are of another size"}},
    {CHECK_BLOCK, {"no multiple of the warp"}},
    {CHECK_GRID, {"grid is empty"}},
    {CHECK_RESIDENT, {"more blocks than are resident at a time"}},
    {CHECK_ALONE, {"grid_wait in a launch that is not cooperative"}},
    {CHECK_CLUSTER, {"the grid no multiple of it"}},
    {"cluster_arrives_twice", {"cluster_arrive with no cluster_wait since the last"}},
    {"read_cluster_unaligned", {"16 bytes of another block", "no multiple of them"}},
};

static void test_faults_are_told_in_words(void **state) {
  (void)state;
  for (size_t library = 0; library < LIBRARIES; library++) {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
      for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const char *error = checks[library](faults[i].kernel, seed).error;
        for (size_t word = 0; word < 3 && faults[i].words[word]; word++) {
          if (!error || !strstr(error, faults[i].words[word])) {
            fail_msg("%s, %s, schedule seed %llu: \"%s\" lacks \"%s\"", libraries[library],
                     faults[i].kernel, (unsigned long long)seed, error ? error : "",
                     faults[i].words[word]);
          }
        }
      }
      assert_true(checks[library]("sum", i).right); // the stacks left over are reused
    }
  }
}

static void test_a_message_says_where(void **state) {
  (void)state;
  const char *error = checks[0]("shared_words_overrun", 3).error;
  assert_non_null(strstr(error, "kernel shared_words_overrun, block "));
  assert_non_null(strstr(error, ", thread 5: "));
  assert_non_null(strstr(error, "(schedule seed 3)"));
}

#if defined(__SANITIZE_ADDRESS__)
static void assert_overrun(check_function *check, const char *kernel) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    close(STDERR_FILENO);
    check(kernel, 1);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0);
}
#else
static void assert_overrun(check_function *check, const char *kernel) {
  const char *error = check(kernel, 1).error;
  assert_non_null(error);
  assert_non_null(strstr(error, "of shared memory"));
}
#endif

// Plain accesses: the address sanitizer ends the program.
static void test_leaving_shared_memory_is_noticed(void **state) {
  (void)state;
  for (size_t library = 0; library < LIBRARIES; library++) {
    assert_overrun(checks[library], "shared_overrun");
    assert_overrun(checks[library], "shared_overrun_reading");
    assert_overrun(checks[library], "shared_overrun_copying");
  }
}

static void test_conversions_are_those_of_the_host(void **state) {
  (void)state;
  for (size_t library = 0; library < LIBRARIES; library++) {
    assert_true(checks[library](CHECK_CONVERSIONS, 0).right);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_kernels_are_right_on_every_schedule),
      cmocka_unit_test(test_a_missing_wait_is_noticed),
      cmocka_unit_test(test_faults_are_told_in_words),
      cmocka_unit_test(test_a_message_says_where),
      cmocka_unit_test(test_leaving_shared_memory_is_noticed),
      cmocka_unit_test(test_conversions_are_those_of_the_host),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
