#include "bench/commands/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/record/rows_by_run.h"
#include "bench/report/pictures/plot.h"
#include "bench/report/scale.h"
#include "bench/report/table_view.h"
#include "bench/system/file.h"
#include "bench/system/terminal.h"
#include "bench/system/text.h"

/*
 * A pod of TPU v3: 1024 chips with two cores each on a 2-D torus. Its links
 * have 340 TB/s together (cloud.google.com/tpu/docs/v3), four per chip at 656
 * Gbit/s (Jouppi et al. 2020, Commun. ACM 63:7). The latency of a link is not
 * published: 1 us is assumed.
 */
#define POD_CORES 2048
#define POD_NODE_CORES 2
#define POD_RATE_GBS (340e3 / 1024)
#define POD_LATENCY_US 1.

enum { MOST_POINTS = 64 }; /* numbers of cores */

/* One invocation. */
struct scaling {
	const struct options *options;
	struct results results;
	struct rows_by_run rows;
	struct scale_network network;
	long most_cores;
	struct table_options table;

	/* The current setup: */
	const struct run *run; /* first run of its one-core target */
	double *seconds;
	size_t *starts, run_count;
	struct scale_point points[MOST_POINTS];
	size_t count;

	struct scale_row *found; /* of all setups */
	size_t found_count, found_room;
	FILE *out; /* NULL: no table */
};

static int refuse_measured(const struct options *options, struct error *err)
{
	if (!options->sweep)
		return error_set(err, ERROR_USAGE, "--topology measured needs "
				 "--sweep FILE, which bench env --network "
				 "--export-csv FILE writes");
	if (options->latency >= 0 || options->bandwidth >= 0 ||
	    options->node_cores != OPTION_UNSET)
		return error_set(err, ERROR_USAGE, "--latency, --bandwidth and "
				 "--node-cores have no effect with --topology "
				 "measured: leave them out");
	return 0;
}

static int read_sweep(struct scaling *scaling, struct error *err)
{
	struct scale_network *network = &scaling->network;
	void *rows;

	if (csv_read(scaling->options->sweep, &network_rows, &rows,
		     &network->sweep_count, err))
		return -1;
	network->sweep = rows;
	network->sweep_name = scaling->options->sweep;
	for (size_t i = 0; i < network->sweep_count; i++)
		if (!(network->sweep[i].median_s > 0) ||
		    network->sweep[i].ranks < 2 ||
		    network->sweep[i].vector_bytes < 1)
			return error_set(err, ERROR_INPUT, "%s: row %zu: "
					 "median_s and vector_bytes have to be "
					 "above 0, and ranks above 1",
					 network->sweep_name, i + 1);
	return 0;
}

static int find_network(struct scaling *scaling, struct error *err)
{
	const struct options *options = scaling->options;
	struct scale_network *network = &scaling->network;
	const double rate = options->bandwidth >= 0 ? options->bandwidth :
						      POD_RATE_GBS;
	const double latency = options->latency >= 0 ? options->latency :
						       POD_LATENCY_US;

	network->topology = NETWORK_TORUS;
	for (int t = 0; t < NETWORK_TOPOLOGIES; t++)
		if (options->topology &&
		    !strcmp(options->topology, network_names[t]))
			network->topology = (enum network_topology)t;
	network->is_measured = options->topology &&
			       !strcmp(options->topology, "measured");
	network->link = (struct network_link){ latency * 1e-6, rate * 1e9 };
	network->node_cores = options->node_cores == OPTION_UNSET ?
				      POD_NODE_CORES : options->node_cores;
	if (network->is_measured && refuse_measured(options, err))
		return -1;
	if (options->sweep && read_sweep(scaling, err))
		return -1;
	scaling->most_cores = options->most_cores != OPTION_UNSET ?
				      options->most_cores : POD_CORES;
	return 0;
}

/* Appends the iterations of a run that count. */
static void add_times(struct scaling *scaling, const struct run *run)
{
	size_t count, at = scaling->starts[scaling->run_count];
	const struct observation *const *rows =
		rows_by_run_find(&scaling->rows, run->run_id, &count);

	for (size_t i = 0; i < count; i++)
		if (plot_counts(rows[i]) && !strcmp(rows[i]->phase, "step") &&
		    rows[i]->elapsed_s > 0)
			scaling->seconds[at++] = rows[i]->elapsed_s;
	if (at > scaling->starts[scaling->run_count])
		scaling->starts[++scaling->run_count] = at;
}

