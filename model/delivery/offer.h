// offer: a vendor's written offer, as a file: its prices, its guarantees, and what is owed if they
// are not met.
//
//   [offer]           vendor, reference, date, currency, accelerator, accelerators (how many);
//                     nodes, valid_until
//   [price]           a line for each thing offered, of offer_lines; the rest is not offered;
//                     tier_discount of a discount in volume tiers
//   [terms]           warranty (yr), delivery (the latest day); damages for a later one:
//                     delay_damages, delay_damages_per, delay_damages_limit, delay_grace
//   [guarantee NAME]  a workload with the keys of [workload], with its basis, and tokens_per_s,
//                     power; for serving also ttft and tpot, for requests of input_tokens and
//                     output_tokens at a load on one server: concurrency or request_rate
//   [acceptance]      tolerance, node_tolerance, confidence, may_fail, remedy, remedy_limit,
//                     replacement_time
//
// Refused, each with its place: an unknown section or key, a missing one, an offer without a count,
// prices in two currencies, a price without its basis (per gpu, node or in total), rates per node
// beside rates per accelerator, a rate above what its request_rate asks for, a latency without its
// percentile, lengths and load, a tolerance or confidence of 100 % or more, a remedy_limit without
// a remedy in money, a replacement_time without replacement, a term of damages without
// delay_damages, an end or a delivery before the date, a may_fail that no node can exceed.
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

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

// A line of [price]: its key, and the cost model's input that it becomes. A line with an `amount`
// may be a sum for everything offered instead of a share of the hardware, which then becomes the
// input `sum`; one with a `whole` may be the price of a server with its accelerators.
struct offer_line_info {
  const char *key, *input, *sum;
  const char *unit;   // "USD/gpu", USD standing for the offer's currency
  const char *amount; // "USD", "USD/yr", or NULL
  const char *whole;  // "USD/node", or NULL
};

extern const struct offer_line_info offer_lines[OFFER_LINES];

struct offer_price {
  const char *text; // as written; NULL: not offered
  struct place place;
  double value;  // base units of the line's unit; for an amount its share of the hardware, for a
                 // whole server the share of each accelerator, for volume tiers the average
  double amount; // the sum of an amount
  bool is_amount, is_whole;
};

// An upper limit of a latency, by one statistic of a load's requests.
struct offer_latency {
  double seconds; // NAN: not guaranteed
  enum serving_statistic statistic;
  struct place place;
};

enum offer_latency_kind { OFFER_TTFT, OFFER_TPOT, OFFER_LATENCIES };

struct offer_guarantee {
  const char *name;
  struct place place;
  struct workload workload; // in the catalogue's words; "" if not stated
  double tokens_per_s;      // per accelerator, or per node if the offer counts by nodes; NAN: only
                            // latencies are guaranteed
  double power_w;           // the same; NAN: not guaranteed
  struct place tokens_place, power_place;
  struct offer_latency latencies[OFFER_LATENCIES];
  // The tokens of a request, and the load on one server: requests in flight, or 1/s. 0: not stated.
  double input_tokens, output_tokens, concurrency, request_rate;
};

// The terms on which the delivery counts as guaranteed. NAN, or -1 for counts, if not stated.
struct offer_acceptance {
  double confidence;     // of each verdict
  double tolerance;      // by which the fleet's mean may miss the guarantee
  double node_tolerance; // by which a single node may miss
  int may_fail;          // nodes that may miss by more than that
  double remedy;         // share of the price owed for each missing 1 %
  double remedy_limit;   // maximum share owed
  bool replacement;      // instead: failing hardware is replaced
  double replacement_h;  // within that time; NAN: not stated
};

// The damages for a late delivery. NAN if not stated.
enum offer_damages {
  OFFER_DAMAGES,       // share of the price of what is late, for each such time begun:
  OFFER_DAMAGES_PER,   // h
  OFFER_DAMAGES_LIMIT, // maximum share
  OFFER_GRACE,         // h, for which nothing is owed
  OFFER_DAMAGES_TERMS
};

