#include "probe/serving/server.h"

#include "base/short_text.h"
#include "base/source.h"
#include "base/version.h"

#include <curl/easy.h>
#include <curl/header.h>
#include <curl/system.h>
#include <curl/urlapi.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_S = 30, WORDS = 300 };

// ---- the URL

static char *url_part(CURLU *url, CURLUPart part, struct arena *arena) {
  char *text = NULL;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK)
    return NULL;
  char *copy = arena_copy(arena, text);
  curl_free(text);
  return copy;
}

static void cut_end(char *path, const char *end) {
  const size_t length = strlen(path), cut = strlen(end);
  if (length >= cut && strcmp(path + length - cut, end) == 0)
    path[length - cut] = '\0';
}

static const struct {
  CURLUPart part;
  const char *complaint;
} unwanted[] = {
    {CURLUPART_USER,
     "the URL is recorded, so it must not contain a user; put the key in PERTOKEN_API_KEY"},
    {CURLUPART_PASSWORD,
     "the URL is recorded, so it must not contain a password; put the key in PERTOKEN_API_KEY"},
    {CURLUPART_QUERY, "a server's URL must not have a query"},
    {CURLUPART_FRAGMENT, "a server's URL must not have a fragment"},
};

// What is wrong with a URL that libcurl can read. NULL: nothing.
static const char *url_complaint(CURLU *url, struct arena *arena) {
  for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
    if (url_part(url, unwanted[i].part, arena))
      return unwanted[i].complaint;
  const char *scheme = url_part(url, CURLUPART_SCHEME, arena);
  if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
    return "a server's URL begins with http:// or https://";
  return NULL;
}

// The text in the form used: "http://host:8000/v1/" becomes "http://host:8000". NULL after an
// error.
static const char *url_read(const char *text, struct arena *arena,
                            struct diagnostics *diagnostics) {
  const struct place place = source_text_start("URL", text, arena);
  CURLU *url = curl_url();
  const CURLUcode code = curl_url_set(url, CURLUPART_URL, text, 0);
  const char *complaint = code == CURLUE_BAD_SCHEME || code == CURLUE_UNSUPPORTED_SCHEME
                              ? "a server's URL begins with http:// or https://"
                          : code != CURLUE_OK ? curl_url_strerror(code)
                                              : url_complaint(url, arena);
  char *path = complaint ? NULL : url_part(url, CURLUPART_PATH, arena);
  if (path) {
    cut_end(path, "/");
    cut_end(path, "/v1");
    cut_end(path, "/");
    curl_url_set(url, CURLUPART_PATH, path, 0);
  }
  char *whole = complaint ? NULL : url_part(url, CURLUPART_URL, arena);
  curl_url_cleanup(url);
  if (complaint)
    diagnostics_error(diagnostics, place, "this is not the URL of a server: %s", complaint);
  if (whole)
    cut_end(whole, "/");
  return whole;
}

// ---- opening

// A header ends at the line's end, and holds visible ASCII characters.
static bool is_header_text(const char *text) {
  for (; *text; text++)
    if (*text < ' ' || *text > '~')
      return false;
  return true;
}

static struct curl_slist *headers_of(const char *key, struct arena *arena) {
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Expect:"); // the body follows at once, however long
  if (key)
    headers = curl_slist_append(headers, arena_printf(arena, "Authorization: Bearer %s", key));
  return headers;
}

int server_open(struct server *server, const char *url, struct arena *arena,
                struct diagnostics *diagnostics) {
  *server = (struct server){0};
  const char *key = getenv("PERTOKEN_API_KEY");
  if (key && !is_header_text(key)) {
    diagnostics_error(diagnostics, nowhere,
                      "PERTOKEN_API_KEY has a character that no HTTP header can carry");
    return -1;
  }
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    diagnostics_error(diagnostics, nowhere, "libcurl could not be started");
    diagnostics->machine_failed = true;
    return -1;
  }
  server->url = url_read(url, arena, diagnostics);
  if (!server->url) {
    curl_global_cleanup();
    return -1;
  }
  server->api_key = key && *key ? key : NULL;
  server->names = curl_share_init();
  curl_share_setopt(server->names, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  server->headers = headers_of(server->api_key, arena);
  return 0;
}

void server_close(struct server *server) {
  if (!server->names)
    return;
  curl_slist_free_all(server->headers);
  curl_share_cleanup(server->names);
  curl_global_cleanup();
  *server = (struct server){0};
}

// HTTP/1.1: each stream has a connection, and so a time of receipt, of its own. "identity" asks for
// no compression, which would hold tokens back, and makes libcurl undo any that comes unasked.
CURL *server_handle(const struct server *server, const char *path, struct arena *arena) {
  CURL *handle = curl_easy_init();
  curl_easy_setopt(handle, CURLOPT_URL, arena_printf(arena, "%s%s", server->url, path));
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, server->headers);
  curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "pertoken-probe/" PERTOKEN_VERSION);
  curl_easy_setopt(handle, CURLOPT_SHARE, server->names);
  curl_easy_setopt(handle, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  const char *certificates = getenv("SSL_CERT_FILE");
  if (certificates && *certificates)
    curl_easy_setopt(handle, CURLOPT_CAINFO, certificates);
  return handle;
}

// ---- what went wrong

static const char *without(const char *text, const char *secret, struct arena *arena) {
  const char *found;
  while (secret && (found = strstr(text, secret)))
    text = arena_printf(arena, "%.*s***%s", (int)(found - text), text, found + strlen(secret));
  return text;
}

