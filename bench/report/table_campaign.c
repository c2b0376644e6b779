/* Prints the notes after the tables: setups, machine, devices and failures. */
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/report/table.h"
#include "bench/report/table_view.h"
#include "bench/system/command_line.h"
#include "bench/system/memory.h"
#include "bench/system/text.h"
#include "models/model.h"

#define MOST_EARLIER 4 /* campaigns that are named */

/* All runs of a setup have the same settings, but a skipped one may lack
 * them. */
const struct run *find_settings(const struct line *line)
{
	const struct run *run;
	int at = 0;

	while ((run = next_run(line, &at)) && !run->model[0])
		;
	return run;
}

/* Writes the seeds of a line's runs, one per repetition; empty if unknown. */
static void seeds_text(char *text, size_t size, const struct line *line)
{
	long first = CELL_NO_INT, last = CELL_NO_INT;
	const struct run *run;

	for (int at = 0; (run = next_run(line, &at));) {
		if (run->seed == CELL_NO_INT)
			continue;
		if (first == CELL_NO_INT || run->seed < first)
			first = run->seed;
		if (run->seed > last)
			last = run->seed;
	}
	text[0] = '\0';
	if (first != CELL_NO_INT && first == last)
		snprintf(text, size, ", seed %ld", first);
	else if (first != CELL_NO_INT)
		snprintf(text, size, ", %d seeds from %ld to %ld",
			 line->repetitions, first, last);
}

struct short_text unusual_text(const struct run *run)
{
	const struct model *model = model_find(run->model);
	const char *precision = run_odd_precision(run);
	struct short_text text;
	char images[48] = "";

	if (model && run->image_size != CELL_NO_INT &&
	    run->image_size != model->input.height)
		snprintf(images, sizeof(images), ", images of %ldx%ld",
			 run->image_size, run->image_size);
	snprintf(text.text, sizeof(text.text), "%s%s%s%s%s", images,
		 strcmp(run->dropout, "off") == 0 ? ", dropout off" : "",
		 strcmp(run->algorithm, "dense") == 0 ? ", dense" : "",
		 *precision ? ", " : "", precision);
	return text;
}

static void note_settings(const struct view *view, const struct line *line,
			  const struct run *run)
{
	char limit[64] = "", seeds[64], cpus[48] = "";

	seeds_text(seeds, sizeof(seeds), line);
	if (run->steps != CELL_NO_INT)
		snprintf(limit, sizeof(limit), ", at most %.40s an epoch",
			 count_text(run->steps, "iteration").text);
	if (run->logical_cpus != CELL_NO_INT)
		snprintf(cpus, sizeof(cpus), ", %ld logical CPUs",
			 run->logical_cpus);
	view_note(view, "%s: model %s, data set %s%s%s%s; %s%s; started "
		  "%s", setup_name(line), run->model,
		  run->dataset[0] ? run->dataset : "unknown", seeds, limit,
		  unusual_text(run).text,
		  run->cpu_model[0] ? run->cpu_model : "unknown machine", cpus,
		  run->started_utc);
}

static void note_setup(const struct view *view, const struct line *line)
{
	const struct run *run = find_settings(line);

	view_note(view, "%s: n=%d: %s%s", setup_name(line), line->repetitions,
		  line->repetitions == 1 ?
			  "one run of each target, which says nothing about "
			  "the spread across runs" :
			  "fresh processes of each target",
		  run ? "" : "; there is no runs.csv, so its machine and "
			     "settings are not known");
	if (run)
		note_settings(view, line, run);
}

int note_once(const struct view *view, struct names *told, const char *format,
	      ...)
{
	const int before = told->count;
	char text[2048];
	va_list arguments;
	struct error ignored;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* Without memory the line is printed again. */
	if (!text[0] || (names_number(told, text, &ignored) >= 0 &&
			 told->count == before))
		return 0;
	view_note(view, "%s", text);
	return 1;
}

/* One thing that runs of a target have in common; of several setups once for
 * each. */
static void note_target(const struct view *view, const struct run *run,
			const char *says, struct names *told)
{
	const int several = setup_count(view->results) > 1;

	note_once(view, told, "%s%s%s: %s", several ? run_setup_name(run) : "",
		  several ? ", " : "", run->target, says);
}

static const char *residence_text(const struct run *run)
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
		snprintf(units, sizeof(units), ", %.29s",
			 count_text(run->device_units, "unit").text);
	snprintf(text, sizeof(text), "%s (type %s%s, driver %s%s%s)%s%s%s%s",
		 run->device_name,
		 run->device_type[0] ? run->device_type : "unknown", units,
		 run->device_driver[0] ? run->device_driver : "unknown",
		 run->device_class[0] ? ", class " : "",
		 run->device_class, residence_text(run),
		 run->not_resident_reason[0] ? ", as " : "",
		 run->not_resident_reason,
		 run_is_ahead(run) ?
			 "; --sync epoch: no iteration was waited for, so "
			 "s/iter is the epoch's time divided by its "
			 "iterations, without spread or quantiles" : "");
	note_target(view, run, text, told);
}

