// option: one way to buy tokens, with every input resolved. Filled by resolution.h; scenario.h reads
// it.
#ifndef PERTOKEN_MODEL_SCENARIO_OPTION_H
#define PERTOKEN_MODEL_SCENARIO_OPTION_H

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"

#include <stdbool.h>

struct measurement;

struct option {
  const char *id;
  struct place place;
  const char *accelerator;          // id in the catalogue
  const char *accelerator_name;     // of the catalogue, or of the device in a record
  const struct measurement *record; // whose decode throughput it has, or NULL
  const struct graph *graph;
  struct evaluation *evaluation; // width: scenario.case_count
  // [case_count][model->count]: each where it was said, so that all who share it point at one; see
  // option_figure.
  const struct figure **figures;
  struct workload workload;   // what its throughput was measured on
  const struct curve *curve;  // over the batch, where an interactivity chose one, else NULL
  struct curve_choice choice; // on the curve
  bool rented, decode_only;
  enum grade throughput_grade, power_grade, price_grade, headline_grade; // in the selected case
  const char *throughput_doubt; // why the published throughput may be wrong; NULL or "" for none
  struct texts warnings;        // of this option, as sentences without full stop
  const char *not_included;     // "server, network", or ""
};

#endif
