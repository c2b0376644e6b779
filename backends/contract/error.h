/*
 * Errors: a message and a kind.
 *
 * Functions that can fail return 0 or -1 and take a struct error last. The
 * function that understands the failure writes the message; all others pass -1
 * up.
 */
#ifndef BACKENDS_CONTRACT_ERROR_H
#define BACKENDS_CONTRACT_ERROR_H

#include <stddef.h>

/* The value is the exit code of the command. */
enum error_kind {
	ERROR_USAGE = 2,   /* the request makes no sense */
	ERROR_NO_VERDICT = 3, /* the measurements cannot be compared */
	ERROR_MISSING = 4, /* a device, data set or program is missing */
	ERROR_INPUT = 5,   /* a file has wrong contents */
	ERROR_FAILED = 6,  /* the run failed */
	ERROR_OUTPUT = 7,  /* a result could not be written */
	ERROR_STOPPED = 130, /* interrupted by the user */
};

struct error {
	enum error_kind kind;
	int memory; /* 1 = memory was lacking */
	char message[1024];
};

/* Sets kind and message. Always returns -1, so that callers can return it. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends name to a comma-separated list; omits what does not fit. */
void error_list(char *list, size_t size, const char *name);

/* Reports a lack of memory for what, and sets memory, which error_set() clears.
 * Returns -1. */
int error_memory(struct error *err, const char *what);

#endif
