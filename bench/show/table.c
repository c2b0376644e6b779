#include "bench/show/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"
#include "bench/record/run.h"
#include "bench/record/post.h"
#include "bench/show/table_view.h"

int table_format_find(const char *name, enum table_format *format)
{
	static const char *const names[] = {
		[TABLE_PLAIN] = "plain",
		[TABLE_GITHUB] = "github",
		[TABLE_POST] = "post",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			*format = (enum table_format)i;
			return 0;
		}
	}
	return -1;
}

int table_is_first(const struct table_options *options, int details)
{
	return !details && !options->with_post &&
	       options->format != TABLE_POST;
}

/* One of the three tables of the post. */
struct timing {
	enum metric metric, model;
	const char *title, *cut, *per; /* cut: what cut epochs are called */
	post_compares *compares; /* with the post's */
};

static const struct timing timings[] = {
	{ METRIC_LOOP, METRIC_MODEL_LOOP, "Training loop",
	  "Training loop, epochs of ", "", post_compares_loop },
	{ METRIC_ITER, METRIC_MODEL_ITER, "One iteration", NULL, "/iter",
	  post_compares_iter },
	{ METRIC_EPOCH, METRIC_MODEL_EPOCH, "One epoch", "Epochs of ",
	  "/epoch", post_compares_epoch },
};

/* Has the line, of a whole setup, numbers of the model's clock? */
static int is_modelled(const struct results *results, const struct line *line,
		       enum metric model)
{
	int target;

	for (target = 0; line_is_setup(line) && target < results->target_count;
	     target++)
		if (line->cells[target].values[model].count)
			return 1;
	return 0;
}

static int count_modelled(const struct results *results, enum metric model)
{
	int line, count = 0;

	for (line = 0; line < results->line_count; line++)
		count += is_modelled(results, &results->lines[line], model);
	return count;
}

/* The times of --sync epoch are none of single iterations. */
static void label_mean(char text[GRID_TEXT])
{
	const size_t length = strlen(text);

	snprintf(text + length, GRID_TEXT - length, ", epoch's mean");
}

static void fill_line(const struct view *view, const struct grid *grid, int row,
		      const struct line *line, enum metric metric,
		      struct scale scale, struct contender *contenders)
{
	const struct result *cell;
	const struct stats *stats;
	char *text;
	int column;

	view_label(view, line, grid->labels[row]);
	for (column = 0; column < grid->columns; column++) {
		cell = view_cell(view, line, column);
		stats = &cell->values[metric];
		contenders[column] = contend(line, cell, metric);
		if (!stats->count)
			continue;
		text = grid_at(grid, row, column)->text;
		if (stats->std > stats->mean)
			format_quartiles(text, stats, scale.factor, 3,
					 view->options);
		else
			format_spread(text, stats->mean * scale.factor,
				      stats->count > 1 ?
					      stats->std * scale.factor : NAN,
				      3, view->options);
		if (metric == METRIC_ITER && cell->run &&
		    run_is_ahead(cell->run))
			label_mean(text);
	}
	mark_best(grid, row, contenders, metric_kinds[metric].better);
}

/* The lines of the model's clock, from row on; returns the row after them. */
static int fill_models(const struct view *view, const struct grid *grid,
		       int row, const struct timing *timing, struct scale scale,
		       struct contender *contenders)
{
	const struct results *results = view->results;
	char label[GRID_TEXT];
	int i;

	for (i = 0; i < results->line_count; i++) {
		if (!is_modelled(results, &results->lines[i], timing->model))
			continue;
		fill_line(view, grid, row, &results->lines[i], timing->model,
			  scale, contenders);
		snprintf(label, sizeof(label), "%s", grid->labels[row]);
		snprintf(grid->labels[row], GRID_TEXT, "%.100s%smodel",
			 results->line_count > 1 ? label : "",
			 results->line_count > 1 ? ", " : "");
		row++;
	}
	return row;
}

/* The post gives three decimals of a second, so none of a millisecond. */
static void fill_post(const struct view *view, const struct grid *grid, int row,
		      const char *setup, const struct timing *timing,
		      struct scale scale)
{
	const enum metric metric = timing->metric;
	int decimals = scale.factor > 1 ? 0 : 3, column;
	const struct post_figure *figure;
	double value, spread;

	snprintf(grid->labels[row], GRID_TEXT, "post 002, %s", setup);
	for (column = 0; column < grid->columns; column++) {
		figure = find_post(view, setup, view->order[column],
				   timing->compares);
		if (!figure)
			continue;
		value = metric == METRIC_LOOP ? figure->loop_s :
			metric == METRIC_ITER ? figure->iter_s :
						figure->epoch_s;
		spread = metric == METRIC_LOOP ? NAN :
			 metric == METRIC_ITER ? figure->iter_std_s :
						 figure->epoch_std_s;
		format_spread(grid_at(grid, row, column)->text,
			      value * scale.factor, spread * scale.factor,
			      decimals, view->options);
	}
}

