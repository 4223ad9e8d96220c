// The load client against a server: load_client URL CONCURRENCY SECONDS [INPUT OUTPUT [RATE]]
// prints the results of the window as JSON; P99 is 0 if there are too few requests. With a RATE,
// arrivals are evenly spaced, with at most CONCURRENCY in flight.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/serving.h"
#include "probe/serving/load.h"
#include "probe/serving/server.h"
#include "probe/serving/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct prompts {
  int input, output;
  char *text;
};

static const char *body(void *context, size_t number) {
  struct prompts *prompts = context;
  char *end = prompts->text;
  end +=
      sprintf(end,
              "{\"model\":\"stand-in\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
              "\"max_tokens\":%d,\"prompt\":[",
              prompts->output);
  for (int i = 0; i < prompts->input; i++)
    end += sprintf(end, "%s%zu", i ? "," : "", (number * 7919 + (size_t)i * 104729) % 32000);
  sprintf(end, "]}");
  return prompts->text;
}

static void print_latency(const char *name, const struct serving_latency *latency) {
  printf("  \"%s\": {\"mean_s\": %.6f, \"p50_s\": %.6f, \"p99_s\": %.6f, \"std_s\": %.6f},\n", name,
         latency->mean_s, latency->p50_s, isnan(latency->p99_s) ? 0 : latency->p99_s,
         latency->std_s);
}

static void print_rung(const struct serving_rung *rung, const struct load_result *result) {
  printf("{\n");
  print_latency("ttft", &rung->ttft);
  print_latency("tpot", &rung->tpot);
  print_latency("end_to_end", &rung->end_to_end);
  print_latency("chunk_gap", &rung->chunk_gap);
  printf("  \"completed\": %.0f, \"failed\": %.0f, \"window_s\": %.3f, \"output_tokens_per_s\": "
         "%.2f,\n"
         "  \"input_tokens_per_s\": %.2f, \"mean_concurrency\": %.2f, \"client_cpu_share\": %.4f,\n"
         "  \"worst_lag_s\": %.6f, \"unfinished\": \"%s\", \"first_failure\": \"%s\"\n}\n",
         rung->completed, rung->failed, rung->window_s, rung->output_tokens_per_s,
         rung->input_tokens_per_s, rung->mean_concurrency, rung->client_cpu_share,
         result->worst_lag_s, result->unfinished ? result->unfinished : "",
         result->first_failure ? result->first_failure : "");
}

static int measure(struct load load, const char *url, struct arena *arena,
                   struct diagnostics *diagnostics) {
  struct server server;
  struct load_result result;
  struct serving_rung rung;
  if (server_open(&server, url, arena, diagnostics) < 0)
    return -1;
  load.server = &server;
  const int status = load_run(&load, &result, arena, diagnostics);
  const struct slo slo = {NAN, NAN};
  if (status == 0 && window_rung(&load, &result, slo, &rung, arena))
    print_rung(&rung, &result);
  else if (status == 0)
    printf("{\"unfinished\": \"%s\"}\n", result.unfinished);
  server_close(&server);
  return status;
}

static double argument(int argc, char **argv, int at, double otherwise) {
  return argc > at ? strtod(argv[at], NULL) : otherwise;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "load_client URL CONCURRENCY SECONDS [INPUT OUTPUT [RATE]]\n");
    return 2;
  }
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct prompts prompts = {.input = (int)argument(argc, argv, 4, 1024),
                            .output = (int)argument(argc, argv, 5, 256)};
  prompts.text = arena_alloc(&arena, 256 + 8 * (size_t)prompts.input);
  const double rate = argument(argc, argv, 6, 0);
  const double concurrency = argument(argc, argv, 2, 0);
  struct load load = {.path = "/v1/completions",
                      .body = body,
                      .body_context = &prompts,
                      .kind = rate > 0 ? LOAD_CONSTANT : LOAD_CLOSED,
                      .concurrency = (size_t)concurrency,
                      .rate_per_s = rate,
                      .window_s = argument(argc, argv, 3, 60),
                      .window_requests = rate > 0 ? 1 : (size_t)concurrency,
                      .limit_s = 600,
                      .silence_s = 60,
                      .request_s = 300,
                      .most_requests = 1000000};
  const int status = measure(load, argv[1], &arena, &diagnostics);
  diagnostics_print(&diagnostics, stderr, false);
  arena_free(&arena);
  return status < 0 ? 1 : 0;
}
