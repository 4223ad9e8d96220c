#include "probe/fleet/roll.h"

#include "base/clock.h"
#include "base/digits.h"
#include "base/source.h"
#include "base/texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_LENGTH = 128, NAMED = 5, SIGNS_PER_WAIT = 5 };

// A thousand nodes that look twice a second would keep a shared disk busy.
static const double look_s = 0.1, look_s_per_node = 0.002, longest_look_s = 2;

static const char *const states[ROLL_STATES] = {
    [ROLL_WAITING] = "waiting", [ROLL_MEASURING] = "measuring", [ROLL_STOPPED] = "stopped",
    [ROLL_FAILED] = "failed",   [ROLL_DONE] = "done",
};

static int fail(const struct roll *roll) {
  const int reason = errno;
  roll->diagnostics->machine_failed = true;
  diagnostics_error(roll->diagnostics, nowhere, "cannot write to the directory '%s': %s",
                    roll->folder, strerror(reason));
  return -1;
}

// ---- entries

bool roll_is_node_name(const char *name) {
  const size_t length = strlen(name);
  if (!length || length > MAX_NAME_LENGTH || name[0] == '.')
    return false;
  for (const unsigned char *c = (const unsigned char *)name; *c; c++)
    if (*c == '/' || *c < ' ' || *c == 0x7f)
      return false;
  return true;
}

// A whole number, and what follows its '='; NULL if there is none.
static const char *parse_number(const char *text, int *out) {
  uint64_t value;
  const char *end = whole_number(text, 0, INT_MAX - 1, &value);
  if (!end || *end != '=')
    return NULL;
  *out = (int)value;
  return end + 1;
}

bool roll_parse(const char *name, struct roll_entry *entry, struct arena *arena) {
  const size_t length = strcspn(name, "=");
  int state = 0;
  while (state < ROLL_STATES &&
         (strlen(states[state]) != length || strncmp(states[state], name, length) != 0))
    state++;
  const char *rest = state < ROLL_STATES && name[length] ? name + length + 1 : NULL;
  int *const numbers[] = {&entry->phase, &entry->beat, &entry->rank};
  for (size_t i = 0; rest && i < sizeof numbers / sizeof numbers[0]; i++)
    rest = parse_number(rest, numbers[i]);
  const char *node = rest ? strchr(rest, '=') : NULL;
  if (!node || node == rest || !roll_is_node_name(node + 1))
    return false;
  entry->state = (enum roll_state)state;
  entry->key = arena_copy_n(arena, rest, (size_t)(node - rest));
  entry->node = arena_copy(arena, node + 1);
  return true;
}

static int by_node(const void *a, const void *b) {
  const struct roll_entry *left = a, *right = b;
  const int order = strcmp(left->node, right->node);
  return order ? order : (int)left->state - (int)right->state;
}

// While an entry is being renamed it may appear under both names; the more advanced one counts.
static size_t drop_repeated(struct roll_entry *entries, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (i + 1 == count || strcmp(entries[i].node, entries[i + 1].node) != 0)
      entries[kept++] = entries[i];
  return kept;
}

static void add_entry(const struct roll *roll, const char *name, struct roll_entry **entries,
                      size_t *count) {
  struct roll_entry entry;
  if (!roll_parse(name, &entry, roll->arena))
    return;
  *entries = arena_room(roll->arena, *entries, *count, sizeof entry);
  (*entries)[(*count)++] = entry;
}

static int list_board(const struct roll *roll, struct roll_entry **entries, size_t *count) {
  const char *list;
  const int result = roll->board->list(roll->board->context, &list, roll->arena);
  for (size_t length; !result && *list; list += length + (list[length] == '\n')) {
    length = strcspn(list, "\n");
    add_entry(roll, arena_copy_n(roll->arena, list, length), entries, count);
  }
  return result;
}

static int list_folder(const struct roll *roll, struct roll_entry **entries, size_t *count) {
  struct dirent **found;
  const int files = scandir(roll->folder, &found, NULL, NULL);
  if (files < 0) // also if a shared disk fails halfway: its nodes are not silent
    return fail(roll);
  for (int i = 0; i < files; i++) {
    add_entry(roll, found[i]->d_name, entries, count);
    free(found[i]);
  }
  free(found);
  return 0;
}

int roll_list(const struct roll *roll, struct roll_entry **entries, size_t *count) {
  *entries = NULL;
  *count = 0;
  const int result =
      roll->board ? list_board(roll, entries, count) : list_folder(roll, entries, count);
  if (result)
    return result;
  if (*count)
    qsort(*entries, *count, sizeof **entries, by_node);
  *count = drop_repeated(*entries, *count);
  return 0;
}

// ---- this node's own

