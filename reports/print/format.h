// format: the forms in which a command prints its answer.
#ifndef PERTOKEN_REPORTS_PRINT_FORMAT_H
#define PERTOKEN_REPORTS_PRINT_FORMAT_H

enum output_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

#endif
