/*
 * A target: BACKEND[-CORES][@TRANSPORT][:DEVICE], for example cpu-8,
 * cpu-4@threads, opencl, opencl:1. If the backend's devices compute, each core
 * is a device or a part of one; a single core is a whole device.
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
	/* A placeholder until target_load(), if a plug-in has the transport. */
	const struct transport *transport;
	char plugin[24]; /* plug-in of the transport; empty = built in */
	int cores;
	char device[32]; /* as in struct device_request; empty = any */
};

/* Fails with ERROR_USAGE, which lists the choices, or with ERROR_MISSING if a
 * known plug-in was not built. */
int target_parse(struct target *target, const char *text, struct error *err);

/* Opens the target's plug-in, if it has one. */
int target_load(struct target *target, struct error *err);

/* Returns the name of the transport, or of its plug-in. */
const char *target_transport(const struct target *target);

/* Returns 1 if the transport supports --allreduce native. */
int target_sums_natively(const struct target *target);

/* Fails with ERROR_USAGE if two targets are equal. The message names option,
 * which starts more processes per target. */
int target_refuse_twice(const struct target *targets, int count,
			const char *option, struct error *err);

/* The targets of `bench run` without arguments, as in the post; ends with
 * NULL. */
extern const char *const target_defaults[];
/* The targets of `bench infer` without arguments, as in post 004; ends with
 * NULL. */
extern const char *const infer_defaults[];

/*
 * Options that only some targets take, such as --resident no, --device-class
 * and --sync epoch. If a command has several targets, only those get the
 * option; if it has none that takes it, the command is refused.
 */

/* Resets the options that the target does not take. */
void target_options_trim(struct options *options, const struct target *target);

/*
 * Fails with ERROR_USAGE if no target takes an option. The message says why,
 * and which targets would. If only some take it, a note in log names them; log
 * may be NULL.
 */
int target_options_check(const struct options *options,
			 const struct target *targets, int count, FILE *log,
			 struct error *err);

#endif
