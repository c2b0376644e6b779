#include "bench/launch/collector.h"

#include <string.h>

#include "bench/system/clock.h"
#include "bench/system/interrupt.h"

#define SAVE_S 0.1
#define RETRY_S 1 /* a full disk is not asked all the time */

/* A line of its own, above the bar. */
static void print_note(struct collector *collector, const char *before,
		       const char *text)
{
	const struct progress shown = collector->progress;

	if (!collector->log)
		return;
	progress_end(&collector->progress);
	if (collector->other)
		progress_pause(collector->other);
	fprintf(collector->log, "note: %s%s\n", before, text);
	collector->progress = shown;
}

/* Are all rows in the file that were given so far? */
static int is_saved(const struct collector *collector)
{
	const struct campaign *campaign = collector->campaign;

	return !collector->failing && !campaign_has_unsaved(campaign) &&
	       !campaign->lost && !campaign->forgot;
}

/* Shows an epoch as done once its rows are saved. If the next epoch ends
 * earlier, only that is shown. */
static void show_epoch(struct collector *collector, double now)
{
	if (!is_saved(collector))
		return;
	progress_row(&collector->progress, now, &collector->epoch);
	collector->epoch_waits = 0;
}

static void save(struct collector *collector, double now)
{
	struct campaign *campaign = collector->campaign;
	struct error err;
	int failed;

	collector->saved_at = now;
	failed = campaign_save(campaign, &err);
	if (failed && !collector->failing)
		print_note(collector, err.message,
			   campaign_has_unsaved(campaign) ?
				   "; tried again until the run ends" :
				   "; these rows are in the tables only");
	collector->failing = failed;
	if (collector->epoch_waits)
		show_epoch(collector, now);
	/* If there is no log, the caller prints it. */
	if (!campaign->notice[0] || !collector->log)
		return;
	print_note(collector, "", campaign->notice);
	campaign->notice[0] = '\0';
}

static void end_epoch(struct collector *collector, double now)
{
	collector->epoch_over = 0;
	collector->epoch_waits = 1;
	if (!collector->failing)
		save(collector, now);
}

static int collect_row(const void *given, void *context, struct error *err)
{
	const struct observation *row = given;
	struct collector *collector = context;
	const double now = clock_now();

	/* The target's row is printed before the rows of its cores. */
	if (collector->epoch_over && (strcmp(row->phase, "step") == 0 ||
				      strcmp(row->phase, "loop") == 0))
		end_epoch(collector, now);
	if (campaign_add(collector->campaign, row, err))
		return -1;
	if (strcmp(row->phase, "epoch") != 0) {
		progress_row(&collector->progress, now, row);
	} else if (row->core == CELL_NO_INT && !observation_is_modelled(row)) {
		collector->epoch = *row;
		collector->epoch_over = 1;
		collector->epoch_waits = 0;
	}
	return 0;
}

static void pause_rows(void *context)
{
	struct collector *collector = context;
	const double now = clock_now();

	if (interrupt_signal() && !collector->interrupted) {
		collector->interrupted = 1;
		print_note(collector, "ending this run; a second Ctrl-C ends ",
			   "it at once");
		collector->progress.out = NULL;
	}
	if (now - collector->saved_at > (collector->failing ? RETRY_S : SAVE_S))
		save(collector, now);
	progress_draw(&collector->progress, now);
}

struct row_sink collector_sink(struct collector *collector)
{
	return (struct row_sink){ collect_row, pause_rows, collector };
}
