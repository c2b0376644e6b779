/*
 * Noise floors: how far the base strays from itself on a machine, so that no
 * smaller difference is called one. `bench calibrate` writes them to a file of
 * rows, and `bench check` raises its margin to them.
 *
 * A floor holds for the machine, the target and the work that it was measured
 * with: host_key and device_name, target, model and global_batch.
 */
#ifndef BENCH_GATE_FLOOR_H
#define BENCH_GATE_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"
#include "bench/record/run.h"

#define FLOOR_FILE "results/floors.csv" /* unless --floors names another */

enum { FLOOR_ITER, FLOOR_SETUP, FLOOR_CPU, FLOOR_METRICS };

extern const char *const floor_metrics[FLOOR_METRICS]; /* iter_p50_s ... */

#define FLOOR_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(started_utc, 24, "when it was measured") \
	TEXT(campaign_id, 48, "the invocation of bench calibrate") \
	TEXT(host_key, 20, "the machine, as in runs.csv", NEEDED) \
	TEXT(device_name, 128, "the device, likewise", NEEDED) \
	TEXT(target, 64, "what was timed", NEEDED) \
	TEXT(model, 32, "the network", NEEDED) \
	INT(global_batch, "samples per iteration, of all cores", NEEDED) \
	TEXT(metric, 16, "iter_p50_s, which is gated, s_iter in older rows; " \
	     "setup_s and loop_cpu_s, for information", NEEDED) \
	REAL(floor_pct, "19 of 20 checks of the base against itself differ " \
	     "by less", NEEDED) \
	INT(pairs, "of processes that were measured") \
	INT(check_pairs, "of each check that was drawn from them") \
	TEXT(dataset, 32, "its images") \
	TEXT(cpu_model, 80, "of the machine") \
	TEXT(version, 48, "of bench") \
	TEXT(git_commit, 48, "of its source")

struct floor {
	FLOOR_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind floor_rows;

struct floors {
	struct floor *rows;
	size_t count;
};

/*
 * path NULL is FLOOR_FILE, which need not be there; what was asked for has to
 * be. A file that is none, or has a floor that is none, is ERROR_INPUT.
 */
int floors_read(struct floors *floors, const char *path, struct error *err);
void floors_release(struct floors *floors); /* all zero is fine */

/* The floor of one metric for what this process measured, or NULL; the last one
 * if there are several. */
const struct floor *floors_find(const struct floors *floors,
				const struct run *run, const char *metric);

/* Of the same target and work on another machine, or NULL. */
const struct floor *floors_find_elsewhere(const struct floors *floors,
					  const struct run *run);

/* A row of what this process measured, its numbers missing. */
void floor_describe(struct floor *floor, const struct run *run);

/* In the file the rows take the place of those of the same machine, target,
 * work and metric. The others stay; the file need not be there. */
int floors_replace(const char *path, const struct floor *rows, size_t count,
		   struct error *err);

/* Pairs of each check that is drawn: 20, as many as `bench check` measures, or
 * all of count. */
size_t floor_check_pairs(size_t count);

/* Pairs below this are too few for a floor: checks that are drawn from them
 * are nearly all the same one. */
#define FLOOR_LEAST_PAIRS 40

/*
 * The ratio, 1.012 say, that 19 of 20 checks stay within: the 95th percentile
 * of |HL|, Hodges and Lehmann's estimate, over a thousand checks. Each is of
 * floor_check_pairs() consecutive ones, that start anywhere and go on at the
 * beginning: what comes in spells stays together. Each pair's sign is tossed
 * anew, since either arm may have been called B.
 *
 * logs are ln(B / A) of count pairs in their order, 1 at least.
 */
int floor_estimate(double *ratio, const double *logs, size_t count,
		   uint32_t seed, struct error *err);

#endif
