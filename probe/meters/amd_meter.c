// The meters of AMD accelerators: sockets, by their energy accumulators or their power.
#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A socket, counted once, through the device whose counter covers it.
struct socket {
  size_t index;
  uint64_t last;  // the counter as last read
  uint64_t total; // since opened, with wraps counted, but not what it counted before a restart
};

struct sockets {
  struct amd amd;
  struct socket *list;
  size_t count;
  bool has_counter, is_momentary, has_watts; // of all of them
};

// How many devices are listed on the same socket, including this one.
static size_t partitions_of(const struct amd *amd, int index) {
  size_t count = 0;
  for (size_t i = 0; i < amd->count; i++)
    count += meter_address_shares_socket(&amd->addresses[i], &amd->addresses[index]);
  return count;
}

// The device of another socket that directly precedes this one by address; -1: none.
static int before(const struct amd *amd, int index) {
  int found = -1;
  for (size_t i = 0; i < amd->count; i++) {
    const struct meter_address *one = &amd->addresses[i];
    if (meter_address_shares_socket(one, &amd->addresses[index]) ||
        meter_address_compare(one, &amd->addresses[index]) > 0)
      continue;
    if (found < 0 || meter_address_compare(one, &amd->addresses[found]) > 0)
      found = (int)i;
  }
  return found;
}

static bool gives_nothing(const struct amd_look *look) {
  return !look->has_counter && isnan(look->watts);
}

static bool reads_zero(const struct amd_look *look) {
  return look->has_counter ? look->counter == 0 : look->watts == 0;
}

// Another partition of the device's socket that reports what this one does not; -1: none.
static int sibling(struct amd *amd, int index) {
  const char *why = amd->why;
  for (size_t i = 0; i < amd->count; i++) {
    struct amd_look look;
    if ((int)i != index &&
        meter_address_shares_socket(&amd->addresses[i], &amd->addresses[index]) &&
        !amd_look(amd, i, &look) && !gives_nothing(&look) && !reads_zero(&look))
      return (int)i;
  }
  amd->why = why;
  return -1;
}

// Whose counter and watts cover the device: its own, those of another partition of its socket if it
// has none, or the first die's if it is a second die. -1 with amd->why if none do.
static int metered_by(struct amd *amd, int index) {
  struct amd_look look;
  const bool failed = amd_look(amd, (size_t)index, &look) != 0;
  const bool is_second = !failed && reads_zero(&look);
  if (!failed && !is_second && !gives_nothing(&look))
    return index;
  const int other = sibling(amd, index);
  if (other >= 0 || failed)
    return other;
  if (!is_second)
    return index; // add_socket will refuse it
  const char *own = meter_address_text(&amd->addresses[index], amd->arena);
  const int first = before(amd, index);
  if (first >= 0 && amd_look(amd, (size_t)first, &look))
    return -1;
  if (first >= 0 && !reads_zero(&look))
    return first;
  amd->why =
      arena_printf(amd->arena, "%s: %s reads 0, as a second die does, but no first die precedes it",
                   amd->source->name, own);
  return -1;
}

// Joules in all, NAN if the counter was reset. A counter that falls has wrapped at 2^32 if it was
// in its last quarter before and is in its first quarter after.
static double advance(const struct amd_look *look, struct socket *socket) {
  static const uint64_t turn = UINT64_C(1) << 32, near = UINT64_C(1) << 30;
  const uint64_t before = socket->last;
  const bool fell = look->counter < before;
  if (fell && (before >= turn || before <= turn - near || look->counter >= near))
    return NAN;
  socket->total += look->counter - before + (fell ? turn : 0);
  socket->last = look->counter;
  return (double)socket->total * look->resolution_j;
}

static enum meter_status add_socket(struct meter *meter, size_t metered) {
  struct sockets *sockets = meter->state;
  struct amd *amd = &sockets->amd;
  for (size_t i = 0; i < sockets->count; i++)
    if (meter_address_shares_socket(&amd->addresses[sockets->list[i].index],
                                    &amd->addresses[metered]))
      return METER_OK;
  struct amd_look look;
  if (amd_look(amd, metered, &look)) {
    meter->why = amd->why;
    return METER_ABSENT;
  }
  sockets->has_counter = sockets->has_counter && look.has_counter;
  sockets->has_watts = sockets->has_watts && !isnan(look.watts);
  sockets->is_momentary = sockets->is_momentary && look.is_momentary;
  sockets->list[sockets->count++] = (struct socket){metered, look.counter, 0};
  if (sockets->has_counter || sockets->has_watts)
    return METER_OK;
  meter->why =
      arena_printf(meter->arena, "%s: %s reports neither energy nor power", amd->source->name,
                   meter_address_text(&amd->addresses[metered], meter->arena));
  return METER_ABSENT;
}

