/*
 * Failed calls of MPI. A rank that fails in one may leave others waiting there,
 * and cannot reach them by another: it ends all ranks.
 */
#ifndef BACKENDS_MPI_CHECK_H
#define BACKENDS_MPI_CHECK_H

#include <mpi.h>

#include "backends/contract/error.h"

/* Ends all ranks unless code, which the call returned, is MPI_SUCCESS.
 * MPI_ERRORS_RETURN has to be set. */
void mpi_must(int code, const char *call);

/* Writes the words for code into text, which has MPI_MAX_ERROR_STRING bytes. */
const char *mpi_error_text(int code, char *text);

/* Prints the message and ends all ranks, with the kind as exit code. */
_Noreturn void mpi_end_all(const struct error *err);

#endif
