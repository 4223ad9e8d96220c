// model_shape: a model in the catalogue as a shape that a backend can run.
#ifndef PERTOKEN_PROBE_DEVICES_MODEL_SHAPE_H
#define PERTOKEN_PROBE_DEVICES_MODEL_SHAPE_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/evidence/catalog.h"
#include "model/evidence/measurement.h"

#include <stdbool.h>

// Unknown ids, and models that decode.h does not describe (mixture of experts, other attention,
// other MLP, biases), are errors that say why. The catalogue has neither norm_epsilon nor
// rope_theta: 1e-5 and 10000 stand in, which changes the numbers computed but not the speed.
// Returns 0 or -1.
int model_shape_find(struct catalog *catalog, const char *id, struct measurement_shape *out);

// The shape cut to its first `layers` layers.
struct decode_shape model_shape_of(const struct measurement_shape *shape, int layers);

// Whether it can be divided among so many ranks. If not, *what says what cannot: "25 heads".
bool model_shape_divides(const struct measurement_shape *shape, int ranks, const char **what,
                         struct arena *arena);

#endif
