// compared: a backend's steps compared with the oracle's, for cmocka suites.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_COMPARED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_COMPARED_H

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"

// On the request's first device, else 0; fails the test, with the backend's message, if there is
// none.
struct decode_state *compared_state(const struct decode_backend *backend,
                                    const struct decode_request *request, const char *what);

// One step of both from the device's tokens, with the device's experts in the oracle.
struct reference_verdict compared_step(const struct decode_backend *backend,
                                       struct decode_state *state, struct reference *reference);

// The same with a prompt beside the step, which the oracle takes as `expected`; a device does not
// report a prompt's experts.
struct reference_verdict compared_beside(const struct decode_backend *backend,
                                         struct decode_state *state, struct reference *reference,
                                         const struct decode_prompt *prompt,
                                         const struct decode_prompt *expected);

// That many steps, of a device with `request` and an oracle with `expected`, which must agree.
// `what`, for failure messages: which backend and which model.
void compared_steps(const struct decode_backend *backend, const struct decode_request *request,
                    const struct decode_request *expected, const char *what, int steps);

// Does one step distinguish the device from an oracle of another model, `other`?
bool compared_apart(const struct decode_backend *backend, const struct decode_request *request,
                    const struct decode_shape *other, const char *what);

// Experts by a forced routing: those of the last step are the table's (kernels/routing.h), dense
// layers have none, and the distinct ones of that many steps are counted, past the table's end.
void compared_forced(const struct decode_backend *backend, const struct decode_request *request,
                     int steps);

#endif
