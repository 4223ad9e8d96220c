// URLs of this host, and those that only begin like one.
#include "tests/support/fixture.h"

#include "model/records/url.h"

static void test_urls_of_this_host(void **state) {
  (void)state;
  static const struct {
    const char *url;
    bool here;
  } urls[] = {
      {"http://localhost", true},
      {"http://LocalHost:8000/v1", true},
      {"http://127.0.0.1:8000", true},
      {"https://127.8.9.1", true},
      {"http://0.0.0.0:8000", true}, // as vLLM prints its own address
      {"http://[::1]:8000", true},
      {"http://[::]:8000", true},
      {"http://localhost-gpu7:8000", false},
      {"http://localhost.example.com", false},
      {"http://127.example.com", false},
      {"http://127.", false},
      {"http://0.0.0.01", false},
      {"http://[::1", false},
      {"http://[fe80::1]:8000", false},
      {"http://gpu7:8000", false},
      {"localhost:8000", false},
      {"", false},
  };
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
    if (url_is_of_this_host(urls[i].url) != urls[i].here)
      fail_msg("expected '%s' to be %s", urls[i].url,
               urls[i].here ? "of this host" : "of another host");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_urls_of_this_host)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
