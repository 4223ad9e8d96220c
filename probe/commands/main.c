// The pertoken-probe command: list, run, fleet, serving, meter, check.
#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/json_in.h"
#include "base/process.h"
#include "base/source.h"
#include "base/version.h"
#include "kernels/decode.h"
#include "model/evidence/catalog.h"
#include "model/records/measurement.h"
#include "model/records/serving.h"
#include "probe/commands/fleet.h"
#include "probe/commands/listing.h"
#include "probe/commands/metering.h"
#include "probe/commands/offered.h"
#include "probe/commands/options.h"
#include "probe/commands/power_sweep.h"
#include "probe/commands/recheck.h"
#include "probe/commands/result_table.h"
#include "probe/commands/serving.h"
#include "probe/commands/serving_check.h"
#include "probe/commands/serving_options.h"
#include "probe/commands/serving_table.h"
#include "probe/commands/serving_watts.h"
#include "probe/commands/session.h"
#include "probe/commands/values.h"
#include "probe/commands/verification.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"
#include "probe/measure/protocol.h"
#include "probe/measure/tryout.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"
#include "probe/serving/rung.h"

#include <asm-generic/ioctls.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum exit_status {
  EXIT_DONE = 0,
  EXIT_NO = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_MACHINE_FAILED = 3,
  EXIT_NO_VERDICT = 4 // there is not enough for one
};

// The signal that asked to stop, 0 before that: a handler may touch nothing else.
static volatile sig_atomic_t stop_signal;

struct invocation {
  struct probe_options options;
  struct serving_options serving; // for the command serving only
  struct metering metering;       // for the command meter only
  struct model_notes notes;       // of the model that is measured
  struct fleet_member *member;    // for the command fleet only
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct device_users users; // before a backend is loaded
  bool differs;              // a check or a verification found something out of tolerance
  bool is_partial;           // a verification left something out
};

// ---- what the commands share

static void stop(int number) {
  stop_signal = number;
}

// A second Ctrl-C kills the process: the record on disk is complete in any case.
static void catch_signals(void) {
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN); // a file that grows too large is then an error, like a full disk
}