// The damages' keys. Each is a key of [terms] and the cost model's input of the same name, in that
// unit.
struct offer_damages_info {
  const char *key, *unit;
};

extern const struct offer_damages_info offer_damages_terms[OFFER_DAMAGES_TERMS];

// A key as written in the file: "price.servers", "58000 USD/node".
struct offer_text {
  const char *name, *text;
};

struct offer {
  const struct source *source;
  const char *vendor, *reference, *currency;
  const char *date, *valid_until; // YYYY-MM-DD; "" for no end
  const char *accelerator;        // an id of the catalogue
  struct place accelerator_place, count_place, nodes_place, validity_place, warranty_place;
  struct place delivery_place, may_fail_place;
  struct place tolerance_place, remedy_place, limit_place; // none if not stated
  int accelerators, nodes;                                 // nodes 0: not stated
  struct offer_price prices[OFFER_LINES];
  const char *tier_kind; // "all" or "beyond", of a discount in volume tiers; NULL: not stated
  struct place tier_kind_place;
  double warranty_h; // NAN: not stated
  double damages[OFFER_DAMAGES_TERMS];
  struct place damages_places[OFFER_DAMAGES_TERMS];
  const char *delivery; // the latest day, YYYY-MM-DD; "" not stated
  bool per_node;        // guarantees are per node
  struct offer_guarantee *guarantees;
  size_t guarantee_count;
  struct offer_acceptance acceptance;
  struct offer_text *texts;
  size_t text_count;
};

// Whether a file is an offer, though maybe a wrong one, rather than a scenario.
bool offer_is_one(const char *path, struct arena *arena);

// Reads an offer. NULL after errors.
const struct offer *offer_read(const char *path, struct catalog *catalog, struct arena *arena,
                               struct diagnostics *diagnostics);

// "Example Compute Q-2026-118", the way to cite a quote.
const char *offer_reference(const struct offer *offer, struct arena *arena);

// The cost model's hardware_cost of what is offered, without spares: accelerators less discount,
// servers, network; in the offer's currency.
double offer_hardware(const struct offer *offer);

// The price of the hardware with installation and delivery, altogether and for each accelerator;
// and the amount due every year for support, warranty and license. In the offer's currency.
double offer_purchase(const struct offer *offer);
double offer_purchase_of_each(const struct offer *offer);
double offer_yearly(const struct offer *offer);

// The accelerators of a node; 0 if the offer does not state `nodes`.
int offer_accelerators_per_node(const struct offer *offer);

// Whether the day is after the last day of the offer.
bool offer_has_expired(const struct offer *offer, const char *day);

// An input of the cost model that an offer gives to an option that uses it.
struct offer_input {
  const char *name, *text; // as the input reads it
  struct place place;
  const char *parts; // the lines that it is the total of: "support and warranty"; or NULL
};

enum { OFFER_INPUTS = 2 * OFFER_LINES + OFFER_DAMAGES_TERMS + 5 };

// A price line as text that an input of the cost model reads, by itself or together with that of
// another line: as written, for a whole server the price of an accelerator. Sums and shares are
// added separately. NULL text: not offered so, or part of another line.
struct offer_input offer_line_input(const struct offer *offer, enum offer_line line, bool as_sum,
                                    struct arena *arena);

// The inputs of its prices and terms, without its guarantees; returns their number. Its price is
// net: where it states no discount, it gives 0 %; where it prices whole servers, they cost nothing
// more.
size_t offer_inputs(const struct offer *offer, struct offer_input inputs[OFFER_INPUTS],
                    struct arena *arena);

// Whether it owes money or a replacement for what is slower than guaranteed.
bool offer_promises_remedy(const struct offer *offer);

// The things that have no line: "installation, delivery".
struct texts offer_not_included(const struct offer *offer, struct arena *arena);

// The cost model's input that a guarantee gives, and the guaranteed value per accelerator, in base
// units. An offer by nodes states the number of nodes.
const char *offer_guaranteed_input(const struct offer_guarantee *guarantee);
double offer_guaranteed_rate(const struct offer *offer, const struct offer_guarantee *guarantee);

#endif
