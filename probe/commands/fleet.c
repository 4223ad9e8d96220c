#include "probe/commands/fleet.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/delivery/fleet.h"
#include "probe/commands/values.h"
#include "probe/measure/trial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct place nowhere = {0};

static const char lists_name[] = "nodes";

enum { MAX_WALL_W = 1000000 };

enum { MOST_TRIALS = 1 << 16 }; // of a workload: phases are in the order of its trials

enum { REWRITES = 10 }; // of lists that change meanwhile: whoever changed them writes them too

// ---- what is measured

static const char *with_numbers(const char *text, const struct number_list *list,
                                struct arena *arena) {
  text = arena_printf(arena, "%s|", text);
  for (size_t i = 0; i < list->count; i++)
    text = arena_printf(arena, "%s %d", text, list->values[i]);
  return text;
}

static const char *variant_text(const struct probe_options *options) {
  return options->fastest ? "fastest" : options->variant ? options->variant : "own";
}

static const char *workload_text(const struct probe_options *options, struct arena *arena) {
  const char *text = arena_printf(
      arena, "%s|%s|%s|%s|%s|%.17g|%.17g|%.17g|%d|%.17g|%d|%d|%llu|%d|%.9g|%d|%s", options->device,
      options->model, options->kv, options->head ? options->head : "",
      options->activations ? options->activations : "", options->time_s, options->energy_s,
      options->soak_s, options->shard.of, options->shard.all_reduce_s, options->tensor_parallel,
      options->threads, (unsigned long long)options->seed, (int)options->routing,
      (double)options->skew, options->chunk, variant_text(options));
  for (size_t i = 0; i < options->precision_count; i++)
    text = arena_printf(arena, "%s|%s", text, options->precisions[i]);
  text = with_numbers(text, &options->batches, arena);
  text = with_numbers(text, &options->contexts, arena);
  text = with_numbers(text, &options->layers, arena);
  return with_numbers(text, &options->prefills, arena);
}

// 16 hex digits: having measured one set of workloads does not count for another.
static const char *plan_of(const struct offered *workloads, size_t count, struct arena *arena) {
  const char *text = "";
  for (size_t i = 0; i < count; i++)
    text = arena_printf(arena, "%s%s\n", text, workload_text(&workloads[i].options, arena));
  return arena_copy_n(arena, source_sha256(source_from_text("plan", text, arena), arena), 16);
}

// ---- power from the wall, each node's own

static const char wall_column[] = "wall_power";

static int take_wall(const struct table *table, const char *node, struct probe_options *options,
                     struct arena *arena, struct diagnostics *diagnostics) {
  const long row = table_find(table, node);
  if (table_column(table, wall_column) < 0) {
    diagnostics_error(diagnostics, table_header_place(table), "wall power needs a column '%s'",
                      wall_column);
    return -1;
  }
  if (row < 0) {
    diagnostics_error(diagnostics, table_header_place(table), "unknown node '%s'", node);
    return -1;
  }
  const char *text = table_cell(table, (size_t)row, wall_column);
  const struct place place = table_place(table, (size_t)row, wall_column);
  if (quantity_parse(text, place, unit_constant("W", arena), &options->wall.typed_w, diagnostics))
    return -1;
  if (options->wall.typed_w > 0 && options->wall.typed_w <= MAX_WALL_W)
    return 0;
  diagnostics_error(diagnostics, place, "expected watts above '0 W' and up to '1 MW', not '%s'",
                    text);
  return -1;
}

// Replaces every "{node}" by the node's name.
static const char *address_of(const char *address, const char *node, struct arena *arena) {
  static const char mark[] = "{node}";
  const char *out = "", *at;
  for (; (at = strstr(address, mark)); address = at + strlen(mark))
    out = arena_printf(arena, "%s%.*s%s", out, (int)(at - address), address, node);
  return arena_printf(arena, "%s%s", out, address);
}

static int settle_wall(const struct fleet_member *member, struct probe_options *options,
                       struct arena *arena, struct diagnostics *diagnostics) {
  const char *path = options->fleet.wall_table;
  if (options->wall.redfish)
    options->wall.redfish = address_of(options->wall.redfish, options->node, arena);
  if (!isnan(options->wall.typed_w) && member->launch.size > 1) {
    diagnostics_error(diagnostics, nowhere,
                      "--wall-power is for a single node, but %d were started: name a table with "
                      "the columns 'node' and '%s'",
                      member->launch.size, wall_column);
    return -1;
  }
  const struct table *table = path ? fleet_list_read(path, arena, diagnostics) : NULL;
  return path && (!table || take_wall(table, options->node, options, arena, diagnostics)) ? -1 : 0;
}

// ---- joining

static int make_folder(const char *path, struct diagnostics *diagnostics) {
  if (!mkdir(path, 0777) || errno == EEXIST)
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "cannot create the directory '%s': %s", path,
                    strerror(errno));
  return -1;
}

