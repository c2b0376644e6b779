/* What differs between two campaigns, by the columns of runs.csv. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/memory.h"
#include "bench/system/number.h"
#include "bench/show/compare.h"
#include "bench/record/column.h"

static const struct asked {
	const char *group, *column;
} asked[] = {
	{ "machine", "cpu_model" },
	{ "machine", "logical_cpus" },
	{ "machine", "cpu_quota" },
	{ "machine", "mem_bytes" },
	{ "machine", "os" },
	{ "machine", "kernel" },
	{ "machine", "virtualisation" },
	{ "machine", "governor" },
	{ "machine", "cpus" },
	{ "machine", "device_name" },
	{ "machine", "device_type" },
	{ "machine", "device_driver" },
	{ "machine", "device_units" },
	{ "build", "version" },
	{ "build", "git_commit" },
	{ "build", "compiler" },
	{ "build", "cflags" },
	{ "build", "binary_sha256" },
	{ "options", "model" },
	{ "options", "transport" },
	{ "options", "batch" },
	{ "options", "global_batch" },
	{ "options", "test_batch" },
	{ "options", "epochs" },
	{ "options", "steps" },
	{ "options", "seed" },
	{ "options", "lr" },
	{ "options", "dropout" },
	{ "options", "algorithm" },
	{ "options", "precision" },
	{ "options", "resident" },
	{ "options", "device_class" },
	{ "options", "sync" },
	{ "options", "reshuffle" },
	{ "options", "warmup" },
	{ "options", "target_accuracy_pct" },
	{ "data set", "dataset" },
	{ "data set", "dataset_sha256" },
	{ "data set", "train_samples" },
	{ "data set", "test_samples" },
	{ "variables", "variables" },
};

enum { ASKED = sizeof(asked) / sizeof(asked[0]) };

static const struct column *find_column(const char *name)
{
	int i;

	for (i = 0; i < run_rows.column_count; i++)
		if (strcmp(run_rows.columns[i].name, name) == 0)
			return &run_rows.columns[i];
	return NULL;
}

static void cell_print(char *text, size_t size, const struct column *column,
		       const struct run *run)
{
	char number[NUMBER_SIZE] = "";

	if (column->kind == CELL_TEXT)
		snprintf(text, size, "%s", cell_text(column, run));
	else if (column->kind == CELL_REAL)
		number_print(number, cell_real(column, run));
	else if (cell_int(column, run) != CELL_NO_INT)
		snprintf(number, sizeof(number), "%ld", cell_int(column, run));
	if (column->kind != CELL_TEXT)
		snprintf(text, size, "%s", number);
	if (!text[0])
		snprintf(text, size, "none");
}

/* The values of all runs, each once, numbered in met as they come; what does
 * not fit into the text is cut, and ends in "..". */
static int list_values(char *text, size_t size, struct names *met,
		       const struct results *results, int target,
		       const struct column *column, struct error *err)
{
	char each[sizeof(((struct run *)0)->variables)];
	const struct result *cell;
	int next = 0;
	size_t length = 0;

	text[0] = '\0';
	while ((cell = compare_next_run(results, target, &next))) {
		const int count = met->count;

		cell_print(each, sizeof(each), column, cell->run);
		if (names_number(met, each, err) < 0)
			return -1;
		if (met->count == count)
			continue;
		if ((size_t)snprintf(text + length, size - length, "%s%s",
				     length ? ", " : "", each) >= size - length)
			memcpy(text + size - 3, "..", 3);
		length = strlen(text);
	}
	return 0;
}

/* What the two sides have, in whatever order. They differ even if it is in what
 * was cut. */
static int list_both(struct difference *difference,
		     const struct comparison *comparison,
		     const struct compared *target, const struct column *column,
		     struct error *err)
{
	struct names first = { 0 }, second = { 0 };
	char each[sizeof(((struct run *)0)->variables)];
	const struct result *cell;
	int next = 0, failed;

	failed = list_values(difference->first, sizeof(difference->first),
			     &first, comparison->first, target->first, column,
			     err) ||
		 list_values(difference->second, sizeof(difference->second),
			     &second, comparison->second, target->second,
			     column, err);
	difference->differs = first.count != second.count;
	while (!failed && !difference->differs &&
	       (cell = compare_next_run(comparison->second, target->second,
					&next))) {
		cell_print(each, sizeof(each), column, cell->run);
		difference->differs = names_find(&first, each) < 0;
	}
	names_free(&first);
	names_free(&second);
	return failed ? -1 : 0;
}

/* Do the differences of all targets say the same? */
static int is_general(const struct difference *all, int count)
{
	int i;

	for (i = 1; i < count; i++)
		if (all[i].differs != all[0].differs ||
		    strcmp(all[i].first, all[0].first) ||
		    strcmp(all[i].second, all[0].second))
			return 0;
	return 1;
}

/* Keeps those of the targets that differ, or one if they all say the same. */
static int add_column(struct comparison *comparison, const struct asked *what,
		      struct error *err)
{
	const struct column *column = find_column(what->column);
	struct difference *all =
		&comparison->differences[comparison->difference_count];
	const int count = comparison->target_count;
	int i, kept = 0;

	for (i = 0; i < count; i++) {
		const struct compared *target = &comparison->targets[i];

		all[i].group = what->group;
		all[i].column = what->column;
		all[i].target = target->name;
		if (list_both(&all[i], comparison, target, column, err))
			return -1;
	}
	if (is_general(all, count)) {
		all[0].target = NULL;
		kept = all[0].differs;
	} else {
		for (i = 0; i < count; i++)
			if (all[i].differs)
				all[kept++] = all[i];
	}
	comparison->difference_count += (size_t)kept;
	return 0;
}

int compare_differences(struct comparison *comparison, struct error *err)
{
	const size_t most = (size_t)comparison->target_count * ASKED;
	int i;

	comparison->differences = malloc(most *
					 sizeof(*comparison->differences));
	if (!comparison->differences)
		return error_memory(err, "a comparison");
	for (i = 0; i < ASKED; i++)
		if (add_column(comparison, &asked[i], err))
			return -1;
	return 0;
}
