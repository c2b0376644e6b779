/*
 * Predicts the speed of more cores, from the measured iterations of one core
 * and the cost of an all-reduce. Nothing is measured with several cores.
 *
 * Cores are synchronous: all wait for the slowest one, and then for the sum of
 * the gradients. Let F be the distribution of the iterations of one core. The
 * slowest of n independent cores takes the expectation of F^n on average. For
 * the sorted times x[1] .. x[N] that is
 *
 * | sum over i of x[i] ((i / N)^n - ((i - 1) / N)^n)
 *
 * (order statistics, as David and Nagaraja 2003, with the empirical F). If the
 * cores share c CPUs, it is n times the mean over c, if that is more.
 *
 * Each core has the same batch size for any number of cores (weak scaling). All
 * communication is exposed. An iteration contains the whole update, although
 * several cores would share it.
 */
#ifndef BENCH_REPORT_SCALE_H
#define BENCH_REPORT_SCALE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/network.h"
#include "bench/record/run.h"

/* Iterations of one core by run: run r has seconds[starts[r]] up to, but not
 * including, seconds[starts[r + 1]]. */
struct scale_times {
	const double *seconds;
	const size_t *starts;
	size_t runs;
};

/* A value with its 95 % interval. */
struct scale_value {
	double value, low, high;
};

/* A prediction for a number of cores. The caller sets the first three
 * fields. */
struct scale_point {
	long cores;
	double exposed_s; /* seconds of exposed communication in an iteration */
	double error;	  /* standard deviation of exposed_s, relative to it */

	struct scale_value iter_s, images_per_s, efficiency, communication_s;
	double compute_s; /* seconds until the slowest core has its gradient */
};

/*
 * Predicts all points. shared_cpus: CPUs that all cores share; 0 = one per
 * core. Intervals are from 1000 resamples of the runs and of the iterations in
 * each (bootstrap, Efron and Tibshirani 1993), drawn with seed. Fails only if
 * there is no memory.
 */
int scale_predict(const struct scale_times *times, long batch,
		  long shared_cpus, unsigned long long seed,
		  struct scale_point *points, size_t count, struct error *err);

/* The network between cores. */
struct scale_network {
	enum network_topology topology;
	int is_measured; /* 1: sweep has all costs; topology and link are not
			    used */
	struct network_link link; /* link of a node, the sum of all its links */
	long node_cores;	  /* cores per node */
	const struct network_row *sweep; /* rows of `bench env --network`, or
					    NULL */
	size_t sweep_count;
	const char *sweep_name; /* file of sweep */
};

/* Returns 1 if the row has the transport and hosts of the sweep's first row.
 * Others belong to another network. */
int scale_counts(const struct scale_network *network,
		 const struct network_row *row);

/*
 * Sets the point's communication for an all-reduce of bytes. It is the
 * network's between nodes, and within a node the sweep's for as many ranks (0
 * without a sweep). Times of a sweep are by a line through the three nearest
 * sizes. Fails with ERROR_INPUT if the sweep lacks this number of ranks.
 */
int scale_communication(const struct scale_network *network, double bytes,
			struct scale_point *point, struct error *err);

#define SCALE_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(clock, 8, "always model: nothing is measured", NEEDED) \
	TEXT(campaign_id, 48, "invocation of bench run that measured the " \
	     "iterations") \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 64, "one-core target that the iterations are from", \
	     NEEDED) \
	TEXT(model, 32, "trained network") \
	INT(batch, "samples per core and iteration") \
	INT(gradient_bytes, "gradient bytes that are summed in an iteration") \
	TEXT(topology, 12, "ring, torus or tree; measured: see bench env " \
	     "--network", NEEDED) \
	REAL(latency_s, "latency of a message between nodes; empty: measured") \
	REAL(bytes_per_s, "bytes per second that a node sends; empty: " \
	     "measured") \
	INT(node_cores, "cores of a node") \
	INT(shared_cpus, "CPUs that all cores share; empty: each has its own") \
	INT(cores, "predicted number of cores", NEEDED) \
	REAL(images_per_s, "training samples per second of iterations", \
	     NEEDED) \
	REAL(images_per_s_lo, "lower end of its 95 % interval") \
	REAL(images_per_s_hi, "upper end of its 95 % interval") \
	REAL(efficiency, "images_per_s, divided by cores and by the one-core " \
	     "images_per_s", NEEDED) \
	REAL(efficiency_lo, "lower end of its 95 % interval") \
	REAL(efficiency_hi, "upper end of its 95 % interval") \
	REAL(iter_s, "one iteration", NEEDED) \
	REAL(iter_s_lo, "lower end of its 95 % interval") \
	REAL(iter_s_hi, "upper end of its 95 % interval") \
	REAL(compute_s, "part of iter_s until the slowest core has its " \
	     "gradient") \
	REAL(exposed_s, "part of iter_s: communication that no computing " \
	     "hides") \
	REAL(exposed_s_lo, "lower end of its 95 % interval") \
	REAL(exposed_s_hi, "upper end of its 95 % interval")

struct scale_row {
	SCALE_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind scale_rows;

#endif
