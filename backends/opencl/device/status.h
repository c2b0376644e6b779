/* Turns status codes of OpenCL into errors. */
#ifndef BACKENDS_OPENCL_DEVICE_STATUS_H
#define BACKENDS_OPENCL_DEVICE_STATUS_H

#include <CL/cl.h>

#include "backends/contract/error.h"

/* Elements of an array, for the tables of this backend. */
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

const char *status_name(cl_int status);
/* Sets ERROR_FAILED, which names the call; returns -1. */
int status_fail(struct error *err, const char *call, cl_int status);
/* Does the same for a call that may allocate memory, at once or, with some
 * drivers, when the memory is first used. Sets err->memory if there was none
 * left. */
int allocation_fail(struct error *err, cl_int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
