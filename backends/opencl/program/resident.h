/* The data set on the device, as bytes: batches are gathered from it there. */
#ifndef BACKENDS_OPENCL_PROGRAM_RESIDENT_H
#define BACKENDS_OPENCL_PROGRAM_RESIDENT_H

#include "backends/contract/backend.h"

/* These are slots of the backend. */
int opencl_upload_data(struct program *program,
		       const struct resident_data *data, struct error *err);
int opencl_order(struct program *program, const int *order, int count,
		 struct error *err);

#endif