static void clear_progress(void) {
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

static void print_progress(const char *text) {
  struct winsize size;
  const int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  clear_progress();
  fprintf(stderr, "%.*s", known ? size.ws_col - 1 : 79, text);
  fflush(stderr);
}

// The caller sets its device.
static struct protocol make_protocol(const struct invocation *run) {
  return (struct protocol){
      .clock = &machine_clock,
      .roots = &machine_meters,
      .users = &run->users,
      .program = "/proc/self/exe",
      .on_thread = true,
      .idle_power_w = NAN,
      .time_s = run->options.time_s,
      .energy_s = run->options.energy_s,
      .stop = &stop_signal,
      .progress = isatty(STDERR_FILENO) && !run->options.quiet ? print_progress : NULL,
      .arena = run->arena,
      .diagnostics = run->diagnostics,
  };
}

static void note(const struct invocation *run, const char *kind, const char *text) {
  if (run->options.quiet)
    return;
  fprintf(stderr, "pertoken-probe: %s", kind);
  print_safely(text, stderr);
  putc('\n', stderr);
}

// ---- the commands: each returns 0, or -1 after errors

static const struct decode_backend *const *backends_of(const struct invocation *run) {
  return device_backends(installation_plugins(run->arena), run->arena, run->diagnostics);
}

static int run_list(struct invocation *run) {
  struct listing_request request = {
      .backends = backends_of(run),
      .meters = &machine_meters,
      .calibrate = run->options.calibrate,
      .json = run->options.json,
  };
  struct device *devices;
  if (run->options.device) {
    if (devices_find(run->options.device, request.backends, &devices, &request.device_count,
                     run->arena, run->diagnostics))
      return -1;
    request.devices = devices;
  }
  return listing_print(&request, stdout, run->arena, run->diagnostics);
}

// is_whole: it covers all devices that are measured. The caller sets its device.
static struct session make_session(const struct invocation *run, bool is_whole) {
  return (struct session){.options = &run->options,
                          .protocol = make_protocol(run),
                          .notes = run->notes,
                          .gate = run->member ? &run->member->gate : NULL,
                          .is_whole = is_whole,
                          .holds_folder = run->member != NULL};
}

static const char all_known[] = "measured before, and not again unless you move this record away: ";

// What is said of a record, before its path.
static const char *record_words(const struct invocation *run, const struct session *session) {
  if (session->is_unwritten)
    return "the last result could not be written to ";
  if (stop_signal)
    return "stopped; the finished results are in ";
  if (session->is_known)
    return all_known;
  return session->known
             ? arena_printf(run->arena,
                            "%zu of the results measured before; record: ", session->known)
             : "record: ";
}

// In a fleet, each of many nodes would print its own.
static int run_alone(struct invocation *run, struct session *session,
                     const struct measurement_shape *model) {
  const int result = session_run(session, model);
  clear_progress();
  if (session->record && session->record->digest) {
    if (!run->member)
      result_table_print(session->record, stdout);
    note(run, record_words(run, session), session->path);
  } else if (stop_signal) {
    note(run, "stopped; ", "no result was finished");
  }
  return result;
}

static int verify_session(struct invocation *run, const struct session *session,
                          const struct measurement_shape *model) {
  const enum verification_outcome outcome = verification_run(session, model, stdout);
  clear_progress();
  run->differs = run->differs || outcome == VERIFICATION_DIFFERS;
  run->is_partial = run->is_partial || outcome == VERIFICATION_PARTIAL;
  if (stop_signal)
    note(run, "stopped; ", "not everything was verified");
  return outcome == VERIFICATION_FAILED ? -1 : 0;
}

static int verify_kind(struct invocation *run, const struct device *devices, size_t count,
                       const struct measurement_shape *model) {
  for (size_t i = 0; i < count && !stop_signal; i++) {
    struct session session = make_session(run, true);
    session.protocol.device = &devices[i];
    if (verify_session(run, &session, model))
      return -1;
  }
  return 0;
}

static bool are_equal(const struct device *a, const struct device *b) {
  return a->backend == b->backend && a->described.units == b->described.units &&
         !strcmp(a->described.name, b->described.name) &&
         !strcmp(a->described.runtime, b->described.runtime);
}

// Devices of one kind, one by one and then all at once. After an error it goes no further: the
// others would fail likewise.
static int run_kind(struct invocation *run, const struct device *devices, size_t count,
                    bool is_whole, const struct measurement_shape *model) {
  struct session *sessions = arena_array(run->arena, count, sizeof *sessions);
  const struct measurement_record **records =
      arena_array(run->arena, count, sizeof(struct measurement_record *));
  for (size_t i = 0; i < count && !stop_signal; i++) {
    sessions[i] = make_session(run, is_whole && count == 1);
    sessions[i].protocol.device = &devices[i];
    sessions[i].equal = i ? &sessions[0] : NULL;
    if (run_alone(run, &sessions[i], model))
      return -1;
    records[i] = sessions[i].record;
  }
  if (count == 1 || stop_signal)
    return 0;
  const int result = session_run_together(sessions, count, model);
  clear_progress();
  if (!run->member)
    together_table_print(records, count, stdout);
  return result;
}

// "node 'n1', NVIDIA H200": whom messages are about.
static const char *about_kind(const struct invocation *run, const struct device *device) {
  const char *about = run->diagnostics->about;
  return arena_printf(run->arena, "%s%s%s", about ? about : "", about ? ", " : "",
                      device->described.name);
}

// Moves those that are equal to the first one to the front, in their order, and returns how many
// they are.
static size_t gather_kind(struct device *devices, size_t count) {
  size_t kind = 1;
  for (size_t i = 1; i < count; i++) {
    const struct device device = devices[i];
    if (!are_equal(&devices[0], &device))
      continue;
    memmove(&devices[kind + 1], &devices[kind], (i - kind) * sizeof *devices);
    devices[kind++] = device;
  }
  return kind;
}

// Each kind by itself: the sum over unlike devices, or their mean watts, would be nobody's. What
// one kind cannot run says nothing about the next.
static int run_devices(struct invocation *run, struct device *devices, size_t count,
                       const struct measurement_shape *model) {
  const char *about = run->diagnostics->about;
  int result = 0;
  for (size_t done = 0, kind; done < count && !stop_signal; done += kind) {
    kind = gather_kind(&devices[done], count - done);
    if (kind < count)
      run->diagnostics->about = about_kind(run, &devices[done]);
    if (run->options.verify_only ? verify_kind(run, &devices[done], kind, model)
                                 : run_kind(run, &devices[done], kind, kind == count, model))
      result = -1;
    run->diagnostics->about = about;
  }
  return result;
}

// The record of all of them has the first one's name, and counts for its accelerator.
static int refuse_unlike(const struct invocation *run, const struct device *devices, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const struct decode_device *first = &devices[0].described, *other = &devices[i].described;
    if (are_equal(&devices[0], &devices[i]))
      continue;
    diagnostics_error(run->diagnostics, (struct place){0},
                      "--tensor-parallel needs equal devices, but %s:%d is %s with %d units, and "
                      "%s:%d is %s with %d",
                      devices[0].backend->name, devices[0].index, first->name, first->units,
                      devices[i].backend->name, devices[i].index, other->name, other->units);
    return -1;
  }
  return 0;
}

