/* What the runs of a campaign say together, in words. */
#include "bench/record/result.h"

#include <stdio.h>
#include <string.h>

#include "bench/system/text.h"

/* The sizes of the iterations, each once; what does not fit is left out. */
struct sizes {
	long met[16];
	int count;
	char text[160];
};

static void add_size(struct sizes *sizes, long size)
{
	if (size == CELL_NO_INT)
		return;
	for (int i = 0; i < sizes->count; i++)
		if (sizes->met[i] == size)
			return;
	if (sizes->count == (int)(sizeof(sizes->met) / sizeof(sizes->met[0])))
		return;
	text_append(sizes->text, sizeof(sizes->text), "%s%ld",
		    sizes->count ? " or " : " of ", size);
	sizes->met[sizes->count++] = size;
}

void results_cut_text(const struct results *results, char *text, size_t size)
{
	struct sizes sizes = { .count = 0 };
	long most = 0;
	int same = 1;

	text[0] = '\0';
	for (size_t i = 0; i < results->run_count; i++) {
		const struct run *run = &results->runs[i];

		if (!run->model[0])
			continue;
		add_size(&sizes, run->global_batch);
		same &= run_is_cut(run) && (!most || run->steps == most);
		if (run_is_cut(run) && run->steps > most)
			most = run->steps;
	}
	if (most)
		snprintf(text, size, "%s%ld iteration%s%s",
			 same ? "" : "at most ", most, most == 1 ? "" : "s",
			 sizes.text);
}

/* The last run of a target that tested a part of the test set; NULL: none. */
static const struct run *find_part(const struct results *results,
				   const char *target)
{
	const struct run *found = NULL;

	for (size_t i = 0; i < results->run_count; i++) {
		const struct run *run = &results->runs[i];

		if (!strcmp(run->target, target) &&
		    run->test_samples != CELL_NO_INT &&
		    run_tested(run) < run->test_samples)
			found = run;
	}
	return found;
}

void results_tested_text(const struct results *results, char *text, size_t size)
{
	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const struct run *run = find_part(results, results->targets[t]);

		if (run)
			text_append(text, size, text[0] ? ", %s %ld of %ld" :
				    "accuracy is of the first test images "
				    "alone: %s %ld of %ld", run->target,
				    run_tested(run), run->test_samples);
	}
}

/* Of the runs of a target: those that were slowed, and what by most. */
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
	int count = 0;

	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const char *target = results->targets[t];
		const struct slowed slowed = slowed_of(results, target);

		if (!slowed.count)
			continue;
		text_append(text, size, "%s%s (",
			    count++ ? ", " : "disturbed: ", target);
		if (slowed.runs > 1)
			text_append(text, size, "%d of %d runs; ",
				    slowed.count, slowed.runs);
		text_append(text, size, "%s%s)", slowed.why,
			    slowed.count > 1 ? " at most" : "");
	}
	if (count)
		text_append(text, size, ": times inflated");
}