/* Nobody must mistake such a run for a measurement. */
static void note_slowdown(const struct view *view, const struct run *run,
			  struct names *told)
{
	char text[200];

	run_explain_slowdown(run, text, sizeof(text));
	if (text[0])
		note_target(view, run, text, told);
}

/* Prints the loss scale and the skipped steps. */
static void note_scale(const struct view *view, const struct run *run,
		       struct names *told)
{
	char text[160];

	if (run->skipped_steps == CELL_NO_INT)
		return;
	snprintf(text, sizeof(text), "%ld of %.0f gradients overflowed in fp16 "
		 "and made no step; the loss was scaled by %g in the end",
		 run->skipped_steps,
		 (double)run->skipped_steps + (double)run->updates,
		 run->loss_scale);
	note_target(view, run, text, told);
}

static int note_outcome(const struct view *view, const struct result *cell)
{
	const struct line *line = cell->line;
	/* The title of a row a target names the only setup. */
	const int named = !view->options->first ||
			  setup_count(view->results) > 1;
	char where[160] = "";

	if (cell->outcome == OUTCOME_NONE || cell->outcome == OUTCOME_OK)
		return 0;
	if (named)
		snprintf(where, sizeof(where), "%s, ", line_name(line).text);
	else if (line->repetition)
		snprintf(where, sizeof(where), "run %d, ", line->repetition);
	view_note(view, "%s%s: %s: %s%s", where, cell->run->target,
		  cell->run->status[0] ? cell->run->status : "no status",
		  cell->reason[0] ? cell->reason : "no reason is given",
		  cell->outcome == OUTCOME_PARTIAL &&
				  results_have_times(view->results) ?
			  "; its numbers are from what was finished" : "");
	return 1;
}

int notes_outcomes(const struct view *view)
{
	const struct result *cell;
	int count = 0;

	/* A repeated setup has a line for each of its runs. */
	for (int at = 0; (cell = next_cell(view->results, &at));)
		if (cell->line->repetitions == 1 || !line_is_setup(cell->line))
			count += note_outcome(view, cell);
	return count;
}

/* Prints notes about the post's figures, and the figures left out. */
static void note_post(const struct view *view)
{
	const int iter = has_post(view, post_compares_iter);
	const int epoch = has_post(view, post_compares_epoch);

	if (!view->options->with_post)
		return;
	if (!has_post(view, post_compares_loop))
		view_note(view, "post 002's %s left out, as they cannot be "
			  "compared with these runs",
			  epoch ? "loops, of ten epochs, are" :
			  iter ? "epochs, of all samples, and loops are" :
				 "figures are");
	for (int i = 0; iter && post_notes[i]; i++)
		view_note(view, "%s", post_notes[i]);
}

static int is_repeated(const struct results *results)
{
	for (int i = 0; i < results->line_count; i++)
		if (results->lines[i].repetitions > 1)
			return 1;
	return 0;
}

void notes_campaign(const struct view *view)
{
	const struct results *results = view->results;
	struct names told = { 0 };
	const struct line *line;
	char text[1024];

	/* Bold and red speak for themselves. */
	if (view->options->format == TABLE_PLAIN &&
	    results->target_count > 1 && is_repeated(results))
		view_note(view, "*: the best of its row, by 95 %% intervals "
			  "that do not overlap");
	for (int at = 0; (line = next_setup(results, &at));)
		note_setup(view, line);
	for (size_t i = 0; i < results->run_count; i++) {
		note_device(view, &results->runs[i], &told);
		note_slowdown(view, &results->runs[i], &told);
		note_scale(view, &results->runs[i], &told);
	}
	for (int at = 0; (line = next_setup(results, &at));) {
		if (line_is_inference(line))
			continue;
		view_differing_losses(view, line);
		view_verified(view, line, &told);
	}
	names_free(&told);
	disturbed_text(results, text, sizeof(text));
	if (text[0])
		view_note(view, "%s", text);
	notes_outcomes(view);
	note_post(view);
}

void table_print_earlier(const struct campaign *campaign,
			 const struct table_options *options, FILE *out)
{
	struct names met = { 0 };
	struct error ignored;
	char list[512] = "", command[2 * PATH_MAX];

	for (size_t i = 0; i < campaign->earlier_runs; i++) {
		const struct run *run = &campaign->runs[i];
		const int count = met.count;

		/* Without memory fewer are named. */
		if (names_number(&met, run->campaign_id, &ignored) < 0)
			break;
		if (met.count > count && count < MOST_EARLIER)
			text_list(list, sizeof(list), "", ", ", "%s",
				  run_setup_name(run));
	}
	if (met.count > MOST_EARLIER)
		text_append(list, sizeof(list), " and %d more",
			    met.count - MOST_EARLIER);
	command_line_hint(command, sizeof(command), "table", campaign->dir);
	if (met.count && !options->quiet)
		print_note(out, options, "earlier campaigns in this folder: "
			   "%s; %s shows all", list, command);
	names_free(&met);
}
