#include "tests/support/scenario_fixture.h"

#include "model/scenario/resolution/read.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char scenario_of_two[] = SCENARIO_OF_TWO;

static void start(struct scenario_fixture *fixture) {
  fixture_start(&fixture->fixture);
  snprintf(fixture->folder, sizeof fixture->folder, "/tmp/pertoken-%s", "XXXXXX");
  assert_non_null(mkdtemp(fixture->folder));
}

static struct scenario *read_as(struct scenario_fixture *fixture, const char *path,
                                struct scenario_request request) {
  request.path = path;
  request.data_directory = "data";
  return scenario_read(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

const char *scenario_fixture_path(struct scenario_fixture *fixture, const char *name) {
  return arena_printf(&fixture->fixture.arena, "%s/%s", fixture->folder, name);
}

static const char *write_file(struct scenario_fixture *fixture, const char *name,
                              const char *text) {
  fixture_write(&fixture->fixture, fixture->folder, name, text);
  return scenario_fixture_path(fixture, name);
}

struct scenario *scenario_fixture_another(struct scenario_fixture *fixture, const char *name,
                                          const char *text) {
  return read_as(fixture, write_file(fixture, name, text), (struct scenario_request){0});
}

void scenario_fixture_request(struct scenario_fixture *fixture, const char *text,
                              struct scenario_request request) {
  start(fixture);
  fixture->scenario = read_as(fixture, write_file(fixture, "test.ini", text), request);
}

void scenario_fixture_start(struct scenario_fixture *fixture, const char *text, const char *model,
                            const char *case_name) {
  start(fixture);
  const struct scenario_request request = {
      .model_path = model ? write_file(fixture, "model.ini", model) : NULL, .case_name = case_name};
  fixture->scenario = read_as(fixture, write_file(fixture, "test.ini", text), request);
}

void scenario_fixture_set(struct scenario_fixture *fixture, const char *text, const char *case_name,
                          const char *const *setting) {
  scenario_fixture_request(fixture, text,
                           (struct scenario_request){.case_name = case_name,
                                                     .settings = setting,
                                                     .setting_count = *setting ? 1 : 0});
}

void scenario_fixture_open(struct scenario_fixture *fixture, const char *path) {
  start(fixture);
  fixture->scenario = read_as(fixture, path, (struct scenario_request){0});
  expect_error(&fixture->fixture, path, "");
}

void scenario_fixture_end(struct scenario_fixture *fixture) {
  DIR *folder = opendir(fixture->folder);
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));)
    unlinkat(dirfd(folder), entry->d_name, 0);
  closedir(folder);
  rmdir(fixture->folder);
  fixture_end(&fixture->fixture);
}

double scenario_item(const struct scenario *scenario, const char *name, int period) {
  const char *point = strchr(name, '.');
  const struct option *option = point ? NULL : &scenario->options[0];
  for (size_t o = 0; point && o < scenario->option_count; o++)
    if (strlen(scenario->options[o].id) == (size_t)(point - name) &&
        !strncmp(scenario->options[o].id, name, (size_t)(point - name)))
      option = &scenario->options[o];
  const int d = model_find(scenario->model, point ? point + 1 : name);
  if (!option || d < 0 || !option_has(option, d))
    fail_msg("no item %s", name);
  return option_value(scenario, option, d, period) /
         unit_factor(&scenario->model->declarations[d].unit);
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
