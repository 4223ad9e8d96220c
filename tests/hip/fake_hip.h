// fake_hip: what the fake HIP runtime of the tests tells beside what HIP does.
#ifndef PERTOKEN_FAKE_HIP_H
#define PERTOKEN_FAKE_HIP_H

// Streams, events, graphs, modules and memory that were not given back.
int fake_hip_alive(void);

// A working device again, and nothing alive.
void fake_hip_reset(void);

#endif
