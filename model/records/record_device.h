// record_device: which accelerator a record of the probe is of.
//
// A record belongs to an accelerator if its backend has that name ("cpu", which is in no
// catalogue), if it names the accelerator itself, or if its device has one of the accelerator's
// device_names and its memory: a partition has the name of the whole, but only a part. A device
// with another name counts only if its file is named.
#ifndef PERTOKEN_MODEL_RECORDS_RECORD_DEVICE_H
#define PERTOKEN_MODEL_RECORDS_RECORD_DEVICE_H

#include "model/records/measurement.h"
#include "model/records/records.h"

#include <stdbool.h>

// The newest record of this backend ("cpu"), or NULL.
const struct measurement_record *records_of_backend(const struct records *records,
                                                    const char *backend);

// The newest record of this accelerator (an id of the catalogue, or a backend), or NULL.
const struct measurement_record *records_of_accelerator(const struct records *records,
                                                        const char *accelerator);

// The record with this file name, or NULL.
const struct measurement_record *records_named(const struct records *records, const char *file);

// The accelerator in the catalogue that matches a record's device, or NULL.
const char *records_accelerator(const struct records *records,
                                const struct measurement_record *record);

// Whether a record belongs to an accelerator.
bool records_is_of_accelerator(const struct records *records,
                               const struct measurement_record *record, const char *accelerator);

// The device of a record that matches no known accelerator, or NULL.
const char *records_unknown_device(const struct records *records);

#endif
