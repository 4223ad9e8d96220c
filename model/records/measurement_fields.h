// measurement_fields: the fields of a measurement_record, by which it is read and written.
#ifndef PERTOKEN_MODEL_RECORDS_MEASUREMENT_FIELDS_H
#define PERTOKEN_MODEL_RECORDS_MEASUREMENT_FIELDS_H

#include "base/record.h"

extern const struct record_form measurement_form;

#endif
