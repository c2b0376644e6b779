/* The base of `bench check --base-ref`: another revision, built apart. */
#ifndef BENCH_GATE_CHECK_BUILD_H
#define BENCH_GATE_CHECK_BUILD_H

#include <limits.h>
#include <stdio.h>

#include "backends/contract/error.h"

struct check_build {
	char folder[PATH_MAX];	    /* where it is built; empty: nowhere */
	char program[PATH_MAX + 64]; /* empty: a dry run built none */
	char kept[PATH_MAX + 64];   /* its place in the repository */
	char commit[48];
	char tools[512]; /* compiler and flags, as far as there is room */
};

/*
 * Clones the repository around the current folder into a new folder below
 * $TMPDIR or /tmp, checks revision out and builds it with make, installing
 * nothing. The program is kept in build/base of the repository, and is built
 * once for a commit, compiler and flags; the rest of the working tree is left
 * alone, and so is the repository of a hook: git's variables that name one are
 * unset from then on. A dry run takes what is kept, or nothing. ERROR_INPUT for
 * what is no revision, ERROR_FAILED if it does not build, ERROR_STOPPED after a
 * signal. Release it also after a failure.
 *
 * head is the commit, abbreviated, of what it will be compared with, if it is
 * to differ: log, which may be NULL, is told that it does not.
 */
int check_build(struct check_build *build, const char *revision,
		const char *head, int dry_run, FILE *log, struct error *err);

/* Removes the folder it was built in. */
void check_build_release(struct check_build *build);

#endif
