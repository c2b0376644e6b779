#include "bench/record/two_sample.h"

#include <math.h>
#include <stdlib.h>

#include "bench/record/stats.h"

/*
 * P(U = u) of i and j values into row, from that of i - 1 and j, which it held,
 * and that of i and j - 1, which is shorter. The largest of all is of the
 * second sample with probability j / (i + j), and then above all i of the
 * first; else it adds no pair. (Whether U counts the pairs with a larger first
 * or those with a larger second is the same by symmetry.) Probabilities, since
 * counts are soon beyond 2^53; nothing is subtracted, so that the tails keep
 * their digits.
 */
static void row_extend(double *row, const double *shorter, size_t i, size_t j)
{
	double of_first = (double)i / (double)(i + j);
	double of_second = (double)j / (double)(i + j);
	size_t u;

	for (u = i * j + 1; u-- > 0;)
		row[u] = of_second * (u >= i ? shorter[u - i] : 0) +
			 of_first * row[u];
}

/* rows are [second + 1][count + 1], all zero. */
static void cdf_fill(double *cdf, double *rows, size_t first, size_t second)
{
	size_t width = first * second + 1, i, j;
	double sum = 0;

	for (j = 0; j <= second; j++)
		rows[j * width] = 1;
	for (i = 1; i <= first; i++)
		for (j = 1; j <= second; j++)
			row_extend(rows + j * width, rows + (j - 1) * width, i,
				   j);
	for (i = 0; i < width; i++) {
		sum += rows[second * width + i];
		cdf[i] = sum < 1 ? sum : 1;
	}
}

static int cdf_make(struct shifts *shifts, struct error *err)
{
	double *rows;

	shifts->cdf = malloc((shifts->count + 1) * sizeof(*shifts->cdf));
	rows = calloc((shifts->second + 1) * (shifts->count + 1),
		      sizeof(*rows));
	if (!shifts->cdf || !rows) {
		free(rows);
		return error_memory(err, "the distribution of a rank sum");
	}
	cdf_fill(shifts->cdf, rows, shifts->first, shifts->second);
	free(rows);
	return 0;
}

static int differences_make(struct shifts *shifts, const double *first,
			    const double *second, struct error *err)
{
	double difference;
	size_t i;

	shifts->differences =
		malloc(shifts->count * sizeof(*shifts->differences));
	if (!shifts->differences)
		return error_memory(err, "the differences of two samples");
	for (i = 0; i < shifts->count; i++) {
		difference = second[i % shifts->second] -
			     first[i / shifts->second];
		if (!isfinite(difference))
			return error_set(err, ERROR_FAILED, "a value that is "
					 "not finite cannot be compared");
		shifts->differences[i] = difference;
	}
	stats_sort(shifts->differences, shifts->count);
	return 0;
}

int shifts_make(struct shifts *shifts, const double *first, size_t first_count,
		const double *second, size_t second_count, struct error *err)
{
	*shifts = (struct shifts){ .first = first_count,
				   .second = second_count,
				   .count = first_count * second_count };
	if (first_count < 1 || first_count > TWO_SAMPLE_MOST ||
	    second_count < 1 || second_count > TWO_SAMPLE_MOST)
		return error_set(err, ERROR_FAILED, "samples of %zu and %zu: 1 "
				 "to %d each can be compared", first_count,
				 second_count, TWO_SAMPLE_MOST);
	if (differences_make(shifts, first, second, err) < 0 ||
	    cdf_make(shifts, err) < 0) {
		shifts_release(shifts);
		return -1;
	}
	return 0;
}

void shifts_release(struct shifts *shifts)
{
	free(shifts->differences);
	free(shifts->cdf);
	*shifts = (struct shifts){ 0 };
}

size_t shifts_index(const struct shifts *shifts, double alpha)
{
	size_t k = 0;

	while (k < shifts->count && shifts->cdf[k] <= alpha)
		k++;
	return k;
}

double shifts_estimate(const struct shifts *shifts)
{
	size_t half = shifts->count / 2;

	if (shifts->count % 2)
		return shifts->differences[half];
	return (shifts->differences[half - 1] + shifts->differences[half]) / 2;
}

double shifts_lower(const struct shifts *shifts, double alpha)
{
	size_t k = shifts_index(shifts, alpha);

	return k ? shifts->differences[k - 1] : -INFINITY;
}

double shifts_upper(const struct shifts *shifts, double alpha)
{
	size_t k = shifts_index(shifts, alpha);

	return k ? shifts->differences[shifts->count - k] : INFINITY;
}

double shifts_p_above(const struct shifts *shifts, double shift)
{
	size_t u = 0;

	while (u < shifts->count && shifts->differences[u] <= shift)
		u++;
	return shifts->cdf[u];
}
