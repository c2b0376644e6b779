#include "bench/show/table_view.h"

#include <string.h>

#include "bench/system/memory.h"
#include "bench/record/run.h"

/* What a setup was asked to do is the same in all its runs, but one that was
 * skipped may not know it; the seeds are one for each repetition. */
struct asked {
	const struct run *run; /* NULL: nobody knows */
	long first_seed, last_seed;
};

static void ask_run(struct asked *asked, const struct run *run)
{
	if (!asked->run && run->model[0])
		asked->run = run;
	if (run->seed == CELL_NO_INT)
		return;
	if (asked->first_seed == CELL_NO_INT || run->seed < asked->first_seed)
		asked->first_seed = run->seed;
	if (run->seed > asked->last_seed)
		asked->last_seed = run->seed;
}

static struct asked what_was_asked(const struct results *results,
				   const struct line *line)
{
	struct asked asked = { NULL, CELL_NO_INT, CELL_NO_INT };
	const struct line *lines;
	int i, target, count;

	lines = line_runs(line, &count);
	for (i = 0; i < count; i++)
		for (target = 0; target < results->target_count; target++)
			if (lines[i].cells[target].run)
				ask_run(&asked, lines[i].cells[target].run);
	return asked;
}

const struct run *find_asked(const struct results *results,
			     const struct line *line)
{
	return what_was_asked(results, line).run;
}

static void note_setup(const struct view *view, const struct line *line)
{
	const struct asked asked = what_was_asked(view->results, line);
	const struct run *run = asked.run;
	const char *precision = run ? run_odd_precision(run) : "";
	char limit[64] = "", seeds[64] = "", cpus[48] = "";

	print_note(view->out, view->options, "%s: n=%d: %s%s",
		   setup_name(line), line->repetitions,
		   line->repetitions == 1 ?
			   "one run of each target, which says nothing about "
			   "the spread across runs" :
			   "fresh processes of each target",
		   run ? "" : "; there is no runs.csv, so its machine and "
			      "settings are not known");
	if (!run)
		return;
	if (asked.first_seed == asked.last_seed)
		snprintf(seeds, sizeof(seeds), ", seed %ld", asked.first_seed);
	else
		snprintf(seeds, sizeof(seeds), ", %d seeds from %ld to %ld",
			 line->repetitions, asked.first_seed, asked.last_seed);
	if (run->steps != CELL_NO_INT)
		snprintf(limit, sizeof(limit),
			 ", at most %ld iteration%s an epoch", run->steps,
			 run->steps == 1 ? "" : "s");
	if (run->logical_cpus != CELL_NO_INT)
		snprintf(cpus, sizeof(cpus), ", %ld logical CPUs",
			 run->logical_cpus);
	print_note(view->out, view->options,
		   "%s: model %s, data set %s%s%s%s%s%s%s; %s%s; started "
		   "%s",
		   setup_name(line), run->model,
		   run->dataset[0] ? run->dataset : "unknown",
		   asked.first_seed == CELL_NO_INT ? "" : seeds, limit,
		   strcmp(run->dropout, "off") == 0 ? ", dropout off" : "",
		   strcmp(run->algorithm, "dense") == 0 ? ", dense algorithm" :
							  "",
		   *precision ? ", " : "", precision,
		   run->cpu_model[0] ? run->cpu_model : "unknown machine",
		   cpus, run->started_utc);
}

/* One thing that runs of a target have in common, said once; of several setups
 * once for each. */
static void note_once(const struct view *view, const struct run *run,
		      const char *says, struct names *told)
{
	char text[sizeof(run->label) + sizeof(run->target) + 640];
	const int several = setup_count(view->results) > 1;
	const int count = told->count;
	struct error ignored;

	snprintf(text, sizeof(text), "%s%s%s: %s",
		 several ? run_setup_name(run) : "", several ? ", " : "",
		 run->target, says);
	/* Without memory it is told again. */
	names_number(told, text, &ignored);
	if (count == told->count && names_find(told, text) >= 0)
		return;
	print_note(view->out, view->options, "%s", text);
}