static int check_node(const struct fleet_member *member, const char *node,
                      struct diagnostics *diagnostics) {
  if (!roll_is_node_name(node) || !strcmp(node, lists_name)) {
    diagnostics_error(diagnostics, nowhere,
                      "a node's folder cannot be named '%s': name the node with --node", node);
    return -1;
  }
  if (member->expected && table_find(member->expected, node) < 0)
    diagnostics_warning(diagnostics, nowhere, "node '%s' is not on the list of those expected",
                        node);
  return 0;
}

// Sends records that process 0 does not have yet.
static int send_records(struct fleet_member *member) {
  return member->roll.board && !member->roll.is_alone && courier_send(&member->courier) < 0 ? -1
                                                                                            : 0;
}

static int pass(void *context, const struct trial *trial, bool is_whole) {
  struct fleet_member *member = context;
  if (send_records(member))
    return -1;
  if (is_whole && !member->roll.one_by_one)
    return roll_wait(&member->roll, 2 + (int)(member->workload * MOST_TRIALS + trial->number));
  return roll_tell(&member->roll, ROLL_MEASURING);
}

// Makes the folder of the lists, and the roll for what is measured.
static int make_lists_folder(struct fleet_member *member, const char *shared, const char *plan,
                             struct arena *arena, struct diagnostics *diagnostics) {
  member->lists = arena_printf(arena, "%s/%s", shared, lists_name);
  member->roll.folder = arena_printf(arena, "%s/.%s", member->lists, plan);
  return make_folder(member->lists, diagnostics) || make_folder(member->roll.folder, diagnostics)
             ? -1
             : 0;
}

static int make_folders(struct fleet_member *member, struct probe_options *options,
                        const char *plan, struct arena *arena, struct diagnostics *diagnostics) {
  const char *shared = options->output_directory;
  const bool has_lists = !options->fleet.send || !member->launch.rank;
  if (make_folder(shared, diagnostics) ||
      (has_lists && make_lists_folder(member, shared, plan, arena, diagnostics)))
    return -1;
  options->output_directory = arena_printf(arena, "%s/%s", shared, options->node);
  return folder_open(&member->folder, options->output_directory, diagnostics);
}

static int collect(struct fleet_member *member, const char *folder) {
  member->roll.meeting = rendezvous_words(&member->rendezvous, member->roll.arena);
  member->collector = (struct collector){.clerk = {.folder = folder,
                                                   .roll_folder = member->roll.folder,
                                                   .launch = &member->launch,
                                                   .node = member->roll.node,
                                                   .clock = member->roll.clock},
                                         .rendezvous = &member->rendezvous};
  return collector_start(&member->collector, member->roll.arena, member->roll.diagnostics);
}

static int report_to_first(struct fleet_member *member, const char *records) {
  const struct roll *roll = &member->roll;
  member->courier = (struct courier){.rendezvous = &member->rendezvous,
                                     .launch = &member->launch,
                                     .records = records,
                                     .wait_s = roll->wait_s,
                                     .clock = roll->clock,
                                     .stop = roll->stop,
                                     .arena = roll->arena,
                                     .diagnostics = roll->diagnostics};
  member->board = (struct roll_board){courier_tell, courier_list, &member->courier};
  member->roll.board = &member->board;
  return courier_open(&member->courier);
}

// `folder`: this process's, for the records of all nodes.
static int meet(struct fleet_member *member, const struct probe_options *options,
                const char *folder) {
  if (!options->fleet.send || member->launch.size == 1)
    return 0;
  if (rendezvous_read(&member->rendezvous, options->fleet.first, &member->launch,
                      member->roll.arena, member->roll.diagnostics))
    return -1;
  return member->launch.rank ? report_to_first(member, options->output_directory)
                             : collect(member, folder);
}

static void part(struct fleet_member *member) {
  folder_close(&member->folder);
  courier_close(&member->courier);
  collector_stop(&member->collector, member->roll.diagnostics);
}

static int begin(struct fleet_member *member, struct probe_options *options, const char *plan,
                 struct arena *arena, struct diagnostics *diagnostics) {
  const char *folder = options->output_directory;
  if (make_folders(member, options, plan, arena, diagnostics))
    return -1;
  if (!meet(member, options, folder)) {
    if (!roll_wait(&member->roll, 1))
      return 0;
    roll_tell(&member->roll, ROLL_FAILED);
  }
  part(member);
  return -1;
}

// What all of this node's measurements have in common.
static void tell_workloads(const struct probe_options *options, struct offered *workloads,
                           size_t count) {
  for (size_t i = 0; i < count; i++) {
    workloads[i].options.node = options->node;
    workloads[i].options.output_directory = options->output_directory;
    workloads[i].options.wall = options->wall;
  }
}