// All at once, one model.
static int run_ranks(struct invocation *run, const struct device *devices, size_t count,
                     const struct measurement_shape *model) {
  if ((size_t)run->options.tensor_parallel != count) {
    diagnostics_error(run->diagnostics, (struct place){0},
                      "--tensor-parallel %d needs as many devices, but --device %s names %zu",
                      run->options.tensor_parallel, run->options.device, count);
    return -1;
  }
  if (refuse_unlike(run, devices, count))
    return -1;
  struct session session = make_session(run, true);
  session.ranks = devices;
  session.rank_count = count;
  session.protocol.device = &devices[0];
  return run->options.verify_only ? verify_session(run, &session, model)
                                  : run_alone(run, &session, model);
}

static int open_catalog(const struct invocation *run, struct catalog *catalog) {
  const char *directory =
      installation_data(run->options.data_directory, run->arena, run->diagnostics);
  return !directory || catalog_open(catalog, directory, run->arena, run->diagnostics) ||
                 catalog_add_files(catalog, &run->options.data_extra,
                                   run->options.data_extra != NULL)
             ? -1
             : 0;
}

// Otherwise a node whose GPUs are gone would silently measure something else.
static void warn_of_cpu(const struct invocation *run, const struct device *device,
                        const struct decode_backend *const *backends) {
  if (!strcmp(run->options.device, usual_fleet_devices) && !strcmp(device->backend->name, "cpu"))
    diagnostics_warning(
        run->diagnostics, (struct place){0}, "%s, so the CPU is measured; --device cpu asks for it",
        backends[1] ? "there is no GPU here" : "this installation has no backend for GPUs");
}

// One after the other, as far as possible; what has been found so far is in the records in any
// case. The kernels that are the fastest at the first limit, the highest, are measured at all of
// them, so that they differ by nothing else.
static int run_limits(struct invocation *run, struct power_sweep *sweep,
                      const struct device *devices, size_t count,
                      const struct measurement_shape *model) {
  const struct number_list *limits = &run->options.power_limits;
  const struct measurement_record *records[MAX_LIST_VALUES];
  struct session *sessions = arena_array(run->arena, limits->count, sizeof *sessions);
  size_t done = 0;
  if (count != 1) {
    diagnostics_error(run->diagnostics, (struct place){0},
                      "--power-limit measures one device, but --device %s names %zu",
                      run->options.device, count);
    return -1;
  }
  int result = power_sweep_open(sweep, &devices[0]);
  while (!result && done < limits->count && !stop_signal) {
    struct session *session = &sessions[done];
    *session = make_session(run, true);
    session->protocol.device = &devices[0];
    session->power_limit_w = limits->values[done];
    session->equal = done ? &sessions[0] : NULL;
    result = power_sweep_hold(sweep, limits->values[done]);
    if (!result)
      result = run_alone(run, session, model);
    if (session->record)
      records[done++] = session->record;
  }
  if (done)
    power_sweep_print(sweep, records, done, stdout);
  return result;
}

