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
#include <stddef.h>

struct evidence;
struct measurement;
struct served;

struct option {
  const char *id;
  struct place place;
  const char *accelerator;      // id in the catalogue
  const char *accelerator_name; // of the catalogue, or of the device in a record
  const char *provider;         // of a token API, which has no accelerator ("" unnamed), or NULL
  const struct measurement *record; // whose decode throughput it has, or NULL
  size_t lender;                    // another option whose tokens it serves, and whose are
  bool *lent; // [model->count] these, what they are computed from; NULL: it serves a demand
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
  const struct evidence *evidence;   // the row of its published throughput, or NULL
  const struct evidence *watts_of;   // the same, or that over which a throughput was typed, or NULL
  const struct served *served;       // the record of its serving throughput, or NULL
  const struct served *served_watts; // the same, or that over which a throughput was typed, or NULL
  const char *power_doubt; // what is to be said of watts that nobody stated: a sentence, or ""
  struct texts readings;   // how names were read: "'H100' is read as ..."
  const int *graded;       // inputs whose grades count for the headline: grading.h
  size_t graded_count;
  struct texts warnings;    // of this option, as sentences without full stop
  const char *not_included; // "server, network", or ""
};

#endif
