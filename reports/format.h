// format: the forms in which a command prints its answer.
#ifndef PERTOKEN_FORMAT_H
#define PERTOKEN_FORMAT_H

enum output_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

#endif