static int run_model(struct invocation *run, struct power_sweep *sweep) {
  struct device *devices;
  size_t count;
  struct catalog catalog;
  struct measurement_shape model;
  const struct decode_backend *const *backends = backends_of(run);
  if (devices_find(run->options.device, backends, &devices, &count, run->arena, run->diagnostics) ||
      open_catalog(run, &catalog) ||
      model_shape_find(&catalog, run->options.model, &model, &run->notes))
    return -1;
  warn_of_cpu(run, &devices[0], backends);
  if (sweep)
    return run_limits(run, sweep, devices, count, &model);
  if (run->options.tensor_parallel)
    return run_ranks(run, devices, count, &model);
  return run_devices(run, devices, count, &model);
}

static int run_run(struct invocation *run) {
  struct power_sweep sweep = {.limits = &run->options.power_limits,
                              .roots = &machine_meters,
                              .users = &run->users,
                              .arena = run->arena,
                              .diagnostics = run->diagnostics};
  const bool sweeps = run->options.power_limits.count != 0;
  if (sweeps && power_sweep_begin(&sweep))
    return -1;
  run->users = device_users_find(&machine_meters, run->arena);
  if (!sweeps)
    return run_model(run, NULL);
  const int result = run_model(run, &sweep);
  return power_sweep_end(&sweep) || result ? -1 : 0;
}

// The first process reports for all of them.
static void tell_fleet(const struct invocation *run, const struct fleet_tally *tally) {
  if (run->member->launch.rank)
    return;
  note(run, "",
       arena_printf(
           run->arena, "nodes: %zu done, %zu failed, %zu missing%s; their lists are in '%s'",
           tally->done, tally->failed, tally->missing,
           tally->unseen ? arena_printf(run->arena, ", %zu never reported", tally->unseen) : "",
           run->member->lists));
}

static int run_workloads(struct invocation *run, const struct offered *workloads, size_t count) {
  for (size_t i = 0; i < count && !stop_signal; i++) {
    run->member->workload = i;
    run->options = workloads[i].options;
    if (run_model(run, NULL))
      return -1;
  }
  return 0;
}

static int find_workloads(const struct invocation *run, struct offered **workloads, size_t *count) {
  struct catalog catalog;
  return open_catalog(run, &catalog) ? -1
                                     : offered_read(&run->options, &catalog, workloads, count,
                                                    run->arena, run->diagnostics);
}

static int run_fleet(struct invocation *run) {
  struct fleet_member member;
  struct fleet_tally tally;
  struct offered *workloads;
  size_t count;
  const struct protocol protocol = make_protocol(run);
  run->users = device_users_find(&machine_meters, run->arena);
  setvbuf(stderr, NULL, _IOLBF, 0); // processes of all nodes may share it: a line at a time
  if (find_workloads(run, &workloads, &count) ||
      fleet_join(&member, &run->options, workloads, count, &protocol))
    return -1;
  run->member = &member;
  const int failed = run_workloads(run, workloads, count);
  const int lost = fleet_leave(&member, failed != 0, &tally);
  clear_progress();
  tell_fleet(run, &tally);
  const bool is_whole = !tally.failed && !tally.missing && !tally.unseen;
  run->differs = member.roll.has_left_out || (!member.launch.rank && !is_whole);
  run->member = NULL;
  return failed || lost ? -1 : 0;
}

static void announce(void *context, const char *text) {
  note(context, "", text);
}

