// offer: what a vendor offers in writing, as a file: what it costs, what it is guaranteed to do, and
// what is owed if it does not.
//
//   [offer]           vendor, reference, date, currency, accelerator, accelerators (how many);
//                     nodes, valid_until
//   [price]           a line for each thing offered, of offer_lines; what has no line is not offered
//   [terms]           warranty (yr), delivery (the day by which)
//   [guarantee NAME]  a workload in the words of [workload], with its basis, and tokens_per_s, power
//   [acceptance]      tolerance, node_tolerance, confidence, may_fail, remedy, remedy_limit
//
// Refused, each with its place: a section or key that is not known, one that is missing, an offer
// without a count, prices in two currencies, a price that does not say per what, rates per node
// beside rates per accelerator, a tolerance or confidence of 100 % or more, an end before the date.
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"

#include <stdbool.h>
#include <stddef.h>

enum offer_line {
  OFFER_ACCELERATORS,
  OFFER_DISCOUNT,
  OFFER_SERVERS,
  OFFER_NETWORK,
  OFFER_INSTALLATION,
  OFFER_DELIVERY,
  OFFER_SUPPORT,
  OFFER_WARRANTY,
  OFFER_LICENCE,
  OFFER_LINES
};

// Of [price]: the key, and the input of the cost model that it becomes. A line with an `amount` may
// say a sum for all that is offered instead of a share of its hardware.
struct offer_line_info {
  const char *key, *input;
  const char *unit;   // "USD/gpu", USD standing for the offer's currency
  const char *amount; // "USD", "USD/yr", or NULL
};

extern const struct offer_line_info offer_lines[OFFER_LINES];

struct offer_price {
  const char *text; // as it stands; NULL: not offered
  struct place place;
  double value; // base units of the line's unit; of an amount its share of the hardware
  bool is_amount;
};

struct offer_guarantee {
  const char *name;
  struct place place;
  struct workload workload; // in the catalogue's words; "" where it says nothing
  double tokens_per_s;      // of an accelerator, or of a node where the offer counts by nodes
  double power_w;           // the same; NAN: none guaranteed
  struct place tokens_place, power_place;
};

// When the delivery counts as what was guaranteed. NAN, or -1 for counts, where nothing is said.
struct offer_acceptance {
  double confidence;     // of each verdict
  double tolerance;      // by which the fleet's mean may miss
  double node_tolerance; // by which a single node may miss
  int may_fail;          // nodes that may miss that
  double remedy;         // share of the price owed for each 1 % that is missing
  double remedy_limit;   // and at most
  bool replacement;      // instead: what fails is replaced
};

// As it stands in the file: "price.servers", "58000 USD/node".
struct offer_text {
  const char *name, *text;
};

struct offer {
  const struct source *source;
  const char *vendor, *reference, *currency;
  const char *date, *valid_until; // YYYY-MM-DD; "" for no end
  const char *accelerator;        // an id of the catalogue
  struct place accelerator_place, count_place, nodes_place, validity_place, warranty_place;
  int accelerators, nodes; // nodes 0: not said
  struct offer_price prices[OFFER_LINES];
  double warranty_h; // NAN: not said
  const char *delivery;
  bool per_node; // guarantees are of nodes
  struct offer_guarantee *guarantees;
  size_t guarantee_count;
  struct offer_acceptance acceptance;
  struct offer_text *texts;
  size_t text_count;
};

// NULL after errors.
const struct offer *offer_read(const char *path, struct catalog *catalog, struct arena *arena,
                               struct diagnostics *diagnostics);

// "Example Compute Q-2026-118", as a quote is referred to.
const char *offer_reference(const struct offer *offer, struct arena *arena);

// 0 without `nodes`.
int offer_accelerators_per_node(const struct offer *offer);

// Whether the day is after the offer's last.
bool offer_has_expired(const struct offer *offer, const char *day);

// What a price line means to the cost model, as text that an input reads: of an amount its share, of
// support the warranty's price too. NULL: not offered, or part of another line.
const char *offer_input_text(const struct offer *offer, enum offer_line line, struct arena *arena);

// What has no line: "installation, delivery".
struct texts offer_not_included(const struct offer *offer, struct arena *arena);

// The one guarantee that has what the workload says, keys that this leaves open aside: NULL for
// none; *others counts further ones.
const struct offer_guarantee *offer_guarantee_for(const struct offer *offer,
                                                  const struct workload *workload, size_t *others);

#endif
