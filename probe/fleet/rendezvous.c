#include "probe/fleet/rendezvous.h"

#include "base/digits.h"
#include "base/host_list.h"
#include "base/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char secret_name[] = "PERTOKEN_FLEET_SECRET";

enum { FIRST_PORT = 63001, LAST_PORT = 65534, WAITING = 1024, CONNECT_MS = 3000 };

// ---- the secret

static int take_secret(struct rendezvous *rendezvous, struct diagnostics *diagnostics) {
  const char *secret = launch_variable(secret_name);
  if (!*secret)
    secret = launch_variable("OMPI_MCA_orte_precondition_transports");
  const size_t length = strlen(secret);
  rendezvous->secret = secret;
  if (!length) {
    diagnostics_error(diagnostics, nowhere,
                      "--send needs a secret that only the processes of this launch share: "
                      "export %s=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \\n') before srun, or "
                      "mpirun -x %s",
                      secret_name, secret_name);
    return -1;
  }
  bool is_printable = true;
  for (const char *c = secret; *c; c++)
    is_printable &= *c > ' ' && *c < 0x7f;
  if (is_printable && length >= MIN_SECRET && length <= MAX_SECRET)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "%s must have %d to %d printable characters and no blanks", secret_name,
                    MIN_SECRET, MAX_SECRET);
  return -1;
}

// ---- the host and its ports

// "1771962368.0;tcp://192.0.2.2,198.51.100.7:44501;tcp6://[fd00::2]:57159": the addresses.
static void take_mpirun(struct rendezvous *rendezvous, struct arena *arena) {
  const char *at = launch_variable("OMPI_MCA_orte_hnp_uri");
  while ((at = strstr(at, "://"))) {
    at += strlen("://");
    const char *end = at + strcspn(at, ";");
    while (at < end) {
      at += strspn(at, "[");
      const size_t length = strcspn(at, *at && at[-1] == '[' ? "]" : ",:;");
      texts_add(&rendezvous->hosts, arena, "%.*s", (int)length, at);
      at += length + strspn(at + length, "]");
      at = *at == ',' ? at + 1 : end;
    }
  }
}

static int take_first_node(struct rendezvous *rendezvous, const char *list, struct arena *arena,
                           struct diagnostics *diagnostics) {
  struct texts nodes = {0};
  if (host_list_read(list, &nodes, arena, diagnostics))
    return -1;
  texts_add(&rendezvous->hosts, arena, "%s", nodes.list[0]);
  return 0;
}

static int take_launcher(struct rendezvous *rendezvous, struct arena *arena,
                         struct diagnostics *diagnostics) {
  const bool is_mpirun = *launch_variable("OMPI_COMM_WORLD_SIZE");
  const char *nodes = launch_variable(is_mpirun ? "SLURM_JOB_NODELIST" : "SLURM_STEP_NODELIST");
  if (*nodes)
    return take_first_node(rendezvous, nodes, arena, diagnostics);
  if (is_mpirun)
    take_mpirun(rendezvous, arena);
  if (rendezvous->hosts.count)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "the launcher does not say where process 0 is: name its machine with --first");
  return -1;
}

static int take_said(struct rendezvous *rendezvous, const char *first, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const bool has_brackets = *first == '[';
  const size_t length = strcspn(first += has_brackets, has_brackets ? "]" : ":");
  const char *behind = first + length;
  if (has_brackets && *behind)
    behind++;
  uint64_t port;
  const bool is_port = *behind == ':' && is_whole_number(behind + 1, 1, 65535, &port);
  if (!length || (*behind && !is_port)) {
    diagnostics_error(diagnostics, nowhere,
                      "expected --first HOST, HOST:PORT or [ADDRESS]:PORT, found '%s'", first);
    return -1;
  }
  texts_add(&rendezvous->hosts, arena, "%.*s", (int)length, first);
  if (is_port)
    texts_add(&rendezvous->ports, arena, "%d", (int)port);
  return 0;
}

// Two launches at the same time have different ports, or take the next.
static void choose_ports(struct rendezvous *rendezvous, const struct launch *launch,
                         struct arena *arena) {
  const unsigned long count = LAST_PORT - FIRST_PORT + 1;
  const unsigned long start = strtoul(launch->key, NULL, 16) % count;
  const unsigned long step = count / RENDEZVOUS_PORTS;
  for (unsigned long i = 0; i < RENDEZVOUS_PORTS; i++)
    texts_add(&rendezvous->ports, arena, "%lu", FIRST_PORT + (start + i * step) % count);
}

int rendezvous_read(struct rendezvous *rendezvous, const char *first, const struct launch *launch,
                    struct arena *arena, struct diagnostics *diagnostics) {
  *rendezvous = (struct rendezvous){0};
  if (take_secret(rendezvous, diagnostics))
    return -1;
  if (first ? take_said(rendezvous, first, arena, diagnostics)
            : take_launcher(rendezvous, arena, diagnostics))
    return -1;
  if (!rendezvous->ports.count)
    choose_ports(rendezvous, launch, arena);
  return 0;
}

const char *rendezvous_words(const struct rendezvous *rendezvous, struct arena *arena) {
  return arena_printf(arena, "%s, port %s", texts_joined_by(&rendezvous->hosts, " or ", arena),
                      texts_joined_by(&rendezvous->ports, ", ", arena));
}

// ---- sockets

static int listen_at(const struct addrinfo *at) {
  const int yes = 1, no = 0;
  const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at->ai_family == AF_INET6)
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, WAITING))
    return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

// IPv6 first: its socket also accepts IPv4.
static int listen_to(const char *host, const char *port) {
  const int families[] = {AF_INET6, AF_INET};
  int fd = -1;
  for (size_t i = 0; fd < 0 && i < sizeof families / sizeof families[0]; i++) {
    const struct addrinfo wanted = {.ai_family = families[i],
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &wanted, &found))
      continue;
    fd = listen_at(found);
    freeaddrinfo(found);
  }
  return fd;
}

static bool is_address(const char *host) {
  unsigned char address[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

int rendezvous_listen(const struct rendezvous *rendezvous, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const struct texts *hosts = &rendezvous->hosts;
  const char *host = hosts->count == 1 && is_address(hosts->list[0]) ? hosts->list[0] : NULL;
  int fd = -1;
  for (size_t i = 0; fd < 0 && i < rendezvous->ports.count; i++)
    fd = listen_to(host, rendezvous->ports.list[i]);
  if (fd >= 0)
    return fd;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "process 0 cannot listen at %s: %s",
                    rendezvous_words(rendezvous, arena), strerror(errno));
  return -1;
}

static int connect_to(const struct addrinfo *to) {
  const int yes = 1;
  const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = 0;
  socklen_t size = sizeof error;
  if (fd < 0)
    return -1;
  if (connect(fd, to->ai_addr, to->ai_addrlen)) {
    struct pollfd waiting = {.fd = fd, .events = POLLOUT};
    if (errno != EINPROGRESS || poll(&waiting, 1, CONNECT_MS) != 1 ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) || error) {
      close(fd);
      return -1;
    }
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

int rendezvous_connect(const struct rendezvous *rendezvous, size_t host, size_t port) {
  const struct addrinfo wanted = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo *found;
  int fd = -1;
  if (getaddrinfo(rendezvous->hosts.list[host], rendezvous->ports.list[port], &wanted, &found))
    return -1;
  for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
    fd = connect_to(at);
  freeaddrinfo(found);
  return fd;
}
