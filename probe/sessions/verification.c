#include "probe/sessions/verification.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/texts.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/prefill.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"
#include "probe/measure/tryout.h"
#include "probe/measure/variants.h"
#include "probe/measure/verify.h"
#include "probe/sessions/print.h"
#include "probe/sessions/trials.h"

#include <stdbool.h>
#include <stddef.h>

struct verdicts {
  size_t compared, wrong;
  size_t failed;       // variants that did not end, or not well
  struct texts untold; // variants for which there was no time
};

static void print_heading(const struct session *session, const struct measurement_shape *model,
                          FILE *out) {
  print_safely(model->id, out);
  fputs(" on ", out);
  print_safely(session->protocol.device->described.name, out);
  if (session->rank_count)
    fprintf(out, " and %zu more devices that hold it together", session->rank_count - 1);
  fputs(", kernels against double precision\n", out);
  fprintf(out, "%-9s %5s %8s  %6s %5s %8s %9s %7s  %9s %9s\n", "precision", "batch", "context",
          "layers", "rows", "compared", "positions", "words", "error", "tolerance");
}

// Ends a row with the variant of the kernels, if it is not their own choice.
static void print_variant(const struct trial *trial, const char *before, FILE *out) {
  if (trial->variant) {
    fputs(before, out);
    print_safely(trial->variant, out);
  }
  fputc('\n', out);
  fflush(out);
}

static void print_comparison(const struct trial *trial, const struct verify_plan *plan,
                             const struct measurement_verification *verification, bool passed,
                             FILE *out) {
  const struct decode_request *compared = &plan->request;
  fprintf(out, "%-9s %5d %8d  %6d %5d %8d %9d %7d  %9.2e %9.0e  %s", trial->precision, trial->batch,
          trial->context, compared->shape.layers, compared->batch, plan->rows, compared->context,
          compared->shape.vocab, verification->max_error, verification->tolerance,
          passed ? "ok" : "WRONG");
  print_variant(trial, ": ", out);
}

static void begin_row(const struct protocol *protocol) {
  if (protocol->progress)
    protocol->progress(""); // it starts on a line of its own
}

static void count(struct verdicts *verdicts, const struct protocol *protocol, bool passed) {
  begin_row(protocol);
  verdicts->compared++;
  verdicts->wrong += passed ? 0 : 1;
}

// Compares a trial with the oracle, on at most this many of its layers.
static enum decode_status compare(const struct session *session, const struct trial *trial,
                                  int layers, struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  const struct decode_request request = trial_request(trial, layers);
  const struct verify_plan plan = verify_plan(&request);
  struct measurement_verification verification;
  bool passed;
  const enum decode_status status =
      verify(protocol->device->backend, protocol->device->index, &request, &plan, protocol->stop,
             protocol->arena, &verification, &passed);
  if (status != DECODE_OK || *protocol->stop)
    return status;
  count(verdicts, protocol, passed);
  print_comparison(trial, &plan, &verification, passed, out);
  return DECODE_OK;
}

// A prompt in chunks with the same prompt token by token.
static enum decode_status compare_prompt(const struct session *session, const struct trial *trial,
                                         struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  struct prefill_verdict verdict;
  const enum decode_status status = prefill_verify(protocol, trial, &verdict);
  if (status != DECODE_OK)
    return status;
  count(verdicts, protocol, verdict.passed);
  fprintf(out, "%-9s %5d %8d  %6d %5d %8d %9d %7d  %9.2e %9.0e  %s: a prompt in chunks of %d",
          trial->precision, trial->batch, trial->context, verdict.layers, verdict.rows,
          verdict.compared, verdict.positions, verdict.vocab, verdict.error, verdict.tolerance,
          verdict.passed ? "ok" : "WRONG", verdict.chunk);
  if (verdict.longest > verdict.chunk)
    fprintf(out, " and of %d", verdict.longest);
  print_variant(trial, ", ", out);
  return DECODE_OK;
}

static enum decode_status compare_depths(const struct session *session, const struct trial *trial,
                                         struct verdicts *verdicts, FILE *out) {
  const int deepest = trial_deepest(trial);
  const struct decode_request whole = trial_request(trial, deepest);
  enum decode_status status = DECODE_OK;
  if (verify_plan(&whole).request.shape.layers > 1)
    status = compare(session, trial, 1, verdicts, out);
  if (status == DECODE_OK && !*session->protocol.stop)
    status = compare(session, trial, deepest, verdicts, out);
  if (status == DECODE_OK && trial->prefill_count && !*session->protocol.stop)
    status = compare_prompt(session, trial, verdicts, out);
  return status;
}

// ---- what a run would try

static void print_unverified(const struct protocol *protocol, const struct trial *trial,
                             const char *verdict, const char *why, FILE *out) {
  begin_row(protocol);
  fprintf(out, "%-9s %5d %8d  %s: ", trial->precision, trial->batch, trial->context, verdict);
  print_safely(trial->variant, out);
  fputs(": ", out);
  print_safely(why, out);
  fputc('\n', out);
}

