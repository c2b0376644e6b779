/* Verdicts from rows: which stage counts, and counters without statistics. */
#include "bench/gate/judge.h"

#include "bench/gate/pair.h"
#include "tests/cmocka.h"
#include "tests/unit/rows.h"

static struct error err;
static struct campaign campaign;

static struct run *add(const char *target, const char *arm, long stage,
		       long block, double s)
{
	static struct made made;
	char id[48];

	snprintf(id, sizeof(id), "c-%03zu", campaign.run_count);
	made_run(&made, id, target, 1, s);
	snprintf(made.run.campaign_id, sizeof(made.run.campaign_id), "c");
	snprintf(made.run.arm, sizeof(made.run.arm), "%s", arm);
	made.run.stage = stage;
	made.run.block = block;
	made.run.attempt = 1;
	made.run.launches = made.run.reduced_bytes = CELL_NO_INT;
	made.run.allocations = 0;
	made_into(&campaign, &made, 1);
	return &campaign.runs[campaign.run_count - 1];
}

/* Twenty blocks of one stage whose head takes ratio times as long, a little
 * more in one block and a little less in the next. */
static void add_stage(const char *target, long stage, double ratio)
{
	for (long block = 1; block <= 20; block++) {
		add(target, "A", stage, block, 1 + .3 * (double)(block % 7));
		add(target, "B", stage, block,
		    (1 + .3 * (double)(block % 7)) * ratio *
			    (1 + .002 * (double)(block % 5 - 2)));
	}
}

static struct judged *judge(const char *first, const char *second)
{
	static struct judged rows[2];
	const char *const names[] = { first, second };

	for (int i = 0; i < 2; i++) {
		rows[i] = (struct judged){ .gate.rule = gate_rule_default };
		snprintf(rows[i].target, sizeof(rows[i].target), "%s",
			 names[i]);
	}
	if (judge_rows(rows, 2, &campaign, "c", &err))
		fail_msg("%s", err.message);
	return rows;
}

static int release(void **state)
{
	(void)state;
	campaign_release(&campaign);
	return 0;
}

static void expect(const struct judged *row, enum gate_verdict verdict,
		   const char *reason)
{
	if (row->gate.verdict != verdict)
		fail_msg("%s: %s (%s)", row->target,
			 gate_verdict_name(row->gate.verdict),
			 row->gate.reason);
	assert_non_null(strstr(row->gate.reason, reason));
}

static void both_stages_make_a_regression(void **state)
{
	struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1.08);
	add_stage("cpu-8", CHECK_SCREEN, 1);
	rows = judge("cpu-1", "cpu-8");
	assert_true(gate_needs_confirmation(&rows[0].gate));
	assert_false(gate_needs_confirmation(&rows[1].gate));
	add_stage("cpu-1", CHECK_CONFIRM, 1.08);
	rows = judge("cpu-1", "cpu-8");
	expect(&rows[0], GATE_REGRESSION, "");
	expect(&rows[1], GATE_OK, "");
	assert_int_equal(rows[0].gate.confirm.pairs, 20);
	assert_float_equal(rows[0].gate.screen.ratio, 1.08, .002);
}

/* The screen's ratio was flagged for being large, the new pairs' ratio was not.
 */
static void the_confirmation_is_quoted(void **state)
{
	struct verdict verdict;
	struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1.08);
	rows = judge("cpu-1", "cpu-8");
	judge_describe(&verdict, &rows[0]);
	assert_true(verdict.ratio == verdict.screen_ratio);
	assert_float_equal(verdict.ratio, 1.08, .002);
	add_stage("cpu-1", CHECK_CONFIRM, 1.05);
	rows = judge("cpu-1", "cpu-8");
	judge_describe(&verdict, &rows[0]);
	assert_float_equal(verdict.ratio, 1.05, .002);
	assert_true(verdict.ratio == verdict.confirm_ratio);
	assert_true(verdict.ratio_lo == verdict.confirm_lo);
	assert_true(verdict.ratio_hi == verdict.confirm_hi);
	assert_float_equal(verdict.screen_ratio, 1.08, .002);
	assert_true(verdict.screen_lo < verdict.screen_hi);
	/* Its times are of the same pairs. */
	assert_float_equal(verdict.head_s / verdict.base_s, 1.05, .002);
}

