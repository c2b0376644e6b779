/*
 * Verdicts from made-up times. A machine never measures the same times twice;
 * these are fixed, so that each verdict can be tested. From the rows on it is
 * what bench check does: its order of arms, its pairs, its gate, its two
 * stages. Without the pairing, the confirmation or the margin some of them
 * fail.
 */
#include "bench/gate/judge.h"

#include "bench/gate/pair.h"
#include "bench/gate/schedule.h"
#include "tests/cmocka.h"

#define BLOCKS 20
#define STEPS 4 /* of a process, the first one warm-up */
#define ATTEMPTS 2
#define MOST_RUNS ((CHECK_STAGES - 1) * BLOCKS * ARM_COUNT * ATTEMPTS)
#define ORDER_SEED 1
#define STEP_S .01
#define LAUNCHES 100

/* Normal deviates in no order, as many above 0 as below, and the same in
 * another one. */
static const double deviates[BLOCKS] = {
	.31,  -1.13, .59,  1.87, -.19, -.75, .06,  -1.40, .92,	-.45,
	1.13, .45,   -.06, -.92, -.31, 1.40, .75,  .19,	  -.59, -1.87,
};
static const double common[BLOCKS] = {
	1.87, .06,   -.92, .75,	 -1.40, .19, 1.13, -.59, -.06, .31,
	-.19, -1.87, .92,  1.40, -.31,	.45, -.75, .59,	 -.45, -1.13,
};

/* What happens while one target is measured, in percent. */
struct story {
	const char *tried;
	enum gate_verdict expected;
	double slower, noise;	/* the head's in the screen */
	double slower_again;	/* in the confirmation */
	double strays;		/* both arms, from block to block */
	double drifts;		/* all, from one process to the next */
	double control;		/* the base in its second arm; 0: no such arm */
	double first_attempts;	/* the head's, of blocks measured again */
	long launches;		/* of kernels, the head's beyond the base's */
	int moves;		/* to another machine, after the screen */
	int blocks;		/* 0: BLOCKS */
};

static const struct story stories[] = {
	{ .tried = "pairs that do not differ", .expected = GATE_OK,
	  .noise = 2 },
	{ .tried = "8 % slower, and again", .expected = GATE_REGRESSION,
	  .slower = 8, .slower_again = 8, .noise = 2 },
	{ .tried = "8 % faster", .expected = GATE_FASTER, .slower = -8,
	  .noise = 2 },
	{ .tried = "8 % slower by chance, and not again",
	  .expected = GATE_OK, .slower = 8, .noise = 2 },
	{ .tried = "2.5 % slower beyond doubt: below the margin",
	  .expected = GATE_OK, .slower = 2.5, .slower_again = 2.5,
	  .noise = .1 },
	{ .tried = "3.5 % slower, hardly sure that at all",
	  .expected = GATE_INCONCLUSIVE, .slower = 3.5, .slower_again = 3.5,
	  .noise = 6 },
	{ .tried = "15 % of noise", .expected = GATE_INCONCLUSIVE,
	  .noise = 15 },
	{ .tried = "both arms stray by 40 %, no difference",
	  .expected = GATE_OK, .noise = 1, .strays = 40 },
	{ .tried = "both arms stray by 40 %, 6 % slower",
	  .expected = GATE_REGRESSION, .slower = 6, .slower_again = 6,
	  .noise = 1, .strays = 40 },
	{ .tried = "2 % slower while all slows down steadily",
	  .expected = GATE_OK, .slower = 2, .slower_again = 2, .noise = .1,
	  .drifts = 1.6 },
	{ .tried = "8 % slower in 10 pairs", .expected = GATE_INCONCLUSIVE,
	  .slower = 8, .slower_again = 8, .noise = 2, .blocks = 10 },
	{ .tried = "8 % slower, and the base than itself",
	  .expected = GATE_INCONCLUSIVE, .slower = 8, .slower_again = 8,
	  .noise = 2, .control = 8 },
	{ .tried = "30 % slower before blocks were redone",
	  .expected = GATE_OK, .noise = 2, .first_attempts = 30 },
	{ .tried = "as fast, with one kernel launch more",
	  .expected = GATE_REGRESSION, .noise = 2, .launches = 1 },
	{ .tried = "8 % slower, then on another machine",
	  .expected = GATE_INCONCLUSIVE, .slower = 8, .slower_again = 8,
	  .noise = 2, .moves = 1 },
};

/* Where and when a process runs. */
struct place {
	int stage, block, attempt, arm;
	int processes; /* before it, in this stage */
};

/* ln of how much longer than STEP_S its iterations take. */
static double log_time(const struct story *story, const struct place *place)
{
	const int block = place->block - 1;
	double sum = story->strays / 100 * common[block] +
		     log1p(story->drifts / 100) * place->processes;

	if (place->arm == ARM_CONTROL)
		return sum + log1p(story->control / 100);
	if (place->arm == ARM_BASE)
		return sum;
	sum += story->noise / 100 * deviates[block];
	if (place->attempt < ATTEMPTS && story->first_attempts > 0)
		return sum + log1p(story->first_attempts / 100);
	return sum + log1p((place->stage == CHECK_SCREEN ?
				    story->slower : story->slower_again) / 100);
}

