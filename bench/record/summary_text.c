/* Sentences about the runs of a campaign. */
#include "bench/record/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/system/text.h"

/* Smallest rise of the training loss that is reported, and its fewest
 * updates. */
#define RISE 1.05
#define RISE_UPDATES 10

/* Length to which an epoch was cut. */
struct cut {
	long iterations; /* 0: it was not cut */
	long batch;	 /* samples of each; CELL_NO_INT: not known */
};

/* Each once; what does not fit is left out. */
struct cuts {
	struct cut met[16];
	int count;
	int differ; /* in their iterations */
};

static void add_cut(struct cuts *cuts, const struct run *run)
{
	const struct cut cut = { run_is_cut(run) ? run->steps : 0,
				 run->global_batch };

	for (int i = 0; i < cuts->count; i++)
		if (cuts->met[i].iterations == cut.iterations &&
		    cuts->met[i].batch == cut.batch)
			return;
	if (cuts->count == (int)(sizeof(cuts->met) / sizeof(cuts->met[0])))
		return;
	cuts->met[cuts->count++] = cut;
	cuts->differ |= cut.iterations != cuts->met[0].iterations;
}

void results_cut_text(const struct results *results, char *text, size_t size)
{
	struct cuts cuts = { .count = 0 };

	text[0] = '\0';
	for (size_t i = 0; i < results->run_count; i++)
		if (results->runs[i].model[0])
			add_cut(&cuts, &results->runs[i]);
	for (int i = 0; i < cuts.count; i++) {
		const struct cut *cut = &cuts.met[i];

		if (!cuts.differ && !cut->iterations)
			return;
		text_append(text, size, "%s", i ? " or" : "");
		if (cuts.differ && !cut->iterations)
			text_append(text, size, "%sall", i ? " " : "");
		else if (cuts.differ || !i)
			text_append(text, size, "%s%ld", i ? " " : "",
				    cut->iterations);
		if (!i)
			text_append(text, size, " iteration%s",
				    cut->iterations == 1 ? "" : "s");
		if (cut->batch != CELL_NO_INT)
			text_append(text, size, "%s %ld",
				    cuts.differ || !i ? " of" : "", cut->batch);
	}
}

/* Iterates over targets: returns the last run of a target for which is_so()
 * holds. *target is 0 at the start. Returns NULL at the end. */
static const struct run *next_such(const struct results *results,
				   int (*is_so)(const struct run *),
				   int *target)
{
	const struct run *found = NULL;

	for (; !found && *target < results->target_count; ++*target)
		for (size_t i = 0; i < results->run_count; i++)
			if (!strcmp(results->runs[i].target,
				    results->targets[*target]) &&
			    is_so(&results->runs[i]))
				found = &results->runs[i];
	return found;
}

static int is_cut_short(const struct run *run)
{
	return run_is_cut(run) && !strcmp(run->status, "ok") &&
	       run_whole_epoch(run) != CELL_NO_INT;
}

void results_short_text(const struct results *results, char *text, size_t size)
{
	const struct run *run;

	text[0] = '\0';
	for (int t = 0; (run = next_such(results, is_cut_short, &t));)
		text_list(text, size, "cut short: ", ", ", "%s %ld of %ld%s",
			  run->target, run->steps, run_whole_epoch(run),
			  text[0] ? "" : " iterations");
}

static int is_tested_in_part(const struct run *run)
{
	return run->test_samples != CELL_NO_INT &&
	       run_tested(run) < run->test_samples;
}

void results_tested_text(const struct results *results, char *text, size_t size)
{
	const struct run *run;

	text[0] = '\0';
	for (int t = 0; (run = next_such(results, is_tested_in_part, &t));)
		text_list(text, size, "accuracy covers the first test images "
			  "only: ", ", ", "%s %ld of %ld", run->target,
			  run_tested(run), run->test_samples);
}

struct seconds_text {
	char text[32];
};

static struct seconds_text seconds_text(double seconds)
{
	struct seconds_text text;

	snprintf(text.text, sizeof(text.text),
		 seconds < 100 ? "%.3g s" : "%.0f s", seconds);
	return text;
}

/* Returns 1 if the iterations were cut, the test was not, and took longer. */
static int is_mostly_test(const struct run *run)
{
	return run_is_cut(run) && run->test_samples != CELL_NO_INT &&
	       run_tested(run) == run->test_samples &&
	       run->test_s > run->iterations_s;
}

