#include "probe/commands/verification.h"

#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/commands/result_table.h"
#include "probe/measure/prefill.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"
#include "probe/measure/verify.h"

#include <stdbool.h>
#include <stddef.h>

struct verdicts {
  size_t compared, wrong;
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

static void print_comparison(const struct trial *trial, const struct verify_plan *plan,
                             const struct measurement_verification *verification, bool passed,
                             FILE *out) {
  const struct decode_request *compared = &plan->request;
  fprintf(out, "%-9s %5d %8d  %6d %5d %8d %9d %7d  %9.2e %9.0e  %s\n", trial->precision,
          trial->batch, trial->context, compared->shape.layers, compared->batch, plan->rows,
          compared->context, compared->shape.vocab, verification->max_error,
          verification->tolerance, passed ? "ok" : "WRONG");
  fflush(out);
}

static void count(struct verdicts *verdicts, const struct protocol *protocol, bool passed) {
  if (protocol->progress)
    protocol->progress(""); // the row starts on a line of its own
  verdicts->compared++;
  verdicts->wrong += passed ? 0 : 1;
}

// On at most this many of the trial's layers.
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
  fputc('\n', out);
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

enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  struct verdicts verdicts = {0};
  struct trial_list trials;
  if (session_trials(session, model, &trials))
    return VERIFICATION_FAILED;
  print_heading(session, model, out);
  for (size_t i = 0; i < trials.count && !*protocol->stop; i++) {
    protocol_say(protocol, trial_text(&trials.list[i], protocol->arena), "verifying");
    const enum decode_status status = compare_depths(session, &trials.list[i], &verdicts, out);
    if (status != DECODE_OK) {
      protocol_fail(protocol, &trials.list[i], "cannot be verified", status);
      return VERIFICATION_FAILED;
    }
  }
  if (*protocol->stop)
    return VERIFICATION_STOPPED;
  if (verdicts.wrong)
    fprintf(out, "%zu of %zu comparisons out of tolerance\n", verdicts.wrong, verdicts.compared);
  else
    fprintf(out, "%zu comparison%s within tolerance\n", verdicts.compared,
            verdicts.compared == 1 ? "" : "s");
  return verdicts.wrong ? VERIFICATION_DIFFERS : VERIFICATION_AGREES;
}