/* The third iteration is its median. */
static void add_iterations(struct campaign *campaign, const struct run *run,
			   double step_s)
{
	static const double factors[STEPS] = { 1000, .9, 1, 1.5 };

	for (int i = 0; i < STEPS; i++) {
		struct observation *row =
			&campaign->observations[campaign->observation_count++];

		row_clear(&observation_rows, row);
		snprintf(row->run_id, sizeof(row->run_id), "%s", run->run_id);
		snprintf(row->target, sizeof(row->target), "canned");
		snprintf(row->phase, sizeof(row->phase), "step");
		snprintf(row->status, sizeof(row->status), "ok");
		row->is_warmup = i == 0;
		row->elapsed_s = factors[i] * step_s;
	}
}

static void add_process(struct campaign *campaign, const struct story *story,
			const struct place *place)
{
	struct run *run = &campaign->runs[campaign->run_count++];

	row_clear(&run_rows, run);
	snprintf(run->run_id, sizeof(run->run_id), "%s-%zu", campaign->id,
		 campaign->run_count);
	snprintf(run->campaign_id, sizeof(run->campaign_id), "%s",
		 campaign->id);
	snprintf(run->target, sizeof(run->target), "canned");
	snprintf(run->status, sizeof(run->status), "ok");
	snprintf(run->arm, sizeof(run->arm), "%s", arm_names[place->arm]);
	snprintf(run->host_key, sizeof(run->host_key), "%s",
		 story->moves && place->stage == CHECK_CONFIRM ? "there" :
								 "here");
	run->stage = place->stage;
	run->block = place->block;
	run->attempt = place->attempt;
	run->launches = LAUNCHES +
			(place->arm == ARM_HEAD ? story->launches : 0);
	add_iterations(campaign, run, STEP_S * exp(log_time(story, place)));
}

static void add_stage(struct campaign *campaign, const struct story *story,
		      int stage)
{
	const int arms = story->control > 0 ? ARM_COUNT : ARM_CONTROL;
	const int blocks = story->blocks ? story->blocks : BLOCKS;
	struct place place = { .stage = stage };
	struct schedule schedule;
	struct error err;
	int pad;

	assert_int_equal(schedule_make(&schedule, blocks, 1, arms,
				       ORDER_SEED + (uint32_t)stage, &err), 0);
	for (int block = 0; block < blocks; block++) {
		place.block = block + 1;
		place.attempt = story->first_attempts > 0 ? 1 : ATTEMPTS;
		for (; place.attempt <= ATTEMPTS; place.attempt++)
			for (int order = 0; order < arms; order++) {
				place.arm = schedule_arm(&schedule, block, 0,
							 order, &pad);
				add_process(campaign, story, &place);
				place.processes++;
			}
	}
	schedule_free(&schedule);
}

static void judge(struct judged *row, const struct campaign *campaign)
{
	struct error err;

	if (judge_rows(row, 1, campaign, campaign->id, &err))
		fail_msg("%s", err.message);
}

static void story_ends_as_expected(void **state)
{
	const struct story *story = *state;
	struct judged row = { .target = "canned",
			      .gate.rule = gate_rule_default };
	struct campaign campaign = { .id = "canned" };

	campaign.runs = calloc(MOST_RUNS, sizeof(*campaign.runs));
	campaign.observations = calloc(MOST_RUNS * STEPS,
				       sizeof(*campaign.observations));
	assert_non_null(campaign.runs);
	assert_non_null(campaign.observations);
	add_stage(&campaign, story, CHECK_SCREEN);
	judge(&row, &campaign);
	if (gate_needs_confirmation(&row.gate)) {
		add_stage(&campaign, story, CHECK_CONFIRM);
		judge(&row, &campaign);
	}
	free(campaign.observations);
	free(campaign.runs);
	if (row.gate.verdict != story->expected)
		fail_msg("%s: expected %s, got %s (%s)", story->tried,
			 gate_verdict_name(story->expected),
			 gate_verdict_name(row.gate.verdict), row.gate.reason);
}

int main(void)
{
	enum { COUNT = sizeof(stories) / sizeof(stories[0]) };
	static struct story copies[COUNT]; /* cmocka's states are not const */
	static struct CMUnitTest tests[COUNT];

	memcpy(copies, stories, sizeof(stories));
	for (size_t i = 0; i < COUNT; i++)
		tests[i] = (struct CMUnitTest){
			.name = copies[i].tried,
			.test_func = story_ends_as_expected,
			.initial_state = &copies[i],
		};
	return cmocka_run_group_tests_name("verdicts", tests, NULL, NULL);
}
