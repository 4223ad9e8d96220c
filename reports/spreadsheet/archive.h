// archive: whether an xlsx file, a zip archive of XML, is whole: that every part which its directory
// lists stands where it is said to be, unpacks to the bytes that were packed, and has as many tags that
// close as tags that open, so that nothing was lost before it was packed either.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_ARCHIVE_H
#define PERTOKEN_REPORTS_SPREADSHEET_ARCHIVE_H

#include <stdbool.h>
#include <stdio.h>

// Reads the file from its start. `parts`: how many there must be at least.
bool archive_is_whole(FILE *file, int parts);

#endif
