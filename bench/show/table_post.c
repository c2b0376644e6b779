/* The post's figures in our tables: beside what, and what has to be said. */
#include <string.h>

#include "bench/show/table_view.h"

static int all_compare(const struct results *results, int target,
		       post_compares *compares)
{
	int count = 0;

	for (int i = 0; i < results->line_count; i++) {
		const struct run *run = results->lines[i].cells[target].run;

		if (run && !compares(run))
			return 0;
		count += run != NULL;
	}
	return count > 0;
}

const struct post_figure *find_post(const struct view *view, const char *setup,
				    int target, post_compares *compares)
{
	for (int i = 0; i < post_figure_count; i++)
		if (!strcmp(post_figures[i].setup, setup) &&
		    !strcmp(post_figures[i].target,
			    view->results->targets[target]))
			return all_compare(view->results, target, compares) ?
				       &post_figures[i] : NULL;
	return NULL;
}

int has_post(const struct view *view, post_compares *compares)
{
	for (int target = 0; view->options->with_post &&
			     target < view->results->target_count; target++)
		if (find_post(view, post_figures[0].setup, target, compares))
			return 1;
	return 0;
}

void notes_post(const struct view *view)
{
	const int iter = has_post(view, post_compares_iter);
	const int epoch = has_post(view, post_compares_epoch);

	if (!view->options->with_post)
		return;
	if (!has_post(view, post_compares_loop))
		print_note(view->out, view->options, "post 002's %s left out, "
			   "as they do not compare with these runs", epoch ?
			   "loops, of ten epochs, are" : iter ?
			   "epochs, of all samples, and loops are" :
			   "figures are");
	for (int i = 0; iter && post_notes[i]; i++)
		print_note(view->out, view->options, "%s", post_notes[i]);
}