const char *roll_entry_text(const struct roll_entry *entry, struct arena *arena) {
  return arena_printf(arena, "%s=%d=%d=%d=%s=%s", states[entry->state], entry->phase, entry->beat,
                      entry->rank, entry->key, entry->node);
}

static const char *path_of(const struct roll *roll, const struct roll_entry *entry) {
  return arena_printf(roll->arena, "%s/%s", roll->folder, roll_entry_text(entry, roll->arena));
}

static int remove_earlier(const struct roll *roll) {
  struct arena arena = {NULL};
  struct roll here = *roll;
  struct roll_entry *entries;
  size_t count;
  here.arena = &arena;
  const int result = roll_list(&here, &entries, &count);
  for (size_t i = 0; !result && i < count; i++)
    if (!strcmp(entries[i].node, roll->node))
      unlink(path_of(&here, &entries[i]));
  arena_free(&arena);
  return result;
}

static int begin(const struct roll *roll, const char *path) {
  if (remove_earlier(roll))
    return -1;
  const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  return fd < 0 || close(fd) ? fail(roll) : 0;
}

// Returns 0, or the result of the board's function if that is an error.
static int go_on_alone(struct roll *roll, int result) {
  roll->is_alone |= result > 0;
  roll->has_left_out |= result > 0;
  return result < 0 ? -1 : 0;
}

int roll_tell(struct roll *roll, enum roll_state state) {
  const struct roll_entry entry = {
      state, roll->phase, ++roll->beat, roll->launch->rank, roll->launch->key, roll->node};
  if (roll->is_alone)
    return 0;
  if (roll->board)
    return go_on_alone(
        roll, roll->board->tell(roll->board->context, roll_entry_text(&entry, roll->arena)));
  const char *path = path_of(roll, &entry);
  const bool is_renamed = roll->entry && !rename(roll->entry, path);
  if (!is_renamed && roll->entry && errno != ENOENT)
    return fail(roll);
  if (!is_renamed && begin(roll, path))
    return -1;
  roll->entry = path;
  return 0;
}

// ---- the others

// Returns what roll_list returns.
static int look(const struct roll *roll, struct roll_view *view, struct arena *arena) {
  struct roll here = *roll;
  struct roll_entry *entries;
  size_t count;
  const size_t size = (size_t)roll->launch->size;
  here.arena = arena;
  *view = (struct roll_view){arena_array(arena, size, sizeof(int)),
                             arena_array(arena, size, sizeof(int)),
                             arena_array(arena, size, sizeof(char *)), 0};
  const int result = roll_list(&here, &entries, &count);
  for (size_t i = 0; !result && i < count; i++) {
    const struct roll_entry *entry = &entries[i];
    if (strcmp(entry->key, roll->launch->key) != 0 || entry->rank >= roll->launch->size)
      continue;
    view->phases[entry->rank] = entry->state >= ROLL_STOPPED ? ROLL_END : entry->phase;
    view->beats[entry->rank] = entry->beat;
    view->nodes[entry->rank] = entry->node;
    view->seen += entry->rank != roll->launch->rank;
  }
  return result;
}

static bool holds_up(const struct roll *roll, const struct roll_view *view, int rank, int phase) {
  const bool in_turn = roll->one_by_one && phase != ROLL_END;
  if (in_turn ? rank >= roll->launch->rank : rank == roll->launch->rank)
    return false;
  if (view->phases[rank] >= (in_turn ? ROLL_END : phase))
    return false;
  return !roll->left_out || roll->left_out[rank] != 1 + view->beats[rank];
}

// Whether this process may enter a phase; if not, the first process that holds it up goes to
// *laggard.
static bool may_go(const struct roll *roll, const struct roll_view *view, int phase, int *laggard) {
  for (int rank = 0; rank < roll->launch->size; rank++)
    if (holds_up(roll, view, rank, phase)) {
      *laggard = rank;
      return false;
    }
  return true;
}

static const char *name_of(const struct roll_view *view, int rank, struct arena *arena) {
  return view->nodes[rank] ? view->nodes[rank] : arena_printf(arena, "process %d", rank);
}

static void leave_out(struct roll *roll, const struct roll_view *view, int phase,
                      struct arena *arena) {
  struct texts names = {NULL, 0};
  size_t count = 0;
  int laggard;
  while (!may_go(roll, view, phase, &laggard)) {
    roll->left_out[laggard] = 1 + view->beats[laggard];
    if (count++ < NAMED)
      texts_add(&names, arena, "%s", name_of(view, laggard, arena));
  }
  roll->has_left_out = true;
  diagnostics_warning(roll->diagnostics, nowhere,
                      "no sign of life for %g s: continuing without %s%s", roll->wait_s,
                      texts_joined(&names, arena),
                      count > NAMED ? arena_printf(arena, " and %zu more", count - NAMED) : "");
}

