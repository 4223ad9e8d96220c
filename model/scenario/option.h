// option: one way to buy tokens, with every input resolved. resolution.h fills it; scenario.h reads
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
  const char *label; // the name shown to people: the file's, else the id
  struct place place;
  const char *accelerator;      // id in the catalogue
  const char *accelerator_name; // from the catalogue, or of the device in a record
  const char *provider;         // of a token API, which has no accelerator ("" unnamed), or NULL
  const struct measurement *record; // whose decode throughput it has, or NULL
  const char *record_remark;        // on its choice among records: a sentence, or ""
  size_t lender;                    // another option, whose tokens it serves
  bool *lent; // [model->count] what it borrows from that; NULL: it serves a demand
  const struct graph *graph;
  const enum given *given;       // [model->count] of which inputs the graph was built
  struct evaluation *evaluation; // width: scenario.case_count
  // [case_count][model->count]: each points to where it was stated, so that options that share a
  // figure point to the same one; see option_figure.
  const struct figure **figures;
  struct workload workload;         // what its throughput was measured on, in the selected case
  const struct workload *workloads; // [case_count] the same in every case
  const struct curve *curve;        // over the batch, if an interactivity chose one, else NULL
  struct curve_choice choice;       // on the curve
  bool rented, decode_only;
  bool lacks_offer;      // one that it names could not be read, which is an error by itself
  bool serving_estimate; // its throughput combines separate rates for prefill and decoding
  enum grade throughput_grade, power_grade, price_grade, headline_grade; // in the selected case
  const struct evidence *evidence;    // the row of its published throughput, or NULL
  const struct evidence *watts_of;    // the same, or that replaced by a typed throughput, or NULL
  const struct served *served;        // the record of its serving throughput, or NULL
  const struct served *served_watts;  // the same, or that replaced by a typed throughput, or NULL
  const char *power_doubt;            // a note on watts that were not stated: a sentence, or ""
  double power_limit_w;               // of each accelerator, by its power_limit; 0: none
  const struct figure *doubted_power; // the watts it is about
  const char *prefill_lack; // why it is decode_only, if that may surprise: a sentence, or ""
  struct texts readings;    // how names were read: "'H100' is read as ..."
  const int *graded;        // inputs whose grades count for the headline: grading.h
  size_t graded_count;
  struct texts warnings;    // of this option, as sentences without a full stop
  const char *not_included; // "server, network", or ""
};

#endif
