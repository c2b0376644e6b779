#include "bench/gate/baseline.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/gate/baseline_settings.h"
#include "bench/gate/pair.h"
#include "bench/record/csv.h"
#include "bench/record/rows_by_run.h"
#include "bench/record/stats.h"
#include "bench/show/table_format.h"
#include "bench/system/clock.h"
#include "bench/system/memory.h"

#define SECONDS_OF_DAY 86400.

/* What is read, and what was read of it so far. */
struct reading {
	struct baseline *baseline;
	struct names runs;
};

int baseline_has(const struct run *run)
{
	return run->stage == CHECK_SCREEN && !run->arm[0];
}

static const struct run *find_first(const struct baseline *baseline,
				    const char *target)
{
	const struct campaign *campaign = &baseline->campaign;

	for (size_t i = 0; i < campaign->run_count; i++)
		if (!strcmp(campaign->runs[i].target, target))
			return &campaign->runs[i];
	return NULL;
}

/* Every process of a target did the same, in one go. */
static int check_run(const struct baseline *baseline, const struct run *run,
		     struct error *err)
{
	const struct run *first = find_first(baseline, run->target);
	char text[512];

	if (run->straggler[0] || isfinite(run->inject_pct))
		return error_set(err, ERROR_INPUT, "expected a process without "
				 "an artificial slowdown, found %s",
				 run->straggler[0] ? "--straggler" :
						     "--inject");
	if (!isfinite(clock_since(run->started_utc)))
		return error_set(err, ERROR_INPUT, "started_utc: expected a "
				 "time such as 2026-01-31T23:59:59Z, found "
				 "'%.40s'",
				 run->started_utc);
	if (settings_check(run, err))
		return -1;
	if (first && strcmp(first->campaign_id, run->campaign_id))
		return error_set(err, ERROR_INPUT, "campaign_id: expected all "
				 "processes of %s to be from one invocation "
				 "(%s), found %s",
				 run->target, first->campaign_id,
				 run->campaign_id);
	if (first && settings_compare(first, run, text, sizeof(text)))
		return error_set(err, ERROR_INPUT, "expected all processes of "
				 "%s to do the same, but %s", run->target,
				 text);
	return 0;
}

static int add_run(const void *row, void *context, struct error *err)
{
	struct reading *reading = context;
	const struct run *run = row;
	const int before = reading->runs.count;
	int number;

	if (!baseline_has(run) || strcmp(run->status, "ok"))
		return 0;
	number = names_number(&reading->runs, run->run_id, err);
	if (number < 0 || check_run(reading->baseline, run, err))
		return -1;
	if (number < before)
		return error_set(err, ERROR_INPUT, "run_id: expected each "
				 "process once, found %s again", run->run_id);
	return campaign_keep_run(&reading->baseline->campaign, run, err);
}

static int add_observation(const void *row, void *context, struct error *err)
{
	struct reading *reading = context;
	const struct observation *observation = row;

	if (observation->elapsed_s < 0)
		return error_set(err, ERROR_INPUT, "elapsed_s: expected a time "
				 "of 0 or more, found %g",
				 observation->elapsed_s);
	return names_find(&reading->runs, observation->run_id) < 0 ? 0 :
	       campaign_keep(&reading->baseline->campaign, observation, err);
}

static int read_file(const char *dir, const char *name,
		     const struct csv_sink *sink, struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	struct csv_found found;
	struct stat status;

	campaign_path(path, dir, name);
	if (stat(path, &status) && errno == ENOENT &&
	    sink->kind == &run_rows)
		return error_set(err, ERROR_INPUT, "%s: no baseline in this "
				 "folder: expected runs.csv and "
				 "observations.csv, which bench baseline save "
				 "%s writes", dir, dir);
	if (stat(path, &status) && errno == ENOENT)
		return error_set(err, ERROR_INPUT, "%s: no such file: expected "
				 "what bench baseline save writes", path);
	if (csv_scan(path, sink, 1, &found, err))
		return -1;
	if (found.torn_line)
		return error_set(err, ERROR_INPUT, "%s:%ld: expected a "
				 "complete row, found a truncated one", path,
				 found.torn_line);
	return 0;
}

static int read_files(struct baseline *baseline, const char *dir,
		      struct error *err)
{
	struct reading reading = { .baseline = baseline };
	const struct csv_sink runs = { &run_rows, add_run, &reading };
	const struct csv_sink observations = { &observation_rows,
					       add_observation, &reading };
	int failed = read_file(dir, "runs.csv", &runs, err);

	if (!failed && !baseline->campaign.run_count)
		failed = error_set(err, ERROR_INPUT, "%s/runs.csv: expected "
				   "processes from bench baseline save, found "
				   "none", dir);
	if (!failed)
		failed = read_file(dir, "observations.csv", &observations, err);
	names_free(&reading.runs);
	return failed;
}

/* The loss of the first iteration and how many there are. */
static long count_steps(const struct observation *const *rows, size_t count,
			double *first_loss)
{
	long steps = 0;

	for (; count; rows++, count--)
		if (pair_is_step(*rows) && !steps++)
			*first_loss = (*rows)->loss;
	return steps;
}

static int add_value(struct baseline_target *target, const struct run *run,
		     const struct rows_by_run *groups, const char *dir,
		     struct error *err)
{
	const struct observation *const *rows;
	double loss = CELL_NO_REAL, value;
	size_t count;
	long steps;