static void what_is_not_confirmed_is_none(void **state)
{
	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1.08);
	add_stage("cpu-1", CHECK_CONFIRM, 1);
	expect(judge("cpu-1", "cpu-8"), GATE_OK, "not confirmed");
}

/* The base again, and slower, while the head is confirmed. */
static void the_control_counts_in_both_stages(void **state)
{
	const struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1.08);
	add_stage("cpu-1", CHECK_CONFIRM, 1.08);
	for (long stage = CHECK_SCREEN; stage <= CHECK_CONFIRM; stage++)
		for (long block = 1; block <= 20; block++)
			add("cpu-1", "A2", stage, block,
			    (1 + .3 * (double)(block % 7)) *
				    (stage == CHECK_CONFIRM ? 1.08 : 1.001));
	rows = judge("cpu-1", "cpu-8");
	assert_true(gate_needs_confirmation(&rows[0].gate));
	expect(&rows[0], GATE_INCONCLUSIVE,
	       "differs from itself by +8.0 % in the confirmation");
}

/* Whatever they cost, unless it is nothing: 0.9 of the time is faster. */
static void counters_are_exact(void **state)
{
	struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1);
	add_stage("cpu-8", CHECK_SCREEN, .9);
	for (size_t i = 0; i < campaign.run_count; i++) {
		struct run *run = &campaign.runs[i];
		const int head = run->arm[0] == 'B';

		if (!strcmp(run->target, "cpu-1"))
			run->allocations = head;
		else
			run->reduced_bytes = head ? 4000 : 4004;
	}
	rows = judge("cpu-1", "cpu-8");
	expect(&rows[0], GATE_REGRESSION, "allocations in the same number of "
	       "iterations (exact): base 0, head 1");
	expect(&rows[1], GATE_FASTER, "reduced bytes in the same number of");
	release(state);
	add_stage("cpu-1", CHECK_SCREEN, .9);
	for (size_t i = 0; i < campaign.run_count; i++)
		campaign.runs[i].launches = campaign.runs[i].arm[0];
	expect(judge("cpu-1", "cpu-8"), GATE_FASTER, "launches in the same");
}

static void counters_that_say_nothing(void **state)
{
	struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1);
	add_stage("cpu-8", CHECK_SCREEN, 1);
	/* Not the same in all processes; and unknown to an older program. */
	for (size_t i = 0; i < campaign.run_count; i++) {
		struct run *run = &campaign.runs[i];
		const int head = run->arm[0] == 'B';

		if (!strcmp(run->target, "cpu-1"))
			run->launches = head ? (long)i : 0;
		else if (head)
			run->launches = 5;
	}
	rows = judge("cpu-1", "cpu-8");
	expect(&rows[0], GATE_OK, "");
	expect(&rows[1], GATE_OK, "");
	assert_string_equal(rows[0].gate.reason, "");
	assert_string_equal(rows[1].gate.reason, "");
}

static void the_machine_stays_the_same(void **state)
{
	struct judged *rows;

	(void)state;
	add_stage("cpu-1", CHECK_SCREEN, 1);
	add_stage("cpu-8", CHECK_SCREEN, 1);
	for (size_t i = 0; i < campaign.run_count; i++) {
		struct run *run = &campaign.runs[i];
		const int moved = !strcmp(run->target, "cpu-8") &&
				  run->block > 10;

		snprintf(run->host_key, sizeof(run->host_key), "%s",
			 moved ? "b" : "a");
		run->logical_cpus = moved ? 4 : 2;
	}
	rows = judge("cpu-1", "cpu-8");
	expect(&rows[0], GATE_OK, "");
	expect(&rows[1], GATE_INCONCLUSIVE, "the machine changed between");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(both_stages_make_a_regression,
					  release),
		cmocka_unit_test_teardown(the_confirmation_is_quoted, release),
		cmocka_unit_test_teardown(what_is_not_confirmed_is_none,
					  release),
		cmocka_unit_test_teardown(the_control_counts_in_both_stages,
					  release),
		cmocka_unit_test_teardown(counters_are_exact, release),
		cmocka_unit_test_teardown(counters_that_say_nothing, release),
		cmocka_unit_test_teardown(the_machine_stays_the_same, release),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
