#include "bench/data/fold.h"

#include <stdlib.h>

struct fold_group {
	int size, index;
};

static int by_size(const void *a, const void *b)
{
	const struct fold_group *first = a, *second = b;

	if (first->size != second->size)
		return first->size < second->size ? 1 : -1;
	return first->index < second->index ? 1 : -1;
}

static int lightest(const long weights[FOLDS])
{
	int found = 0;

	for (int f = 1; f < FOLDS; f++)
		if (weights[f] < weights[found])
			found = f;
	return found;
}

int fold_groups(const int *sizes, int groups, uint8_t *is_test)
{
	struct fold_group *sorted =
		malloc(((size_t)groups + 1) * sizeof(*sorted));
	long weights[FOLDS] = { 0 };

	if (!sorted)
		return -1;
	for (int g = 0; g < groups; g++)
		sorted[g] = (struct fold_group){ sizes[g], g };
	qsort(sorted, (size_t)groups, sizeof(*sorted), by_size);
	for (int i = 0; i < groups; i++) {
		const int fold = lightest(weights);

		weights[fold] += sorted[i].size;
		is_test[sorted[i].index] = fold == 0;
	}
	free(sorted);
	return 0;
}