	rows = rows_by_run_find(groups, run->run_id, &count);
	steps = count_steps(rows, count, &loss);
	value = pair_step_median(rows, count);
	if (steps != run_iterations(run) || !(value > 0) || !isfinite(loss))
		return error_set(err, ERROR_INPUT, "%s/observations.csv: "
				 "expected %ld iterations of run %s with times "
				 "and losses, found %ld", dir,
				 run_iterations(run), run->run_id, steps);
	if (target->count == TWO_SAMPLE_MOST)
		return error_set(err, ERROR_INPUT, "%s/runs.csv: expected at "
				 "most %d processes of %s", dir,
				 TWO_SAMPLE_MOST, run->target);
	if (!target->count)
		target->first_loss = loss;
	target->values[target->count++] = value;
	return 0;
}

static int add_process(struct baseline *baseline, const struct run *run,
		       const struct rows_by_run *groups, const char *dir,
		       struct error *err)
{
	int t = 0;

	while (t < baseline->count &&
	       strcmp(baseline->targets[t].run->target, run->target))
		t++;
	if (t == BASELINE_MOST_TARGETS)
		return error_set(err, ERROR_INPUT, "%s/runs.csv: expected at "
				 "most %d targets", dir,
				 BASELINE_MOST_TARGETS);
	if (t == baseline->count)
		baseline->targets[baseline->count++].run = run;
	return add_value(&baseline->targets[t], run, groups, dir, err);
}

static int add_processes(struct baseline *baseline, const char *dir,
			 struct error *err)
{
	const struct campaign *campaign = &baseline->campaign;
	struct rows_by_run groups;
	int failed = rows_by_run_make(&groups, campaign, err);

	for (size_t i = 0; !failed && i < campaign->run_count; i++)
		failed = add_process(baseline, &campaign->runs[i], &groups, dir,
				     err);
	rows_by_run_free(&groups);
	for (int t = 0; t < baseline->count; t++) {
		struct baseline_target *target = &baseline->targets[t];

		target->median = stats_compute(target->values,
					       target->count).median;
	}
	return failed;
}

int baseline_load(struct baseline *baseline, const char *dir, struct error *err)
{
	struct stat status;

	*baseline = (struct baseline){ 0 };
	if (stat(dir, &status))
		return error_set(err, ERROR_MISSING, "%s: %s: bench baseline "
				 "save %s makes a baseline there", dir,
				 strerror(errno), dir);
	if (!S_ISDIR(status.st_mode))
		return error_set(err, ERROR_INPUT, "%s: expected the folder "
				 "of a baseline, found a file", dir);
	return read_files(baseline, dir, err) ||
	       add_processes(baseline, dir, err) ? -1 : 0;
}

void baseline_release(struct baseline *baseline)
{
	campaign_release(&baseline->campaign);
	*baseline = (struct baseline){ 0 };
}

const struct baseline_target *baseline_find(const struct baseline *baseline,
					    const char *target)
{
	for (int t = 0; t < baseline->count; t++)
		if (!strcmp(baseline->targets[t].run->target, target))
			return &baseline->targets[t];
	return NULL;
}

double baseline_age(const struct baseline_target *target)
{
	return clock_since(target->run->started_utc) / SECONDS_OF_DAY;
}

enum { MEDIAN, PROCESSES, STEPS, LOSS, AGE, COMMIT, COLUMNS };

static const char *const heads[COLUMNS] = {
	[MEDIAN] = "ms/iter",	    [PROCESSES] = "processes",
	[STEPS] = "iterations",	    [LOSS] = "first loss",
	[AGE] = "age (days)",	    [COMMIT] = "commit",
};

static void set_row(const struct grid *grid, int row,
		    const struct baseline_target *target,
		    const struct table_options *options)
{
	struct grid_cell *cells = grid_at(grid, row, 0);

	clean_text(grid->labels[row], GRID_TEXT, target->run->target, options);
	snprintf(cells[MEDIAN].text, GRID_TEXT, "%.6g", 1e3 * target->median);
	snprintf(cells[PROCESSES].text, GRID_TEXT, "%zu", target->count);
	snprintf(cells[STEPS].text, GRID_TEXT, "%ld",
		 run_iterations(target->run));
	snprintf(cells[LOSS].text, GRID_TEXT, "%.6g", target->first_loss);
	snprintf(cells[AGE].text, GRID_TEXT, "%.1f", baseline_age(target));
	if (target->run->git_commit[0])
		clean_text(cells[COMMIT].text, GRID_TEXT,
			   target->run->git_commit, options);
}

static void print_work(const struct run *run,
		       const struct table_options *options, FILE *out)
{
	print_note(out, options, "%s: %s%smodel %s, data set %s, global batch "
		   "%ld, seed %ld, %ld warm-up steps; %s, %ld of %ld CPUs; %s "
		   "%s; started %s by bench %s", run->target, run->label,
		   run->label[0] ? ": " : "", run->model,
		   run->dataset, run->global_batch, run->seed, run->warmup,
		   run->cpu_model, run->cpus, run->logical_cpus,
		   run->device_name, run->device_driver, run->started_utc,
		   run->version);
}

int baseline_print(const struct baseline *baseline,
		   const struct table_options *options, FILE *out,
		   struct error *err)
{
	struct grid grid;

	if (grid_make(&grid, COLUMNS, baseline->count, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "Saved baseline");
	snprintf(grid.corner, GRID_TEXT, "Target");
	for (int c = 0; c < COLUMNS; c++)
		snprintf(grid.heads[c], GRID_TEXT, "%s", heads[c]);
	for (int t = 0; t < baseline->count; t++)
		set_row(&grid, t, &baseline->targets[t], options);
	grid_draw(&grid, options, out);
	grid_free(&grid);
	print_note(out, options, "ms/iter: the median over fresh processes of "
		   "each one's median iteration");
	for (int t = 0; t < baseline->count; t++)
		print_work(baseline->targets[t].run, options, out);
	return 0;
}
