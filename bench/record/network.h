/* Costs of an all-reduce: measured (`bench env --network`), as a line through
 * the measurements, and by formulas for other networks. Pure functions. */
#ifndef BENCH_RECORD_NETWORK_H
#define BENCH_RECORD_NETWORK_H

#include <stddef.h>

#include "bench/record/column.h"

#define NETWORK_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(started_utc, 24, "time of the measurement") \
	TEXT(host_key, 20, "machine, as in runs.csv") \
	TEXT(cpu_model, 80, "CPU model of the machine") \
	TEXT(transport, 16, "transport between the ranks: threads, fork or " \
	     "mpi", NEEDED) \
	TEXT(hosts, 400, "--hosts; empty: all ranks on this host") \
	INT(ranks, "number of ranks", NEEDED) \
	INT(cpus, "CPUs that a rank's process was confined to") \
	INT(vector_bytes, "bytes of the vector that each rank contributes " \
	    "and receives", NEEDED) \
	INT(repetitions, "timed repetitions, after warm-up") \
	REAL(median_s, "median all-reduce time of the slowest rank: offer, " \
	     "sum in slices, offer again, gather", NEEDED) \
	REAL(q1_s, "25th percentile of the repetitions") \
	REAL(q3_s, "75th percentile of the repetitions") \
	TEXT(version, 48, "version of bench") \
	TEXT(git_commit, 48, "commit that bench was built from")

/* A row of `bench env --network`. */
struct network_row {
	NETWORK_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind network_rows;

/* A link: a message of n bytes takes latency_s + n / bytes_per_s; bytes_per_s
 * may be INFINITY (Hockney 1994, Parallel Computing 20). */
struct network_link {
	double latency_s, bytes_per_s;
};

/* A measured time. */
struct network_point {
	double bytes, seconds; /* above 0 */
};

/*
 * A line through points by least squares of relative errors, so that small
 * vectors count as much as large ones. Latency and slope are at least 0. error
 * is the root mean square of (line - time) / time. With fewer than two sizes
 * there is no line, and error is NAN.
 */
struct network_fit {
	struct network_link link;
	double error;
};
struct network_fit network_fit(const struct network_point *points,
			       size_t count);

enum network_topology {
	NETWORK_RING,  /* reduce-scatter and all-gather round a ring */
	NETWORK_TORUS, /* a ring along rows, then along columns, of the 2-D
			  torus closest to a square */
	NETWORK_TREE,  /* reduce to one node and broadcast, binomial trees */
	NETWORK_TOPOLOGIES
};

extern const char *const network_names[NETWORK_TOPOLOGIES];

/*
 * Returns the seconds to all-reduce a vector of bytes over nodes with one link
 * each, without the additions:
 *
 *   ring   2 (p - 1) latency + 2 (p - 1) / p bytes / rate
 *   torus  2 (a + b - 2) latency + 2 (p - 1) / p bytes / rate, p = a b
 *   tree   2 ceil(log2 p) (latency + bytes / rate)
 *
 * Thakur, Rabenseifner and Gropp 2005 (Int. J. High Perform. Comput. Appl.
 * 19:1) for the parts of ring and tree; Ying et al. 2018 (arXiv 1811.06992) for
 * the torus. nodes is at least 1; one node takes 0 s.
 */
double network_allreduce(enum network_topology topology,
			 const struct network_link *link, long nodes,
			 double bytes);

#endif
