#include "bench/record/time_to_accuracy.h"

#include <math.h>
#include <stdlib.h>

#include "bench/statistics/stats.h"

double run_target_accuracy(const struct run *run)
{
	return isfinite(run->target_accuracy_pct) ? run->target_accuracy_pct :
						    USUAL_ACCURACY_PCT;
}

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

double time_untimed(const struct run *run)
{
	return run->setup_s - run->data_s + known(run->warmup_s);
}

double time_to_accuracy(const struct run *run, double loop_s)
{
	const double beyond_s = time_untimed(run) - UNTIMED_CAP_S;

	return known(run->data_s) + (beyond_s > 0 ? beyond_s : 0) + loop_s;
}

static double known_or_nan(double value)
{
	return isfinite(value) ? value : NAN;
}

struct accuracy_score accuracy_score_of(double *times, int count)
{
	struct accuracy_score score = { .runs = count,
					.trimmed = count >= SCORE_FEWEST,
					.mean = NAN, .median = NAN };
	const int first = score.trimmed, end = count - score.trimmed;
	double sum = 0;
	int i;

	if (!count)
		return score;
	stats_sort(times, (size_t)count);
	for (i = 0; i < count; i++)
		score.reached += isfinite(times[i]) != 0;
	for (i = first; i < end; i++)
		sum += times[i];
	score.mean = known_or_nan(sum / (end - first));
	score.median = known_or_nan(
		(times[(count - 1) / 2] + times[count / 2]) / 2);
	return score;
}
