/*
 * What the gate would have said: checks put together from the pairs that real
 * ones recorded. Says how often it flags, confirms and gives no verdict.
 *
 *   build/tests/resample [OPTION ...] FOLDER ...
 *
 *   --checks N     how many checks (300)
 *   --blocks N     pairs of a stage (20)
 *   --seed N       of where windows begin and which arms are exchanged (1)
 *   --add PCT      each head takes so much longer (0)
 *   --margin PCT   of the rule (3)
 *   --control      pairs are the base and the base again, A2 / A
 *   --as-recorded  arms stay as they were: they differ
 *   --pairs        prints every stage instead, for tests/peers/signed_rank.py
 *   --live         prints what came of the checks themselves instead: how many
 *                  invocations each folder has, and what they bound
 *
 * A stage is a window of consecutive pairs, in the order in which they were
 * measured and around the end to the start; so what a noisy minute does to its
 * neighbours stays. The confirmation's window has no pair of the screen's. All
 * targets with as many pairs have their windows in the same places: the noise
 * that they share stays too. Where both arms are the same program they are
 * exchanged at random, which the order inside a block had done before.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/gate/gate.h"
#include "bench/gate/verdict.h"
#include "bench/statistics/stats.h"
#include "models/random.h"
#include "tests/tools/recorded.h"

/* What is counted, of each target and, up to COVERED, of whole checks. */
enum { SLOWER, FASTER, CONFIRMED, INCONCLUSIVE, COVERED, COUNTERS };

static const char *const counter_names[COUNTERS] = {
	"flagged slower", "flagged faster", "regression", "inconclusive",
	"interval holds truth",
};

/* What came of a target's checks. */
struct outcome {
	long counts[COUNTERS];
	double *detectable; /* [checks] */
};

struct settings {
	long checks, blocks, seed;
	double add, margin; /* % */
	int control, as_recorded, pairs, live;
};

/* What came of checks as they were: targets of one invocation share the
 * machine's hour, so that it is invocations that are independent. */
struct live {
	size_t checks, rows, flagged, faster, confirmed, inconclusive;
};

struct resample {
	struct settings settings;
	struct gate_rule rule;
	struct recorded recorded;
	struct mt19937 random;
	struct outcome outcomes[RECORDED_MOST_TARGETS];
	long counts[COUNTERS]; /* checks in which any target counts */
};

/* 0 to below - 1, from 32 random bits. */
static size_t scale(uint32_t bits, size_t below)
{
	return (size_t)((uint64_t)bits * below >> 32);
}

/* A window's logarithms; control has as many as there are. */
struct window {
	double logs[SIGNED_RANK_MOST], control[SIGNED_RANK_MOST];
	size_t count, control_count;
};

static void cut_window(struct resample *resample,
		       const struct recorded_target *target, size_t start,
		       struct window *window)
{
	const struct settings *settings = &resample->settings;
	const int arm = settings->control ? ARM_CONTROL : ARM_HEAD;

	*window = (struct window){ .count = (size_t)settings->blocks };
	for (size_t i = 0; i < window->count; i++) {
		const double *values =
			target->values[(start + i) % target->count];
		int exchanged = !settings->as_recorded &&
				mt19937_next(&resample->random) >> 31;
		double base = values[exchanged ? arm : ARM_BASE];
		double head = values[exchanged ? ARM_BASE : arm];

		window->logs[i] = log(head / base) + log1p(settings->add / 100);
		if (!settings->control && isfinite(values[ARM_CONTROL]))
			window->control[window->control_count++] =
				log(values[ARM_CONTROL] / base);
	}
}

/* As a line of CSV, with all digits. */
static int print_window(const char *name, long check, const char *stage,
			const struct window *window, double shift,
			struct error *err)
{
	struct rank_test test;

	if (signed_rank_make(&test, window->logs, window->count, err))
		return -1;
	printf("%ld,%s,%s,%.17g,%.17g,%.17g,%.17g,%.17g,", check, name, stage,
	       rank_test_estimate(&test), rank_test_lower(&test, .025),
	       rank_test_upper(&test, .025), shift,
	       rank_test_p_above(&test, shift));
	for (size_t i = 0; i < window->count; i++)
		printf("%s%.17g", i ? " " : "", window->logs[i]);
	printf("\n");
	rank_test_release(&test);
	return 0;
}

