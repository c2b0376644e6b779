#include "bench/record/disturbed.h"

#include <math.h>

#include "bench/record/column.h"

/* A quiet machine was seen to stay below half of them. */
#define STEAL_PCT 2
#define FOREIGN_PCT 5
#define THROTTLED_SHARE .01

/* CPU time in use is the sum of five counters, each cut to whole ticks. */
#define ROUNDED_S (5 * .01)

/* A command has no loop. */
static double seconds_of(const struct run *run)
{
	return isfinite(run->loop_s) ? run->loop_s : run->total_s;
}

/* Is it more than most, and not only for being rounded? What is missing is NAN,
 * and no comparison with it is true. */
static int exceeds(double percent, double most, const struct run *run)
{
	const double all_s = run->logical_cpus == CELL_NO_INT ? NAN :
			     seconds_of(run) * (double)run->logical_cpus;

	return percent > most && !(percent / 100 * all_s < ROUNDED_S);
}

static int has_others(const struct run *run)
{
	return exceeds(run->steal_pct, STEAL_PCT, run) ||
	       exceeds(run->foreign_pct, FOREIGN_PCT, run);
}

static int used_quota(const struct run *run)
{
	return run->throttled_s > THROTTLED_SHARE * seconds_of(run);
}

int run_is_disturbed(const struct run *run)
{
	return has_others(run) || used_quota(run);
}

int run_is_throttled(const struct run *run)
{
	return used_quota(run) && !has_others(run);
}
