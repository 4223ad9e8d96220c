// fake_hip: what the fake HIP runtime of the tests tells beside what HIP does.
#ifndef PERTOKEN_FAKE_HIP_H
#define PERTOKEN_FAKE_HIP_H

#include <stdbool.h>
#include <stddef.h>

// Streams, events, graphs, modules and memory that were not given back.
int fake_hip_alive(void);

// Communicators of the fake RCCL likewise.
int fake_rccl_alive(void);

// A working device again, and nothing alive.
void fake_hip_reset(void);

// For the fake RCCL beside it (fake_rccl.c): its all-reduces go into streams, recorded or not, and
// are carried out by fake_rccl_execute when their turn comes. Codes are HIP's.
#define FAKE_RCCL_KERNEL "ncclAllReduce"
int fake_hip_queue(void *stream, const void *arguments, size_t bytes);
bool fake_hip_is_recording(const void *stream);
int fake_hip_executables(void); // graphs that can be launched
int fake_rccl_execute(const void *arguments);

#endif