static int measure(struct resample *resample,
		   const struct recorded_target *target, long check,
		   size_t start, size_t distance, struct gate_row *row,
		   struct error *err)
{
	const double shift = log1p(row->rule.least);
	struct window window;

	cut_window(resample, target, start, &window);
	if (resample->settings.pairs &&
	    print_window(target->name, check, "screen", &window, shift, err))
		return -1;
	if (gate_measure(&row->screen, &row->rule, window.logs, window.count,
			 err) ||
	    (window.control_count &&
	     gate_measure(&row->control, &row->rule, window.control,
			  window.control_count, err)))
		return -1;
	if (!gate_needs_confirmation(row))
		return 0;
	cut_window(resample, target, start + distance, &window);
	if (resample->settings.pairs &&
	    print_window(target->name, check, "confirmation", &window, shift,
			 err))
		return -1;
	return gate_measure(&row->confirm, &row->rule, window.logs,
			    window.count, err);
}

static void count_row(const struct resample *resample,
		      const struct gate_row *row, long counts[COUNTERS])
{
	const double truth = 1 + resample->settings.add / 100;

	counts[SLOWER] += row->screen.slower;
	counts[FASTER] += row->screen.faster;
	counts[CONFIRMED] += row->verdict == GATE_REGRESSION;
	counts[INCONCLUSIVE] += row->verdict == GATE_INCONCLUSIVE;
	counts[COVERED] += row->screen.lower <= truth &&
			   row->screen.upper >= truth;
}

static int run_check(struct resample *resample, long check, struct error *err)
{
	struct gate_row rows[RECORDED_MOST_TARGETS];
	const size_t blocks = (size_t)resample->settings.blocks;
	const uint32_t first = mt19937_next(&resample->random);
	const uint32_t second = mt19937_next(&resample->random);
	long counts[COUNTERS] = { 0 };

	for (int t = 0; t < resample->recorded.target_count; t++) {
		const struct recorded_target *target =
			&resample->recorded.targets[t];
		size_t free_places = target->count - 2 * blocks + 1;

		rows[t] = (struct gate_row){ .rule = resample->rule };
		if (measure(resample, target, check,
			    scale(first, target->count),
			    blocks + scale(second, free_places), &rows[t], err))
			return -1;
		resample->outcomes[t].detectable[check] =
			rows[t].screen.detectable;
	}
	gate_judge(rows, resample->recorded.target_count);
	for (int t = 0; t < resample->recorded.target_count; t++) {
		count_row(resample, &rows[t], resample->outcomes[t].counts);
		count_row(resample, &rows[t], counts);
	}
	for (int c = 0; c < COUNTERS; c++)
		resample->counts[c] += counts[c] > 0;
	return 0;
}

static int run_checks(struct resample *resample, struct error *err)
{
	const struct settings *settings = &resample->settings;

	for (int t = 0; t < resample->recorded.target_count; t++) {
		const struct recorded_target *target =
			&resample->recorded.targets[t];

		if (target->count < 2 * (size_t)settings->blocks)
			return error_set(err, ERROR_INPUT, "%s has %zu pairs; "
					 "two windows of %ld need %ld",
					 target->name, target->count,
					 settings->blocks,
					 2 * settings->blocks);
		resample->outcomes[t].detectable =
			calloc((size_t)settings->checks, sizeof(double));
		if (!resample->outcomes[t].detectable)
			return error_memory(err, "checks");
	}
	mt19937_seed(&resample->random, (unsigned long long)settings->seed);
	if (settings->pairs)
		printf("check,target,stage,estimate,lower,upper,shift,p_above,"
		       "differences\n");
	for (long check = 0; check < settings->checks; check++)
		if (run_check(resample, check, err))
			return -1;
	return 0;
}

