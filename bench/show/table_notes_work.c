/* What makes the columns of a table hard to compare. */
#include <math.h>

#include "bench/show/table_view.h"

static double global_batch_of(const struct result *cell)
{
	return !cell->run || cell->run->global_batch == CELL_NO_INT ?
		       NAN : (double)cell->run->global_batch;
}

static double updates_of(const struct result *cell)
{
	const struct stats *updates = &cell->values[METRIC_UPDATES];

	return updates->count ? updates->mean : NAN;
}

/* Within one setup; what is not known differs from nothing. */
static int differs(const struct results *results,
		   double value(const struct result *cell))
{
	for (int l = 0; l < results->line_count; l++) {
		const struct line *line = &results->lines[l];
		double first = NAN;

		for (int t = 0; t < results->target_count; t++) {
			const double each = value(&line->cells[t]);

			if (each < first || each > first)
				return 1;
			first = isfinite(first) ? first : each;
		}
	}
	return 0;
}

const char *work_differs(const struct results *results)
{
	static const char *const what[] = {
		NULL, "updates differ", "global batches differ",
		"global batches and updates differ",
	};
	const int at = 2 * differs(results, global_batch_of) +
		       differs(results, updates_of);

	return what[at];
}
