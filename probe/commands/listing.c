#include "probe/commands/listing.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/devices/exchange.h"
#include "probe/measure/calibration.h"
#include "probe/options/options.h"
#include "probe/sessions/print.h"

#include <csv.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct matrix_type {
  const char *name;
  struct decode_types types;
} rate_kinds[] = {
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32}},
    {"fp8", {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
};

enum { RATES = sizeof rate_kinds / sizeof rate_kinds[0] };

struct listed_device {
  struct device device;
  const char *meter; // "nvml, ...", "none: WHY"; NULL: the machine itself, whose meters follow
  double read_bandwidth, rates[RATES]; // NAN: not measured, or not supported
};

static const char *const status_words[] = {
    [METER_OK] = "works",
    [METER_ABSENT] = "absent",
    [METER_FORBIDDEN] = "forbidden",
    [METER_LOST] = "lost",
};

static int calibrate_device(struct listed_device *listed, struct arena *arena,
                            struct diagnostics *diagnostics) {
  const struct device *device = &listed->device;
  const struct decode_backend *backend = device->backend;
  struct calibration calibration;
  enum decode_status status = calibrate(
      backend, device->index, 0, 0, device->described.memory_free_bytes / 2, NULL, &calibration);
  listed->read_bandwidth = calibration.bytes_per_s;
  for (size_t i = 0; i < RATES && status == DECODE_OK; i++) {
    status = backend->matrix_rate(device->index, &rate_kinds[i].types, 0, &listed->rates[i]);
    if (status != DECODE_UNSUPPORTED)
      continue;
    listed->rates[i] = NAN;
    status = DECODE_OK;
  }
  backend->calibration_end();
  if (status == DECODE_OK)
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s: %s", backend->name,
                    device_failure(backend, status, arena));
  return -1;
}

static void print_device(const struct listed_device *listed, bool calibrated, FILE *out) {
  const struct decode_device *device = &listed->device.described;
  fprintf(out, "%s:%d  ", listed->device.backend->name, listed->device.index);
  print_safely(device->name, out);
  fputs("\n    ", out);
  print_safely(device->runtime, out);
  fprintf(out, "\n    memory %.1f GB, %.1f GB free; last-level cache %.1f MB",
          1e-9 * (double)device->memory_bytes, 1e-9 * (double)device->memory_free_bytes,
          1e-6 * (double)device->cache_bytes);
  if (device->reported_cache_bytes && device->reported_cache_bytes != device->cache_bytes)
    fprintf(out, " of the cores in use (%.1f MB by the C library)",
            1e-6 * (double)device->reported_cache_bytes);
  fprintf(out, "; %d units\n", device->units);
  if (listed->meter) {
    fputs("    watts: ", out);
    print_safely(listed->meter, out);
    putc('\n', out);
  }
  if (!calibrated)
    return;
  fprintf(out, "    reads %.2f GB/s", 1e-9 * listed->read_bandwidth);
  for (size_t i = 0; i < RATES; i++)
    if (!isnan(listed->rates[i]))
      fprintf(out, "; %s %.3g Top/s", rate_kinds[i].name, 1e-12 * listed->rates[i]);
  putc('\n', out);
}

static json_t *number_or_null(double value) {
  return isnan(value) ? json_null() : json_real(value);
}

static json_t *json_of_device(const struct listed_device *listed) {
  const struct decode_device *device = &listed->device.described;
  json_t *rates = json_object();
  for (size_t i = 0; i < RATES; i++)
    json_object_set_new(rates, rate_kinds[i].name, number_or_null(listed->rates[i]));
  return json_pack(
      "{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:s?}", "backend",
      listed->device.backend->name, "build", listed->device.backend->build, "index",
      listed->device.index, "name", device->name, "uuid", device->uuid, "pci", device->pci,
      "runtime", device->runtime, "memory_bytes", (json_int_t)device->memory_bytes,
      "memory_free_bytes", (json_int_t)device->memory_free_bytes, "cache_bytes",
      (json_int_t)device->cache_bytes, "reported_cache_bytes",
      (json_int_t)device->reported_cache_bytes, "units", device->units, "read_bandwidth",
      number_or_null(listed->read_bandwidth), "operations_per_s", rates, "meter", listed->meter);
}