// *note says what else the watts of the device's socket cover.
static enum meter_status add_device(struct meter *meter, const char *pci, const char **note) {
  struct sockets *sockets = meter->state;
  struct amd *amd = &sockets->amd;
  struct meter_address address;
  const int index = meter_address_parse(pci, &address) ? amd_find(amd, &address) : -1;
  if (index < 0) {
    meter->why = arena_printf(meter->arena, "%s: no device at %s", amd->source->name, pci);
    return METER_ABSENT;
  }
  const int metered = metered_by(amd, index);
  if (metered < 0) {
    meter->why = amd->why;
    return METER_ABSENT;
  }
  const size_t partitions = partitions_of(amd, index);
  if (!meter_address_shares_socket(&amd->addresses[metered], &amd->addresses[index])) {
    meter->covered_by = meter_address_text(&amd->addresses[metered], meter->arena);
    *note = arena_printf(meter->arena, "; %s is a second die: the first, %s, covers both", pci,
                         meter->covered_by);
  } else if (partitions > 1)
    *note = arena_printf(meter->arena, "; the watts of a socket, shared by its %zu partitions",
                         partitions);
  return add_socket(meter, (size_t)metered);
}

// A first die that is followed by its second counts for both, even if it alone was asked for.
static const char *note_second_dies(struct sockets *sockets, const char *note) {
  struct amd *amd = &sockets->amd;
  for (size_t i = 0; i < sockets->count && !*note; i++)
    for (size_t k = 0; k < amd->count; k++) {
      struct amd_look look;
      if (before(amd, (int)k) == (int)sockets->list[i].index && !amd_look(amd, k, &look) &&
          reads_zero(&look))
        return "; both dies of the module, whichever is busy";
    }
  return note;
}

static const char *name_of(const struct meter *meter, const char *note) {
  const struct sockets *sockets = meter->state;
  const char *watts = sockets->is_momentary ? "current socket power" : "average socket power";
  const char *readings = "energy accumulator";
  if (!sockets->has_counter)
    readings = arena_printf(meter->arena, "%s integrated, no counter", watts);
  else if (sockets->has_watts)
    readings = arena_printf(meter->arena, "energy accumulator and %s", watts);
  return arena_printf(meter->arena, "%s, %zu socket%s: %s%s", meter->kind->name, sockets->count,
                      sockets->count == 1 ? "" : "s", readings, note);
}

static enum meter_status open_sockets(struct meter *meter, const struct meter_roots *roots) {
  struct sockets *sockets = arena_alloc(meter->arena, sizeof *sockets);
  const char *note = "";
  meter->state = sockets;
  sockets->has_counter = sockets->has_watts = sockets->is_momentary = true;
  sockets->list = arena_array(meter->arena, meter->device_count + 1, sizeof *sockets->list);
  enum meter_status status = amd_open(&sockets->amd, meter->kind->own, roots, meter->arena);
  if (status != METER_OK) {
    meter->why = sockets->amd.why;
    return status;
  }
  for (size_t i = 0; i < meter->device_count && status == METER_OK; i++)
    status = add_device(meter, meter->devices[i], &note);
  if (status != METER_OK)
    amd_close(&sockets->amd);
  else
    meter->name = name_of(meter, note_second_dies(sockets, note));
  return status;
}

static enum meter_status look_at(struct meter *meter, const struct socket *socket,
                                 struct amd_look *look) {
  struct amd *amd = &((struct sockets *)meter->state)->amd;
  if (!amd_look(amd, socket->index, look))
    return METER_OK;
  meter->why = amd->why;
  return METER_LOST;
}

static enum meter_status restart_sockets(struct meter *meter) {
  struct sockets *sockets = meter->state;
  for (size_t i = 0; i < sockets->count; i++) {
    struct amd_look look;
    if (look_at(meter, &sockets->list[i], &look) != METER_OK)
      return METER_LOST;
    sockets->list[i].last = look.counter;
  }
  return METER_OK;
}

static enum meter_status read_sockets(struct meter *meter, struct meter_reading *reading) {
  struct sockets *sockets = meter->state;
  double joules = 0, watts = 0;
  for (size_t i = 0; i < sockets->count; i++) {
    struct socket *socket = &sockets->list[i];
    struct amd_look look;
    if (look_at(meter, socket, &look) != METER_OK)
      return METER_LOST;
    if (sockets->has_counter)
      joules += advance(&look, socket);
    watts += look.watts;
  }
  if (sockets->has_counter && isnan(joules)) {
    meter->why =
        arena_printf(meter->arena, "%s: the energy accumulator went backwards", meter->kind->name);
    return METER_LOST;
  }
  if (sockets->has_counter)
    reading->joules = joules;
  if (sockets->has_watts)
    reading->watts = watts;
  return METER_OK;
}

static void close_sockets(struct meter *meter) {
  struct sockets *sockets = meter->state;
  amd_close(&sockets->amd);
}

const struct meter_kind meter_amdsmi = {
    .name = "amd-smi",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .own = &amd_smi,
    .open = open_sockets,
    .read = read_sockets,
    .restart = restart_sockets,
    .close = close_sockets,
};

const struct meter_kind meter_rocmsmi = {
    .name = "rocm-smi",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .own = &rocm_smi,
    .open = open_sockets,
    .read = read_sockets,
    .restart = restart_sockets,
    .close = close_sockets,
};

const struct meter_kind meter_hwmon = {
    .name = "amdgpu-hwmon",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .own = &amd_sysfs,
    .open = open_sockets,
    .read = read_sockets,
    .restart = restart_sockets,
    .close = close_sockets,
};