void results_long_test_text(const struct results *results, char *text,
			    size_t size)
{
	const struct run *run;

	text[0] = '\0';
	for (int t = 0; (run = next_such(results, is_mostly_test, &t));)
		text_list(text, size, "the test was not cut, and took longer "
			  "than the iterations: ", ", ", "%s %s against %s",
			  run->target, seconds_text(run->test_s).text,
			  seconds_text(run->iterations_s).text);
	if (text[0])
		text_append(text, size, "; --test-steps N cuts it");
}

/* A constant loss varies by a few percent, and the first iterations show
 * nothing. */
static int has_rising_loss(const struct result *cell)
{
	return cell->run && cell->run->lr > 0 &&
	       cell->values[METRIC_UPDATES].mean >= RISE_UPDATES &&
	       strcmp(cell->run->dataset, "fake") != 0 &&
	       cell->last_loss > cell->first_loss &&
	       cell->values[METRIC_TRAIN_LOSS].mean >
		       RISE * cell->first_loss;
}

void results_rising_loss_text(const struct results *results, char *text,
			      size_t size)
{
	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const struct result *found = NULL;

		for (int i = 0; i < results->line_count; i++)
			if (has_rising_loss(&results->lines[i].cells[t]))
				found = &results->lines[i].cells[t];
		if (found)
			text_list(text, size, "the training loss rose: ", ", ",
				  "%s from %.3g to %.3g in %.0f iterations at "
				  "--lr %g", found->run->target,
				  found->first_loss, found->last_loss,
				  found->values[METRIC_UPDATES].mean,
				  found->run->lr);
	}
	if (text[0])
		text_append(text, size, "; a smaller --lr may help");
}

/* The slowed runs of a target, and the largest cause. */
struct slowed {
	int runs, count;
	char why[96];
	double most;
};

static struct slowed slowed_of(const struct results *results,
			       const char *target)
{
	struct slowed slowed = { .most = -1 };
	char why[sizeof(slowed.why)];

	for (size_t i = 0; i < results->run_count; i++) {
		const struct run *run = &results->runs[i];
		const double others = run_others_cpus(run);
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
	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const char *target = results->targets[t];
		const struct slowed slowed = slowed_of(results, target);

		if (!slowed.count)
			continue;
		text_list(text, size, "disturbed: ", ", ", "%s (", target);
		if (slowed.runs > 1)
			text_append(text, size, "%d of %d runs; ",
				    slowed.count, slowed.runs);
		text_append(text, size, "%s%s)", slowed.why,
			    slowed.count > 1 ? " at most" : "");
	}
	if (text[0])
		text_append(text, size, ": times inflated");
}

int result_was_disturbed(const struct result *cell)
{
	const struct result *each;
	char why[96];

	for (int at = 0; (each = next_repetition(cell, &at));)
		if (each->outcome == OUTCOME_OK &&
		    run_is_slowed(each->run, why, sizeof(why)))
			return 1;
	return 0;
}

/* Samples of an iteration on each core; NAN: not known. */
static double core_batch(const struct run *run)
{
	return run->global_batch == CELL_NO_INT || run->cores < 1 ?
		       NAN : (double)run->global_batch / (double)run->cores;
}

/* The CPUs bound the ratio of two targets that compute alike. A core with a
 * larger batch may compute more efficiently than one with a smaller batch. */
static int exceeds_cpus(const struct run *run, const struct run *base,
			const struct stats *ratio)
{
	const double half = stats_shown_half_width(ratio);
	const double least = ratio->mean - (isfinite(half) ? half : 0);

	/* NAN compares as false. */
	return !run_is_on_devices(run) &&
	       !strcmp(run->backend, base->backend) &&
	       !(core_batch(run) > core_batch(base)) &&
	       least > run_cpus(run) + RATIO_ROUNDED;
}

struct doubt ratio_doubt(const struct result *cell, const struct result *base,
			 const struct stats *ratio)
{
	const double cpus = run_cpus(cell->run);
	const struct result *disturbed = result_was_disturbed(base) ? base :
					 result_was_disturbed(cell) ? cell :
								      NULL;
	struct doubt doubt = { "" };

	if (disturbed)
		snprintf(doubt.text, sizeof(doubt.text), "%s was disturbed",
			 disturbed->run->target);
	else if (exceeds_cpus(cell->run, base->run, ratio))
		snprintf(doubt.text, sizeof(doubt.text),
			 "%.2f times exceeds the %.*f CPU%s of %s",
			 ratio->mean, cpus == floor(cpus) ? 0 : 2, cpus,
			 cpus == 1 ? "" : "s", cell->run->target);
	return doubt;
}
