#include "backends/mpi/check.h"

#include <stdio.h>
#include <unistd.h>

const char *mpi_error_text(int code, char *text)
{
	int length;

	if (MPI_Error_string(code, text, &length))
		snprintf(text, MPI_MAX_ERROR_STRING, "error %d", code);
	return text;
}

void mpi_must(int code, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	struct error err;

	if (code == MPI_SUCCESS)
		return;
	error_set(&err, ERROR_FAILED, "%s: %.500s", call,
		  mpi_error_text(code, text));
	mpi_end_all(&err);
}

void mpi_end_all(const struct error *err)
{
	int rank = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	fprintf(stderr, "bench: core %d: %s\n", rank, err->message);
	MPI_Abort(MPI_COMM_WORLD, (int)err->kind);
	/* A rank that ends without MPI_Finalize() ends the others. */
	_exit((int)err->kind);
}
