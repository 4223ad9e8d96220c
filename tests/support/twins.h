// twins: a backend of three devices for tests, with its own time: a step takes as long as stated
// here, longer while all three run, and nothing else takes any time. Its tests never wait, and a
// busy machine changes none of their figures.
//
// Each thread has its own time: a device's advances with its steps, the probe's with its sleeps and
// with the steps that it runs itself. A sleep of the probe ends when no device running beside it is
// behind; the first step of each of several devices ends when all are running at once. If that does
// not happen within a minute, as when devices run one after the other, the test fails.
#ifndef PERTOKEN_TESTS_SUPPORT_TWINS_H
#define PERTOKEN_TESTS_SUPPORT_TWINS_H

#include "tests/support/fixture.h"

#include "base/clock.h"
#include "tests/stand_ins/fake/fake_nvml.h"

#include <stdbool.h>
#include <stdio.h>

struct decode_backend;

enum { TWINS = 3 };

#define TWINS_SLOWED 1.5 // factor by which steps take longer while all three run
#define TWINS_LOAD_W 300.0

struct twins {
  int lost;               // the device that fails once all are running, -1: none
  int most_running;       // at once
  int devices_of_ranks;   // 20: devices 2 and 0 held the latest model together
  int states;             // that are alive
  struct fake_nvml *nvml; // its counters follow the probe's time; NULL: the devices have no meter
};

extern struct twins twins;
extern const struct decode_backend twins_backend;
extern const struct clock twins_clock;

// Seconds per step on each device alone; and their PCI addresses while there is a meter.
extern const double twins_step_s[TWINS];
extern const char *const twins_pci[TWINS];

// Reset: nothing lost, no meter, time at 0.
void twins_reset(void);

#endif
