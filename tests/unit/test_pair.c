/* What is compared, from rows whose numbers are known. */
#include "bench/gate/pair.h"

#define NEAR 1e-12
#include "tests/unit/near.h"
#include "tests/unit/rows.h"

static struct error err;

static double median_of(const struct made *made)
{
	const struct observation *rows[256];

	for (size_t i = 0; i < made->count; i++)
		rows[i] = &made->rows[i];
	return pair_step_median(rows, made->count);
}

/* Iterations of s, 2 s, 3 s and 4 s, three times; warm-up of 100 s and cores'
 * own rows of 1000 s. */
static void step_median(void **state)
{
	static struct made made;
	struct observation *row;

	(void)state;
	made_run(&made, "c-1", "cpu-2", 2, .01);
	near(median_of(&made), .025);
	/* Neither the other clock, nor what failed, nor no number at all. */
	row = made_add(&made, "step", 1, 9);
	snprintf(row->clock, sizeof(row->clock), "model");
	row = made_add(&made, "step", 1, 9);
	snprintf(row->status, sizeof(row->status), "error");
	made_add(&made, "step", 1, CELL_NO_REAL);
	near(median_of(&made), .025);
	made_add(&made, "step", 4, 9); /* the thirteenth: the seventh counts */
	near(median_of(&made), .03);
	made.count = 2; /* set-up and a step of the warm-up */
	assert_true(isnan(median_of(&made)));
	made.count = 0;
	assert_true(isnan(median_of(&made)));
}

static struct campaign campaign;
static struct pair_stage stages[CHECK_STAGES];
static int is_command;

/* A process of one arm, whose median iteration is 2.5 s. */
static struct run *add(const char *arm, long stage, long block, long attempt,
		       double s)
{
	static struct made made;
	char id[48];

	snprintf(id, sizeof(id), "c-%03zu", campaign.run_count);
	made_run(&made, id, "cpu-1", 1, s);
	snprintf(made.run.campaign_id, sizeof(made.run.campaign_id), "c");
	snprintf(made.run.arm, sizeof(made.run.arm), "%s", arm);
	made.run.stage = stage;
	made.run.block = block;
	made.run.attempt = attempt;
	made_into(&campaign, &made, 1);
	return &campaign.runs[campaign.run_count - 1];
}

static void gather(void)
{
	struct rows_by_run groups;

	if (rows_by_run_make(&groups, &campaign, &err))
		fail_msg("%s", err.message);
	pair_gather(stages, &campaign, &groups, "c", "cpu-1", &is_command);
	rows_by_run_free(&groups);
}

static void release(void)
{
	campaign_release(&campaign);
	campaign = (struct campaign){ 0 };
}

static void expect_logs(int stage, int arm, size_t count, const double *ratios)
{
	double logs[SIGNED_RANK_MOST];

	assert_int_equal(pair_logs(&stages[stage], arm, logs), count);
	for (size_t i = 0; i < count; i++)
		near(exp(logs[i]), ratios[i]);
}

static void blocks_in_order(void **state)
{
	(void)state;
	add("B", CHECK_SCREEN, 2, 1, 3);
	add("A", CHECK_SCREEN, 1, 1, 1);
	add("A2", CHECK_SCREEN, 1, 1, 1.5);
	add("B", CHECK_SCREEN, 1, 1, 2);
	add("A", CHECK_SCREEN, 2, 1, 1);
	add("A", CHECK_CONFIRM, 1, 1, 1);
	add("B", CHECK_CONFIRM, 1, 1, 7);
	/* What belongs to no pair. */
	add("A", CHECK_PILOT, 3, 1, 1);
	add("B", CHECK_PILOT, 3, 1, 1);
	add("A", CHECK_SCREEN, 4, 1, 4);
	add("B", CHECK_SCREEN, 5, 1, 1);
	add("B", CHECK_SCREEN, 0, 1, 1);
	add("B", CHECK_SCREEN, CELL_NO_INT, 1, 1);
	add("B", CHECK_SCREEN, SIGNED_RANK_MOST + 1, 1, 1);
	add("", CHECK_SCREEN, 4, 1, 1);
	snprintf(add("B", CHECK_SCREEN, 4, 1, 1)->target, 6, "cpu-2");
	snprintf(add("B", CHECK_SCREEN, 4, 1, 1)->campaign_id, 6, "other");
	gather();
	assert_int_equal(is_command, 0);
	expect_logs(CHECK_SCREEN, ARM_HEAD, 2, (double[]){ 2, 3 });
	expect_logs(CHECK_SCREEN, ARM_CONTROL, 1, (double[]){ 1.5 });
	expect_logs(CHECK_CONFIRM, ARM_HEAD, 1, (double[]){ 7 });
	expect_logs(CHECK_PILOT, ARM_HEAD, 0, NULL);
	near(pair_arm_median(&stages[CHECK_SCREEN], ARM_BASE), 2.5);
	near(pair_arm_median(&stages[CHECK_SCREEN], ARM_HEAD), 2.5 * 2);
	assert_true(isnan(pair_arm_median(&stages[CHECK_PILOT], ARM_BASE)));
	release();
}

/* Of a block that was disturbed nothing stays, whatever came of it then. */
static void last_attempt(void **state)
{
	(void)state;
	add("A", CHECK_SCREEN, 1, 1, 1);
	add("B", CHECK_SCREEN, 1, 1, 9);
	add("B", CHECK_SCREEN, 1, 2, 2);
	add("A", CHECK_SCREEN, 1, 2, 1);
	add("A", CHECK_SCREEN, 1, 1, 5); /* comes late, from another file */
	add("A", CHECK_SCREEN, 2, 1, 1);
	add("B", CHECK_SCREEN, 2, 1, 9);
	add("A", CHECK_SCREEN, 2, 2, 1);
	add("A", CHECK_SCREEN, 3, 1, 1);
	add("B", CHECK_SCREEN, 3, 1, 9);
	snprintf(add("A", CHECK_SCREEN, 3, 2, 1)->status, 6, "error");
	add("A", CHECK_SCREEN, 4, 1, 1);
	snprintf(add("B", CHECK_SCREEN, 4, 1, 9)->status, 6, "error");
	gather();
	expect_logs(CHECK_SCREEN, ARM_HEAD, 1, (double[]){ 2 });
	release();
}

/* A process without iterations. */
static void command(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct run *run = add(i ? "B" : "A", CHECK_SCREEN, 1, 1, 1);

		run->total_s = 1 + i;
		snprintf(run->run_id, sizeof(run->run_id), "none-%d", i);
	}
	gather();
	assert_int_equal(is_command, 1);
	expect_logs(CHECK_SCREEN, ARM_HEAD, 1, (double[]){ 2 });
	/* The rows of a bench were lost: a pair of a process's seconds and a
	 * median of iterations would be false. */
	snprintf(campaign.runs[1].backend, sizeof(campaign.runs[1].backend),
		 "cpu");
	gather();
	expect_logs(CHECK_SCREEN, ARM_HEAD, 0, NULL);
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_median),
		cmocka_unit_test(blocks_in_order),
		cmocka_unit_test(last_attempt),
		cmocka_unit_test(command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
