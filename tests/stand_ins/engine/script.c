#include "tests/stand_ins/engine/script.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER(key)                                                                                \
  { #key, offsetof(struct script, key), false }
#define TEXT(key)                                                                                  \
  { #key, offsetof(struct script, key), true }

static const struct {
  const char *name;
  size_t offset;
  bool is_text;
} keys[] = {
    NUMBER(ttft),        NUMBER(tpot),        NUMBER(tokens),       NUMBER(per_chunk),
    NUMBER(role),        NUMBER(cached),      NUMBER(prompt),       NUMBER(stall),
    NUMBER(stall_at),    NUMBER(slow),        NUMBER(every),        NUMBER(status),
    NUMBER(reset_after), NUMBER(close_after), NUMBER(error_after),  NUMBER(die_after),
    NUMBER(slots),       NUMBER(limit),       NUMBER(context),      NUMBER(counters),
    NUMBER(split),       NUMBER(endless),     NUMBER(gzip),         NUMBER(redirect),
    NUMBER(garbage),     NUMBER(json),        NUMBER(wrong_length), NUMBER(undone),
    NUMBER(open_end),    NUMBER(no_text),     NUMBER(no_ids),       NUMBER(chat_only),
    NUMBER(once),        NUMBER(old),         NUMBER(speculates),   NUMBER(finish),
    TEXT(usage),         TEXT(key),           TEXT(rejects),        TEXT(model),
    TEXT(engine),
};

static bool set(struct script *script, const char *name, size_t name_size, const char *value,
                size_t size) {
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strlen(keys[i].name) != name_size || memcmp(keys[i].name, name, name_size) != 0)
      continue;
    char *member = (char *)script + keys[i].offset;
    if (keys[i].is_text && size < SCRIPT_TEXT) {
      memset(member, 0, SCRIPT_TEXT);
      memcpy(member, value, size);
    } else if (!keys[i].is_text)
      *(double *)(void *)member = strtod(value, NULL);
    return true;
  }
  return false;
}

// The end of the script: a slash that begins a known path.
static const char *script_end(const char *path) {
  static const char *const known[] = {"/v1",       "/metrics",     "/version",        "/props",
                                      "/lateness", "/server_info", "/get_server_info"};
  const char *end = NULL;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const char *found = strstr(path, known[i]);
    if (found && (!end || found < end))
      end = found;
  }
  return end ? end : path;
}

bool script_read(struct script *script, const char *path) {
  const char *end = script_end(path);
  *script = (struct script){.cached = -1,
                            .counters = 1,
                            .per_chunk = 1,
                            .usage = "last",
                            .model = "stand-in",
                            .engine = "vllm"};
  path += path < end;
  while (path < end) {
    const size_t size = strcspn(path, ",/");
    const char *equals = memchr(path, '=', size);
    if (!equals)
      return false;
    const size_t name = (size_t)(equals - path);
    if (!set(script, path, name, equals + 1, size - name - 1))
      return false;
    path += size + 1;
  }
  return true;
}
