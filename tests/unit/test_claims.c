/* Which ratios the first screen claims: intervals, CPUs and disturbed runs. */
#include "bench/report/table.h"

#include "tests/unit/tables.h"

/* Compares cpu-2, with these seconds per iteration in three runs, with cpu-1,
 * with .4, under a quota of CPUs. */
static const char *beside_one_core(const double seconds[3], double quota)
{
	const char *text;

	for (int r = 0; r < 6; r++) {
		char run_id[8];

		snprintf(run_id, sizeof(run_id), "r%d", r);
		add(run_id, r % 2 ? "cpu-2" : "cpu-1", 1 + r % 2,
		    r % 2 ? seconds[r / 2] : .4);
		campaign.runs[r].cpus = 1 + r % 2;
		campaign.runs[r].global_batch = 10 * (1 + r % 2);
		campaign.runs[r].cpu_quota = quota;
	}
	text = first(0);
	campaign_release(&campaign);
	return text;
}

/* A mean above the CPUs may be noise, which makes the interval. */
static void interval_of_claims(void **state)
{
	(void)state;
	has(beside_one_core((const double[]){ .34, .4, .43 }, NAN),
	    "In images/s, cpu-2 is 2.05 times as fast as cpu-1 [1.");
	has(beside_one_core((const double[]){ .35, .36, .37 }, NAN),
	    "Not compared with cpu-1: cpu-2, since 2.17 times exceeds the 2 "
	    "CPUs of");
	has(beside_one_core((const double[]){ .45, .46, .47 }, 1.5),
	    "Not compared with cpu-1: cpu-2, since 1.79 times exceeds the 1.50 "
	    "CPUs of");
}

/* Nor is a lift claimed of what was disturbed. */
static void disturbed_lift(void **state)
{
	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "openblas-1", 1, .1);
	for (int i = 0; i < 2; i++) {
		campaign.runs[i].passes = 12;
		campaign.runs[i].loop_s = 10;
		campaign.runs[i].logical_cpus = 2;
	}
	has(first(0), "20.0  1.00");
	campaign.runs[1].foreign_pct = 40;
	has(first(0), "20.0     -");
	campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_of_claims),
		cmocka_unit_test(disturbed_lift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
