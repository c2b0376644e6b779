/* Finds metrics for which two sides did other work: their ratio would mean
 * nothing. */
#include <stdio.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/report/compare.h"

/* Images of the iterations of an epoch. */
static long epoch_images(const struct run *run)
{
	long images;

	if (!run_is_cut(run))
		return run->train_samples;
	if (run->global_batch == CELL_NO_INT ||
	    __builtin_mul_overflow(run->steps, run->global_batch, &images))
		return CELL_NO_INT;
	return images;
}

/* Returns the images per test; 0 = no tests. */
static long test_images(const struct run *run)
{
	return run->test_s <= 0 ? 0 : run_tested(run);
}

#define OF(metric) (1u << METRIC_##metric)

/* Columns that decide the work of a metric. A missing value differs from
 * none. */
static const struct aspect {
	unsigned metrics;
	const char *column; /* NULL = value() computes it from several
			       columns */
	long (*value)(const struct run *run);
	const char *before, *behind; /* the first of the two values */
} aspects[] = {
	{ ~0u, "image_size", NULL, "images of ", " pixels a side" },
	{ OF(ITER), "global_batch", NULL, "iterations of ", " images" },
	{ OF(LOOP), "passes", NULL, "passes: ", "" },
	{ OF(LOOP) | OF(EPOCH) | OF(ACCURACY), NULL, epoch_images, "epochs of ",
	  " images" },
	{ OF(LOOP) | OF(EPOCH), NULL, test_images, "tests of ", " images" },
	{ OF(LOOP) | OF(ACCURACY), NULL, run_epochs_done, "epochs: ", "" },
};

static long value_of(const struct aspect *aspect, const struct run *run)
{
	return aspect->value ? aspect->value(run) :
		cell_int(row_column(&run_rows, aspect->column), run);
}

_Static_assert(METRIC_COUNT <= 32, "metrics are bits of an unsigned");

/* Writes why two runs did other work. second may be first. */
static void runs_text(char text[64], const struct run *first,
		      const struct run *second, enum metric metric)
{
	const int needs_data = metric == METRIC_ACCURACY ||
			       metric == METRIC_TIME_TO_ACCURACY;

	text[0] = '\0';
	if (run_is_inference(first) != run_is_inference(second))
		snprintf(text, 64, "%s", run_is_inference(first) ?
			 "inference against training" :
			 "training against inference");
	else if (first->model[0] && second->model[0] &&
		 strcmp(first->model, second->model) != 0)
		snprintf(text, 64, "%.20s against %.20s", first->model,
			 second->model);
	else if (needs_data && first->dataset[0] && second->dataset[0] &&
		 strcmp(first->dataset, second->dataset) != 0)
		snprintf(text, 64, "%.20s against %.20s", first->dataset,
			 second->dataset);
	for (size_t i = 0; !text[0] && i < sizeof(aspects) / sizeof(aspects[0]);
	     i++) {
		const long one = value_of(&aspects[i], first);
		const long other = value_of(&aspects[i], second);

		if (aspects[i].metrics >> metric & 1 && one != CELL_NO_INT &&
		    other != CELL_NO_INT && one != other)
			snprintf(text, 64, "%s%ld%s against %ld",
				 aspects[i].before, one, aspects[i].behind,
				 other);
	}
}

void compare_work_text(char text[64], const struct comparison *comparison,
		       const struct compared *target, enum metric metric)
{
	const struct result *first, *cell;
	int next = 0;

	text[0] = '\0';
	first = compare_next_run(comparison->first, target->first, &next);
	/* The runs of one side may differ, too. */
	while (!text[0] && (cell = compare_next_run(comparison->first,
						    target->first, &next)))
		runs_text(text, first->run, cell->run, metric);
	for (next = 0; !text[0] && (cell = compare_next_run(
			comparison->second, target->second, &next));)
		runs_text(text, first->run, cell->run, metric);
}
