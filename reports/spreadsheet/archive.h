// archive: whether an xlsx file, a zip archive of XML, is complete: every part in its directory is
// at the stated offset, unpacks to the bytes that were packed, and has as many closing as opening
// tags, so that nothing was lost before packing either.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_ARCHIVE_H
#define PERTOKEN_REPORTS_SPREADSHEET_ARCHIVE_H

#include <stdbool.h>
#include <stdio.h>

// Reads the file from its start. `parts`: the minimum number of parts.
bool archive_is_whole(FILE *file, int parts);

#endif
