#include "probe/measure/verification.h"

#include "probe/commands/result_table.h"
#include "probe/measure/verify.h"

static const struct place nowhere = {0};

struct tally {
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
  fprintf(out, "%-9s %5s %8s  %6s %5s %9s %7s  %9s %9s\n", "precision", "batch", "context",
          "layers", "rows", "positions", "words", "error", "tolerance");
}

static void print_comparison(const struct workload *workload, const struct decode_request *compared,
                             const struct measurement_verification *verification, bool passed,
                             FILE *out) {
  fprintf(out, "%-9s %5d %8d  %6d %5d %9d %7d  %9.2e %9.0e  %s\n", workload->precision,
          workload->batch, workload->context, compared->shape.layers, compared->batch,
          compared->context, compared->shape.vocab, verification->max_error,
          verification->tolerance, passed ? "ok" : "WRONG");
  fflush(out);
}

// At most so many layers of the workload.
static enum decode_status compare(const struct session *session, const struct workload *workload,
                                  int layers, struct tally *tally, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  const struct decode_request request = workload_request(workload, layers);
  const struct decode_request compared = verify_request(&request);
  struct measurement_verification verification;
  bool passed;
  const enum decode_status status =
      verify(protocol->device->backend, protocol->device->index, &request, protocol->stop,
             protocol->arena, &verification, &passed);
  if (status != DECODE_OK || *protocol->stop)
    return status;
  if (protocol->progress)
    protocol->progress(""); // the row begins on a line of its own
  print_comparison(workload, &compared, &verification, passed, out);
  tally->compared++;
  tally->wrong += passed ? 0 : 1;
  return DECODE_OK;
}

static enum decode_status compare_depths(const struct session *session,
                                         const struct workload *workload, struct tally *tally,
                                         FILE *out) {
  const int deepest = workload->layers[workload->layer_count - 1];
  const struct decode_request whole = workload_request(workload, deepest);
  enum decode_status status = DECODE_OK;
  if (verify_request(&whole).shape.layers > 1)
    status = compare(session, workload, 1, tally, out);
  if (status == DECODE_OK && !*session->protocol.stop)
    status = compare(session, workload, deepest, tally, out);
  return status;
}

static enum verification_outcome fail(const struct session *session,
                                      const struct workload *workload, enum decode_status status) {
  const struct protocol *protocol = &session->protocol;
  protocol->diagnostics->machine_failed = true;
  diagnostics_error(protocol->diagnostics, nowhere, "%s: cannot be verified: %s",
                    workload_text(workload, protocol->arena),
                    device_failure(protocol->device->backend, status, protocol->arena));
  return VERIFICATION_FAILED;
}

enum verification_outcome verification_run(const struct session *session,
                                           const struct measurement_shape *model, FILE *out) {
  const struct protocol *protocol = &session->protocol;
  struct tally tally = {0};
  struct plan plan;
  if (session_plan(session, model, &plan))
    return VERIFICATION_FAILED;
  print_heading(session, model, out);
  for (size_t i = 0; i < plan.count && !*protocol->stop; i++) {
    if (protocol->progress)
      protocol->progress(arena_printf(protocol->arena, "%s: verifying",
                                      workload_text(&plan.workloads[i], protocol->arena)));
    const enum decode_status status = compare_depths(session, &plan.workloads[i], &tally, out);
    if (status != DECODE_OK)
      return fail(session, &plan.workloads[i], status);
  }
  if (*protocol->stop)
    return VERIFICATION_STOPPED;
  if (tally.wrong)
    fprintf(out, "%zu of %zu comparisons out of tolerance\n", tally.wrong, tally.compared);
  else
    fprintf(out, "%zu comparison%s within tolerance\n", tally.compared,
            tally.compared == 1 ? "" : "s");
  return tally.wrong ? VERIFICATION_DIFFERS : VERIFICATION_AGREES;
}