static void fill_heads(const struct view *view, const struct grid *grid,
		       const char *unit)
{
	char name[GRID_TEXT];
	int column;

	for (column = 0; column < grid->columns; column++) {
		view_head(view, column, name);
		if (view->options->format == TABLE_PLAIN) {
			snprintf(grid->heads[column], GRID_TEXT, "%s", name);
			continue;
		}
		text_cut(name, 90);
		snprintf(grid->heads[column], GRID_TEXT, "%s (%s)", name, unit);
	}
}

static const char *const post_setups[] = { "example", "Colab" };

/* The post's tables have no titles, so its corner says what was cut. */
static void fill_title(const struct view *view, const struct timing *timing,
		       const char *unit, struct grid *grid)
{
	const char *sign = plus_minus(view->options);
	char cut[200];

	results_cut_text(view->results, cut, sizeof(cut));
	if (!timing->cut)
		cut[0] = '\0';
	snprintf(grid->title, GRID_TITLE, "%s%s (%s)%s%s%s",
		 cut[0] ? timing->cut : timing->title, cut, unit,
		 timing->per[0] ? ", mean (" : "", timing->per[0] ? sign : "",
		 timing->per[0] ? " std)" : "");
	snprintf(grid->corner, GRID_TITLE, "Setup%s%s",
		 cut[0] && view->options->format == TABLE_POST ?
			 ", epochs of " : "",
		 view->options->format == TABLE_POST ? cut : "");
}

static int draw_timing(const struct view *view, const struct timing *timing,
		       struct error *err)
{
	const struct results *results = view->results;
	struct scale scale = view_scale(view, timing->metric);
	int lines = results->line_count, row;
	int models = count_modelled(results, timing->model);
	int rows = lines + models + (has_post(view, timing->compares) ? 2 : 0);
	struct grid grid = { 0 };
	struct contender *contenders = NULL;
	char unit[32];
	int rc = -1;

	if (grid_make(&grid, results->target_count, rows, err))
		return -1;
	contenders = malloc(((size_t)grid.columns + 1) * sizeof(*contenders));
	if (!contenders) {
		error_memory(err, "a table");
		goto out;
	}
	snprintf(unit, sizeof(unit), "%s%s", scale.name, timing->per);
	fill_title(view, timing, unit, &grid);
	fill_heads(view, &grid, unit);
	for (row = 0; row < lines; row++)
		fill_line(view, &grid, row, &results->lines[row],
			  timing->metric, scale, contenders);
	row = fill_models(view, &grid, row, timing, scale, contenders);
	for (; row < rows; row++)
		fill_post(view, &grid, row, post_setups[row - lines - models],
			  timing, scale);
	grid_draw(&grid, view->options, view->out);
	notes_timing(view, timing->metric, scale);
	if (models && timing->metric == METRIC_LOOP)
		notes_model(view);
	fputc('\n', view->out);
	rc = 0;
out:
	free(contenders);
	grid_free(&grid);
	return rc;
}

/* The post has its multi-core column first, then one core, then the GPU. */
static int post_place(const char *target)
{
	if (strncmp(target, "cpu-", 4) != 0)
		return 2;
	return target[4] == '1' && (target[5] < '0' || target[5] > '9');
}

static void order_columns(const struct view *view)
{
	const struct results *results = view->results;
	int target, place, column = 0;

	if (view->options->format != TABLE_POST) {
		for (target = 0; target < results->target_count; target++)
			view->order[target] = target;
		return;
	}
	for (place = 0; place < 3; place++)
		for (target = 0; target < results->target_count; target++)
			if (post_place(results->targets[target]) == place)
				view->order[column++] = target;
}

static int draw_tables(const struct view *view, struct error *err)
{
	for (size_t i = 0; i < sizeof(timings) / sizeof(timings[0]); i++)
		if (draw_timing(view, &timings[i], err))
			return -1;
	if (view_fourth(view, err) || view_accuracy(view, err))
		return -1;
	notes_end(view);
	return 0;
}

int table_print(const struct campaign *campaign,
		const struct table_options *options, FILE *out,
		struct error *err)
{
	struct results results;
	struct view view = { &results, options, NULL, NULL, out };
	int rc = -1;

	if (results_build(&results, campaign, options->include_warmup, err))
		return -1;
	view.order = malloc(((size_t)results.target_count + 1) *
			    sizeof(*view.order));
	if (!view.order) {
		error_memory(err, "a table");
	} else if (!results_have_times(&results)) {
		notes_outcomes(&view);
		rc = 0;
	} else if (!view_find_devices(&view, err)) {
		order_columns(&view);
		rc = options->first ? view_first(&view, err) :
				      draw_tables(&view, err);
	}
	free(view.order);
	free(view.devices);
	results_free(&results);
	return rc;
}
