/* What this machine and this build are. */
#ifndef BENCH_RECORD_MACHINE_H
#define BENCH_RECORD_MACHINE_H

#include <stdio.h>

#include "bench/record/run.h"

/* Fills the columns of a run that describe machine, build and variables. */
void machine_describe(struct run *run);

/* Those of the machine alone, where it is not this program that measures. */
void machine_describe_host(struct run *run);

/* Fills binary_sha256, empty without /proc. It reads the whole program
 * (some 10 ms), and so belongs after all that is timed. */
void machine_read_binary(struct run *run);

/* Bytes of memory that can be had: what the kernel says is available, or what
 * control groups allow if that is less. NAN: neither is known. */
double machine_memory_available(const char *root);

/* The part of it that the system has in files. root is put before their
 * paths: "" but in tests. */
void machine_read(struct run *run, const char *root);

#define MACHINE_KEY_SIZE 17 /* 16 hexadecimal digits and the end */

/*
 * The same for machines whose numbers may be compared: from what the run says
 * of CPU, logical CPUs, their quota, memory (roughly), kernel (major.minor) and
 * virtualisation. No clock rate, which differs from start to start, and nothing
 * that names one machine among its like.
 */
void machine_key(const struct run *run, char key[MACHINE_KEY_SIZE]);

/*
 * In how many ways the machines of two runs of one target differ, and which, in
 * words; besides the key's: CPUs allowed, system, governor, device, driver and
 * variables. What one of them lacks is no difference. The list is cut
 * at size.
 */
int machine_difference(const struct run *first, const struct run *second,
		       char *text, size_t size);

/*
 * How the names of variables begin that change how fast libraries are, or what
 * they do; ends with NULL.
 */
extern const char *const machine_variables[];

/* Is NAME=VALUE one of them? */
int machine_has_variable(const char *variable);

/*
 * "0.1.0", the commit, "1234567890ab" or "1234567890ab-dirty", and its day,
 * "2026-01-31"; "unknown" without them.
 */
const char *machine_version(void);
const char *machine_commit(void);
const char *machine_date(void);

/* `bench --version`: version, commit, compiler, libraries built with. */
void machine_print_version(FILE *out);

#endif