/* Collects the times of all finished runs of the target. */
static int gather_times(struct scaling *scaling, const struct result *base,
			size_t most, struct error *err)
{
	const size_t runs = (size_t)base->line->repetitions;
	const struct result *cell;

	scaling->run_count = 0;
	scaling->seconds = calloc(most + 1, sizeof(*scaling->seconds));
	scaling->starts = calloc(runs + 1, sizeof(*scaling->starts));
	if (!scaling->seconds || !scaling->starts)
		return error_memory(err, "the iterations of one core");
	for (int at = 0; (cell = next_repetition(base, &at));)
		if (cell->outcome == OUTCOME_OK)
			add_times(scaling, cell->run);
	if (scaling->run_count)
		return 0;
	return error_set(err, ERROR_INPUT, "%s: none of its iterations was "
			 "timed; --sync step times each", scaling->run->target);
}

/* Returns twice as many cores. For a measured network, returns the next larger
 * number in its rows, or 0 after the last. */
static long next_cores(const struct scaling *scaling, long cores)
{
	const struct scale_network *network = &scaling->network;
	long next = 0;

	if (!network->is_measured)
		return 2 * cores;
	for (size_t i = 0; i < network->sweep_count; i++) {
		const long ranks = network->sweep[i].ranks;

		if (scale_counts(network, &network->sweep[i]) &&
		    ranks > cores && (!next || ranks < next))
			next = ranks;
	}
	return next;
}

static int predict(struct scaling *scaling, struct error *err)
{
	const struct run *run = scaling->run;
	const long shared = scaling->options->shared_cpus;
	const struct scale_times times = { scaling->seconds, scaling->starts,
					   scaling->run_count };
	const double bytes = (double)run->parameters * sizeof(float);

	if (run->parameters < 1 || run->batch < 1)
		return error_set(err, ERROR_INPUT, "%s: runs.csv has no "
				 "parameters or no batch for it", run->target);
	scaling->count = 0;
	for (long n = 1; n && n <= scaling->most_cores &&
			 scaling->count < MOST_POINTS;
	     n = next_cores(scaling, n)) {
		struct scale_point *point = &scaling->points[scaling->count++];

		point->cores = n;
		if (scale_communication(&scaling->network, bytes, point, err))
			return -1;
	}
	return scale_predict(&times, run->batch,
			     shared == OPTION_UNSET ? 0 : shared,
			     (unsigned long long)scaling->options->seed,
			     scaling->points, scaling->count, err);
}

/* Fills the columns that are equal in all rows of a setup. */
static struct scale_row describe(const struct scaling *scaling)
{
	const struct scale_network *network = &scaling->network;
	struct scale_row row;

	row_clear(&scale_rows, &row);
	row_describe(&scale_rows, &row, &run_rows, scaling->run);
	snprintf(row.schema, sizeof(row.schema), "%s", scale_rows.schema);
	snprintf(row.clock, sizeof(row.clock), "model");
	snprintf(row.topology, sizeof(row.topology), "%s",
		 network->is_measured ? "measured" :
					network_names[network->topology]);
	row.gradient_bytes = scaling->run->parameters * (long)sizeof(float);
	if (!network->is_measured) {
		row.latency_s = network->link.latency_s;
		row.bytes_per_s = network->link.bytes_per_s;
		row.node_cores = network->node_cores;
	}
	if (scaling->options->shared_cpus != OPTION_UNSET)
		row.shared_cpus = scaling->options->shared_cpus;
	return row;
}

static int keep_rows(struct scaling *scaling, struct error *err)
{
	struct scale_row row = describe(scaling);
	void *rows = scaling->found;

	for (size_t p = 0; p < scaling->count; p++) {
		const struct scale_point *point = &scaling->points[p];

		if (array_make_room(&rows, scaling->found_count,
				    &scaling->found_room, sizeof(row),
				    "predictions", err))
			return -1;
		scaling->found = rows;
		row.cores = point->cores;
		row.images_per_s = point->images_per_s.value;
		row.images_per_s_lo = point->images_per_s.low;
		row.images_per_s_hi = point->images_per_s.high;
		row.efficiency = point->efficiency.value;
		row.efficiency_lo = point->efficiency.low;
		row.efficiency_hi = point->efficiency.high;
		row.iter_s = point->iter_s.value;
		row.iter_s_lo = point->iter_s.low;
		row.iter_s_hi = point->iter_s.high;
		row.compute_s = point->compute_s;
		row.exposed_s = point->communication_s.value;
		row.exposed_s_lo = point->communication_s.low;
		row.exposed_s_hi = point->communication_s.high;
		scaling->found[scaling->found_count++] = row;
	}
	return 0;
}