static int refuse_unshared(const struct roll *roll) {
  const int others = roll->launch->size - 1;
  if (roll->meeting)
    diagnostics_error(roll->diagnostics, nowhere,
                      "none of the other %d nodes reached this one within %g s, at %s: either none "
                      "of them is running, or a firewall blocks the connections",
                      others, roll->wait_s, roll->meeting);
  else
    diagnostics_error(
        roll->diagnostics, nowhere,
        "none of the other %d nodes was seen in '%s' within %g s: either none of them "
        "is running, or they do not share this folder. Name a shared one with -o, or have "
        "the nodes send their records with --send",
        others, roll->folder, roll->wait_s);
  return -1;
}

static void tell_waiting(const struct roll *roll, const struct roll_view *view, int laggard,
                         struct arena *arena) {
  if (roll->progress)
    roll->progress(arena_printf(arena, "waiting for %s", name_of(view, laggard, arena)));
}

struct waiting {
  int phase;
  double told_s;    // when this node last gave a sign
  double arrived_s; // when the last process was seen for the first time
  int *beats;       // [size], as they were last seen
  double *moved_s;  // [size], since when they have been so
};

static void note_signs(struct waiting *waiting, const struct roll_view *view, int size,
                       double now_s) {
  for (int rank = 0; rank < size; rank++) {
    if (!view->beats[rank] || view->beats[rank] == waiting->beats[rank])
      continue;
    if (!waiting->beats[rank])
      waiting->arrived_s = now_s;
    waiting->beats[rank] = view->beats[rank];
    waiting->moved_s[rank] = now_s;
  }
}

// Since when nothing has been heard from any process that holds this node up. While processes still
// arrive, the missing ones may still come.
static double silent_since(const struct roll *roll, const struct waiting *waiting,
                           const struct roll_view *view) {
  double since_s = 0;
  for (int rank = 0; rank < roll->launch->size; rank++)
    if (holds_up(roll, view, rank, waiting->phase))
      since_s = fmax(since_s, waiting->beats[rank] ? waiting->moved_s[rank] : waiting->arrived_s);
  return since_s;
}

// A node that is itself held up is not lost: the others see its beat.
static int give_sign(struct roll *roll, struct waiting *waiting, double now_s) {
  if (waiting->phase == ROLL_END || now_s - waiting->told_s < roll->wait_s / SIGNS_PER_WAIT)
    return 0;
  waiting->told_s = now_s;
  return roll_tell(roll, ROLL_WAITING);
}

// Returns 1 to go on, 0 to look again, -1 after an error.
static int look_once(struct roll *roll, struct waiting *waiting, struct arena *arena) {
  struct roll_view view;
  int laggard;
  const int result = look(roll, &view, arena);
  if (result)
    return go_on_alone(roll, result) ? -1 : 1;
  const double now_s = clock_now(roll->clock);
  roll->has_seen |= view.seen > 0;
  if (may_go(roll, &view, waiting->phase, &laggard))
    return 1;
  note_signs(waiting, &view, roll->launch->size, now_s);
  tell_waiting(roll, &view, laggard, arena);
  if (now_s - silent_since(roll, waiting, &view) < roll->wait_s)
    return give_sign(roll, waiting, now_s);
  if (!roll->has_seen)
    return refuse_unshared(roll);
  leave_out(roll, &view, waiting->phase, arena);
  return 1;
}

static int wait_until(struct roll *roll, int phase) {
  const size_t size = (size_t)roll->launch->size;
  const double pause_s = fmin(longest_look_s, fmax(look_s, look_s_per_node * (double)size));
  const double now_s = clock_now(roll->clock);
  struct waiting waiting = {phase, now_s, now_s, arena_array(roll->arena, size, sizeof(int)),
                            arena_array(roll->arena, size, sizeof(double))};
  int result = 0;
  if (!roll->left_out)
    roll->left_out = arena_array(roll->arena, size, sizeof(int));
  while (!result && !*roll->stop && !roll->is_alone) {
    struct arena arena = {NULL};
    result = look_once(roll, &waiting, &arena);
    arena_free(&arena);
    if (!result)
      clock_sleep(roll->clock, pause_s);
  }
  return result < 0 ? -1 : 0;
}

int roll_wait(struct roll *roll, int phase) {
  roll->phase = phase;
  if (roll_tell(roll, ROLL_WAITING) || wait_until(roll, phase))
    return -1;
  return roll_tell(roll, ROLL_MEASURING);
}

int roll_wait_for_end(struct roll *roll) {
  return wait_until(roll, ROLL_END);
}
