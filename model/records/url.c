#include "model/records/url.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

// Whether the host is a loopback address such as 127.0.0.1, and not 127.example.com.
static bool is_loopback(const char *host, size_t length) {
  static const char net[] = "127.";
  return length > sizeof net - 1 && !strncmp(host, net, sizeof net - 1) &&
         strspn(host, "0123456789.") >= length;
}

bool url_is_of_this_host(const char *url) {
  static const char *const names[] = {"localhost", "0.0.0.0", "[::1]", "[::]"};
  static const char between[] = "://";
  const char *host = strstr(url, between);
  if (!host)
    return false;
  host += sizeof between - 1;
  const size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (length == strlen(names[i]) && !strncasecmp(host, names[i], length))
      return true;
  return is_loopback(host, length);
}
