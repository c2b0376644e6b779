#include "bench/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"

static int is_timed_step(const struct observation *row)
{
	return strcmp(row->phase, "step") == 0 && row->is_warmup != 1 &&
	       row->core == CELL_NO_INT && !observation_is_modelled(row) &&
	       strcmp(row->status, "ok") == 0 && isfinite(row->elapsed_s);
}

double pair_step_median(const struct observation *const *rows, size_t count)
{
	double *steps = malloc((count + 1) * sizeof(*steps));
	size_t timed = 0, i;
	double median;

	if (!steps)
		return CELL_NO_REAL;
	for (i = 0; i < count; i++)
		if (is_timed_step(rows[i]))
			steps[timed++] = rows[i]->elapsed_s;
	median = stats_compute(steps, timed).median;
	free(steps);
	return median;
}
