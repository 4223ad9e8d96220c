#include "probe/fleet/member.h"

#include "base/output.h"
#include "base/source.h"
#include "model/delivery/fleet.h"

#include <string.h>
#include <sys/stat.h>

static const char lists_name[] = "nodes";

// Phases of the roll: all nodes are there, then each trial of each workload.
enum { PHASE_JOIN = 1, PHASE_FIRST, MOST_TRIALS = 1 << 16 };

// ---- who this is

static int check_node(const struct member *member) {
  if (!roll_is_node_name(member->node) || !strcmp(member->node, lists_name)) {
    diagnostics_error(member->diagnostics, nowhere,
                      "a node's folder cannot be named '%s': name the node with --node",
                      member->node);
    return -1;
  }
  if (member->expected && table_find(member->expected, member->node) < 0)
    diagnostics_warning(member->diagnostics, nowhere,
                        "node '%s' is not on the list of those expected", member->node);
  return 0;
}

int member_name(struct member *member, const char *node) {
  struct diagnostics *diagnostics = member->diagnostics;
  if (launch_read(&member->launch, member->arena, diagnostics))
    return -1;
  member->node = *node ? node : member->launch.node;
  if (member->launch.size > 1)
    diagnostics->about = arena_printf(member->arena, "node '%s'", member->node);
  if (member->expect &&
      !(member->expected = fleet_list_read(member->expect, member->arena, diagnostics)))
    return -1;
  return check_node(member);
}

// ---- joining

// The folder of the lists, and in it the roll for what is measured.
static int make_lists_folder(struct member *member, const char *plan) {
  member->lists = arena_printf(member->arena, "%s/%s", member->shared, lists_name);
  member->roll.folder = arena_printf(member->arena, "%s/.%s", member->lists, plan);
  return output_make_directory(member->roll.folder, member->diagnostics);
}

static int make_folders(struct member *member, const char *plan) {
  const bool has_lists = !member->sends || !member->launch.rank;
  if (output_make_directory(member->shared, member->diagnostics) ||
      (has_lists && make_lists_folder(member, plan)))
    return -1;
  member->records = arena_printf(member->arena, "%s/%s", member->shared, member->node);
  return folder_open(&member->folder, member->records, member->diagnostics);
}

static int collect(struct member *member) {
  member->roll.meeting = rendezvous_words(&member->rendezvous, member->arena);
  member->collector = (struct collector){.clerk = {.folder = member->shared,
                                                   .roll_folder = member->roll.folder,
                                                   .launch = &member->launch,
                                                   .node = member->node,
                                                   .clock = member->clock},
                                         .rendezvous = &member->rendezvous};
  return collector_start(&member->collector, member->arena, member->diagnostics);
}

static int report_to_first(struct member *member) {
  member->courier = (struct courier){.rendezvous = &member->rendezvous,
                                     .launch = &member->launch,
                                     .records = member->records,
                                     .wait_s = member->wait_s,
                                     .clock = member->clock,
                                     .stop = member->stop,
                                     .arena = member->arena,
                                     .diagnostics = member->diagnostics};
  member->board = (struct roll_board){courier_tell, courier_list, &member->courier};
  member->roll.board = &member->board;
  return courier_open(&member->courier);
}

static int meet(struct member *member) {
  if (!member->sends || member->launch.size == 1)
    return 0;
  if (rendezvous_read(&member->rendezvous, member->first, &member->launch, member->arena,
                      member->diagnostics))
    return -1;
  return member->launch.rank ? report_to_first(member) : collect(member);
}

static void part(struct member *member) {
  folder_close(&member->folder);
  courier_close(&member->courier);
  collector_stop(&member->collector, member->diagnostics);
}

int member_join(struct member *member, const char *plan) {
  member->folder = (struct folder){.fd = -1};
  member->roll = (struct roll){.launch = &member->launch,
                               .node = member->node,
                               .one_by_one = member->one_by_one,
                               .wait_s = member->wait_s,
                               .clock = member->clock,
                               .stop = member->stop,
                               .progress = member->progress,
                               .arena = member->arena,
                               .diagnostics = member->diagnostics};
  if (make_folders(member, plan))
    return -1;
  if (!meet(member)) {
    if (!roll_wait(&member->roll, PHASE_JOIN))
      return 0;
    roll_tell(&member->roll, ROLL_FAILED);
  }
  part(member);
  return -1;
}

// ---- measuring

// Sends records that process 0 does not have yet.
static int send_records(struct member *member) {
  return member->roll.board && !member->roll.is_alone && courier_send(&member->courier) < 0 ? -1
                                                                                            : 0;
}

int member_pass(struct member *member, size_t workload, size_t trial, bool is_whole) {
  if (send_records(member))
    return -1;
  if (is_whole && !member->one_by_one)
    return roll_wait(&member->roll, PHASE_FIRST + (int)(workload * MOST_TRIALS + trial));
  return roll_tell(&member->roll, ROLL_MEASURING);
}

// ---- leaving

static enum roll_state state_at_end(const struct member *member, bool has_failed) {
  return has_failed ? ROLL_FAILED : *member->stop ? ROLL_STOPPED : ROLL_DONE;
}

static int write_lists(const struct member *member, struct node_lists *lists) {
  return node_lists_write(&member->roll, member->expected, member->lists, lists);
}

int member_leave(struct member *member, bool has_failed, struct node_lists *lists) {
  const int unsent = send_records(member);
  int result = roll_tell(&member->roll, state_at_end(member, has_failed || unsent)) | unsent;
  folder_close(&member->folder);
  *lists = (struct node_lists){0};
  if (member->lists)
    result |= write_lists(member, lists);
  if (member->lists && !member->launch.rank && !*member->stop)
    result |= roll_wait_for_end(&member->roll) | write_lists(member, lists);
  part(member);
  return result ? -1 : 0;
}