// Opens and closes each meter of the machine, and lists the result.
static json_t *try_meters(const struct listing_request *request, FILE *table, struct arena *arena) {
  json_t *list = json_array();
  for (size_t i = 0; meter_kinds[i]; i++) {
    struct meter meter;
    const enum meter_status status =
        meter_open_kind(&meter, meter_kinds[i], request->meters, &machine_clock, arena);
    const char *words = status_words[status];
    const char *detail = status == METER_OK ? meter.name : meter.why;
    if (table) {
      fprintf(table, "meter  %s (%s): %s", meter_kinds[i]->name, meter_kinds[i]->covers, words);
      fprintf(table, status == METER_OK ? "\n" : ": %s\n", detail);
    }
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:s, s:s}", "name", meter_kinds[i]->name, "covers",
                                    meter_kinds[i]->covers, "status", words, "detail", detail));
    meter_close(&meter);
  }
  return list;
}

// Says why a backend has no device here, or why a device cannot be used.
static void list_absent(const struct decode_backend *backend, const char *name,
                        enum decode_status status, FILE *table, json_t *absent,
                        struct arena *arena) {
  const char *why = device_failure(backend, status, arena);
  if (table) {
    fprintf(table, "%s  ", name);
    print_safely(why, table);
    putc('\n', table);
  }
  json_array_append_new(absent, json_pack("{s:s, s:s}", "name", name, "why", why));
}

// The meter of a device other than the CPU.
static const char *own_meter(const struct listing_request *request, const struct device *device,
                             struct arena *arena) {
  if (!strcmp(device->backend->name, "cpu"))
    return NULL;
  if (!*device->described.pci)
    return "none: a device without a PCI address";
  struct meter meter;
  const char *const addresses[] = {device->described.pci};
  meter_open_devices(&meter, addresses, 1, request->meters, &machine_clock, arena);
  const char *name = arena_copy(arena, meter.name);
  meter_close(&meter);
  return name;
}

struct lists {
  FILE *table; // or NULL
  json_t *devices, *absent;
};

static int list_one(const struct listing_request *request, const struct decode_backend *backend,
                    int index, const struct lists *lists, struct arena *arena,
                    struct diagnostics *diagnostics) {
  struct listed_device listed = {
      .device = {backend, index, {.name = ""}}, .read_bandwidth = NAN, .rates = {NAN, NAN, NAN}};
  const enum decode_status status = backend->describe(index, &listed.device.described);
  if (status != DECODE_OK) {
    list_absent(backend, arena_printf(arena, "%s:%d", backend->name, index), status, lists->table,
                lists->absent, arena);
    return 0;
  }
  listed.meter = own_meter(request, &listed.device, arena);
  if (request->calibrate && calibrate_device(&listed, arena, diagnostics))
    return -1;
  if (lists->table)
    print_device(&listed, request->calibrate, lists->table);
  json_array_append_new(lists->devices, json_of_device(&listed));
  return 0;
}

static int list_devices(const struct listing_request *request, const struct lists *lists,
                        struct arena *arena, struct diagnostics *diagnostics) {
  for (size_t i = 0; i < request->device_count; i++)
    if (list_one(request, request->devices[i].backend, request->devices[i].index, lists, arena,
                 diagnostics))
      return -1;
  for (size_t i = 0; !request->devices && request->backends[i]; i++) {
    const struct decode_backend *backend = request->backends[i];
    const int count = backend->device_count();
    if (count == 0)
      list_absent(backend, backend->name, DECODE_NO_DEVICE, lists->table, lists->absent, arena);
    for (int index = 0; index < count; index++)
      if (list_one(request, backend, index, lists, arena, diagnostics))
        return -1;
  }
  if (!request->devices && !request->backends[1] && lists->table)
    fputs(
        "GPUs  this installation has no backend for them: docs/measuring-cpu.md says how to build "
        "one\n",
        lists->table);
  return 0;
}

