#include "kernels/reference/router.h"

#include "kernels/reference/stages.h"

#include <math.h>
#include <stddef.h>

void router_scores(const struct decode_experts *experts, const double *r, const double *bias,
                   double *scores) {
  for (int e = 0; e < experts->count; e++)
    scores[e] =
        experts->router == ROUTER_SIGMOID ? reference_sigmoid(r[e]) + (bias ? bias[e] : 0) : r[e];
}

// Experts in groups of neighbors; without groups all experts are one group, which is kept.
struct groups {
  int count, size, kept;
  double score[MAX_DECODE_EXPERTS]; // the sum of the two largest of each group
};

static void groups_of(const struct decode_experts *experts, const double *scores,
                      struct groups *groups) {
  const bool grouped = experts->router == ROUTER_SIGMOID && experts->groups > 0;
  groups->count = grouped ? experts->groups : 1;
  groups->kept = grouped ? experts->kept_groups : 1;
  groups->size = experts->count / groups->count;
  for (int g = 0; g < groups->count; g++) {
    double first = -INFINITY, second = -INFINITY;
    for (int i = 0; i < groups->size; i++) {
      const double score = scores[g * groups->size + i];
      second = fmax(second, fmin(first, score));
      first = fmax(first, score);
    }
    groups->score[g] = groups->size > 1 ? first + second : first;
  }
}

// Marks the `wanted` largest of those allowed (NULL: all), the lowest index of equals.
static void mark_largest(const double *values, const bool *allowed, int count, int wanted,
                         bool *marked) {
  for (int i = 0; i < count; i++)
    marked[i] = false;
  for (int k = 0; k < wanted; k++) {
    int best = -1;
    for (int i = 0; i < count; i++)
      if (!marked[i] && (!allowed || allowed[i]) && (best < 0 || values[i] > values[best]))
        best = i;
    if (best >= 0)
      marked[best] = true;
  }
}

void router_choose(const struct decode_experts *experts, const double *scores, int *chosen) {
  struct groups groups = {0};
  bool kept[MAX_DECODE_EXPERTS] = {false}, allowed[MAX_DECODE_EXPERTS] = {false};
  bool taken[MAX_DECODE_EXPERTS] = {false};
  groups_of(experts, scores, &groups);
  mark_largest(groups.score, NULL, groups.count, groups.kept, kept);
  for (int e = 0; e < experts->count; e++)
    allowed[e] = kept[e / groups.size];
  mark_largest(scores, allowed, experts->count, experts->chosen, taken);
  for (int e = 0, k = 0; e < experts->count; e++)
    if (taken[e])
      chosen[k++] = e;
}

// Insertion sort: few are chosen.
static void sort_by_weight(int count, int *chosen, double *weights) {
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0; k--) {
      const bool equal = weights[k] == weights[k - 1];
      if (equal ? chosen[k] > chosen[k - 1] : weights[k] < weights[k - 1])
        break;
      const int expert = chosen[k];
      const double weight = weights[k];
      chosen[k] = chosen[k - 1];
      weights[k] = weights[k - 1];
      chosen[k - 1] = expert;
      weights[k - 1] = weight;
    }
}

// The softmax over all experts, for the chosen ones.
static void weigh_among_all(const struct decode_experts *experts, const double *r,
                            const int *chosen, double *weights) {
  double all[MAX_DECODE_EXPERTS];
  for (int e = 0; e < experts->count; e++)
    all[e] = r[e];
  reference_softmax(all, (size_t)experts->count);
  for (int k = 0; k < experts->chosen; k++)
    weights[k] = all[chosen[k]];
}

static void weigh_by_sigmoid(const struct decode_experts *experts, const double *r,
                             const int *chosen, double *weights) {
  const double scale = experts->scale > 0 ? (double)experts->scale : 1;
  double sum = 0;
  for (int k = 0; k < experts->chosen; k++)
    sum += weights[k] = reference_sigmoid(r[chosen[k]]);
  for (int k = 0; k < experts->chosen; k++)
    weights[k] *= scale / sum;
}

void router_weigh(const struct decode_experts *experts, const double *r, int *chosen,
                  double *weights) {
  switch (experts->router) {
  case ROUTER_SOFTMAX_CHOSEN:
    for (int k = 0; k < experts->chosen; k++)
      weights[k] = r[chosen[k]];
    reference_softmax(weights, (size_t)experts->chosen);
    break;
  case ROUTER_SOFTMAX_ALL: weigh_among_all(experts, r, chosen, weights); break;
  case ROUTER_SIGMOID: weigh_by_sigmoid(experts, r, chosen, weights); break;
  }
  sort_by_weight(experts->chosen, chosen, weights);
}

static bool mark_chosen(const struct decode_experts *experts, const int *chosen, bool *taken) {
  for (int e = 0; e < experts->count; e++)
    taken[e] = false;
  for (int k = 0; k < experts->chosen; k++) {
    if (chosen[k] < 0 || chosen[k] >= experts->count || taken[chosen[k]])
      return false;
    taken[chosen[k]] = true;
  }
  return true;
}

bool router_same(const struct decode_experts *experts, const int *a, const int *b) {
  bool taken[MAX_DECODE_EXPERTS];
  if (!mark_chosen(experts, a, taken))
    return false;
  for (int k = 0; k < experts->chosen; k++)
    if (b[k] < 0 || b[k] >= experts->count || !taken[b[k]])
      return false;
  return true;
}

// A group that experts were taken from must be among those kept, or as close to that as possible.
static double groups_missed(const struct groups *groups, const bool *used, const bool *kept) {
  double least_kept = INFINITY, missed = 0;
  int count = 0;
  for (int g = 0; g < groups->count; g++) {
    count += used[g];
    if (kept[g])
      least_kept = fmin(least_kept, groups->score[g]);
  }
  for (int g = 0; g < groups->count; g++)
    if (used[g])
      missed = fmax(missed, least_kept - groups->score[g]);
  return count > groups->kept ? INFINITY : missed;
}

// By how much a group that no expert was taken from should have been kept.
static double best_dropped(const struct groups *groups, const bool *kept) {
  double best = -INFINITY;
  for (int g = 0; g < groups->count; g++)
    if (!kept[g])
      best = fmax(best, groups->score[g]);
  return best;
}

double router_shortfall(const struct decode_experts *experts, const double *scores,
                        const int *chosen) {
  struct groups groups = {0};
  bool taken[MAX_DECODE_EXPERTS] = {false}, kept[MAX_DECODE_EXPERTS] = {false};
  bool used[MAX_DECODE_EXPERTS] = {false};
  if (!mark_chosen(experts, chosen, taken))
    return INFINITY;
  groups_of(experts, scores, &groups);
  mark_largest(groups.score, NULL, groups.count, groups.kept, kept);
  double least = INFINITY;
  for (int g = 0, e = 0; g < groups.count; g++)
    for (int i = 0; i < groups.size; i++, e++)
      if (taken[e]) {
        used[g] = true;
        least = fmin(least, scores[e]);
      }
  double missed = groups_missed(&groups, used, kept);
  const double dropped = best_dropped(&groups, kept);
  for (int g = 0, e = 0; g < groups.count; g++)
    for (int i = 0; i < groups.size; i++, e++) {
      if (taken[e] || (!used[g] && !kept[g]))
        continue;
      // Left out by itself, or with its group, which another might have nearly displaced.
      const double by_itself = scores[e] - least, with_group = groups.score[g] - dropped;
      missed = fmax(missed, used[g] ? by_itself : fmin(by_itself, with_group));
    }
  return missed / fmax((double)reference_magnitude(scores, (size_t)experts->count), 1e-300);
}
