/* Baselines: what is kept, and how it is judged. */
#include "bench/gate/baseline.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/gate/baseline_store.h"
#include "bench/gate/judge.h"
#include "bench/gate/pair.h"
#include "bench/system/clock.h"
#include "tests/baseline_rows.h"
#include "tests/stages.h"

static void age(void **state)
{
	char now[24];

	(void)state;
	clock_stamp(now, sizeof(now));
	assert_true(clock_since(now) >= 0 && clock_since(now) < 60);
	/* Whatever the summer time of the place is. */
	assert_true(clock_since("2026-06-01T00:00:00Z") -
			    clock_since("2026-06-02T01:00:00Z") == 90000);
	assert_true(isnan(clock_since("")));
	assert_true(isnan(clock_since("2026-01-31T23:59:59")));
	assert_true(isnan(clock_since("2026-01-31T23:59:59Zx")));
	assert_true(isnan(clock_since("2026-13-31T23:59:59Z")));
}

static void measured(struct campaign *campaign, const char *id,
		     const char *target, long block, long attempt, double s)
{
	struct made made;

	process(&made, id, target, "A", s);
	made.run.block = block;
	made.run.attempt = attempt;
	made_into(campaign, &made, 1);
}

static void keep(const char *dir, const struct campaign *campaign)
{
	struct baseline_store store;

	if (store_open(&store, dir, stamp, &err) ||
	    store_keep(&store, campaign, &err))
		fail_msg("%s", err.message);
	store_release(&store);
}

static void load(struct baseline *baseline, const char *dir)
{
	if (baseline_load(baseline, dir, &err))
		fail_msg("%s", err.message);
}

/* A block that was measured again has its last attempt, a failed pilot of
 * another target takes nothing away. */
static void what_is_kept(void **state)
{
	const char *dir = in_folder("kept");
	struct campaign first = { 0 }, second = { 0 };
	const struct baseline_target *target;
	struct baseline baseline;

	(void)state;
	measured(&first, "a", "x-1", 1, 1, 3);
	measured(&first, "b", "y-1", 1, 1, 5);
	measured(&first, "c", "x-1", 2, 1, 9);
	measured(&first, "d", "x-1", 2, 2, 4);
	keep(dir, &first);
	load(&baseline, dir);
	assert_int_equal(baseline.count, 2);
	target = baseline_find(&baseline, "x-1");
	assert_int_equal(target->count, 2);
	assert_true(target->median == 3.5);
	assert_true(target->first_loss == 2.5);
	assert_true(baseline_age(target) > 0);
	assert_null(baseline_find(&baseline, "z-1"));
	baseline_release(&baseline);

	measured(&second, "e", "x-1", 1, 1, 1);
	measured(&second, "f", "y-1", 1, 1, 1);
	second.runs[1].stage = CHECK_PILOT;
	keep(dir, &second);
	load(&baseline, dir);
	assert_int_equal(baseline.count, 2);
	assert_int_equal(baseline_find(&baseline, "x-1")->count, 1);
	assert_true(baseline_find(&baseline, "x-1")->median == 1);
	assert_true(baseline_find(&baseline, "y-1")->median == 5);
	baseline_release(&baseline);
	campaign_release(&first);
	campaign_release(&second);
}

/* Whose baseline is saved just before the next lock is asked for. */
static const struct campaign *meanwhile;
static const char *meanwhile_in;

int flock(int fd, int operation)
{
	const struct campaign *campaign = meanwhile;

	meanwhile = NULL;
	if (campaign)
		keep(meanwhile_in, campaign);
	return (int)syscall(SYS_flock, fd, operation);
}

/* What another process has saved until we have the folder is kept. */
static void saved_by_another_process(void **state)
{
	const char *dir = in_folder("both");
	struct campaign first = { 0 }, second = { 0 };
	struct baseline baseline;

	(void)state;
	measured(&first, "a", "x-1", 1, 1, 3);
	measured(&second, "b", "y-1", 1, 1, 5);
	meanwhile = &first;
	meanwhile_in = dir;
	keep(dir, &second);
	assert_null(meanwhile);
	load(&baseline, dir);
	assert_int_equal(baseline.count, 2);
	assert_non_null(baseline_find(&baseline, "x-1"));
	assert_non_null(baseline_find(&baseline, "y-1"));
	baseline_release(&baseline);
	campaign_release(&first);
	campaign_release(&second);
}

static struct baseline_target stored_target(double percent, double spread)
{
	struct baseline_target target = { .count = PAIRS, .median = 1 };

	shift(target.values, percent, spread);
	for (int i = 0; i < PAIRS; i++)
		target.values[i] = exp(target.values[i]);
	return target;
}

/* The head took ratio seconds or so, in both stages. */
static struct judged judge(const struct baseline_target *stored,
			   const struct campaign *campaign)
{
	struct judged row = { .target = "x-1", .stored = stored,
			      .gate.rule = gate_rule_default };

	if (judge_rows(&row, 1, campaign, "c", &err))
		fail_msg("%s", err.message);
	return row;
}

static void add_heads(struct campaign *campaign, double percent, long launches)
{
	struct made made;
	double logs[PAIRS];
	char id[16];

	shift(logs, percent, 2);
	for (long i = 0; i < 2 * PAIRS; i++) {
		snprintf(id, sizeof(id), "h%ld", i);
		process(&made, id, "x-1", "B", exp(logs[i % PAIRS]));
		made.run.stage = i < PAIRS ? CHECK_SCREEN : CHECK_CONFIRM;
		made.run.block = 1 + i % PAIRS;
		made.run.launches = launches;
		made_into(campaign, &made, 1);
	}
}

static void judged_without_pairs(void **state)
{
	struct baseline_target stored = stored_target(0, 2);
	struct campaign campaign = { 0 };
	struct made base;
	struct verdict verdict;
	struct judged row;

	(void)state;
	process(&base, "a", "x-1", "", 1);
	base.run.launches = CELL_NO_INT;
	stored.run = &base.run;
	add_heads(&campaign, 6, 100);
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_REGRESSION);
	assert_true(fabs(row.gate.screen.ratio - 1.06) < .005);
	judge_describe(&verdict, &row);
	assert_true(verdict.base_s == 1);
	assert_int_equal(verdict.pairs, PAIRS);
	assert_int_equal(verdict.baseline_processes, PAIRS);
	assert_true(verdict.baseline_age_days > 0);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_ADVISORY);
	assert_string_equal(row.gate.reason, "why");
	/* Too few of them. */
	stored.count = 11;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_INCONCLUSIVE);
	assert_non_null(strstr(row.gate.reason, "11 processes of the screen"));
	campaign_release(&campaign);
}

static void counted_without_pairs(void **state)
{
	struct baseline_target stored = stored_target(0, 2);
	struct campaign campaign = { 0 };
	struct made base;
	struct judged row;

	(void)state;
	process(&base, "a", "x-1", "", 1);
	stored.run = &base.run;
	add_heads(&campaign, 0, 100);
	base.run.launches = 100;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_OK);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_OK);
	base.run.launches = 99;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_REGRESSION);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_ADVISORY);
	assert_non_null(strstr(row.gate.reason, "base 99, head 100"));
	campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(age),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(saved_by_another_process),
		cmocka_unit_test(judged_without_pairs),
		cmocka_unit_test(counted_without_pairs),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
