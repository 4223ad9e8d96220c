#include "probe/meters/amd.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// One call into a library at a time: asked by several threads at once, AMD SMI has given a device
// the counter of another (ROCm/amdsmi issue 115).
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

const char *const amd_reasons[AMD_REASONS + 1] = {
    "processor hot",         "power limit",        "socket temperature",
    "regulator temperature", "memory temperature", "current limit",
};

// ---- devices

static int by_address(const void *a, const void *b) {
  return meter_address_compare(a, b);
}

enum meter_status amd_open(struct amd *amd, const struct amd_source *source,
                           const struct meter_roots *roots, struct arena *arena) {
  *amd = (struct amd){.source = source, .why = "", .arena = arena, .roots = roots};
  return source->open(amd, roots);
}

void amd_close(struct amd *amd) {
  if (amd->source)
    amd->source->close(amd);
  amd->source = NULL;
}

int amd_look(struct amd *amd, size_t index, struct amd_look *look) {
  *look = (struct amd_look){.watts = NAN,
                            .core_clock_hz = NAN,
                            .memory_clock_hz = NAN,
                            .core_temperature_c = NAN,
                            .memory_temperature_c = NAN};
  pthread_mutex_lock(&asking);
  const int result = amd->source->look(amd, index, look);
  pthread_mutex_unlock(&asking);
  return result;
}

int amd_find(const struct amd *amd, const struct meter_address *address) {
  for (size_t i = 0; i < amd->count; i++)
    if (meter_address_compare(&amd->addresses[i], address) == 0)
      return (int)i;
  for (size_t i = 0; i < amd->count; i++)
    if (meter_address_shares_socket(&amd->addresses[i], address))
      return (int)i;
  return -1;
}

// How many devices are listed on the same socket, itself included.
static size_t partitions_of(const struct amd *amd, int index) {
  size_t count = 0;
  for (size_t i = 0; i < amd->count; i++)
    count += meter_address_shares_socket(&amd->addresses[i], &amd->addresses[index]);
  return count;
}

// The device of another socket that stands directly before this one by address; -1: none.
static int before(const struct amd *amd, int index) {
  int found = -1;
  for (size_t i = 0; i < amd->count; i++) {
    const struct meter_address *one = &amd->addresses[i];
    if (meter_address_shares_socket(one, &amd->addresses[index]) ||
        by_address(one, &amd->addresses[index]) > 0)
      continue;
    if (found < 0 || by_address(one, &amd->addresses[found]) > 0)
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

// Another partition of the device's socket that gives what itself does not; -1: none.
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

// Whose counter and watts cover the device: its own, those of another partition of its socket when
// it gives none itself, or the first die's when it is a second. -1 with amd->why when no one's do.
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
    return index; // refused for what it is
  const char *own = meter_address_text(&amd->addresses[index], amd->arena);
  const int first = before(amd, index);
  if (first >= 0 && amd_look(amd, (size_t)first, &look))
    return -1;
  if (first >= 0 && !reads_zero(&look))
    return first;
  amd->why = arena_printf(amd->arena,
                          "%s: %s reads 0 as a second die does, and no first die stands before it",
                          amd->source->name, own);
  return -1;
}

void amd_look_at_counter(uint64_t counter, float resolution_uj, struct amd_look *look) {
  static const double firmware_uj = 1e6 / 65536, called_uj = 15.3;
  const bool is_called = fabs((double)resolution_uj - called_uj) < 0.01;
  look->has_counter = resolution_uj > 0 && counter != UINT64_MAX;
  look->counter = counter;
  look->resolution_j = 1e-6 * (is_called ? firmware_uj : (double)resolution_uj);
}

// A counter that starts again from 0 has passed 2^32 or was reset; only the first is a wrap, and
// only a counter read often enough shows it.
static double joules_since(const struct amd_look *look, uint64_t first, uint64_t *last,
                           unsigned *turns) {
  static const uint64_t turn = UINT64_C(1) << 32;
  if (look->counter < *last) {
    const bool wrapped = *last<turn && * last> turn - turn / 4 && look->counter < turn / 4;
    if (!wrapped)
      return NAN;
    (*turns)++;
  }
  *last = look->counter;
  const double counts = (double)look->counter - (double)first + (double)*turns * (double)turn;
  return counts * look->resolution_j;
}

// ---- gpu_metrics

static double told(uint16_t value) {
  return value == UINT16_MAX ? NAN : value;
}

static double mean_of(const uint16_t *values, size_t count) {
  double sum = 0;
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    if (values[i] == UINT16_MAX || values[i] == 0)
      continue;
    sum += values[i];
    known++;
  }
  return known ? sum / (double)known : NAN;
}

static void look_at_throttling(const struct amd_metrics *metrics, struct amd_look *look) {
  const uint64_t residency[] = {metrics->prochot_residency_acc, metrics->ppt_residency_acc,
                                metrics->socket_thm_residency_acc, metrics->vr_thm_residency_acc,
                                metrics->hbm_thm_residency_acc};
  const uint64_t bits = metrics->indep_throttle_status;
  look->has_residency =
      metrics->accumulation_counter != UINT64_MAX && metrics->accumulation_counter;
  look->cycles = metrics->accumulation_counter;
  for (size_t i = 0; i < sizeof residency / sizeof residency[0]; i++)
    look->residency[i] = residency[i] == UINT64_MAX ? 0 : residency[i];
  look->has_bits = !look->has_residency && bits != UINT64_MAX;
  if (!look->has_bits)
    return;
  look->throttled[0] = bits >> 46 & 3; // PROCHOT_CPU, PROCHOT_GFX
  look->throttled[1] = bits & 0xffff;
  look->throttled[2] = bits >> 32 & 0x3b; // GPU, CORE, EDGE, HOTSPOT, SOC
  look->throttled[3] = bits >> 38 & 0xcf; // VR_GFX to VR_MEM1, VRHOT0, VRHOT1
  look->throttled[4] = bits >> 34 & 1;
  look->throttled[5] = bits >> 16 & 0xffff;
}

