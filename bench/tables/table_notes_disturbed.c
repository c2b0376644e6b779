/* What stands under the tables of runs that others were beside. */
#include <math.h>
#include <string.h>

#include "bench/rows/disturbed.h"
#include "bench/tables/table_view.h"

struct beside {
	int runs, disturbed;
	double most_pct; /* of the machine's CPU time, taken by others */
};

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

static void count_run(struct beside *beside, const struct run *run)
{
	const double pct = known(run->steal_pct) + known(run->foreign_pct);

	/* Nothing of it is known where the system does not tell. */
	if (isnan(run->steal_pct) && isnan(run->foreign_pct) &&
	    isnan(run->throttled_s))
		return;
	beside->runs++;
	if (!run_is_disturbed(run))
		return;
	beside->disturbed++;
	beside->most_pct = fmax(beside->most_pct, pct);
}

/* What does not fit is left out. */
static void list_target(char *list, size_t size, const char *target,
			const struct beside *beside)
{
	const size_t used = strlen(list);
	char share[32] = "";

	/* A quota takes nothing of the machine. */
	if (beside->most_pct >= 1)
		snprintf(share, sizeof(share), ", up to %.0f %%",
			 beside->most_pct);
	snprintf(list + used, size - used, "%s%s: %d of %d%s",
		 used ? ", " : "", target, beside->disturbed, beside->runs,
		 share);
}

/* target: NULL for all. */
static struct beside look_beside(const struct results *results,
				 const char *target)
{
	struct beside beside = { 0 };

	for (size_t i = 0; i < results->run_count; i++)
		if (!target || !strcmp(results->runs[i].target, target))
			count_run(&beside, &results->runs[i]);
	return beside;
}

void notes_disturbed(const struct view *view)
{
	const struct results *results = view->results;
	const struct beside all = look_beside(results, NULL);
	char list[1024] = "";

	if (!all.disturbed)
		return;
	for (int t = 0; t < results->target_count; t++) {
		const char *target = results->targets[t];
		const struct beside beside = look_beside(results, target);

		if (beside.disturbed)
			list_target(list, sizeof(list), target, &beside);
	}
	print_note(view->out, view->options,
		   "others used the machine's CPUs, or a quota kept them back, "
		   "beside %d of %d runs (%s): their times are too long",
		   all.disturbed, all.runs, list);
}
