#include "bench/record/rows_by_run.h"

#include <stdlib.h>
#include <string.h>

/* Sets number to the run of each row. */
static int number_rows(struct rows_by_run *groups,
		       const struct campaign *campaign, int *number,
		       struct error *err)
{
	const struct observation *rows = campaign->observations;
	size_t i;

	for (i = 0; i < campaign->observation_count; i++) {
		if (i && strcmp(rows[i].run_id, rows[i - 1].run_id) == 0)
			number[i] = number[i - 1];
		else
			number[i] = names_number(&groups->ids, rows[i].run_id,
						 err);
		if (number[i] < 0)
			return -1;
	}
	return 0;
}

/* Appends each row to the rows of its run. */
static int sort_rows(struct rows_by_run *groups,
		     const struct campaign *campaign, const int *number,
		     struct error *err)
{
	const size_t count = campaign->observation_count;
	const size_t runs = (size_t)groups->ids.count;
	size_t *starts = calloc(runs + 2, sizeof(*starts));
	size_t i;

	groups->starts = starts;
	groups->rows = malloc((count + 1) * sizeof(*groups->rows));
	if (!starts || !groups->rows)
		return error_memory(err, "rows");
	/* starts[n + 1] is where the next row of run n goes. */
	for (i = 0; i < count; i++)
		starts[number[i] + 2]++;
	for (i = 2; i <= runs; i++)
		starts[i] += starts[i - 1];
	for (i = 0; i < count; i++)
		groups->rows[starts[number[i] + 1]++] =
			&campaign->observations[i];
	return 0;
}

int rows_by_run_make(struct rows_by_run *groups,
		     const struct campaign *campaign, struct error *err)
{
	int *number = malloc((campaign->observation_count + 1) *
			     sizeof(*number));
	int failed;

	*groups = (struct rows_by_run){ 0 };
	if (!number)
		return error_memory(err, "rows");
	failed = number_rows(groups, campaign, number, err) ||
		 sort_rows(groups, campaign, number, err);
	free(number);
	if (failed)
		rows_by_run_free(groups);
	return failed ? -1 : 0;
}

const struct observation *const *
rows_by_run_find(const struct rows_by_run *groups, const char *run_id,
		 size_t *count)
{
	const int number = names_find(&groups->ids, run_id);

	*count = 0;
	if (number < 0)
		return NULL;
	*count = groups->starts[number + 1] - groups->starts[number];
	return &groups->rows[groups->starts[number]];
}

void rows_by_run_free(struct rows_by_run *groups)
{
	names_free(&groups->ids);
	free(groups->starts);
	free(groups->rows);
	*groups = (struct rows_by_run){ 0 };
}