static struct serving_session make_serving(struct invocation *run) {
  return (struct serving_session){
      .options = &run->serving,
      .stop = &stop_signal,
      .progress = isatty(STDERR_FILENO) && !run->options.quiet ? print_progress : NULL,
      .announce = announce,
      .announce_context = run,
      .arena = run->arena,
      .diagnostics = run->diagnostics,
  };
}

static bool has_standing(const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++)
    if (!*record->rungs[i].refused)
      return true;
  return false;
}

// Adds power that another host's meter recorded to the loads that have none.
static int join_watts(struct invocation *run, struct serving_session *session) {
  const struct serving_options *options = &run->serving;
  if (!options->power || !session->record || !session->record->count)
    return 0;
  const int joined = serving_watts_join(session->record, options->power, options->devices,
                                        options->clock_offset_s, run->arena, run->diagnostics);
  if (joined < 0 || serving_write(session->record, session->path, run->arena, run->diagnostics))
    return -1;
  session->is_written = true;
  return 0;
}

static int run_serving(struct invocation *run) {
  struct serving_session session = make_serving(run);
  struct serving_watts watts = {.url = run->serving.url,
                                .devices = run->serving.power ? NULL : run->serving.devices,
                                .accelerator = run->serving.accelerator,
                                .accelerators = run->serving.accelerators,
                                .roots = &machine_meters,
                                .clock = &machine_clock,
                                .arena = run->arena};
  const struct rung_meter meter = serving_watts_meter(&watts);
  session.meter = &meter;
  int result = serving_run(&session);
  serving_watts_stop(&watts);
  if (!result)
    result = join_watts(run, &session);
  clear_progress();
  if (session.is_written) {
    serving_table_print(session.record, run->arena, stdout);
    note(run,
         stop_signal                              ? "stopped; the finished loads are in "
         : session.known == session.record->count ? all_known
                                                  : "record: ",
         session.path);
    run->differs = !has_standing(session.record);
  } else if (stop_signal) {
    note(run, "stopped; ", "no load was finished");
  }
  return result;
}

// Reports nothing: whoever reads the file for its contents does.
static bool is_serving_record(const char *path, struct arena *arena) {
  struct diagnostics unread = {.arena = arena};
  const struct source *source;
  json_t *object = json_in_read(path, "", &source, arena, &unread);
  const bool is_one = object && serving_is_one(object);
  json_decref(object);
  return is_one;
}

static int check_serving(struct invocation *run) {
  struct serving_session session = make_serving(run);
  const struct serving_record *record =
      serving_read(run->options.record, run->arena, run->diagnostics);
  if (!record)
    return -1;
  const enum recheck_outcome outcome =
      serving_recheck(&session, record, run->options.tolerance, stdout);
  clear_progress();
  run->differs = outcome == RECHECK_DIFFERS;
  return outcome == RECHECK_FAILED ? -1 : 0;
}

static int run_check(struct invocation *run) {
  if (is_serving_record(run->options.record, run->arena))
    return check_serving(run);
  run->users = device_users_find(&machine_meters, run->arena);
  struct protocol protocol = make_protocol(run);
  const enum recheck_outcome outcome = recheck(&protocol, &run->options, backends_of(run), stdout);
  clear_progress();
  run->differs = outcome == RECHECK_DIFFERS;
  return outcome == RECHECK_FAILED ? -1 : 0;
}

static int run_meter(struct invocation *run) {
  run->metering.roots = &machine_meters;
  run->metering.clock = &machine_clock;
  run->metering.stop = &stop_signal;
  run->metering.progress = isatty(STDERR_FILENO) && !run->metering.quiet ? print_progress : NULL;
  const int result = metering_run(&run->metering, stdout, run->arena, run->diagnostics);
  clear_progress();
  return result;
}

