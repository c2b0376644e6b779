/* Finds the columns of runs.csv that differ between two campaigns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/run_settings.h"
#include "bench/report/compare.h"
#include "bench/system/memory.h"
#include "bench/system/number.h"

static const char *cell_or_none(const struct run *run, const char *column,
				char number[NUMBER_SIZE])
{
	const char *text = run_cell_text(run, column, number);

	return text[0] ? text : "none";
}

/* Lists the values of all runs, each once, and numbers them in met. A text that
 * is too long is cut and ends in "..". */
static int list_values(char *text, size_t size, struct names *met,
		       const struct results *results, int target,
		       const char *column, struct error *err)
{
	char number[NUMBER_SIZE];
	const struct result *cell;
	int next = 0;
	size_t length = 0;

	text[0] = '\0';
	while ((cell = compare_next_run(results, target, &next))) {
		const int count = met->count;
		const char *each = cell_or_none(cell->run, column, number);

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

/* Lists the values of both sides. Order is ignored; values beyond the room are
 * compared too. */
static int list_both(struct difference *difference,
		     const struct comparison *comparison,
		     const struct compared *target, struct error *err)
{
	const char *column = difference->column;
	struct names first = { 0 }, second = { 0 };
	char number[NUMBER_SIZE];
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
					&next)))
		difference->differs =
			names_find(&first, cell_or_none(cell->run, column,
							number)) < 0;
	names_free(&first);
	names_free(&second);
	return failed ? -1 : 0;
}

/* Returns 1 if the differences of all targets are equal. */
static int is_general(const struct difference *all, int count)
{
	for (int i = 1; i < count; i++)
		if (all[i].differs != all[0].differs ||
		    strcmp(all[i].first, all[0].first) ||
		    strcmp(all[i].second, all[0].second))
			return 0;
	return 1;
}

/* Adds the differences of the targets, or only one if all are equal. */
static int add_column(struct comparison *comparison,
		      const struct run_setting *setting, struct error *err)
{
	struct difference *all =
		&comparison->differences[comparison->difference_count];
	const int count = comparison->target_count;
	int kept = 0;

	for (int i = 0; i < count; i++) {
		const struct compared *target = &comparison->targets[i];

		all[i].group = setting->group;
		all[i].column = setting->column;
		all[i].target = target->name;
		if (list_both(&all[i], comparison, target, err))
			return -1;
	}
	if (is_general(all, count)) {
		all[0].target = NULL;
		kept = all[0].differs;
	} else {
		for (int i = 0; i < count; i++)
			if (all[i].differs)
				all[kept++] = all[i];
	}
	comparison->difference_count += (size_t)kept;
	return 0;
}

int compare_differences(struct comparison *comparison, struct error *err)
{
	comparison->differences = malloc((size_t)comparison->target_count *
					 (size_t)run_setting_count *
					 sizeof(*comparison->differences));
	if (!comparison->differences)
		return error_memory(err, "a comparison");
	for (int i = 0; i < run_setting_count; i++)
		if (add_column(comparison, &run_settings[i], err))
			return -1;
	return 0;
}
