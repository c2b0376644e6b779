/* Failed calls of MPI as errors. */
#ifndef BACKENDS_MPI_CHECK_H
#define BACKENDS_MPI_CHECK_H

#include <mpi.h>

#include "backends/contract/error.h"

/* What a call returned; MPI_ERRORS_RETURN has to be set. */
static inline int mpi_check(int code, const char *call, struct error *err)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	if (code == MPI_SUCCESS)
		return 0;
	if (MPI_Error_string(code, text, &length))
		length = 0;
	return error_set(err, ERROR_FAILED, "%s: %.*s", call, length, text);
}

#endif