int fleet_join(struct fleet_member *member, struct probe_options *options,
               struct offered *workloads, size_t count, const struct protocol *protocol) {
  struct arena *arena = protocol->arena;
  struct diagnostics *diagnostics = protocol->diagnostics;
  *member = (struct fleet_member){.folder = {.fd = -1}, .gate = {pass, member}};
  if (launch_read(&member->launch, arena, diagnostics))
    return -1;
  if (!*options->node)
    options->node = member->launch.node;
  if (member->launch.size > 1)
    diagnostics->about = arena_printf(arena, "node '%s'", options->node);
  if (options->fleet.expect &&
      !(member->expected = fleet_list_read(options->fleet.expect, arena, diagnostics)))
    return -1;
  if (check_node(member, options->node, diagnostics) ||
      settle_wall(member, options, arena, diagnostics))
    return -1;
  member->roll = (struct roll){.launch = &member->launch,
                               .node = options->node,
                               .one_by_one = options->fleet.one_by_one,
                               .wait_s = options->fleet.wait_s,
                               .clock = protocol->clock,
                               .stop = protocol->stop,
                               .progress = protocol->progress,
                               .arena = arena,
                               .diagnostics = diagnostics};
  const int result = begin(member, options, plan_of(workloads, count, arena), arena, diagnostics);
  tell_workloads(options, workloads, count);
  return result;
}

// ---- leaving

enum list { LIST_DONE, LIST_FAILED, LIST_MISSING, LISTS };

static const char *const list_names[LISTS] = {"done", "failed", "missing"};

struct lists {
  struct texts names[LISTS];
  size_t unseen;
};

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_entry(const void *key, const void *entry) {
  return strcmp(key, ((const struct roll_entry *)entry)->node);
}

static enum list list_of(const struct roll_entry *entry) {
  return entry->state == ROLL_DONE     ? LIST_DONE
         : entry->state == ROLL_FAILED ? LIST_FAILED
                                       : LIST_MISSING;
}

// Every node that ever reported here, and those expected that did not.
static int make_lists(const struct fleet_member *member, struct lists *lists) {
  struct arena *arena = member->roll.arena;
  struct roll_entry *entries;
  size_t count, launched = 0;
  if (roll_list(&member->roll, &entries, &count))
    return -1;
  *lists = (struct lists){0};
  for (size_t i = 0; i < count; i++) {
    texts_add(&lists->names[list_of(&entries[i])], arena, "%s", entries[i].node);
    launched += !strcmp(entries[i].key, member->launch.key);
  }
  for (size_t row = 0; member->expected && row < member->expected->rows; row++) {
    const char *node = table_cell(member->expected, row, "node");
    if (!bsearch(node, entries, count, sizeof *entries, by_entry))
      texts_add(&lists->names[LIST_MISSING], arena, "%s", node);
  }
  lists->unseen = (size_t)member->launch.size - launched;
  for (int list = 0; list < LISTS; list++)
    if (lists->names[list].count)
      qsort(lists->names[list].list, lists->names[list].count, sizeof(char *), by_text);
  return 0;
}

static bool are_same(const struct lists *a, const struct lists *b, struct arena *arena) {
  for (int list = 0; list < LISTS; list++)
    if (a->names[list].count != b->names[list].count ||
        strcmp(texts_joined_by(&a->names[list], "\n", arena),
               texts_joined_by(&b->names[list], "\n", arena)) != 0)
      return false;
  return true;
}

static int write_list(const struct fleet_member *member, const struct texts *names,
                      const char *name) {
  struct output output;
  struct arena *arena = member->roll.arena;
  struct diagnostics *diagnostics = member->roll.diagnostics;
  if (output_open_again(&output, arena_printf(arena, "%s/%s", member->lists, name), arena,
                        diagnostics))
    return -1;
  for (size_t i = 0; i < names->count; i++)
    fprintf(output.stream, "%s\n", names->list[i]);
  return output_close(&output, diagnostics);
}

// Writes them again if another node ended meanwhile, whose lists these may have replaced.
static int write_lists(const struct fleet_member *member, struct lists *lists) {
  struct lists written;
  int rewrites = 0;
  if (make_lists(member, lists))
    return -1;
  do {
    written = *lists;
    for (int list = 0; list < LISTS; list++)
      if (write_list(member, &lists->names[list], list_names[list]))
        return -1;
    if (make_lists(member, lists))
      return -1;
  } while (!are_same(&written, lists, member->roll.arena) && ++rewrites < REWRITES);
  return 0;
}

static enum roll_state state_at_end(const struct fleet_member *member, bool has_failed) {
  return has_failed ? ROLL_FAILED : *member->roll.stop ? ROLL_STOPPED : ROLL_DONE;
}

// If there are lists, those of all nodes.
static int end_lists(struct fleet_member *member, struct fleet_tally *tally) {
  struct lists lists = {0};
  int result = write_lists(member, &lists);
  if (!member->launch.rank && !*member->roll.stop)
    result |= roll_wait_for_end(&member->roll) | write_lists(member, &lists);
  *tally = (struct fleet_tally){lists.names[LIST_DONE].count, lists.names[LIST_FAILED].count,
                                lists.names[LIST_MISSING].count, lists.unseen};
  return result;
}

int fleet_leave(struct fleet_member *member, bool has_failed, struct fleet_tally *tally) {
  const int unsent = send_records(member);
  int result = roll_tell(&member->roll, state_at_end(member, has_failed || unsent)) | unsent;
  folder_close(&member->folder);
  *tally = (struct fleet_tally){0};
  if (member->lists)
    result |= end_lists(member, tally);
  part(member);
  return result ? -1 : 0;
}
