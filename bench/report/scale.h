/*
 * What more cores would bring: predicted from the iterations that one core was
 * measured to take and what an all-reduce costs. Nothing here is measured of
 * several cores.
 *
 * Cores are synchronous: all wait for the slowest one, and then for the sum of
 * the gradients. With F the distribution of the iterations of one core, the
 * slowest of n independent ones takes the expectation of F^n on average; of
 * the sorted times x[1] .. x[N] that is
 *
 *   sum over i of x[i] ((i / N)^n - ((i - 1) / N)^n)
 *
 * (order statistics, as David and Nagaraja 2003, with the empirical F). Where
 * they share c CPUs it is n times the mean over c, if that is more.
 *
 * Cores have the same batch each, whatever their number (weak scaling), all
 * communication is exposed, and the whole update is in an iteration, though
 * several cores would share it.
 */
#ifndef BENCH_REPORT_SCALE_H
#define BENCH_REPORT_SCALE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/network.h"
#include "bench/record/run.h"

/* Iterations of one core, by the runs that they are of: run r has those from
 * starts[r] to starts[r + 1]. */
struct scale_times {
	const double *seconds;
	const size_t *starts;
	size_t runs;
};

/* A number with its 95 % interval. */
struct scale_value {
	double value, low, high;
};

/* One number of cores: the first three are given. */
struct scale_point {
	long cores;
	double exposed_s; /* of the communication in an iteration */
	double error;	  /* standard deviation of that, as a share of it */

	struct scale_value iter_s, images_per_s, efficiency, communication_s;
	double compute_s; /* of the slowest core */
};

/*
 * Predicts the points. shared_cpus: how many all cores share; 0: each has one.
 * Intervals are those of 1000 resamples of the runs and of the iterations in
 * each (bootstrap, Efron and Tibshirani 1993), drawn by seed alone.
 */
int scale_predict(const struct scale_times *times, long batch,
		  long shared_cpus, unsigned long long seed,
		  struct scale_point *points, size_t count, struct error *err);

/* A network, as it is asked for. */
struct scale_network {
	enum network_topology topology;
	int is_measured; /* instead: sweep has all of it */
	struct network_link link; /* of a node, all its links together */
	long node_cores;	  /* cores that have one in common */
	const struct network_row *sweep; /* of `bench env --network`, or NULL */
	size_t sweep_count;
	const char *sweep_name; /* its file */
};

/* Whether the row is of the transport and hosts that the sweep begins with;
 * others are of another network. */
int scale_counts(const struct scale_network *network,
		 const struct network_row *row);

/*
 * What an all-reduce of so many bytes costs n cores: that of the network
 * between nodes, and in a node what sweep has for as many ranks, or else
 * nothing. Of a sweep it is the line through the three sizes that are nearest.
 * ERROR_INPUT: sweep does not have so many ranks.
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
