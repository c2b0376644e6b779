/* For tests: `bench measure` on the smallest network, and what comes out. */
#ifndef TESTS_RUNS_H
#define TESTS_RUNS_H

#include "tests/kernels/subject.h"

#include "bench/record/csv.h"
#include "bench/commands/commands.h"
#include "tests/unit/rows.h"

#define TRAIN 130 /* five batches of 32, the last one of 2 */
#define TEST 37
#define BATCH 32
#define ITERATIONS 5
#define MOST_WORDS 40

/* Rows and outputs of a run. */
struct outcome {
	struct observation *rows;
	size_t count;
	struct run run;
	float *parameters; /* NULL after a failure */
	int failed;
	struct error err;
};

static inline const struct model *tiny(void)
{
	return model_find("tiny");
}

static inline void read_outcome(struct outcome *outcome, const char *rows,
				const char *run, const char *parameters)
{
	const size_t count = model_parameter_count(tiny());
	FILE *file = fopen(parameters, "rb");
	struct error err;
	size_t runs;
	void *list;

	must(csv_read(rows, &observation_rows, &list, &outcome->count, &err),
	     &err);
	outcome->rows = list;
	must(csv_read(run, &run_rows, &list, &runs, &err), &err);
	assert_int_equal(runs, 1);
	outcome->run = *(struct run *)list;
	free(list);
	if (!file)
		return;
	outcome->parameters = allocate((count + 1) * sizeof(float));
	assert_int_equal(fread(outcome->parameters, sizeof(float), count + 1,
			       file), count);
	fclose(file);
}

/* Runs bench measure with the words of line added. */
static inline void measure(struct outcome *outcome, const char *line)
{
	const char *rows = in_folder("rows.csv"), *run = in_folder("run.csv");
	const char *parameters = in_folder("parameters");
	char text[4096], *argv[MOST_WORDS], *rest = text;
	FILE *out = fopen(rows, "w");
	struct options options;
	int argc = 1;

	*outcome = (struct outcome){ 0 };
	assert_non_null(out);
	remove(parameters);
	snprintf(text, sizeof(text),
		 "measure -q -m tiny -d synthetic --synthetic-train=%d "
		 "--synthetic-test=%d --warmup=2 --run-file=%s "
		 "--save-parameters=%s %s", TRAIN, TEST, run, parameters, line);
	while ((argv[argc] = strsep(&rest, " ")) && argc < MOST_WORDS - 1)
		argc++;
	argv[0] = argv[1];
	must(options_parse(&options, argc, argv, &outcome->err),
	     &outcome->err);
	outcome->failed = measure_command(&options, out, stderr, &outcome->err);
	fclose(out);
	options_release(&options);
	read_outcome(outcome, rows, run, parameters);
}

static inline void release(struct outcome *outcome)
{
	free(outcome->rows);
	free(outcome->parameters);
}

static inline void measure_well(struct outcome *outcome, const char *line)
{
	measure(outcome, line);
	must(outcome->failed, &outcome->err);
	assert_string_equal(outcome->run.status, "ok");
	assert_int_equal(outcome->run.exit_code, 0);
	assert_non_null(outcome->parameters);
}

static inline const struct observation *
find_row(const struct outcome *outcome, const char *phase, long epoch)
{
	for (size_t i = 0; i < outcome->count; i++)
		if (!strcmp(outcome->rows[i].phase, phase) &&
		    outcome->rows[i].epoch == epoch)
			return &outcome->rows[i];
	fail_msg("no %s in epoch %ld", phase, epoch);
	return outcome->rows;
}

/* Returns the target's row, not a core's. */
static inline const struct observation *
find_step(const struct outcome *outcome, long epoch, long iter)
{
	const struct observation *row = find_row(outcome, "step", epoch);
	const struct observation *end = outcome->rows + outcome->count;

	while (row < end && row->iter != iter)
		row++;
	assert_true(row < end);
	return row;
}

#endif
