#include "bench/report/table.h"

#include <stdlib.h>
#include <string.h>

#include "bench/record/post.h"
#include "bench/record/run.h"
#include "bench/report/table_view.h"
#include "bench/system/text.h"

int table_is_first(const struct table_options *options, int details)
{
	return !details && !options->with_post &&
	       options->format != TABLE_POST;
}

/* The post has its multi-core column first, then one core, then the GPU. */
static int post_place(const struct results *results, int target)
{
	const struct run *run = target_run(results, target);

	return !run || run_is_on_devices(run) ? 2 : run_is_one_core(run);
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
			if (post_place(results, target) == place)
				view->order[column++] = target;
}

/* Draws the figures that posts published about these networks. */
static int draw_published(const struct view *view, struct error *err)
{
	const struct line *line;

	for (int at = 0; (line = next_setup(view->results, &at));)
		if (view_published(view, line, err))
			return -1;
	return 0;
}

/* All tables, of runs of one kind. */
static int draw_tables(const struct view *view, enum results_kind kind,
		       struct error *err)
{
	const struct line *line;
	int at = 0;

	while (kind == RESULTS_INFERRED &&
	       (line = next_setup(view->results, &at)))
		if (view_inference(view, line, err))
			return -1;
	if (kind == RESULTS_TRAINED &&
	    (view_timings(view, err) || view_details(view, err) ||
	     view_accuracy(view, err) || draw_published(view, err)))
		return -1;
	notes_campaign(view);
	return 0;
}

static int print_kind(const struct campaign *campaign, enum results_kind kind,
		      const struct table_options *options, FILE *out,
		      struct error *err)
{
	struct results results;
	struct view view = { &results, options, NULL, NULL, out, "" };
	int rc = -1;

	if (results_build(&results, campaign, kind, options->include_warmup,
			  err))
		return -1;
	if (!options->first)
		drop_doubtful(&results, view.doubts, sizeof(view.doubts));
	view.order = malloc(((size_t)results.target_count + 1) *
			    sizeof(*view.order));
	if (!view.order) {
		error_memory(err, "a table");
	} else if (!results_have_times(&results)) {
		notes_outcomes(&view);
		rc = 0;
	} else if (!view_find_devices(&view, err)) {
		order_columns(&view);
		rc = options->first ? view_targets(&view, err) :
				      draw_tables(&view, kind, err);
	}
	free(view.order);
	free(view.devices);
	results_free(&results);
	return rc;
}

/* Did some train, and others only pass forward? */
static int is_mixed(const struct campaign *campaign)
{
	for (size_t i = 1; i < campaign->run_count; i++)
		if (run_is_inference(&campaign->runs[i]) !=
		    run_is_inference(&campaign->runs[0]))
			return 1;
	return 0;
}

int table_print(const struct campaign *campaign,
		const struct table_options *options, FILE *out,
		struct error *err)
{
	if (options->first)
		return print_kind(campaign, RESULTS_ALL, options, out, err);
	if (print_kind(campaign, RESULTS_INFERRED, options, out, err))
		return -1;
	if (is_mixed(campaign))
		fputc('\n', out);
	return print_kind(campaign, RESULTS_TRAINED, options, out, err);
}