void amd_look_at_metrics(const struct amd_metrics *metrics, struct amd_look *look) {
  const double current_w = told(metrics->current_socket_power);
  const double cores = mean_of(metrics->current_gfxclks, 8);
  look->is_momentary = !isnan(current_w);
  look->watts = look->is_momentary ? current_w : told(metrics->average_socket_power);
  look->core_clock_hz = 1e6 * (isnan(cores) ? told(metrics->current_gfxclk) : cores);
  look->memory_clock_hz = 1e6 * told(metrics->current_uclk);
  look->core_temperature_c = told(metrics->temperature_hotspot);
  look->memory_temperature_c = told(metrics->temperature_mem);
  look_at_throttling(metrics, look);
}

const char *amd_ecc_text(uint64_t enabled_blocks) {
  return enabled_blocks & 1 ? "enabled" : "disabled";
}

// ---- the meters

// What is counted once: a socket, by the device whose counter covers it.
struct socket {
  size_t index;
  uint64_t first, last;
  unsigned turns;
};

struct sockets {
  struct amd amd;
  struct socket *list;
  size_t count;
  bool has_counter, is_momentary, has_watts; // of all of them
};

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
  sockets->list[sockets->count++] = (struct socket){metered, look.counter, look.counter, 0};
  if (sockets->has_counter || sockets->has_watts)
    return METER_OK;
  meter->why =
      arena_printf(meter->arena, "%s: %s gives neither its energy nor its power", amd->source->name,
                   meter_address_text(&amd->addresses[metered], meter->arena));
  return METER_ABSENT;
}

// Says in *note what else the watts of a device's socket cover.
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
  if (!meter_address_shares_socket(&amd->addresses[metered], &amd->addresses[index]))
    *note =
        arena_printf(meter->arena, "; %s is a second die: its first, %s, counts for both of them",
                     pci, meter_address_text(&amd->addresses[metered], meter->arena));
  else if (partitions > 1)
    *note = arena_printf(meter->arena, "; the watts of a socket, shared by its %zu partitions",
                         partitions);
  return add_socket(meter, (size_t)metered);
}

// A first die whose second follows counts for both: said even when it alone is asked for.
static const char *note_second_dies(struct sockets *sockets, const char *note) {
  struct amd *amd = &sockets->amd;
  for (size_t i = 0; i < sockets->count && !*note; i++)
    for (size_t k = 0; k < amd->count; k++) {
      struct amd_look look;
      if (before(amd, (int)k) == (int)sockets->list[i].index && !amd_look(amd, k, &look) &&
          reads_zero(&look))
        return "; both dies of the module, whichever works";
    }
  return note;
}

static const char *name_of(const struct meter *meter, const char *note) {
  const struct sockets *sockets = meter->state;
  const char *watts = sockets->is_momentary ? "current socket power" : "average socket power";
  const bool both = sockets->has_counter && sockets->has_watts;
  return arena_printf(meter->arena, "%s, %zu socket%s: %s%s%s%s", meter->kind->name, sockets->count,
                      sockets->count == 1 ? "" : "s",
                      sockets->has_counter ? "energy accumulator" : watts,
                      both                   ? ", beside it "
                      : sockets->has_counter ? ""
                                             : " integrated, no counter",
                      both ? watts : "", note);
}

static enum meter_status open_sockets(struct meter *meter, const struct meter_roots *roots,
                                      const struct amd_source *source) {
  struct sockets *sockets = arena_alloc(meter->arena, sizeof *sockets);
  const char *note = "";
  meter->state = sockets;
  sockets->has_counter = sockets->has_watts = sockets->is_momentary = true;
  sockets->list = arena_array(meter->arena, meter->device_count + 1, sizeof *sockets->list);
  enum meter_status status = amd_open(&sockets->amd, source, roots, meter->arena);
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

static enum meter_status read_sockets(struct meter *meter, struct meter_reading *reading) {
  struct sockets *sockets = meter->state;
  struct amd *amd = &sockets->amd;
  double joules = 0, watts = 0;
  for (size_t i = 0; i < sockets->count; i++) {
    struct socket *socket = &sockets->list[i];
    struct amd_look look;
    if (amd_look(amd, socket->index, &look)) {
      meter->why = amd->why;
      return METER_LOST;
    }
    if (sockets->has_counter)
      joules += joules_since(&look, socket->first, &socket->last, &socket->turns);
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

static enum meter_status open_amdsmi(struct meter *meter, const struct meter_roots *roots) {
  return open_sockets(meter, roots, &amd_smi);
}

static enum meter_status open_rocmsmi(struct meter *meter, const struct meter_roots *roots) {
  return open_sockets(meter, roots, &rocm_smi);
}

static enum meter_status open_hwmon(struct meter *meter, const struct meter_roots *roots) {
  return open_sockets(meter, roots, &amd_sysfs);
}

const struct meter_kind meter_amdsmi = {
    .name = "amd-smi",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .open = open_amdsmi,
    .read = read_sockets,
    .close = close_sockets,
};

const struct meter_kind meter_rocmsmi = {
    .name = "rocm-smi",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .open = open_rocmsmi,
    .read = read_sockets,
    .close = close_sockets,
};

const struct meter_kind meter_hwmon = {
    .name = "amdgpu-hwmon",
    .covers = "AMD accelerators",
    .vendor = VENDOR_AMD,
    .open = open_hwmon,
    .read = read_sockets,
    .close = close_sockets,
};
