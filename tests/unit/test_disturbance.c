/* What else went on, from trees of files as systems have them. */
#include "bench/system/kernel.h"

#include <unistd.h>

#include "tests/unit/systems.h"

#define STAT "proc/stat"
#define PRESSURE "proc/pressure/cpu"
#define USAGE "usage_usec 5\nuser_usec 3\nsystem_usec 2\n"
#define PSI(total) "some avg10=0.16 avg60=22.16 avg300=31.85 total=" total \
	"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"

/* Files of one system, path and content in turn, and what follows from them. */
struct tree {
	const char *name;
	double throttled_s, pressure_s;
	const char *files[12];
};

static const struct tree trees[] = {
	{ "nothing", NAN, NAN, { NULL } },
	{ "v2", 1.5, .25,
	  { GROUPS, "0::/a\n",
	    V2 "a/cpu.stat", USAGE "nr_periods 9\nthrottled_usec 1500000\n",
	    V2 "a/cpu.pressure", PSI("250000"), PRESSURE, PSI("4000000") } },
	{ "v2-all-levels", 3.5, 2,
	  { GROUPS, "0::/a/b\n",
	    V2 "a/b/cpu.stat", USAGE "throttled_usec 500000\n",
	    V2 "a/cpu.stat", USAGE "throttled_usec 3000000\n",
	    V2 "a/cpu.pressure", PSI("2000000"),
	    V2 "cpu.pressure", PSI("9000000") } },
	{ "v2-path-ends-in-slashes", 2, NAN,
	  { GROUPS, "0:://a//\n",
	    V2 "a/cpu.stat", "throttled_usec 2000000\n" } },
	{ "v2-no-quota", NAN, 4,
	  { GROUPS, "0::/\n", V2 "cpu.stat", USAGE, PRESSURE,
	    PSI("4000000") } },
	{ "v1", .75, 4,
	  { GROUPS, "4:cpuacct,cpu:/a\n0::/\n",
	    V1 "a/cpu.stat", "nr_throttled 2\nthrottled_time 500000000\n",
	    V1 "cpu.stat", "nr_throttled 1\nthrottled_time 250000000\n",
	    PRESSURE, PSI("4000000") } },
	{ "malformed", NAN, NAN,
	  { GROUPS, "0::/\n", V2 "cpu.stat",
	    "throttled_usec x\nnthrottled_usec 7\nthrottled_time -5\n",
	    V2 "cpu.pressure", "some avg10=0.16 total=5\n",
	    PRESSURE, "full avg10=0 avg60=0 avg300=0 total=7\n" } },
	{ "empty", NAN, NAN,
	  { V2 "cpu.stat", "throttled_usec ", V2 "cpu.pressure", "some ",
	    PRESSURE, "some avg10=0.16 avg60=22.16 avg300=31.85 total=" } },
};

static void expect(const char *what, const char *name, double value,
		   double expected)
{
	if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) < 1e-9))
		fail_msg("%s of %s: %g instead of %g", what, name, value,
			 expected);
}

static void groups_tell_of_themselves(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(trees) / sizeof(trees[0]); t++) {
		struct disturbance_counters found;

		add_files(trees[t].name, trees[t].files);
		disturbance_read(&found, in_folder(trees[t].name));
		expect("throttling", trees[t].name, found.throttled_s,
		       trees[t].throttled_s);
		expect("pressure", trees[t].name, found.pressure_s,
		       trees[t].pressure_s);
		expect("CPU time", trees[t].name, found.all_s, NAN);
	}
}

static void ticks_are_parted(void **state)
{
	const double tick_s = 1. / (double)sysconf(_SC_CLK_TCK);
	struct disturbance_counters found;

	(void)state;
	/* What guests used is in user's and nice's. */
	add_file("ticks", STAT, "cpu  100 20 30 1000 500 4 5 60 90 10\n"
		 "cpu0 1 2 3 4 5 6 7 8 9 10\n");
	disturbance_read(&found, in_folder("ticks"));
	expect("all", "ticks", found.all_s, 1719 * tick_s);
	expect("busy", "ticks", found.busy_s, 159 * tick_s);
	expect("stolen", "ticks", found.stolen_s, 60 * tick_s);
	add_file("ticks", STAT, "cpu0 1 2 3 4 5 6 7 8 9 10\n");
	disturbance_read(&found, in_folder("ticks"));
	expect("all of one CPU", "ticks", found.all_s, NAN);
	add_file("ticks", STAT, "cpu  100 20 30 1000\n");
	disturbance_read(&found, in_folder("ticks"));
	expect("busy of an old system", "ticks", found.busy_s, NAN);
}

static void what_passed_is_the_difference(void **state)
{
	const struct disturbance_counters before = { 1, 10, 100, 50, 2 };
	struct disturbance_counters after = { 1.5, 11, 140, 80, 4 };
	struct disturbance found;

	(void)state;
	found = disturbance_between(&before, &after, 20, 22);
	expect("throttling", "both", found.throttled_s, .5);
	expect("pressure", "both", found.pressure_pct, 5);
	expect("steal", "both", found.steal_pct, 5);
	expect("others", "both", found.foreign_pct, 20);
	/* Own time was read a moment later, and nobody else did anything. */
	found = disturbance_between(&before, &after, 20, 30.01);
	expect("others", "none", found.foreign_pct, 0);
	found = disturbance_between(&before, &after, .5, NAN);
	expect("pressure", "too short", found.pressure_pct, 100);
	expect("others", "own unknown", found.foreign_pct, NAN);
	/* As where /proc/stat has only zeros. */
	after.all_s = before.all_s;
	found = disturbance_between(&before, &after, 20, 22);
	expect("steal", "no ticks", found.steal_pct, NAN);
	expect("others", "no ticks", found.foreign_pct, NAN);
	after.throttled_s = after.pressure_s = NAN;
	found = disturbance_between(&before, &after, 20, 22);
	expect("throttling", "unknown", found.throttled_s, NAN);
	expect("pressure", "unknown", found.pressure_pct, NAN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_tell_of_themselves),
		cmocka_unit_test(ticks_are_parted),
		cmocka_unit_test(what_passed_is_the_difference),
	};

	return cmocka_run_group_tests_name("disturbance", tests, folder_make,
					   folder_remove);
}
