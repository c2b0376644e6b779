/* The parts of `bench selftest`. */
#ifndef BENCH_GATE_SELFTEST_H
#define BENCH_GATE_SELFTEST_H

#include <stdio.h>

#include "backends/contract/error.h"

struct selftest {
	FILE *out;
	int cases, wrong;
};

/* Prints the heads of the lines that follow. */
void selftest_begin(struct selftest *test, FILE *out);

/* The line of one case; detail is added to one that is wrong. */
void selftest_report(struct selftest *test, const char *tried,
		     const char *expected, const char *got,
		     const char *detail);

/* Rows of processes whose times are made up, judged as measured ones are.
 * Nothing is started. An error is one of this machine, no wrong verdict. */
int selftest_canned(struct selftest *test, struct error *err);

/* This program, started with what must make it end with each exit code, below
 * a folder of its own. */
int selftest_live(struct selftest *test, struct error *err);

#endif
