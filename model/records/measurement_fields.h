// measurement_fields: the fields of a measurement_record, by which it is read and written, and all
// of which are unknown at first.
#ifndef PERTOKEN_MODEL_RECORDS_MEASUREMENT_FIELDS_H
#define PERTOKEN_MODEL_RECORDS_MEASUREMENT_FIELDS_H

#include "base/record.h"
#include "model/records/measurement.h"

extern const struct record_form measurement_form;

// Everything unknown, for code that fills in what is available.
struct measurement measurement_unknown(void);
struct measurement_device_state measurement_device_state_unknown(void);

#endif
