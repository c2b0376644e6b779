/* Codes of OpenCL, and the errors that they become. */
#ifndef BACKENDS_OPENCL_DEVICE_STATUS_H
#define BACKENDS_OPENCL_DEVICE_STATUS_H

#include <CL/cl.h>

#include "backends/contract/error.h"

/* Elements of an array, for the tables of this backend. */
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

const char *status_name(cl_int status);
/* ERROR_FAILED, with the name of the call; always -1. */
int status_fail(struct error *err, const char *call, cl_int status);
/* The same for a call that allocates memory, at once or, as some drivers do,
 * when that is first used: sets err->memory if there was none left. */
int allocation_fail(struct error *err, cl_int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
