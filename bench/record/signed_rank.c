#include "bench/record/signed_rank.h"

#include <math.h>
#include <stdlib.h>

#include "bench/record/stats.h"

#define MOST_SUMS (SIGNED_RANK_MOST * (SIGNED_RANK_MOST + 1) / 2 + 1)

static size_t walsh_count(size_t n)
{
	return n * (n + 1) / 2;
}

static int made_for(size_t n)
{
	return n > 0 && n <= SIGNED_RANK_MOST;
}

/*
 * chances[w] = P(W = w), w from 0 to n (n + 1) / 2: each rank is in the sum or
 * not, by the toss of a coin. Halves of whole numbers: nothing is rounded up to
 * n = 53, and beyond only positive numbers are added.
 */
static void find_chances(size_t n, double chances[MOST_SUMS])
{
	size_t rank, w;

	chances[0] = 1;
	for (rank = 1; rank <= n; rank++) {
		for (w = walsh_count(rank - 1) + 1; w <= walsh_count(rank); w++)
			chances[w] = 0;
		for (w = walsh_count(rank); w >= rank; w--)
			chances[w] = (chances[w] + chances[w - rank]) / 2;
		for (w = 0; w < rank; w++)
			chances[w] /= 2;
	}
}

size_t signed_rank_index(size_t n, double alpha)
{
	double chances[MOST_SUMS], sum = 0;
	size_t index = 0;

	if (!made_for(n))
		return 0;
	find_chances(n, chances);
	while (index < walsh_count(n)) {
		sum += chances[index];
		if (!(sum <= alpha))
			break;
		index++;
	}
	return index;
}

double signed_rank_cdf(size_t n, size_t w)
{
	double chances[MOST_SUMS], sum = 0;
	size_t i;

	if (!made_for(n) || w >= walsh_count(n))
		return 1;
	find_chances(n, chances);
	for (i = 0; i <= w; i++)
		sum += chances[i];
	return sum;
}

static int check_differences(const double *differences, size_t pairs,
			     struct error *err)
{
	size_t i;

	if (!made_for(pairs))
		return error_set(err, ERROR_FAILED, "%zu pairs: the exact "
				 "signed-rank test takes 1 to %d", pairs,
				 SIGNED_RANK_MOST);
	for (i = 0; i < pairs; i++)
		if (!isfinite(differences[i]))
			return error_set(err, ERROR_FAILED, "pair %zu of %zu "
					 "has no finite difference", i + 1,
					 pairs);
	return 0;
}

int walsh_make(struct walsh *walsh, const double *differences, size_t pairs,
	       struct error *err)
{
	size_t i, j, at = 0;

	*walsh = (struct walsh){ 0 };
	if (check_differences(differences, pairs, err))
		return -1;
	walsh->averages = malloc(walsh_count(pairs) * sizeof(double));
	if (!walsh->averages)
		return error_memory(err, "Walsh averages");
	walsh->pairs = pairs;
	walsh->count = walsh_count(pairs);
	for (i = 0; i < pairs; i++)
		for (j = i; j < pairs; j++) /* halves never overflow */
			walsh->averages[at++] =
				differences[i] / 2 + differences[j] / 2;
	stats_sort(walsh->averages, at);
	return 0;
}

void walsh_release(struct walsh *walsh)
{
	free(walsh->averages);
	*walsh = (struct walsh){ 0 };
}

double walsh_estimate(const struct walsh *walsh)
{
	const size_t above = walsh->count / 2, below = (walsh->count - 1) / 2;

	return walsh->averages[below] / 2 + walsh->averages[above] / 2;
}

double walsh_lower(const struct walsh *walsh, double alpha)
{
	const size_t index = signed_rank_index(walsh->pairs, alpha);

	return index ? walsh->averages[index - 1] : -INFINITY;
}

double walsh_upper(const struct walsh *walsh, double alpha)
{
	const size_t index = signed_rank_index(walsh->pairs, alpha);

	return index ? walsh->averages[walsh->count - index] : INFINITY;
}

double walsh_p_above(const struct walsh *walsh, double shift)
{
	size_t below = 0;

	while (below < walsh->count && walsh->averages[below] <= shift)
		below++;
	return signed_rank_cdf(walsh->pairs, below);
}
