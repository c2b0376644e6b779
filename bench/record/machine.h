/* A description of this machine and this build. */
#ifndef BENCH_RECORD_MACHINE_H
#define BENCH_RECORD_MACHINE_H

#include <stdio.h>

#include "bench/record/run.h"

/* Fills the columns of a run that describe machine, build and variables. */
void machine_describe(struct run *run);

/* Fills the columns of the machine only, for a run that another program
 * measured. */
void machine_describe_host(struct run *run);

/* Sets binary_sha256; empty without /proc. It reads the whole program: call it
 * after everything that is timed. */
void machine_read_binary(struct run *run);

/* Returns the bytes of memory that can be allocated: the kernel's estimate or
 * the limit of control groups, whichever is less. Returns NAN if neither is
 * known. */
double machine_memory_available(const char *root);

/* Fills the columns that come from system files. root precedes their paths: ""
 * except in tests. */
void machine_read(struct run *run, const char *root);

#define MACHINE_KEY_SIZE 17 /* 16 hexadecimal digits and the end */

/*
 * Makes a key that is equal for machines whose figures may be compared: from
 * CPU, logical CPUs, quota, rounded memory, kernel (major.minor) and
 * virtualisation. It contains no clock rate, which differs at each start, and
 * nothing that identifies a single machine.
 */
void machine_key(const struct run *run, char key[MACHINE_KEY_SIZE]);

/*
 * Returns the number of differences between the machines of two runs, and lists
 * them in text, cut at size. It compares the key, CPUs allowed, system,
 * governor, device, driver and variables. A value that one run lacks is no
 * difference.
 */
int machine_difference(const struct run *first, const struct run *second,
		       char *text, size_t size);

/* Prefixes of variables that change the speed or the behaviour of libraries;
 * ends with NULL. */
extern const char *const machine_variables[];

/* Returns 1 if NAME=VALUE has one of these prefixes. */
int machine_has_variable(const char *variable);

/* Return version "0.1.0", commit "1234567890ab" or "1234567890ab-dirty", and
 * its day "2026-01-31"; "unknown" if missing. */
const char *machine_version(void);
const char *machine_commit(void);
const char *machine_date(void);

/* Prints `bench --version`: version, commit, compiler and libraries. */
void machine_print_version(FILE *out);

#endif
