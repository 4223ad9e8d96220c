#include "tests/support/scenario_fixture.h"

#include "model/scenario/reading/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const names[] = {"test.ini", "model.ini", "part.json"};

const char *scenario_fixture_path(struct scenario_fixture *fixture, const char *name) {
  return arena_printf(&fixture->fixture.arena, "%s/%s", fixture->folder, name);
}

static const char *write_file(struct scenario_fixture *fixture, const char *name,
                              const char *text) {
  const char *path = scenario_fixture_path(fixture, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

void scenario_fixture_request(struct scenario_fixture *fixture, const char *text,
                              struct scenario_request request) {
  fixture_start(&fixture->fixture);
  snprintf(fixture->folder, sizeof fixture->folder, "/tmp/pertoken-%s", "XXXXXX");
  assert_non_null(mkdtemp(fixture->folder));
  request.path = write_file(fixture, "test.ini", text);
  request.data_directory = "data";
  fixture->scenario =
      scenario_read(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

void scenario_fixture_start(struct scenario_fixture *fixture, const char *text, const char *model,
                            const char *case_name) {
  fixture_start(&fixture->fixture);
  snprintf(fixture->folder, sizeof fixture->folder, "/tmp/pertoken-%s", "XXXXXX");
  assert_non_null(mkdtemp(fixture->folder));
  struct scenario_request request = {.path = write_file(fixture, "test.ini", text),
                                     .model_path =
                                         model ? write_file(fixture, "model.ini", model) : NULL,
                                     .data_directory = "data",
                                     .case_name = case_name};
  fixture->scenario =
      scenario_read(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

void scenario_fixture_open(struct scenario_fixture *fixture, const char *path) {
  fixture_start(&fixture->fixture);
  snprintf(fixture->folder, sizeof fixture->folder, "/tmp/pertoken-%s", "XXXXXX");
  assert_non_null(mkdtemp(fixture->folder));
  struct scenario_request request = {.path = path, .data_directory = "data"};
  fixture->scenario =
      scenario_read(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, path, "");
}

void scenario_fixture_end(struct scenario_fixture *fixture) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    unlink(scenario_fixture_path(fixture, names[i]));
  rmdir(fixture->folder);
  fixture_end(&fixture->fixture);
}

const struct simulation *scenario_fixture_simulate(struct scenario_fixture *fixture,
                                                   const struct simulate_request *request) {
  struct simulate_request copy = *request;
  copy.scenario = fixture->scenario;
  copy.threads = copy.threads ? copy.threads : 1;
  struct simulation_part *part =
      simulate(&copy, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, "simulate", "");
  const struct simulation *simulation =
      simulation_result(part, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  assert_non_null(simulation);
  return simulation;
}
