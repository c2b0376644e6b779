#include "bench/statistics/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/statistics/stats.h"

static int rank_test_open(struct rank_test *test, size_t count,
			  struct error *err)
{
	*test = (struct rank_test){
		.values = malloc(count * sizeof(*test->values)),
		.cdf = calloc(count + 1, sizeof(*test->cdf)),
		.count = count,
	};
	if (test->values && test->cdf)
		return 0;
	rank_test_release(test);
	return error_memory(err, "a rank test");
}

/* Sorts the values and makes cdf of the chance of each number of them. */
static void rank_test_finish(struct rank_test *test)
{
	double sum = 0;

	for (size_t i = 0; i <= test->count; i++) {
		sum += test->cdf[i];
		test->cdf[i] = sum < 1 ? sum : 1;
	}
	stats_sort(test->values, test->count);
}

void rank_test_release(struct rank_test *test)
{
	free(test->values);
	free(test->cdf);
	*test = (struct rank_test){ 0 };
}

static size_t walsh_count(size_t n)
{
	return n * (n + 1) / 2;
}

/*
 * Sets chances[w] = P(W = w) for the sum W of the positive ranks, w from 0 to n
 * (n + 1) / 2. All must be 0 before. Each rank is in the sum with probability
 * 1/2. Halves of integers are exact up to n = 53; beyond that only positive
 * numbers are added.
 */
static void signed_rank_chances(size_t n, double *chances)
{
	chances[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		for (size_t w = walsh_count(rank); w >= rank; w--)
			chances[w] = (chances[w] + chances[w - rank]) / 2;
		for (size_t w = 0; w < rank; w++)
			chances[w] /= 2;
	}
}

int signed_rank_make(struct rank_test *test, const double *differences,
		     size_t pairs, struct error *err)
{
	size_t at = 0;

	*test = (struct rank_test){ 0 };
	if (pairs < 1 || pairs > SIGNED_RANK_MOST)
		return error_set(err, ERROR_FAILED, "%zu pairs: the exact "
				 "signed-rank test takes 1 to %d", pairs,
				 SIGNED_RANK_MOST);
	for (size_t i = 0; i < pairs; i++)
		if (!isfinite(differences[i]))
			return error_set(err, ERROR_FAILED, "pair %zu of %zu "
					 "has no finite difference", i + 1,
					 pairs);
	if (rank_test_open(test, walsh_count(pairs), err))
		return -1;
	for (size_t i = 0; i < pairs; i++)
		for (size_t j = i; j < pairs; j++) /* halves never overflow */
			test->values[at++] =
				differences[i] / 2 + differences[j] / 2;
	signed_rank_chances(pairs, test->cdf);
	rank_test_finish(test);
	return 0;
}

/*
 * Extends row, which holds P(U = u) for i - 1 and j values, to i and j values.
 * shorter holds that for i and j - 1. The largest of all values is in the
 * second sample with probability j / (i + j). It is then above all i of the
 * first; otherwise it adds no pair. (By symmetry it does not matter which
 * sample's larger values U counts.) Probabilities are used because counts soon
 * exceed 2^53; nothing is subtracted, so that the tails keep their digits.
 */
static void row_extend(double *row, const double *shorter, size_t i, size_t j)
{
	double of_first = (double)i / (double)(i + j);
	double of_second = (double)j / (double)(i + j);

	for (size_t u = i * j + 1; u-- > 0;)
		row[u] = of_second * (u >= i ? shorter[u - i] : 0) +
			 of_first * row[u];
}

/* chances[u] = P(U = u), u from 0 to first x second. */
static int rank_sum_chances(double *chances, size_t first, size_t second,
			    struct error *err)
{
	const size_t width = first * second + 1;
	double *rows = calloc((second + 1) * width, sizeof(*rows));

	if (!rows)
		return error_memory(err, "the distribution of a rank sum");
	for (size_t j = 0; j <= second; j++)
		rows[j * width] = 1;
	for (size_t i = 1; i <= first; i++)
		for (size_t j = 1; j <= second; j++)
			row_extend(rows + j * width, rows + (j - 1) * width, i,
				   j);
	memcpy(chances, rows + second * width, width * sizeof(*chances));
	free(rows);
	return 0;
}

static int rank_sum_differences(struct rank_test *test, const double *first,
				const double *second, size_t second_count,
				struct error *err)
{
	for (size_t i = 0; i < test->count; i++) {
		test->values[i] = second[i % second_count] -
				  first[i / second_count];
		if (!isfinite(test->values[i]))
			return error_set(err, ERROR_FAILED, "a value that is "
					 "not finite cannot be compared");
	}
	return 0;
}

int rank_sum_make(struct rank_test *test, const double *first,
		  size_t first_count, const double *second, size_t second_count,
		  struct error *err)
{
	*test = (struct rank_test){ 0 };
	if (first_count < 1 || first_count > TWO_SAMPLE_MOST ||
	    second_count < 1 || second_count > TWO_SAMPLE_MOST)
		return error_set(err, ERROR_FAILED, "samples of %zu and %zu: 1 "
				 "to %d each can be compared", first_count,
				 second_count, TWO_SAMPLE_MOST);
	if (rank_test_open(test, first_count * second_count, err))
		return -1;
	if (rank_sum_differences(test, first, second, second_count, err) ||
	    rank_sum_chances(test->cdf, first_count, second_count, err)) {
		rank_test_release(test);
		return -1;
	}
	rank_test_finish(test);
	return 0;
}

size_t rank_test_index(const struct rank_test *test, double alpha)
{
	size_t k = 0;

	while (k < test->count && test->cdf[k] <= alpha)
		k++;
	return k;
}

double rank_test_estimate(const struct rank_test *test)
{
	const size_t above = test->count / 2, below = (test->count - 1) / 2;

	return test->values[below] / 2 + test->values[above] / 2;
}

double rank_test_lower(const struct rank_test *test, double alpha)
{
	const size_t k = rank_test_index(test, alpha);

	return k ? test->values[k - 1] : -INFINITY;
}

double rank_test_upper(const struct rank_test *test, double alpha)
{
	const size_t k = rank_test_index(test, alpha);

	return k ? test->values[test->count - k] : INFINITY;
}

double rank_test_p_above(const struct rank_test *test, double shift)
{
	size_t below = 0;

	while (below < test->count && test->values[below] <= shift)
		below++;
	return test->cdf[below];
}
