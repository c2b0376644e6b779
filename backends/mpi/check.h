/* Checks of MPI calls. A rank that fails in one may leave others waiting in it,
 * and has no other way to reach them: it ends all ranks. */
#ifndef BACKENDS_MPI_CHECK_H
#define BACKENDS_MPI_CHECK_H

#include <mpi.h>

#include "backends/contract/error.h"

/* Ends all ranks unless code, the result of call, is MPI_SUCCESS. Requires
 * MPI_ERRORS_RETURN. */
void mpi_must(int code, const char *call);

/* Writes MPI's message for code into text, which has MPI_MAX_ERROR_STRING
 * bytes; returns text. */
const char *mpi_error_text(int code, char *text);

/* Prints the message and ends all ranks, with err->kind as exit code. */
_Noreturn void mpi_end_all(const struct error *err);

#endif
