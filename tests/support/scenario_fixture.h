// scenario_fixture: a scenario from text, in a folder that is removed with it.
#ifndef PERTOKEN_TESTS_SUPPORT_SCENARIO_FIXTURE_H
#define PERTOKEN_TESTS_SUPPORT_SCENARIO_FIXTURE_H

#include "tests/support/fixture.h"

#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/simulate.h"

struct scenario_fixture {
  struct fixture fixture;
  char folder[32];
  struct scenario *scenario; // NULL after errors
};

// Two owned options, a and b, of different vendors, without evidence, in 16 lines; more may be
// appended.
#define SCENARIO_OF_TWO                                                                            \
  "[scenario]\n"                                                                                   \
  "title = A test\n"                                                                               \
  "date = 2026-11-01\n"                                                                            \
  "[common]\n"                                                                                     \
  "accelerators = 800\n"                                                                           \
  "utilization = 70 %\n"                                                                           \
  "pue = 1.25\n"                                                                                   \
  "electricity_price = 0.08 USD/kWh\n"                                                             \
  "[option a]\n"                                                                                   \
  "accelerator = h200-sxm-141\n"                                                                   \
  "list_price = 30000 USD\n"                                                                       \
  "throughput = 4000 token/s\n"                                                                    \
  "[option b]\n"                                                                                   \
  "accelerator = mi325x-256\n"                                                                     \
  "list_price = 20000 USD\n"                                                                       \
  "throughput = 3900 token/s\n"
extern const char scenario_of_two[];

// The scenario's text, and a cost model's, or NULL for the built-in one.
void scenario_fixture_start(struct scenario_fixture *fixture, const char *text, const char *model,
                            const char *case_name);

// The same according to the request, whose path and data are the fixture's.
void scenario_fixture_request(struct scenario_fixture *fixture, const char *text,
                              struct scenario_request request);

// The same in a case, with one --set argument; the case and *setting may be NULL.
void scenario_fixture_set(struct scenario_fixture *fixture, const char *text, const char *case_name,
                          const char *const *setting);

// A file of the repository; errors fail the test.
void scenario_fixture_open(struct scenario_fixture *fixture, const char *path);
void scenario_fixture_end(struct scenario_fixture *fixture);

// The path of a file in the folder; it is removed with it.
const char *scenario_fixture_path(struct scenario_fixture *fixture, const char *name);

// Writes another file into the folder and reads it as a scenario; NULL after errors.
struct scenario *scenario_fixture_another(struct scenario_fixture *fixture, const char *name,
                                          const char *text);

// OPTION.ITEM in the item's own unit; of the first option if the name is ITEM alone.
double scenario_item(const struct scenario *scenario, const char *name, int period);

// For the fixture's scenario, on one thread unless the request says otherwise; errors fail the
// test.
const struct simulation *scenario_fixture_simulate(struct scenario_fixture *fixture,
                                                   const struct simulate_request *request);

#endif
