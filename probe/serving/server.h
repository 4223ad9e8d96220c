// server: an inference server by its URL, and short queries to it.
//
// The API key comes from the environment variable PERTOKEN_API_KEY, goes to libcurl and nowhere
// else: it is not in the URL, and error texts that repeat it are shown without it. A server behind
// a proxy is found through the variables that curl knows: http_proxy, https_proxy, no_proxy. TLS is
// checked against the system's certificates, or those in the file named by SSL_CERT_FILE. No
// redirect is followed: load goes only where it was told to.
#ifndef PERTOKEN_PROBE_SERVING_SERVER_H
#define PERTOKEN_PROBE_SERVING_SERVER_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct server {
  const char *url;                   // "http://host:8000": without "/v1" or a slash at the end
  const char *api_key;               // NULL: none
  CURLSH *names;                     // host names, looked up once for all requests
  struct curl_slist *headers;        // of every request
  const volatile sig_atomic_t *stop; // ends a query within a second; NULL: nobody stops it
};

// The result of a query. Texts are in the arena.
struct server_answer {
  long status;      // HTTP's; 0: no answer
  const char *body; // size bytes and a final NUL; never NULL
  size_t size;
  const char *software; // the header "Server": "uvicorn"; "" if it has none
  const char *failure;  // NULL: status is 200; otherwise why not, in a sentence without a full stop
};

// Errors: a URL that is not http or https; one with a user, a query or a fragment in it; a key that
// no header can carry. Sends the server nothing. Returns 0 or -1; server_close then does nothing.
int server_open(struct server *server, const char *url, struct arena *arena,
                struct diagnostics *diagnostics);
void server_close(struct server *server);

enum { MAX_ANSWER = 64 << 20 }; // bytes; a longer body is a failure

// GET of a path, such as "/v1/models", "/version", "/metrics", "/props". Takes at most `limit_s`.
struct server_answer server_get(const struct server *server, const char *path, double limit_s,
                                struct arena *arena);

bool server_is_stopped(const struct server *server);

// ---- for requests of any kind

// A handle for `path` with everything set that concerns the server.
CURL *server_handle(const struct server *server, const char *path, struct arena *arena);

// Why an exchange failed, from libcurl's result and the server's answer: "connection refused",
// "HTTP 404: The model 'x' does not exist". NULL: it did not fail.
const char *server_failure(const struct server *server, CURL *handle, CURLcode code,
                           const char *detail, const char *body, size_t size, struct arena *arena);

// The server's own words in a form that may be shown: readable, one line, short, and without the
// key.
const char *server_words(const struct server *server, const char *text, size_t size,
                         struct arena *arena);

#endif