static const char *how_fed(const struct run *run)
{
	return strcmp(run->resident, "yes") == 0 ?
		       "; data set resident on the device" :
	       strcmp(run->resident, "no") == 0 ?
		       "; each batch uploaded in its iteration" : "";
}

static void note_device(const struct view *view, const struct run *run,
			struct names *told)
{
	char text[640], units[32] = "";

	if (!run_is_on_devices(run) || !run->device_name[0])
		return;
	if (run->device_units != CELL_NO_INT)
		snprintf(units, sizeof(units), ", %ld unit%s",
			 run->device_units, run->device_units == 1 ? "" : "s");
	snprintf(text, sizeof(text), "%s (type %s%s, driver %s%s%s)%s%s%s%s",
		 run->device_name,
		 run->device_type[0] ? run->device_type : "unknown", units,
		 run->device_driver[0] ? run->device_driver : "unknown",
		 run->device_class[0] ? ", class " : "",
		 run->device_class,
		 how_fed(run), run->not_resident_reason[0] ? ", as " : "",
		 run->not_resident_reason,
		 run_is_ahead(run) ?
			 "; --sync epoch: no iteration was waited for, so that "
			 "s/iter is the epoch's time over its iterations, "
			 "without spread or quantiles" : "");
	note_once(view, run, text, told);
}

/* Nobody shall take such a run for a measurement. */
static void note_slowdown(const struct view *view, const struct run *run,
			  struct names *told)
{
	char text[200];

	slowdown_explain(run, text, sizeof(text));
	if (text[0])
		note_once(view, run, text, told);
}

static int note_outcome(const struct view *view, const struct line *line,
			const struct result *cell)
{
	/* The first screen has one setup, of which its title tells. */
	const int named = !view->options->first ||
			  setup_count(view->results) > 1;
	char suffix[GRID_SUFFIX];

	if (cell->outcome == OUTCOME_NONE || cell->outcome == OUTCOME_OK)
		return 0;
	line_suffix(line, suffix);
	print_note(view->out, view->options, "%s%s%s%s: %s: %s%s",
		   named ? setup_name(line) : "",
		   named || !suffix[0] ? suffix : suffix + 2,
		   named || suffix[0] ? ", " : "", cell->run->target,
		   cell->run->status[0] ? cell->run->status : "no status",
		   cell->reason[0] ? cell->reason : "no reason is given",
		   cell->outcome == OUTCOME_PARTIAL &&
				   results_have_times(view->results) ?
			   "; its numbers are of what was finished" : "");
	return 1;
}

int notes_outcomes(const struct view *view)
{
	const struct results *results = view->results;
	int count = 0;

	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];

		/* A repeated setup has a line for each of its runs. */
		if (line->repetitions > 1 && line_is_setup(line))
			continue;
		for (int target = 0; target < results->target_count; target++)
			count += note_outcome(view, line, &line->cells[target]);
	}
	return count;
}

static int is_repeated(const struct results *results)
{
	for (int i = 0; i < results->line_count; i++)
		if (results->lines[i].repetitions > 1)
			return 1;
	return 0;
}

void notes_end(const struct view *view)
{
	const struct results *results = view->results;
	struct names told = { 0 };
	char text[1024];
	size_t run;
	int i;

	/* Bold and red speak for themselves. */
	if (view->options->format == TABLE_PLAIN &&
	    results->target_count > 1 && is_repeated(results))
		print_note(view->out, view->options, "*: the best of its row, "
			   "by 95 %% intervals that do not overlap");
	for (i = 0; i < results->line_count; i++)
		if (line_is_setup(&results->lines[i]))
			note_setup(view, &results->lines[i]);
	for (run = 0; run < results->run_count; run++) {
		note_device(view, &results->runs[run], &told);
		note_slowdown(view, &results->runs[run], &told);
	}
	names_free(&told);
	disturbed_text(results, text, sizeof(text));
	if (text[0])
		print_note(view->out, view->options, "%s", text);
	notes_outcomes(view);
	notes_post(view);
}
