// model_shape: turns a model of the catalogue into a shape that a backend can run.
#ifndef PERTOKEN_PROBE_DEVICES_MODEL_SHAPE_H
#define PERTOKEN_PROBE_DEVICES_MODEL_SHAPE_H

#include "base/arena.h"
#include "kernels/decode.h"
#include "model/evidence/catalog.h"
#include "model/records/measurement.h"

#include <stdbool.h>

// What a model's row says apart from its shape. Texts are the catalogue's or in its arena, "" for
// nothing; in a zeroed struct NULL means "".
struct model_notes {
  const char *stand_ins;        // what replaced blank cells: "rope_theta 10000 stands in ..."
  const char *excluded;         // precisions that it is not run in, separated by semicolons
  const char *expert_precision; // the precision of its experts alone, with everything else in bf16
};

// Unknown ids, cells whose words decode.h does not have, and impossible models ("more experts per
// token than experts") are errors at their cell. If the row has no norm_epsilon or rope_theta, 1e-5
// and 10000 are used, which changes the numbers computed but not the speed. Returns 0 or -1.
int model_shape_find(struct catalog *catalog, const char *id, struct measurement_shape *out,
                     struct model_notes *notes);

// The shape cut to its first `layers` layers.
struct decode_shape model_shape_of(const struct measurement_shape *shape, int layers);

// The smallest depth from `layers` on at which a slice has whole periods of the model's repeating
// pattern of layers, and at least one layer of each kind.
int model_shape_depth(const struct measurement_shape *shape, int layers);

// Whether all of its layers attend to every one of that many positions, although they have windows.
bool model_shape_window_is_idle(const struct measurement_shape *shape, int context);

// Whether it can be divided among that many ranks. If not, *what says what cannot: "25 heads".
bool model_shape_divides(const struct measurement_shape *shape, int ranks, const char **what,
                         struct arena *arena);

#endif
