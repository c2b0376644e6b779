#include "bench/record/disturbed_runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/record/disturbed.h"

#define GOT_FEWEST .9 /* of its CPUs */

/* CPUs that others used, the hypervisor included; NAN where nobody knows. */
static double others_cpus(const struct run *run)
{
	const double percent = isnan(run->steal_pct) ? run->foreign_pct :
			       isnan(run->foreign_pct) ? run->steal_pct :
			       run->steal_pct + run->foreign_pct;

	return run->logical_cpus == CELL_NO_INT ?
		       NAN : percent / 100 * (double)run->logical_cpus;
}

/* The CPUs that a run was lacking, of those that it would have kept busy; 0
 * where that is not known or means nothing. */
static double lacked_cpus(const struct run *run)
{
	const double cpus = run->cpus < run->cores ? (double)run->cpus :
						     (double)run->cores;
	const double got = run->loop_cpu_s / run->loop_s;

	if (run->cpus == CELL_NO_INT || run->cores == CELL_NO_INT ||
	    run_is_on_devices(run) || run->straggler[0] ||
	    (run->cores > 1 && run->cpus >= run->cores))
		return 0;
	/* NAN compares as false. */
	return run->loop_s > 1 && got < GOT_FEWEST * cpus ? cpus - got : 0;
}

static void cpus_text(char *text, size_t size, const char *who, double count,
		      long all)
{
	char number[NUMBER_SIZE];

	number_print_fixed(number, count, 2);
	snprintf(text, size, "%s %s of %ld CPU%s", who, number, all,
		 all == 1 ? "" : "s");
}

int run_is_slowed(const struct run *run, char *why, size_t size)
{
	const double lacked = lacked_cpus(run), others = others_cpus(run);
	const long own = run->cpus < run->cores ? run->cpus : run->cores;
	const int disturbed = run_is_disturbed(run);

	why[0] = '\0';
	if (!disturbed && !(lacked > 0))
		return 0;
	if (run_is_throttled(run))
		snprintf(why, size, "its quota kept it back");
	else if (disturbed && isfinite(others))
		cpus_text(why, size, "others used", others, run->logical_cpus);
	else if (disturbed)
		snprintf(why, size, "others used its CPUs");
	else
		cpus_text(why, size, "it lacked", lacked, own);
	return 1;
}

/* Of the runs of a target: those that were slowed, and what by most. */
struct slowed {
	int runs, count;
	char why[96];
	double most;
};

static struct slowed look_at(const struct results *results, const char *target)
{
	struct slowed slowed = { .most = -1 };
	char why[sizeof(slowed.why)];

	for (size_t i = 0; i < results->run_count; i++) {
		const struct run *run = &results->runs[i];
		const double others = others_cpus(run);
		const double cpus = others > 0 ? others : 0;

		if (strcmp(run->target, target) != 0)
			continue;
		slowed.runs++;
		if (!run_is_slowed(run, why, sizeof(why)))
			continue;
		slowed.count++;
		if (cpus > slowed.most) {
			slowed.most = cpus;
			memcpy(slowed.why, why, sizeof(why));
		}
	}
	return slowed;
}

void disturbed_text(const struct results *results, char *text, size_t size)
{
	int count = 0;

	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const char *target = results->targets[t];
		const struct slowed slowed = look_at(results, target);
		const size_t used = strlen(text);

		if (!slowed.count)
			continue;
		snprintf(text + used, size - used, "%s%s (",
			 count++ ? ", " : "disturbed: ", target);
		if (slowed.runs > 1)
			snprintf(strchr(text, '\0'), size - strlen(text),
				 "%d of %d runs; ", slowed.count, slowed.runs);
		snprintf(strchr(text, '\0'), size - strlen(text), "%s%s)",
			 slowed.why, slowed.count > 1 ? " at most" : "");
	}
	if (count)
		snprintf(strchr(text, '\0'), size - strlen(text),
			 ": times too long");
}
