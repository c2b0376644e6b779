/* The cost of an all-reduce: formulas by hand, and lines through points on a
 * known line. */
#include "bench/record/network.h"

#define NEAR 1e-12
#include "tests/unit/near.h"

#define SIZES 7

/* 2 us a message, 1e9 bytes/s; 8e6 bytes take 8 ms once. */
static void formulas_by_hand(void **state)
{
	const struct network_link link = { 2e-6, 1e9 };

	(void)state;
	/* 2 * 7 messages, 2 * 7/8 of the vector. */
	near(network_allreduce(NETWORK_RING, &link, 8, 8e6), 28e-6 + 14e-3);
	/* 2 by 4: 2 * (1 + 3) messages. */
	near(network_allreduce(NETWORK_TORUS, &link, 8, 8e6), 16e-6 + 14e-3);
	/* 32 by 32: 2 * 62 messages, 2 * 1023/1024. */
	near(network_allreduce(NETWORK_TORUS, &link, 1024, 8e6),
	     248e-6 + 2 * 1023. / 1024 * 8e-3);
	/* A prime is a ring. */
	near(network_allreduce(NETWORK_TORUS, &link, 7, 8e6), 24e-6 +
	     12. / 7 * 8e-3);
	/* 3 levels up, 3 down, with the whole vector; so do 5 to 8. */
	near(network_allreduce(NETWORK_TREE, &link, 8, 8e6), 12e-6 + 48e-3);
	near(network_allreduce(NETWORK_TREE, &link, 5, 8e6), 12e-6 + 48e-3);
	near(network_allreduce(NETWORK_TREE, &link, 2, 8e6), 4e-6 + 16e-3);
}

static void what_costs_nothing(void **state)
{
	const struct network_link link = { 2e-6, 1e9 }, free = { 0, INFINITY };

	(void)state;
	for (int t = 0; t < NETWORK_TOPOLOGIES; t++) {
		const enum network_topology topology = (enum network_topology)t;

		assert_true(network_allreduce(topology, &link, 1, 8e6) == 0);
		assert_true(network_allreduce(topology, &free, 64, 8e6) == 0);
	}
}

/* Times of a line, each off by a factor. */
static void make(struct network_point points[SIZES], double latency_s,
		 double rate, const double *factors)
{
	double bytes = 4096;

	for (int i = 0; i < SIZES; i++, bytes *= 4)
		points[i] = (struct network_point){
			bytes, (latency_s + bytes / rate) *
				       (factors ? factors[i] : 1) };
}

static void lines_are_found(void **state)
{
	static const double latencies[] = { 1e-6, 5e-5, 3e-3 };
	static const double rates[] = { 12e6, 1e9, 2e10 };
	struct network_point points[SIZES];

	(void)state;
	for (int l = 0; l < 3; l++)
		for (int r = 0; r < 3; r++) {
			struct network_fit fit;

			make(points, latencies[l], rates[r], NULL);
			fit = network_fit(points, SIZES);
			assert_true(fit.error < 1e-9);
			assert_true(fabs(fit.link.latency_s / latencies[l] -
					 1) < 1e-6);
			assert_true(fabs(fit.link.bytes_per_s / rates[r] - 1) <
				    1e-6);
		}
}

/* A few percent in each time are a few in what is found: the largest vector,
 * whose time is thousands of times longer, does not decide the latency. */
static void small_vectors_count(void **state)
{
	static const double factors[] = { 1.02, .97, 1.03, .98, 1.01, .96,
					  1.03 };
	struct network_point points[SIZES];
	struct network_fit fit;

	(void)state;
	make(points, 2e-5, 1e9, factors);
	fit = network_fit(points, SIZES);
	assert_true(fabs(fit.link.latency_s / 2e-5 - 1) < .05);
	assert_true(fabs(fit.link.bytes_per_s / 1e9 - 1) < .05);
	assert_true(fit.error > .01 && fit.error < .05);
}

/* Neither latency nor slope is below 0, and the other one is then the best. */
static void bounds_hold(void **state)
{
	const struct network_point falling[] = { { 1e3, 3 }, { 1e6, 1 } };
	const struct network_point steep[] = { { 1e3, 1e-6 }, { 1e4, 1e-4 } };
	struct network_fit fit = network_fit(falling, 2);

	(void)state;
	assert_true(isinf(fit.link.bytes_per_s));
	/* (1/3 + 1) / (1/9 + 1) */
	near(fit.link.latency_s, 1.2);
	fit = network_fit(steep, 2);
	assert_true(fit.link.latency_s == 0);
	/* 1e9 and 1e8 bytes/s: (1e18 + 1e16) / (1e9 + 1e8) */
	near(fit.link.bytes_per_s, 1.01e18 / 1.1e9);
}

static void no_line(void **state)
{
	const struct network_point same[] = { { 1e3, 1 }, { 1e3, 2 } };

	(void)state;
	assert_true(isnan(network_fit(same, 2).error));
	assert_true(isnan(network_fit(same, 1).error));
	assert_true(isnan(network_fit(same, 0).error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_by_hand),
		cmocka_unit_test(what_costs_nothing),
		cmocka_unit_test(lines_are_found),
		cmocka_unit_test(small_vectors_count),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
