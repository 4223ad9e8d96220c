// twins: a backend of three devices for tests, in a time of its own: a step takes as long as is
// stated here, longer while all three run, and nothing else takes any. No test of it waits, and a
// busy machine changes none of its figures.
//
// Each thread has its own time: a device's goes on with its steps, the probe's with its sleeps and
// with the steps that it runs itself. A sleep of the probe ends when no device that runs beside it
// is behind; the first step of each of several devices ends when all are under way at once. Whoever
// waits for that in vain for a minute, which is what devices one after the other would do, fails
// the test.
#ifndef PERTOKEN_TESTS_TWINS_H
#define PERTOKEN_TESTS_TWINS_H

#include "tests/support/fixture.h"

#include "base/clock.h"
#include "tests/stand_ins/fake/fake_nvml.h"

#include <stdbool.h>
#include <stdio.h>

struct decode_backend;

enum { TWINS = 3 };

#define TWINS_SLOWED 1.5 // how much longer steps take while all three run
#define TWINS_LOAD_W 300.0

struct twins {
  int lost;               // the device that fails once all run, -1: none
  int most_running;       // at once
  int devices_of_ranks;   // 20: devices 2 and 0 held the last model together
  int states;             // that live
  struct fake_nvml *nvml; // whose counters follow the probe's time; NULL: the devices have no meter
};

extern struct twins twins;
extern const struct decode_backend twins_backend;
extern const struct clock twins_clock;

// Seconds of a step on each device alone; and their PCI addresses while there is a meter.
extern const double twins_step_s[TWINS];
extern const char *const twins_pci[TWINS];

// As new: nothing lost, no meter, time at 0.
void twins_reset(void);

#endif
