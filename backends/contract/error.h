/*
 * Why a call failed, in words, and which kind of failure it was.
 *
 * Fallible functions return 0 or -1 and take a struct error last. Whoever
 * understands the failure writes the message; everybody else passes -1 up.
 */
#ifndef BACKENDS_CONTRACT_ERROR_H
#define BACKENDS_CONTRACT_ERROR_H

#include <stddef.h>

/* The value is the exit code of the command. */
enum error_kind {
	ERROR_USAGE = 2,   /* what was asked for makes no sense */
	ERROR_NO_VERDICT = 3, /* what was measured cannot be compared */
	ERROR_MISSING = 4, /* a device, data set or program is not there */
	ERROR_INPUT = 5,   /* a file does not hold what it should */
	ERROR_FAILED = 6,  /* the run went wrong */
	ERROR_OUTPUT = 7,  /* a result could not be written */
	ERROR_STOPPED = 130, /* interrupted by the user */
};

struct error {
	enum error_kind kind;
	int memory; /* it was a lack of memory */
	char message[1024];
};

/* Always returns -1, so that callers can return it. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Adds name to a list of what there is to choose from, with a comma between;
 * what does not fit is left out.
 */
void error_list(char *list, size_t size, const char *name);

/* Out of memory while something was made: sets memory, which error_set()
 * clears. Returns -1. */
int error_memory(struct error *err, const char *what);

#endif