// How long devices that were named together take to exchange; NULL if that was not asked for.
static json_t *list_exchange(const struct listing_request *request, FILE *table,
                             struct arena *arena) {
  if (!request->calibrate || request->device_count < 2)
    return NULL;
  const struct exchange exchange = exchange_measure(request->devices, request->device_count, arena);
  json_t *list = json_array();
  if (table) {
    fprintf(table, "all-reduce among %zu devices: ", request->device_count);
    print_safely(exchange.why, table);
  }
  for (size_t i = 0; i < EXCHANGE_SIZES && !*exchange.why; i++) {
    const struct decode_all_reduce *one = &exchange.sizes[i];
    if (table)
      fprintf(table, "%s%llu KiB %.4g us", i ? ", " : "", (unsigned long long)one->bytes / 1024,
              1e6 * one->seconds);
    json_array_append_new(
        list, json_pack("{s:I, s:f}", "bytes", (json_int_t)one->bytes, "seconds", one->seconds));
  }
  if (table) {
    fputs(*exchange.why ? "" : " (", table);
    print_safely(*exchange.why ? "" : exchange.sizes[0].library, table);
    fputs(*exchange.why ? "\n" : ")\n", table);
  }
  return json_pack("{s:o, s:s, s:s}", "sizes", list, "library", exchange.sizes[0].library, "why",
                   exchange.why);
}

static void print_value(const json_t *value, FILE *out) {
  if (json_is_string(value))
    csv_fwrite(out, json_string_value(value), json_string_length(value));
  else if (!json_is_null(value))
    json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

// A line for each value of an object, and of the objects in it.
static void print_values(const char *kind, const char *name, const char *before, json_t *object,
                         FILE *out, struct arena *arena) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (json_is_object(value)) {
      print_values(kind, name, arena_printf(arena, "%s%s.", before, key), value, out, arena);
      continue;
    }
    const char *const texts[] = {kind, name, arena_printf(arena, "%s%s", before, key)};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
      csv_fwrite(out, texts[i], strlen(texts[i]));
      putc(',', out);
    }
    print_value(value, out);
    putc('\n', out);
  }
}

// "cpu:0", a backend, a meter, or a number of bytes.
static const char *name_of(const json_t *object, struct arena *arena) {
  const char *backend = json_string_value(json_object_get(object, "backend"));
  const char *name = json_string_value(json_object_get(object, "name"));
  if (backend)
    return arena_printf(arena, "%s:%" JSON_INTEGER_FORMAT, backend,
                        json_integer_value(json_object_get(object, "index")));
  return name ? name
              : arena_printf(arena, "%" JSON_INTEGER_FORMAT " bytes",
                             json_integer_value(json_object_get(object, "bytes")));
}

static void print_csv(const json_t *all, FILE *out, struct arena *arena) {
  static const char *const kinds[] = {"device", "absent", "meter", "all_reduce"};
  const json_t *const lists[] = {json_object_get(all, "devices"), json_object_get(all, "absent"),
                                 json_object_get(all, "meters"),
                                 json_object_get(json_object_get(all, "all_reduce"), "sizes")};
  fputs("\"kind\",\"name\",\"item\",\"value\"\n", out);
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
    for (size_t i = 0; i < json_array_size(lists[k]); i++) {
      json_t *object = json_array_get(lists[k], i);
      print_values(kinds[k], name_of(object, arena), "", object, out, arena);
    }
}

int listing_print(const struct listing_request *request, FILE *out, struct arena *arena,
                  struct diagnostics *diagnostics) {
  const bool is_table = !request->json && !request->csv;
  const struct lists lists = {is_table ? out : NULL, json_array(), json_array()};
  const int result = list_devices(request, &lists, arena, diagnostics);
  json_t *exchange = result ? NULL : list_exchange(request, lists.table, arena);
  json_t *meters = try_meters(request, lists.table, arena);
  json_t *all = json_pack("{s:i, s:o, s:o, s:o}", "schema", 1, "devices", lists.devices, "absent",
                          lists.absent, "meters", meters);
  if (exchange)
    json_object_set_new(all, "all_reduce", exchange);
  if (request->json && !result) {
    json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putc('\n', out);
  }
  if (request->csv && !result)
    print_csv(all, out, arena);
  json_decref(all);
  return result;
}

// It has nothing to lose: a signal kills it.
int probe_list(struct invocation *invocation, int argc, char **argv) {
  const struct probe_options options =
      probe_options_parse(COMMAND_LIST, argc, argv, invocation->arena);
  struct listing_request request = {
      .backends = invocation_backends(invocation),
      .meters = &machine_meters,
      .calibrate = options.calibrate,
      .json = options.json,
      .csv = options.csv,
  };
  struct device *devices;
  invocation->quiet = options.quiet;
  if (options.device) {
    if (devices_find(options.device, request.backends, &devices, &request.device_count,
                     invocation->arena, invocation->diagnostics))
      return -1;
    request.devices = devices;
  }
  return listing_print(&request, stdout, invocation->arena, invocation->diagnostics);
}
