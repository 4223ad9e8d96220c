// url: whose server a URL names.
#ifndef PERTOKEN_MODEL_RECORDS_URL_H
#define PERTOKEN_MODEL_RECORDS_URL_H

#include <stdbool.h>

// Whether it means the host that asks, whichever that is: localhost, an address of the loopback
// (127.0.0.0/8, ::1) or the unspecified one (0.0.0.0, ::), to which a client connects as to itself.
// `url`: "http://127.0.0.1:8000"; text that is no URL means no host.
bool url_is_of_this_host(const char *url);

#endif
