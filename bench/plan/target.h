/*
 * What is timed: BACKEND[-CORES][@TRANSPORT][:DEVICE], for example cpu-8,
 * cpu-4@threads, opencl, opencl:1. The cores of a backend whose devices
 * compute are such devices, or parts of one; one is a whole device.
 */
#ifndef BENCH_PLAN_TARGET_H
#define BENCH_PLAN_TARGET_H

#include <stdio.h>

#include "backends/contract/backend.h"
#include "backends/parallel/transport.h"
#include "bench/options/options.h"

struct target {
	char name[48]; /* canonical: cpu becomes cpu-1 */
	const struct backend *backend;
	/* Of a plug-in, until target_load(), what may be asked before it is
	 * opened. */
	const struct transport *transport;
	char plugin[24]; /* that the transport is of; empty: none */
	int cores;
	char device[32]; /* as for struct device_request; empty: any */
};

/* ERROR_USAGE names what there is to choose from. */
int target_parse(struct target *target, const char *text, struct error *err);

/* Opens the plug-in that the transport is of, if it is of one. */
int target_load(struct target *target, struct error *err);

/* What its transport is called. */
const char *target_transport(const struct target *target);

/* Can its sums be made as a library does, in any order? */
int target_sums_natively(const struct target *target);

/* ERROR_USAGE if two are the same, which names the option for more processes
 * of each. */
int target_refuse_twice(const struct target *targets, int count,
			const char *option, struct error *err);

/* The three columns of the post; ends with NULL. */
extern const char *const target_defaults[];
/* The two of post 004's inference; likewise. */
extern const char *const infer_defaults[];

/*
 * Some options concern only some targets: --resident no, --device-class and
 * --sync epoch. A command with several targets gives them to those, and is
 * refused where there are none.
 */

/* Takes out of options what the target does not take. */
void target_options_trim(struct options *options, const struct target *target);

/*
 * ERROR_USAGE for an option that none of the targets takes, which says why and
 * who does. For one that only some take, a note in log (NULL: none) names them.
 */
int target_options_check(const struct options *options,
			 const struct target *targets, int count, FILE *log,
			 struct error *err);

#endif
