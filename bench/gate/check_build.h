/* The base of `bench check --base-ref`: builds another revision in a folder of
 * its own. */
#ifndef BENCH_GATE_CHECK_BUILD_H
#define BENCH_GATE_CHECK_BUILD_H

#include <limits.h>
#include <stdio.h>

#include "backends/contract/error.h"

struct check_build {
	char folder[PATH_MAX];	    /* folder of the build; empty = none */
	char program[PATH_MAX + 64]; /* empty if a dry run found no program */
	char kept[PATH_MAX + 64];   /* path in the repository's cache */
	char commit[48];
	char tools[512]; /* compiler and flags, cut to the room */
};

/*
 * Clones the repository of the current folder into a new folder below $TMPDIR
 * or /tmp. Checks revision out and builds it with make; nothing is installed.
 * The program is kept in build/base of the repository, one per commit, compiler
 * and flags. The rest of the working tree is not touched. Variables of git that
 * name a repository, as in a hook, are unset for the rest of the process. A dry
 * run takes a kept program or none. Fails with ERROR_INPUT if revision does not
 * exist, with ERROR_FAILED if it does not build, and with ERROR_STOPPED after a
 * signal. Release build also after a failure.
 *
 * head is the abbreviated commit that the base should differ from, or NULL. If
 * they are equal, a note goes to log, which may be NULL.
 */
int check_build(struct check_build *build, const char *revision,
		const char *head, int dry_run, FILE *log, struct error *err);

/* Removes the folder of the build. */
void check_build_release(struct check_build *build);

#endif