static const struct command {
  const char *name, *summary;
  enum probe_command command;
  int (*run)(struct invocation *);
} commands[] = {
    {"list", "Show the devices, their memory, and which energy meters work", COMMAND_LIST,
     run_list},
    {"run", "Measure how fast a model decodes here, and how much power it takes", COMMAND_RUN,
     run_run},
    {"fleet", "Measure every node of a fleet, started on each node by Slurm or Open MPI",
     COMMAND_FLEET, run_fleet},
    {"serving", "Measure what a running inference server delivers at every load", COMMAND_SERVING,
     run_serving},
    {"meter", "Log this host's power, for a server that another host measures", COMMAND_METER,
     run_meter},
    {"check", "Measure a record's results again", COMMAND_CHECK, run_check},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out) {
  fputs("Usage: pertoken probe COMMAND [OPTION...]\n"
        "How fast does this machine decode tokens, and how much power does it take?\n\n",
        out);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\nExample: pertoken probe run --model tinyllama-1.1b --precision bf16,int8 -o records\n"
        "'pertoken probe COMMAND --help' shows a command's options and an example,\n"
        "'pertoken-probe --version' the version.\n",
        out);
}

static int refuse_command(const char *name) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++)
    names[i] = commands[i].name;
  const char *nearest = nearest_name(name, names, COMMANDS);
  fputs("pertoken-probe: unknown command '", stderr);
  print_safely(name, stderr);
  fprintf(stderr, "'%s%s%s\nTry 'pertoken probe --help'.\n", nearest ? "; did you mean '" : "",
          nearest ? nearest : "", nearest ? "'?" : "");
  return EXIT_BAD_INPUT;
}

static int exit_status(const struct invocation *run, int failed) {
  if (failed)
    return run->diagnostics->machine_failed ? EXIT_MACHINE_FAILED : EXIT_BAD_INPUT;
  if (run->differs)
    return EXIT_NO;
  return run->is_partial ? EXIT_NO_VERDICT : EXIT_DONE;
}

static bool has_colour(void) {
  const char *no_colour = getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && !(no_colour && *no_colour);
}

static int run_command(const struct command *command, int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct invocation run = {.arena = &arena, .diagnostics = &diagnostics};
  if (command->command == COMMAND_METER) {
    run.metering = metering_parse(argc, argv, &arena);
    run.options.quiet = run.metering.quiet;
  } else if (command->command == COMMAND_SERVING) {
    run.serving = serving_options_parse(argc, argv, &arena);
    run.options.quiet = run.serving.quiet;
  } else {
    run.options = probe_options_parse(command->command, argc, argv, &arena);
  }
  if (command->command != COMMAND_LIST) // which has nothing to lose
    catch_signals();
  const int failed = command->run(&run);
  if (failed || !run.options.quiet)
    diagnostics_print(&diagnostics, stderr, has_colour());
  const int status = exit_status(&run, failed);
  arena_free(&arena);
  return status;
}

// Asked by another process of this program.
static int try_request(void) {
  struct arena arena = {0};
  const int status = tryout_serve(installation_plugins(&arena));
  arena_free(&arena);
  return status;
}

static void check_standard_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fputs("pertoken-probe: cannot write 'standard output'\n", stderr);
  _exit(EXIT_MACHINE_FAILED);
}

// An interrupted run still dies of the signal in the end, so that a calling script stops as well.
static int finish(int status) {
  if (!stop_signal)
    return status;
  fflush(stdout);
  signal(stop_signal, SIG_DFL);
  raise(stop_signal);
  return status;
}

// Arguments that no command could understand.
static int check_start(int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  const int result = process_check_arguments(argc, argv, &diagnostics);
  diagnostics_print(&diagnostics, stderr, has_colour());
  arena_free(&arena);
  return result;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_DFL);
  atexit(check_standard_output);
  if (check_start(argc, argv))
    return EXIT_BAD_INPUT;
  if (argc < 2) {
    print_commands(stderr);
    return EXIT_BAD_INPUT;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
    print_commands(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("pertoken-probe " PERTOKEN_VERSION);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], TRYOUT_COMMAND))
    return try_request();
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(commands[i].name, argv[1]))
      return finish(run_command(&commands[i], argc - 1, argv + 1));
  return refuse_command(argv[1]);
}