static void print_counts(const char *name, const long *counts, int counters,
			 long checks)
{
	const size_t n = (size_t)checks;

	for (int c = 0; c < counters; c++) {
		const size_t k = (size_t)counts[c];

		printf("%-16s %-20s %6zu %6zu %7.2f %7.2f %7.2f %7.2f %7.2f\n",
		       name, counter_names[c], k, n, 100. * k / n,
		       100 * binomial_lower(k, n, .025),
		       100 * binomial_upper(k, n, .025),
		       100 * binomial_lower(k, n, .05),
		       100 * binomial_upper(k, n, .05));
	}
}

static void print_rates(struct resample *resample)
{
	const struct settings *settings = &resample->settings;
	const size_t checks = (size_t)settings->checks;

	printf("%-16s %6s %8s %s\n", "target", "pairs", "windows",
	       "detectable_pct (median)");
	for (int t = 0; t < resample->recorded.target_count; t++) {
		const struct recorded_target *target =
			&resample->recorded.targets[t];
		struct stats stats = stats_compute(
			resample->outcomes[t].detectable, checks);
		char detectable[NUMBER_SIZE];

		/* Empty where too few pairs can detect nothing. */
		number_print_fixed(detectable, 100 * (stats.median - 1), 2);
		printf("%-16s %6zu %8zu %s\n", target->name, target->count,
		       target->count / (size_t)settings->blocks, detectable);
	}
	printf("\n%ld checks of %ld + %ld pairs, seed %ld, arms %s, %g %% "
	       "added, margin %g %%\n", settings->checks, settings->blocks,
	       settings->blocks, settings->seed, settings->as_recorded ?
	       "as recorded" : "exchanged at random", settings->add,
	       100 * resample->rule.margin);
	printf("from, to: 95 %% interval; least, most: one-sided 95 %% bounds; "
	       "as if no checks shared pairs\n\n");
	printf("%-16s %-20s %6s %6s %7s %7s %7s %7s %7s\n", "target", "what",
	       "times", "of", "rate_%", "from", "to", "least", "most");
	for (int t = 0; t < resample->recorded.target_count; t++)
		print_counts(resample->recorded.targets[t].name,
			     resample->outcomes[t].counts, COUNTERS,
			     settings->checks);
	print_counts("whole check", resample->counts, COVERED,
		     settings->checks);
}

/* Of the rows of one invocation. */
static void add_live(struct live *live, const struct verdict *rows,
		     size_t count)
{
	struct live one = { 0 };

	for (size_t i = 0; i < count; i++) {
		one.flagged |= rows[i].confirm_pairs > 0;
		one.faster |= !strcmp(rows[i].verdict,
				      gate_verdict_name(GATE_FASTER));
		one.confirmed |= !strcmp(rows[i].verdict,
					 gate_verdict_name(GATE_REGRESSION));
		one.inconclusive |= !strcmp(rows[i].verdict,
				gate_verdict_name(GATE_INCONCLUSIVE));
	}
	live->checks++;
	live->rows += count;
	live->flagged += one.flagged;
	live->faster += one.faster;
	live->confirmed += one.confirmed;
	live->inconclusive += one.inconclusive;
}

static void print_live(const char *name, const struct live *live)
{
	printf("%-32s %6zu %7zu %7zu %7zu %9zu %12zu %7.1f %7.1f\n", name,
	       live->checks, live->rows, live->flagged, live->faster,
	       live->confirmed, live->inconclusive,
	       100 * binomial_lower(live->confirmed, live->checks, .05),
	       100 * binomial_upper(live->confirmed, live->checks, .05));
}

static int read_live(struct live *live, const char *folder, struct error *err)
{
	struct verdicts verdicts = { 0 };
	size_t first = 0, next;

	*live = (struct live){ 0 };
	if (verdicts_read(&verdicts, folder, err))
		return -1;
	for (; first < verdicts.count; first = next) {
		next = first + 1;
		while (next < verdicts.count &&
		       !strcmp(verdicts.rows[next].campaign_id,
			       verdicts.rows[first].campaign_id))
			next++;
		add_live(live, &verdicts.rows[first], next - first);
	}
	verdicts_release(&verdicts);
	return live->checks ? 0 : error_set(err, ERROR_INPUT, "%s: no verdicts "
					    "of bench check", folder);
}

