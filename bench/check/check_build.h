/* The base of `bench check --base-ref`: another revision, built apart. */
#ifndef BENCH_CHECK_CHECK_BUILD_H
#define BENCH_CHECK_CHECK_BUILD_H

#include <limits.h>
#include <stdio.h>

#include "backends/error.h"

struct check_build {
	char folder[PATH_MAX];	    /* of its own; empty: none */
	char program[PATH_MAX + 16];
	char commit[48];
};

/*
 * Clones the repository around the current folder into a new folder below
 * $TMPDIR or /tmp, checks revision out and builds it with make, installing
 * nothing. The working tree is left alone, and so is the repository of a hook:
 * git's variables that name one are unset from then on. ERROR_INPUT for what is
 * no revision, ERROR_FAILED if it does not build, ERROR_STOPPED after a signal.
 * Release it also after a failure.
 *
 * head is the commit, abbreviated, of what it will be compared with, if it is
 * to differ: log, which may be NULL, is told that it does not.
 */
int check_build(struct check_build *build, const char *revision,
		const char *head, FILE *log, struct error *err);

/* Removes the folder. */
void check_build_release(struct check_build *build);

#endif
