#include "bench/record/network.h"

#include <math.h>

DEFINE_ROWS(network_rows, struct network_row, NETWORK_COLUMNS);

const char *const network_names[NETWORK_TOPOLOGIES] = {
	[NETWORK_RING] = "ring",
	[NETWORK_TORUS] = "torus",
	[NETWORK_TREE] = "tree",
};

/* Sums over the points, each divided by its time: 1 / t, n / t. */
struct fit_sums {
	double one, n, one_one, one_n, n_n;
	int sizes_differ;
};

static struct fit_sums sum_up(const struct network_point *points, size_t count)
{
	struct fit_sums sums = { 0 };

	for (size_t i = 0; i < count; i++) {
		const double one = 1 / points[i].seconds;
		const double n = points[i].bytes * one;

		sums.one += one;
		sums.n += n;
		sums.one_one += one * one;
		sums.one_n += one * n;
		sums.n_n += n * n;
		sums.sizes_differ |= points[i].bytes != points[0].bytes;
	}
	return sums;
}

static double error_of(const struct network_point *points, size_t count,
		       double latency_s, double slope)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		const double part = (latency_s + points[i].bytes * slope) /
					    points[i].seconds - 1;

		squares += part * part;
	}
	return sqrt(squares / (double)count);
}

struct network_fit network_fit(const struct network_point *points,
			       size_t count)
{
	const struct fit_sums sums = sum_up(points, count);
	const double det = sums.one_one * sums.n_n - sums.one_n * sums.one_n;
	double latency_s, slope;

	if (!sums.sizes_differ || !(det > 0))
		return (struct network_fit){ { NAN, NAN }, NAN };
	latency_s = (sums.one * sums.n_n - sums.n * sums.one_n) / det;
	slope = (sums.n * sums.one_one - sums.one * sums.one_n) / det;
	if (latency_s < 0) {
		latency_s = 0;
		slope = sums.n / sums.n_n;
	} else if (slope < 0) {
		latency_s = sums.one / sums.one_one;
		slope = 0;
	}
	return (struct network_fit){
		{ latency_s, slope > 0 ? 1 / slope : INFINITY },
		error_of(points, count, latency_s, slope)
	};
}

/* The shorter side of the torus that is closest to a square. */
static long side_of(long nodes)
{
	long side = (long)sqrt((double)nodes);

	while (nodes % side)
		side--;
	return side;
}

double network_allreduce(enum network_topology topology,
			 const struct network_link *link, long nodes,
			 double bytes)
{
	const double p = (double)nodes;
	const double transfer_s = bytes / link->bytes_per_s;
	double hops = p - 1;

	if (topology == NETWORK_TREE)
		return 2 * ceil(log2(p)) * (link->latency_s + transfer_s);
	if (topology == NETWORK_TORUS) {
		const double side = (double)side_of(nodes);

		hops = side + p / side - 2;
	}
	return 2 * hops * link->latency_s + 2 * (p - 1) / p * transfer_s;
}
