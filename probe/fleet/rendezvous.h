// rendezvous: where the processes of a launch that share no folder find process 0, and the secret
// by which they recognize each other.
//
// The host is the one given by --first, or else the first of Slurm's nodes (SLURM_STEP_NODELIST,
// for mpirun inside a job SLURM_JOB_NODELIST), or else the one that mpirun runs on
// (OMPI_MCA_orte_hnp_uri, of Open MPI 4). The port is derived from the launch's key unless it is
// given: process 0 takes the first of RENDEZVOUS_PORTS ports that is free, and the others try them
// in turn. They are above those that Linux and srun give to connections. The secret is
// PERTOKEN_FLEET_SECRET from the environment, or else the one that Open MPI draws for each launch
// (OMPI_MCA_orte_precondition_transports).
#ifndef PERTOKEN_PROBE_FLEET_RENDEZVOUS_H
#define PERTOKEN_PROBE_FLEET_RENDEZVOUS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "probe/fleet/launch.h"

#include <stdbool.h>
#include <stddef.h>

enum { RENDEZVOUS_PORTS = 8, MIN_SECRET = 16, MAX_SECRET = 256 };

struct rendezvous {
  struct texts hosts; // of process 0: names or addresses, any of which will do
  struct texts ports; // as decimal digits
  const char *secret; // printable
};

// `first`: HOST, HOST:PORT or [ADDRESS]:PORT; NULL: the launcher's. Errors: no host is known, an
// invalid port, no secret, or one that is too short. Returns 0 or -1.
int rendezvous_read(struct rendezvous *rendezvous, const char *first, const struct launch *launch,
                    struct arena *arena, struct diagnostics *diagnostics);

// A socket that listens at the first free port: at the address, if the only host is one; otherwise
// at all of this machine's addresses. -1 after an error, with machine_failed set.
int rendezvous_listen(const struct rendezvous *rendezvous, struct arena *arena,
                      struct diagnostics *diagnostics);

// A socket connected to one of a host's ports, or -1. `host` counts from 0.
int rendezvous_connect(const struct rendezvous *rendezvous, size_t host, size_t port);

// "n1, ports 63017, 63401", for messages.
const char *rendezvous_words(const struct rendezvous *rendezvous, struct arena *arena);

#endif
