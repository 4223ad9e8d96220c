#include "probe/meters/gpu_metrics.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void gpu_metrics_narrow(union gpu_metrics_room *room) {
  static const size_t activity_end = offsetof(struct gpu_metrics, temperature_hbm),
                      nak = offsetof(struct gpu_metrics, pcie_nak_sent_count_acc),
                      nak_end = offsetof(struct gpu_metrics, accumulation_counter);
  unsigned char *bytes = room->bytes;
  memmove(bytes + activity_end, bytes + activity_end + 8, nak - activity_end);
  memmove(bytes + nak_end, bytes + nak_end + 16, sizeof room->head - nak_end);
}

void gpu_metrics_counter(uint64_t counter, float resolution_uj, struct amd_look *look) {
  static const double firmware_uj = 1e6 / 65536, called_uj = 15.3;
  const bool is_called = fabs((double)resolution_uj - called_uj) < 0.01;
  look->has_counter = resolution_uj > 0 && counter != UINT64_MAX;
  look->counter = counter;
  look->resolution_j = 1e-6 * (is_called ? firmware_uj : (double)resolution_uj);
}

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

static void look_at_throttling(const struct gpu_metrics *metrics, struct amd_look *look) {
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

// Speeds are in 0.1 GT/s (kgd_pp_interface.h of the Linux kernel); the speed of a generation is in
// table 1 of the PCI Express Base Specification.
static double generation_of(uint16_t speed) {
  static const uint16_t speeds[] = {25, 50, 80, 160, 320, 640};
  for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
    if (speed == speeds[i])
      return (double)(i + 1);
  return NAN;
}

// A link that the device does not have is 0 lanes wide.
static double lanes(uint16_t width) {
  return width ? told(width) : NAN;
}

void gpu_metrics_look(const struct gpu_metrics *metrics, struct amd_look *look) {
  const double current_w = told(metrics->current_socket_power);
  const double cores = mean_of(metrics->current_gfxclks, 8);
  look->is_momentary = !isnan(current_w);
  look->watts = look->is_momentary ? current_w : told(metrics->average_socket_power);
  look->core_clock_hz = 1e6 * (isnan(cores) ? told(metrics->current_gfxclk) : cores);
  look->memory_clock_hz = 1e6 * told(metrics->current_uclk);
  look->core_temperature_c = told(metrics->temperature_hotspot);
  look->memory_temperature_c = told(metrics->temperature_mem);
  look->pcie_generation = generation_of(metrics->pcie_link_speed);
  look->pcie_width = lanes(metrics->pcie_link_width);
  look->xgmi_width = lanes(metrics->xgmi_link_width);
  look_at_throttling(metrics, look);
}

const char *gpu_metrics_ecc(uint64_t enabled_blocks) {
  return enabled_blocks & 1 ? "enabled" : "disabled";
}