/* Prints a value, and its interval if it has one. */
static void print_value(const struct grid *grid, int row, int column,
			const struct scale_value *value, double factor,
			int most)
{
	const int decimals = decimals_of(factor * value->value, most);
	char *text = grid_at(grid, row, column)->text;

	snprintf(text, GRID_TEXT, "%s",
		 fixed_text(factor * value->value, decimals).text);
	if (value->low < value->high)
		text_append(text, GRID_TEXT, " %s",
			    interval_text(factor * value->low,
					  factor * value->high, decimals).text);
}

static int print_grid(const struct scaling *scaling, struct error *err)
{
	const struct scale_point *last = &scaling->points[scaling->count - 1];
	const int many = last->images_per_s.value >= 1e5;
	const char *const heads[] = { many ? "1000 images/s" : "images/s",
				      "efficiency (%)", "ms/iter",
				      "exposed (ms)" };
	char title[GRID_TITLE];
	struct grid grid;

	if (grid_make(&grid, heads, 4, (int)scaling->count, err))
		return -1;
	snprintf(title, sizeof(title), "A model, not measured: %s, from the "
		 "iterations of %s", scaling->run->model, scaling->run->target);
	clean_text(grid.title, sizeof(grid.title), title, &scaling->table);
	snprintf(grid.corner, sizeof(grid.corner), "cores");
	for (int p = 0; p < (int)scaling->count; p++) {
		const struct scale_point *point = &scaling->points[p];

		snprintf(grid.labels[p], GRID_TEXT, "model, %ld", point->cores);
		print_value(&grid, p, 0, &point->images_per_s,
			    many ? 1e-3 : 1, 3);
		print_value(&grid, p, 1, &point->efficiency, 100, 1);
		grid_set_number(&grid, p, 2, 1e3 * point->iter_s.value,
				decimals_of(1e3 * point->iter_s.value, 3));
		print_value(&grid, p, 3, &point->communication_s, 1e3, 2);
	}
	grid_end(&grid, &scaling->table, scaling->out);
	return 0;
}

static void note_network(const struct scaling *scaling)
{
	const struct scale_network *network = &scaling->network;
	const struct options *options = scaling->options;
	const int is_pod = !options->topology && options->latency < 0 &&
			   options->bandwidth < 0 &&
			   options->node_cores == OPTION_UNSET;

	if (network->is_measured) {
		print_note(scaling->out, &scaling->table, "communication: by "
			   "%s, measured in %s", network->sweep->transport,
			   network->sweep_name);
		return;
	}
	print_note(scaling->out, &scaling->table, "communication: a %s of "
		   "nodes with %ld cores, %g us per message, %s GB/s per node "
		   "over all its links%s; in a node %s%s",
		   network_names[network->topology], network->node_cores,
		   network->link.latency_s * 1e6,
		   fixed_text(network->link.bytes_per_s / 1e9, 1).text,
		   is_pod ? ", as a TPU v3 pod (the rate is published, the "
			    "latency assumed)" : "",
		   network->sweep ? "by " : "none",
		   network->sweep ? network->sweep->transport : "");
}

/* Rows of a sweep that do not count. */
static void note_others(const struct scaling *scaling)
{
	const struct scale_network *network = &scaling->network;
	char names[128] = "";

	for (size_t i = 0; i < network->sweep_count; i++) {
		const struct network_row *row = &network->sweep[i];
		char name[128];

		snprintf(name, sizeof(name), "%s%s%.80s", row->transport,
			 row->hosts[0] ? " on " : "", row->hosts);
		if (!scale_counts(network, row) && !strstr(names, name))
			error_list(names, sizeof(names), name);
	}
	if (names[0])
		print_note(scaling->out, &scaling->table, "left out of %s, "
			   "because %s comes first: %s", network->sweep_name,
			   network->sweep->transport, names);
}

/* The post's own, which were measured. */
static void note_post(const struct scaling *scaling)
{
	char text[128] = "";

	for (int f = 0; f + 1 < post_figure_count; f++) {
		const struct post_figure *several = &post_figures[f];
		const struct post_figure *one = several + 1;

		if (!strcmp(several->target, "cpu-8") &&
		    !strcmp(one->target, "cpu-1"))
			text_list(text, sizeof(text), "", ", ", "%s (%s)",
				  fixed_text(one->epoch_s / several->epoch_s,
					     2).text, several->setup);
	}
	print_note(scaling->out, &scaling->table, "in seconds per epoch, post "
		   "002 measured 8 TPU cores over one: %s times%s", text,
		   post_compares_iter(scaling->run) ? "" :
						      "; with another network");
}

