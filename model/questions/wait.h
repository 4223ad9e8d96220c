// wait: buy an option now, or order something cheaper or faster in some months?
//
//   [wait OPTION]       OPTION is what can be bought now
//     months            "6": the order is placed that many months from now
//     successor         the option that is ordered then; by default OPTION itself
//     throughput, power, price
//                       factors for what is ordered, 1 by default
//     price_decline     of the accelerator's list price per month until the order: "2 %/month"
//     available         the month from which it is delivered, 0 by default: "4 month"
//     slip              how much later it arrives: "triangular(0, 2, 8) month", or `from data`: the
//                       dated slips of data/claims.csv, see model/questions/delivery_slip.h
//     meanwhile         a rented option, or a price ("0.90 USD/Mtok"), for the tokens until then
//     draws, seed       4096 and 1 by default
// Quantities except months, draws and seed may be ranges, as in [range]; so may the scenario's
// inputs.
//
// Both choices serve the same tokens per hour over the same horizon H: those that the option would
// serve if bought now, of its `demand` what it can serve or buys elsewhere (burst_price,
// burst_rate). What is ordered or rented serves as many itself as the option's accelerators, and
// buys the rest, too; without such a price it serves all. A `meanwhile` price is for the former
// alone: the rest is bought as ever. With an order after m and a delay s,
//   now  = PV(OPTION, H)
//   wait = PV(rent, min(m + s, H)) + PV(ordered, H - m - s) / growth(wacc, m + s)
// where PV is the sum of discounted_cash; with wacc = 0 %/yr it is the tco. What is ordered, and
// what is rented, is sized in whole nodes for those tokens; its list price is price *
// growth(-price_decline, m) times today's; electricity, colocation and wages have grown until its
// delivery. What is younger at the horizon is worth more then: the residual value falls in a
// straight line from the full price to `residual_value` (of servers, network and an own facility:
// to one of their own) at the age of H, so that every choice pays for the part of it that was used.
// A delivery after the horizon never arrives: everything is rented.
#ifndef PERTOKEN_MODEL_QUESTIONS_WAIT_H
#define PERTOKEN_MODEL_QUESTIONS_WAIT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

struct wait_choice {
  double mean, low, high; // USD: expected, and the 5th and 95th percentile
  double regret;          // USD: expected excess over the better choice
  double right;           // share of draws in which it does not cost more: a tie counts for both
};

struct wait_month {
  double months;
  double cost;  // USD, expected
  double right; // share of draws in which it costs no more than buying now
};

// The verdict by the expected costs, which tie if they differ only by rounding.
enum wait_verdict { WAIT_NOW, WAIT_LATER, WAIT_TIE };

struct wait_answer {
  const struct scenario *scenario;
  const char *name;
  struct place place;
  size_t option, successor;
  bool has_successor;
  long meanwhile;         // an option, or -1: meanwhile_price
  double meanwhile_price; // USD/token, expected
  double months;
  double available;       // h
  double slip;            // h, expected
  const char *slip_words; // the source of the slip
  double rate;            // token/h that both choices serve, expected
  double bought;          // token/h of it that the option buys elsewhere, expected
  double unmet;           // token/h that the option's demand exceeds it by, expected
  struct wait_choice now, later;
  enum wait_verdict verdict;
  struct wait_month *list; // 0, 1, ... months
  size_t count;
  long pays_from, pays_until, best; // months of the list; -1: waiting never pays
  // The latest delivery, in hours from now, at which waiting pays for an order after `months`, with
  // every uncertain quantity at its mean (whole numbers rounded, choices as in the scenario); NAN:
  // never; INFINITY: whenever it is delivered.
  double latest_delivery;
  size_t draws;
  unsigned long seed;
  bool uncertain;
};

// Answers a [wait NAME] section. NULL after errors: unknown keys and options; months below zero or
// not before the horizon; no meanwhile; a rented option or successor; one without data; anything
// with a ramp or another wacc; a successor with another horizon.
const struct wait_answer *wait_ask(const struct scenario *scenario,
                                   const struct ini_section *section, struct arena *arena,
                                   struct diagnostics *diagnostics);

#endif
