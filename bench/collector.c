#include "bench/collector.h"

#include <string.h>

#include "bench/clock.h"
#include "bench/interrupt.h"

#define SAVE_S 0.1
#define RETRY_S 1 /* a full disk is not asked all the time */

/* A line of its own, above the bar. */
static void say(struct collector *collector, const char *before,
		const char *text)
{
	const struct progress shown = collector->progress;

	if (!collector->log)
		return;
	progress_end(&collector->progress);
	fprintf(collector->log, "note: %s%s\n", before, text);
	collector->progress = shown;
}

static void save(struct collector *collector, double now)
{
	struct campaign *campaign = collector->campaign;
	struct error err;
	int failed;

	collector->saved_at = now;
	failed = campaign_save(campaign, &err);
	if (failed && !collector->failing)
		say(collector, err.message, "; tried again until the run ends");
	collector->failing = failed;
	if (campaign->notice[0])
		say(collector, "", campaign->notice);
	campaign->notice[0] = '\0';
}

static int take_row(const void *context_row, void *context, struct error *err)
{
	const struct observation *row = context_row;
	struct collector *collector = context;
	const double now = clock_now();

	if (campaign_add(collector->campaign, row, err))
		return -1;
	/* An epoch is shown as done when its rows cannot be lost any more. */
	if (strcmp(row->phase, "epoch") == 0 && !collector->failing)
		save(collector, now);
	progress_row(&collector->progress, now, row);
	return 0;
}

static void pause_rows(void *context)
{
	struct collector *collector = context;
	const double now = clock_now();

	if (interrupt_signal() && !collector->interrupted) {
		collector->interrupted = 1;
		say(collector, "ending this run; the second Ctrl-C ends it at ",
		    "once");
		collector->progress.out = NULL;
	}
	if (now - collector->saved_at > (collector->failing ? RETRY_S : SAVE_S))
		save(collector, now);
	progress_draw(&collector->progress, now);
}

struct child_ear collector_ear(struct collector *collector)
{
	return (struct child_ear){ take_row, pause_rows, collector };
}