static int print_lives(char *const *folders, int count, struct error *err)
{
	struct live one, all = { 0 };

	printf("confirmed: a regression; least, most: one-sided 95 %% bounds "
	       "of its rate (Clopper and Pearson)\n\n");
	printf("%-32s %6s %7s %7s %7s %9s %12s %7s %7s\n", "folder", "checks",
	       "targets", "flagged", "faster", "confirmed", "inconclusive",
	       "least_%", "most_%");
	for (int i = 0; i < count; i++) {
		if (read_live(&one, folders[i], err))
			return -1;
		print_live(folders[i], &one);
		all.checks += one.checks;
		all.rows += one.rows;
		all.flagged += one.flagged;
		all.faster += one.faster;
		all.confirmed += one.confirmed;
		all.inconclusive += one.inconclusive;
	}
	if (count > 1)
		print_live("all", &all);
	return 0;
}

static int put_together(struct resample *resample, const char *const *folders,
			int count, struct error *err)
{
	const int arm = resample->settings.control ? ARM_CONTROL : ARM_HEAD;

	if (recorded_load(&resample->recorded, arm, folders, count, err) ||
	    run_checks(resample, err))
		return -1;
	if (!resample->settings.pairs)
		print_rates(resample);
	return 0;
}

static void release(struct resample *resample)
{
	for (int t = 0; t < resample->recorded.target_count; t++)
		free(resample->outcomes[t].detectable);
	recorded_release(&resample->recorded);
}

enum { CHECKS = 256, BLOCKS, SEED, ADD, MARGIN };

static int parse(struct settings *settings, int argc, char **argv)
{
	const struct option options[] = {
		{ "checks", 1, NULL, CHECKS },
		{ "blocks", 1, NULL, BLOCKS },
		{ "seed", 1, NULL, SEED },
		{ "add", 1, NULL, ADD },
		{ "margin", 1, NULL, MARGIN },
		{ "control", 0, &settings->control, 1 },
		{ "as-recorded", 0, &settings->as_recorded, 1 },
		{ "pairs", 0, &settings->pairs, 1 },
		{ "live", 0, &settings->live, 1 },
		{ 0 },
	};
	int option, failed = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == CHECKS)
			failed |= number_parse_int(optarg, &settings->checks);
		else if (option == BLOCKS)
			failed |= number_parse_int(optarg, &settings->blocks);
		else if (option == SEED)
			failed |= number_parse_int(optarg, &settings->seed);
		else if (option == ADD)
			failed |= number_parse_real(optarg, &settings->add);
		else if (option == MARGIN)
			failed |= number_parse_real(optarg, &settings->margin);
		else
			failed |= option != 0;
	return failed || optind == argc || settings->checks < 1 ||
	       settings->blocks < 1 || settings->blocks > SIGNED_RANK_MOST ||
	       settings->add <= -100 || settings->margin < 0;
}

int main(int argc, char **argv)
{
	struct resample resample = {
		.settings = { .checks = 300, .blocks = 20, .seed = 1,
			      .margin = 3 },
		.rule = gate_rule_default,
	};
	struct error err;
	int failed;

	if (parse(&resample.settings, argc, argv)) {
		fprintf(stderr, "resample [--checks N] [--blocks N] [--seed N] "
			"[--add PCT] [--margin PCT]\n\t[--control] "
			"[--as-recorded] [--pairs] [--live] FOLDER ...\n");
		return ERROR_USAGE;
	}
	resample.rule.margin = resample.settings.margin / 100;
	if (resample.settings.live)
		failed = print_lives(argv + optind, argc - optind, &err);
	else
		failed = put_together(&resample,
				      (const char *const *)argv + optind,
				      argc - optind, &err);
	if (failed)
		fprintf(stderr, "resample: %s\n", err.message);
	release(&resample);
	return failed ? (int)err.kind : 0;
}
