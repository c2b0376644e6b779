#include "bench/gate/noise.h"

#include <math.h>

#include "bench/record/rank_test.h"
#include "bench/record/stats.h"
#include "models/random.h"

#define CHECKS 1000
#define CHECK_PAIRS 20

size_t noise_check_pairs(size_t count)
{
	return count < CHECK_PAIRS ? count : CHECK_PAIRS;
}

static void draw_check(double *drawn, size_t pairs, const double *logs,
		       size_t count, struct mt19937 *generator)
{
	const size_t start = mt19937_next(generator) % count;

	for (size_t i = 0; i < pairs; i++) {
		const double log = logs[(start + i) % count];

		drawn[i] = mt19937_next(generator) & 1 ? -log : log;
	}
}

int noise_floor(double *ratio, const double *logs, size_t count, uint32_t seed,
		struct error *err)
{
	const size_t pairs = noise_check_pairs(count);
	double drawn[CHECK_PAIRS], distances[CHECKS];
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int i = 0; i < CHECKS; i++) {
		struct rank_test test;

		draw_check(drawn, pairs, logs, count, &generator);
		if (signed_rank_make(&test, drawn, pairs, err))
			return -1;
		distances[i] = fabs(rank_test_estimate(&test));
		rank_test_release(&test);
	}
	stats_compute(distances, CHECKS); /* sorts them */
	*ratio = exp(stats_quantile(distances, CHECKS, .95));
	return 0;
}
