#include "model/delivery/doubts.h"

#include "base/texts.h"
#include "model/delivery/fleet.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/offer.h"
#include "model/records/serving.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void warn_of_doubts(const struct doubts *doubts, size_t workload) {
  const struct fleet *fleet = doubts->among->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  const struct fleet_run *first = NULL;
  size_t count = 0;
  for (size_t r = 0; r < at->run_count; r++) {
    const struct fleet_run *run = &fleet->runs[at->first_run + r];
    count += *run->doubts != 0;
    first = !first && *run->doubts ? run : first;
  }
  if (first)
    texts_add(doubts->warnings, doubts->arena,
              "%zu of the %zu results used %s in doubt: on node %s, %s", count, at->run_count,
              count == 1 ? "is" : "are", fleet->nodes[fleet->devices[first->device].node].name,
              first->doubts);
}

// Warns of runs with too few requests for the guaranteed percentile.
static void warn_of_few_requests(const struct doubts *doubts,
                                 const struct offer_guarantee *guarantee, size_t workload) {
  const struct fleet *fleet = doubts->among->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  int needed = 1;
  for (int l = 0; l < OFFER_LATENCIES; l++)
    if (!isnan(guarantee->latencies[l].seconds) &&
        serving_statistic_samples(guarantee->latencies[l].statistic) > needed)
      needed = serving_statistic_samples(guarantee->latencies[l].statistic);
  size_t few = 0;
  double most = 0;
  for (size_t r = 0; r < at->run_count && at->served; r++) {
    const double completed = fleet->runs[at->first_run + r].latencies->completed;
    few += completed < needed;
    most = completed < needed ? fmax(most, completed) : most;
  }
  if (few)
    texts_add(doubts->warnings, doubts->arena,
              "%s: %zu of %zu runs had fewer requests than the %d that its percentile needs, %.0f "
              "at most: measure with a longer --time",
              guarantee->name, few, at->run_count, needed, most);
}

// Warns that what the servers' records do not state is assumed to be as guaranteed.
static void warn_of_unsaid(const struct doubts *doubts, const struct offer_guarantee *guarantee,
                           size_t workload) {
  const struct fleet_workload *at = &doubts->among->fleet->workloads[workload];
  const char *unsaid = guaranteed_unsaid(guarantee, at, doubts->arena);
  if (*unsaid)
    texts_add(doubts->warnings, doubts->arena,
              "%s: the offer names %s, and the servers' records do not say theirs: taken as "
              "guaranteed, and not checked; 'probe serving' writes down --activations and --kv",
              guarantee->name, unsaid);
}

void doubts_of_runs(const struct doubts *doubts, const struct offer_guarantee *guarantee,
                    size_t workload) {
  warn_of_doubts(doubts, workload);
  warn_of_few_requests(doubts, guarantee, workload);
  warn_of_unsaid(doubts, guarantee, workload);
}

void doubts_of_days(const struct doubts *doubts, const char *first_day, const char *last_day) {
  const struct offer *offer = doubts->among->offer;
  if (*first_day && strncmp(first_day, offer->date, strlen(offer->date)) < 0)
    texts_add(doubts->warnings, doubts->arena,
              "the first run dates from %.10s, before the offer's own date %s", first_day,
              offer->date);
  if (*last_day && offer_has_expired(offer, arena_copy_n(doubts->arena, last_day, 10)))
    texts_add(doubts->warnings, doubts->arena,
              "the offer was valid until %s, and the last run dates from %.10s: is this the offer "
              "that was ordered?",
              offer->valid_until, last_day);
}

static bool is_of_a_guarantee(const struct doubts *doubts, size_t workload) {
  const struct offer *offer = doubts->among->offer;
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (guaranteed_fits(doubts->among, &offer->guarantees[g],
                        &doubts->among->fleet->workloads[workload]))
      return true;
  return false;
}

// Whether each device with a run of one workload also has a run of the other; both are ordered by
// device.
static bool has_all_devices(const struct fleet *fleet, const struct fleet_workload *of,
                            const struct fleet_workload *in) {
  size_t at = 0;
  for (size_t r = 0; r < of->run_count; r++) {
    const size_t device = fleet->runs[of->first_run + r].device;
    while (at < in->run_count && fleet->runs[in->first_run + at].device < device)
      at++;
    if (at == in->run_count || fleet->runs[in->first_run + at].device != device)
      return false;
  }
  return true;
}

// A ladder has other loads besides the guaranteed one, but then each of its servers was also
// measured at that one.
static bool is_beside_one(const struct doubts *doubts, size_t workload) {
  const struct fleet *fleet = doubts->among->fleet;
  const struct fleet_workload *stray = &fleet->workloads[workload];
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (guaranteed_same_ladder(&fleet->workloads[w], stray) && is_of_a_guarantee(doubts, w) &&
        has_all_devices(fleet, stray, &fleet->workloads[w]))
      return true;
  return false;
}

void doubts_of_strays(const struct doubts *doubts) {
  const struct fleet *fleet = doubts->among->fleet;
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (!is_of_a_guarantee(doubts, w) && !is_beside_one(doubts, w))
      texts_add(doubts->warnings, doubts->arena, "not covered by a guarantee, and left out: %s",
                fleet->workloads[w].words);
  for (size_t i = 0; i < fleet->refused.count; i++)
    texts_add(doubts->warnings, doubts->arena, "%s", fleet->refused.list[i]);
  for (size_t i = 0; i < fleet->twins.count; i++)
    texts_add(doubts->warnings, doubts->arena, "%s", fleet->twins.list[i]);
  for (size_t i = 0; i < fleet->unlike.count; i++)
    texts_add(doubts->warnings, doubts->arena, "%s", fleet->unlike.list[i]);
}