// Tries a variant in another process first, as a run does. Unless its steps end there, that is
// told.
static enum tryout_outcome try_elsewhere(const struct session *session, const struct trial *trial,
                                         double own_s, struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  const struct decode_request whole = trial_request(trial, trial_deepest(trial));
  const struct decode_request request = verify_plan(&whole).request;
  const char *why = "";
  if (!protocol->program)
    return TRYOUT_ENDED;
  const enum tryout_outcome outcome =
      tryout(protocol->program, protocol->device, &request, tryout_limit(own_s), protocol->stop,
             protocol->arena, &why);
  if (outcome == TRYOUT_ENDED || *protocol->stop)
    return outcome;
  const bool is_refused = outcome == TRYOUT_REFUSED;
  verdicts->failed += is_refused ? 0 : 1;
  print_unverified(protocol, trial, is_refused ? "not here" : "WRONG", why, out);
  return outcome;
}

// One that the device refuses is left out; one that occupies the device for good ends everything.
static enum decode_status compare_variant(const struct session *session, const struct trial *trial,
                                          double own_s, struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  protocol_say(protocol, trial_text(trial, protocol->arena),
               arena_printf(protocol->arena, "verifying %s", trial->variant));
  const enum tryout_outcome outcome = try_elsewhere(session, trial, own_s, verdicts, out);
  if (outcome != TRYOUT_ENDED || *protocol->stop)
    return outcome == TRYOUT_STUCK && !*protocol->stop ? DECODE_NO_DEVICE : DECODE_OK;
  const enum decode_status status = compare_depths(session, trial, verdicts, out);
  if (status != DECODE_UNSUPPORTED && status != DECODE_NO_MEMORY)
    return status;
  print_unverified(protocol, trial, "not here",
                   device_failure(protocol->device->backend, status, protocol->arena), out);
  return DECODE_OK;
}

// A variant that is wrong would otherwise be noticed only where it is the fastest.
static enum decode_status compare_variants(const struct session *session, const struct trial *trial,
                                           double own_s, struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  const struct decode_request request = trial_request(trial, trial_deepest(trial));
  const double start = clock_now(protocol->clock);
  enum decode_status status = DECODE_OK;
  struct trial other = *trial;
  for (int i = 0; status == DECODE_OK && !*protocol->stop &&
                  (other.variant = variants_name(protocol->device, &request, i));
       i++)
    if (clock_now(protocol->clock) - start < VERIFICATION_VARIANTS_S)
      status = compare_variant(session, &other, own_s, verdicts, out);
    else
      texts_add(&verdicts->untold, protocol->arena, "%s, %s", trial_text(trial, protocol->arena),
                other.variant);
  return status;
}

static enum decode_status compare_trial(const struct session *session, const struct trial *trial,
                                        struct verdicts *verdicts, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  const double start = clock_now(protocol->clock);
  protocol_say(protocol, trial_text(trial, protocol->arena), "verifying");
  const enum decode_status status = compare_depths(session, trial, verdicts, out);
  if (status != DECODE_OK || !trial->fastest)
    return status;
  return compare_variants(session, trial, clock_now(protocol->clock) - start, verdicts, out);
}

static void print_verdicts(const struct verdicts *verdicts, FILE *out) {
  if (verdicts->wrong)
    fprintf(out, "%zu of %zu comparisons out of tolerance\n", verdicts->wrong, verdicts->compared);
  else
    fprintf(out, "%zu comparison%s within tolerance\n", verdicts->compared,
            verdicts->compared == 1 ? "" : "s");
  if (verdicts->failed)
    fprintf(out, "%zu variant%s of the kernels failed\n", verdicts->failed,
            verdicts->failed == 1 ? "" : "s");
  for (size_t i = 0; i < verdicts->untold.count; i++) {
    fprintf(out, "not verified, as the variants had taken %g s: ", VERIFICATION_VARIANTS_S);
    print_safely(verdicts->untold.list[i], out);
    fputc('\n', out);
  }
}

enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  struct verdicts verdicts = {0};
  struct trial_list trials;
  if (session_trials(session, model, &trials))
    return VERIFICATION_FAILED;
  print_heading(session, model, out);
  for (size_t i = 0; i < trials.count && !*protocol->stop; i++) {
    const enum decode_status status = compare_trial(session, &trials.list[i], &verdicts, out);
    if (status != DECODE_OK) {
      protocol_fail(protocol, &trials.list[i], "cannot be verified", status);
      return VERIFICATION_FAILED;
    }
  }
  if (*protocol->stop)
    return VERIFICATION_STOPPED;
  print_verdicts(&verdicts, out);
  if (verdicts.wrong || verdicts.failed)
    return VERIFICATION_DIFFERS;
  return verdicts.untold.count ? VERIFICATION_PARTIAL : VERIFICATION_AGREES;
}
