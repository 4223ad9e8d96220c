// version: the program's version, as --version and the workbook's change log show it.
#ifndef PERTOKEN_BASE_VERSION_H
#define PERTOKEN_BASE_VERSION_H

#define PERTOKEN_VERSION "0.1.0"

#endif
