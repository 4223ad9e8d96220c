#include "base/arena.h"
#include "base/clock.h"
#include "model/evidence/catalog.h"
#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/commands/measuring.h"
#include "probe/commands/progress.h"
#include "probe/fleet/member.h"
#include "probe/fleet/node_lists.h"
#include "probe/measure/trial.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"
#include "probe/options/node_wall.h"
#include "probe/options/offered.h"
#include "probe/options/options.h"
#include "probe/sessions/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// What this node measures, one workload after another.
struct visit {
  struct member member;
  struct offered *workloads; // [count]
  size_t count;
  size_t current;
};

static int pass(void *context, const struct trial *trial, bool is_whole) {
  struct visit *visit = context;
  return member_pass(&visit->member, visit->current, trial->number, is_whole);
}

static int find_workloads(const struct invocation *invocation, const struct probe_options *options,
                          struct visit *visit) {
  struct catalog catalog;
  return invocation_open_catalog(invocation, options, &catalog)
             ? -1
             : offered_read(options, &catalog, &visit->workloads, &visit->count, invocation->arena,
                            invocation->diagnostics);
}

// What all of this node's measurements have in common.
static void tell_workloads(struct visit *visit, const struct probe_options *options) {
  for (size_t i = 0; i < visit->count; i++) {
    visit->workloads[i].options.node = visit->member.node;
    visit->workloads[i].options.output_directory = visit->member.records;
    visit->workloads[i].options.wall = options->wall;
  }
}

static int join(const struct invocation *invocation, struct probe_options *options,
                struct visit *visit) {
  struct member *member = &visit->member;
  *member = (struct member){.shared = options->output_directory,
                            .expect = options->fleet.expect,
                            .first = options->fleet.first,
                            .sends = options->fleet.send,
                            .one_by_one = options->fleet.one_by_one,
                            .wait_s = options->fleet.wait_s,
                            .clock = &machine_clock,
                            .stop = invocation->stop,
                            .progress = invocation_progress(invocation),
                            .arena = invocation->arena,
                            .diagnostics = invocation->diagnostics};
  if (member_name(member, options->node) ||
      node_wall_find(options, member->node, member->launch.size, invocation->arena,
                     invocation->diagnostics) ||
      member_join(member, offered_plan(visit->workloads, visit->count, invocation->arena)))
    return -1;
  tell_workloads(visit, options);
  return 0;
}

static int measure(struct invocation *invocation, struct visit *visit) {
  const struct session_gate gate = {pass, visit};
  for (; visit->current < visit->count && !*invocation->stop; visit->current++) {
    struct measuring measuring = {.invocation = invocation,
                                  .options = &visit->workloads[visit->current].options,
                                  .gate = &gate};
    if (measuring_run(&measuring))
      return -1;
  }
  return 0;
}

// The first process reports for all of them.
static void tell_lists(const struct invocation *invocation, const struct member *member,
                       const struct node_lists *lists) {
  struct arena *arena = invocation->arena;
  if (member->launch.rank)
    return;
  const char *unseen =
      lists->unseen ? arena_printf(arena, ", %zu never reported", lists->unseen) : "";
  invocation_note(
      invocation, "",
      arena_printf(arena, "nodes: %zu done, %zu failed, %zu missing%s; their lists are in '%s'",
                   lists->names[NODES_DONE].count, lists->names[NODES_FAILED].count,
                   lists->names[NODES_MISSING].count, unseen, member->lists));
}

static bool is_whole(const struct node_lists *lists) {
  return !lists->names[NODES_FAILED].count && !lists->names[NODES_MISSING].count && !lists->unseen;
}

int probe_fleet(struct invocation *invocation, int argc, char **argv) {
  struct probe_options options = probe_options_parse(COMMAND_FLEET, argc, argv, invocation->arena);
  struct visit visit = {.current = 0};
  struct node_lists lists;
  invocation_begin(invocation, options.quiet);
  invocation->users = device_users_find(&machine_meters, invocation->arena);
  setvbuf(stderr, NULL, _IOLBF, 0); // processes of all nodes may share it: a line at a time
  if (find_workloads(invocation, &options, &visit) || join(invocation, &options, &visit))
    return -1;
  const int failed = measure(invocation, &visit);
  const int lost = member_leave(&visit.member, failed != 0, &lists);
  progress_clear();
  tell_lists(invocation, &visit.member, &lists);
  invocation->differs =
      visit.member.roll.has_left_out || (!visit.member.launch.rank && !is_whole(&lists));
  return failed || lost ? -1 : 0;
}