const char *server_words(const struct server *server, const char *text, size_t size,
                         struct arena *arena) {
  const char *whole = without(arena_copy_n(arena, text, size), server->api_key, arena);
  char *words = arena_copy_n(arena, whole, strlen(whole) < WORDS ? strlen(whole) : WORDS);
  const uint8_t *invalid;
  while ((invalid = source_invalid_utf8(words, strlen(words))))
    words[invalid - (const uint8_t *)words] = '?';
  for (char *c = words; *c; c++)
    if (*c == '\n' || *c == '\r' || *c == '\t')
      *c = ' ';
  return text_readable(words, arena);
}

// The sentence in {"error": {"message": "..."}}, {"error": "..."}, {"message": "..."} or {"detail":
// "..."}; NULL if the body is nothing of the kind.
static const char *complaint_in(const json_t *root) {
  const json_t *error = json_object_get(root, "error");
  const json_t *const places[] = {json_object_get(error, "message"), error,
                                  json_object_get(root, "message"),
                                  json_object_get(root, "detail")};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (json_is_string(places[i]))
      return json_string_value(places[i]);
  return NULL;
}

static const char *complaint_of(const struct server *server, const char *body, size_t size,
                                struct arena *arena) {
  json_t *root = json_loadb(body, size, JSON_ALLOW_NUL, NULL);
  const char *complaint = complaint_in(root);
  const char *words = complaint ? server_words(server, complaint, strlen(complaint), arena)
                                : server_words(server, body, size < 120 ? size : 120, arena);
  json_decref(root);
  return words;
}

static const char *status_failure(const struct server *server, CURL *handle, long status,
                                  const char *body, size_t size, struct arena *arena) {
  char *target = NULL;
  if (curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &target) == CURLE_OK && target)
    return arena_printf(arena, "HTTP %ld: redirects to %s, which is not followed", status,
                        server_words(server, target, strlen(target), arena));
  const char *words = complaint_of(server, body, size, arena);
  return arena_printf(arena, "HTTP %ld%s%s", status, *words ? ": " : "", words);
}

// Failures in words of our own, where libcurl's would be about its own workings.
static const struct {
  CURLcode code;
  const char *words;
} failures[] = {
    {CURLE_COULDNT_CONNECT, "no server answers there"},
    {CURLE_UNSUPPORTED_PROTOCOL, "the service at this address does not speak HTTP"},
    {CURLE_WEIRD_SERVER_REPLY, "the service at this address does not speak HTTP"},
    {CURLE_GOT_NOTHING, "the server closed the connection without an answer"},
    {CURLE_RECV_ERROR, "the connection broke"},
    {CURLE_SEND_ERROR, "the connection broke"},
    {CURLE_PARTIAL_FILE, "the connection ended within the answer"},
    {CURLE_OPERATION_TIMEDOUT, "no answer in time"},
    {CURLE_BAD_CONTENT_ENCODING, "the compressed answer cannot be read"},
    {CURLE_SSL_CONNECT_ERROR, "TLS failed"},
    {CURLE_PEER_FAILED_VERIFICATION, "TLS failed: the certificate is not trusted"},
};

static const char *transport_failure(const struct server *server, CURLcode code, const char *detail,
                                     struct arena *arena) {
  const char *words = NULL;
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
    if (failures[i].code == code)
      words = failures[i].words;
  if (!detail || !*detail)
    return words ? words : curl_easy_strerror(code);
  detail = server_words(server, detail, strlen(detail), arena);
  return words ? arena_printf(arena, "%s (%s)", words, detail) : detail;
}

const char *server_failure(const struct server *server, CURL *handle, CURLcode code,
                           const char *detail, const char *body, size_t size, struct arena *arena) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status != 0 && status != 200)
    return status_failure(server, handle, status, body, size, arena);
  return code == CURLE_OK ? NULL : transport_failure(server, code, detail, arena);
}

// ---- questions

struct body {
  char *text;
  size_t size, room;
};

// Less than `size` ends the exchange.
static size_t take(char *bytes, size_t one, size_t size, void *context) {
  struct body *body = context;
  (void)one;
  if (body->size + size > MAX_ANSWER)
    return 0;
  while (body->size + size + 1 > body->room)
    body->text = realloc(body->text, body->room = body->room ? 2 * body->room : 4096);
  memcpy(body->text + body->size, bytes, size);
  body->size += size;
  return size;
}

// Called at least once a second. Not 0 ends the exchange.
static int look_at_stop(void *context, curl_off_t all, curl_off_t got, curl_off_t to_send,
                        curl_off_t sent) {
  const struct server *server = context;
  (void)all, (void)got, (void)to_send, (void)sent;
  return server_is_stopped(server);
}

bool server_is_stopped(const struct server *server) {
  return server->stop && *server->stop;
}

struct server_answer server_get(const struct server *server, const char *path, double limit_s,
                                struct arena *arena) {
  char detail[CURL_ERROR_SIZE] = "";
  struct body body = {0};
  CURL *handle = server_handle(server, path, arena);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)(1e3 * limit_s));
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_at_stop);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, (void *)server);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(handle);
  struct server_answer answer = {.size = body.size, .software = ""};
  answer.body = arena_copy_n(arena, body.text ? body.text : "", body.size);
  answer.failure = server_failure(server, handle, code, detail, answer.body, answer.size, arena);
  if (code == CURLE_WRITE_ERROR)
    answer.failure = arena_printf(arena, "the answer is larger than %d MiB", MAX_ANSWER >> 20);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  struct curl_header *header;
  if (curl_easy_header(handle, "Server", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
    answer.software = server_words(server, header->value, strlen(header->value), arena);
  free(body.text);
  curl_easy_cleanup(handle);
  return answer;
}