static void print_notes(const struct scaling *scaling)
{
	const size_t count = scaling->starts[scaling->run_count];
	const long shared = scaling->options->shared_cpus;
	const char *within = scaling->run_count > 1 ? "" :
		" one run, without the spread between runs";

	print_note(scaling->out, &scaling->table, "an iteration is the slowest "
		   "of one draw per core, from %zu iterations of %zu run%s, "
		   "then the sum of %.1f MB, with nothing hidden. [95 %%] is "
		   "by resampling%s", count,
		   scaling->run_count, scaling->run_count > 1 ? "s" : "",
		   (double)scaling->run->parameters * sizeof(float) / 1e6,
		   within);
	print_note(scaling->out, &scaling->table, "%ld samples per core%s",
		   scaling->run->batch, scaling->most_cores > (long)count ?
		   "; with more cores than iterations, no draw is slower than "
		   "the slowest iteration" : "");
	if (shared != OPTION_UNSET)
		print_note(scaling->out, &scaling->table, "all cores share "
			   "%ld CPU%s", shared, shared > 1 ? "s" : "");
	note_network(scaling);
	note_others(scaling);
	note_post(scaling);
}

static int scale_line(struct scaling *scaling, const struct result *base,
		      const struct campaign *campaign, struct error *err)
{
	int failed;

	scaling->run = base->run;
	failed = gather_times(scaling, base, campaign->observation_count,
			      err) ||
		 predict(scaling, err) || keep_rows(scaling, err);
	if (!failed && scaling->out) {
		if (scaling->found_count > scaling->count)
			fputc('\n', scaling->out);
		failed = print_grid(scaling, err);
		if (!failed && !scaling->options->quiet)
			print_notes(scaling);
	}
	free(scaling->seconds);
	free(scaling->starts);
	return failed ? -1 : 0;
}

static int scale_lines(struct scaling *scaling, const struct campaign *campaign,
		       struct error *err)
{
	const struct line *line;

	for (int at = 0; (line = next_setup(&scaling->results, &at));) {
		const struct result *base = line_base(line);

		if (base && scale_line(scaling, base, campaign, err))
			return -1;
	}
	if (scaling->found_count)
		return 0;
	return error_set(err, ERROR_INPUT, "%.600s: there is no finished run "
			 "of one core to predict from; bench run cpu-1 makes "
			 "one", scaling->options->arguments[0]);
}

static int print_rows(FILE *out, const void *context, struct error *err)
{
	const struct scaling *scaling = context;

	(void)err;
	csv_write_rows(out, &scale_rows, scaling->found, scaling->found_count);
	return 0;
}

/* Writes the rows into the folder, unless a file is given or the folder cannot
 * be written. */
static int run(struct scaling *scaling, const struct campaign *campaign,
	       FILE *out, FILE *log, struct error *err)
{
	const char *path = scaling->options->export_csv;
	char own[CAMPAIGN_PATH_SIZE];
	struct error why;

	if (results_build(&scaling->results, campaign, RESULTS_TRAINED, 0,
			  err) ||
	    rows_by_run_make(&scaling->rows, campaign, err))
		return -1;
	if (!path) {
		campaign_path(own, scaling->options->arguments[0], "scale.csv");
		path = own;
	}
	scaling->out = strcmp(path, "-") ? out : NULL;
	if (scale_lines(scaling, campaign, err))
		return -1;
	if (!scaling->out)
		return print_rows(out, scaling, err);
	if (path == own && file_check(path, &why)) {
		fprintf(log, "note: %s; --export-csv FILE writes the rows "
			"elsewhere\n", why.message);
		return 0;
	}
	return file_replace_with(path, print_rows, scaling, err);
}

int scale_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err)
{
	struct campaign campaign = { 0 };
	struct scaling scaling = {
		.options = options,
		.table = { .utf8 = terminal_is_utf8(),
			   .width = terminal_columns(out) },
	};
	int failed;

	if (options->argument_count != 1)
		return error_set(err, ERROR_USAGE, "bench scale takes the "
				 "folder of one campaign, as in: bench scale "
				 "results/NAME");
	table_format_find(options->format, &scaling.table.format);
	if (scaling.table.format == TABLE_POST)
		return error_set(err, ERROR_USAGE, "--format: bench scale "
				 "supports plain and github");
	failed = find_network(&scaling, err) ||
		 campaign_load(&campaign, options->arguments, 1, 0, log, err) ||
		 run(&scaling, &campaign, out, log, err);
	rows_by_run_free(&scaling.rows);
	results_free(&scaling.results);
	free((void *)scaling.network.sweep);
	free(scaling.found);
	campaign_release(&campaign);
	return failed ? -1 : 0;
}
