#include "probe/options/node_wall.h"

#include "base/csv.h"
#include "base/source.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/delivery/fleet.h"
#include "probe/meters/wall.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char wall_column[] = "wall_power";

enum { MAX_WALL_W = 1000000 };

static int take_watts(const struct table *table, const char *node, double *watts,
                      struct arena *arena, struct diagnostics *diagnostics) {
  const long row = table_find(table, node);
  if (table_column(table, wall_column) < 0) {
    diagnostics_error(diagnostics, table_header_place(table), "wall power needs a column '%s'",
                      wall_column);
    return -1;
  }
  if (row < 0) {
    diagnostics_error(diagnostics, table_header_place(table), "unknown node '%s'", node);
    return -1;
  }
  const char *text = table_cell(table, (size_t)row, wall_column);
  const struct place place = table_place(table, (size_t)row, wall_column);
  if (quantity_parse(text, place, unit_constant("W", arena), watts, diagnostics))
    return -1;
  if (*watts > 0 && *watts <= MAX_WALL_W)
    return 0;
  diagnostics_error(diagnostics, place, "expected watts above '0 W' and up to '1 MW', not '%s'",
                    text);
  return -1;
}

static const char *address_of(const char *address, const char *node, struct arena *arena) {
  static const char mark[] = "{node}";
  const char *out = "", *at;
  for (; (at = strstr(address, mark)); address = at + strlen(mark))
    out = arena_printf(arena, "%s%.*s%s", out, (int)(at - address), address, node);
  return arena_printf(arena, "%s%s", out, address);
}

int node_wall_find(struct probe_options *options, const char *node, int size, struct arena *arena,
                   struct diagnostics *diagnostics) {
  struct wall_options *wall = &options->wall;
  const char *path = options->fleet.wall_table;
  if (wall->redfish)
    wall->redfish = address_of(wall->redfish, node, arena);
  if (!isnan(wall->typed_w) && size > 1) {
    diagnostics_error(diagnostics, nowhere,
                      "--wall-power is for a single node, but %d were started: name a table with "
                      "the columns 'node' and '%s'",
                      size, wall_column);
    return -1;
  }
  const struct table *table = path ? fleet_list_read(path, arena, diagnostics) : NULL;
  return path && (!table || take_watts(table, node, &wall->typed_w, arena, diagnostics)) ? -1 : 0;
}
