#include "bench/report/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/terminal.h"

#define NAME_LEAST 8 /* of a target, so that bars line up */
#define BAR_LEAST 4
#define BAR_MOST 30
#define WIDEST 200 /* of a line that is drawn again */
#define RATE_AFTER_S 0.5 /* rows that come together have no rate */
#define BAR_EVERY_S 0.1
#define LINE_EVERY_S 30 /* a silent job is taken for a hanging one */

static const char turning[] = "|/-\\";

/* Asked anew each time: windows change their size. */
static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (terminal_columns(stderr))
		width = terminal_columns(stderr);
	if (width <= 1)
		return 80;
	return width < WIDEST ? (int)width : WIDEST;
}

/* A line that is longer than the terminal is wide could not be redrawn. */
static void show(struct progress *progress, const char *line)
{
	if (progress->bar)
		fprintf(progress->out, "\r%.*s\033[K", terminal_width() - 1,
			line);
	else
		fprintf(progress->out, "%s\n", line);
	fflush(progress->out);
}

void progress_start(struct progress *progress, const char *when, int quiet,
		    const char *target, int epochs, int iterations,
		    FILE *rows)
{
	const char *term = getenv("TERM");
	/* Rows on the same terminal would be mixed with the bar. */
	int capable = isatty(STDERR_FILENO) &&
		      !(rows && isatty(fileno(rows))) &&
		      (!term || strcmp(term, "dumb") != 0);

	*progress = (struct progress){
		.out = quiet || !strcmp(when, "never") ? NULL : stderr,
		.bar = capable || !strcmp(when, "always"),
		.target = target,
		.epochs = epochs,
		.iterations = iterations,
		.drawn_at = clock_now() - BAR_EVERY_S,
	};
	if (progress->bar)
		progress_draw(progress, clock_now());
}

static void duration(double seconds, char *text, size_t size)
{
	const long whole = (long)(seconds + 0.5);

	if (whole >= 3600)
		snprintf(text, size, "%ldh%02ldm", whole / 3600,
			 whole / 60 % 60);
	else
		snprintf(text, size, "%ldm%02lds", whole / 60, whole % 60);
}

static double share_done(const struct progress *progress)
{
	return ((progress->epoch - 1.) * progress->iterations +
		progress->iteration) /
	       ((double)progress->epochs * progress->iterations);
}

static void note_step(struct progress *progress, double now, int epoch,
		      int iteration, long samples, double loss)
{
	if (!epoch) {
		progress->phase = PROGRESS_WARMING_UP;
		return;
	}
	progress->phase = iteration < progress->iterations ?
				  PROGRESS_TRAINING : PROGRESS_TESTING;
	progress->epoch = epoch;
	progress->iteration = iteration;
	progress->loss = loss;
	if (!progress->began_at)
		progress->began_at = now;
	/* A rate needs an interval: what came at first is not in it. */
	if (now > progress->began_at)
		progress->samples += samples;
	else
		progress->begun = share_done(progress);
}

/* A plain line has the rate since the line before, too. */
static void describe_rate(const struct progress *progress, double now,
			  double mean, char text[64])
{
	if (progress->bar || !progress->line_at)
		snprintf(text, 64, "  %.0f img/s", mean);
	else
		snprintf(text, 64, "  %.0f img/s, mean %.0f",
			 (double)(progress->samples - progress->line_samples) /
				 (now - progress->line_at), mean);
}

/* Writes the text to the right of the bar. */
static void describe(const struct progress *progress, double now, char *text,
		     size_t size)
{
	const double done = share_done(progress);
	const double took = now - progress->began_at;
	char rate[64] = "", accuracy[24] = "", left[32] = "", time[24];

	if (progress->samples && took > RATE_AFTER_S) {
		describe_rate(progress, now, (double)progress->samples / took,
			      rate);
		duration(took * (1 - done) / (done - progress->begun), time,
			 sizeof(time));
		snprintf(left, sizeof(left), "  %s left", time);
	}
	if (progress->tested)
		snprintf(accuracy, sizeof(accuracy), "  test %.2f%%",
			 progress->accuracy_pct);
	if (progress->phase == PROGRESS_TESTING)
		snprintf(text, size, "epoch %d/%d  testing%s%s",
			 progress->epoch, progress->epochs, accuracy, left);
	else
		snprintf(text, size, "epoch %d/%d%s  loss %.4f%s%s",
			 progress->epoch, progress->epochs, rate,
			 progress->loss, accuracy, left);
}

/* Draws a bar in the room that the words leave; the end of its done part
 * turns. */
static void draw_bar(const struct progress *progress, const char *words,
		     char bar[BAR_MOST + 1])
{
	const int name = (int)strlen(progress->target);
	const int others = (name > NAME_LEAST ? name : NAME_LEAST) +
			   (int)strlen(" []  ") + (int)strlen(words);
	int cells = terminal_width() - 1 - others;
	int full, i;

	cells = cells > BAR_MOST ? BAR_MOST : cells;
	cells = cells < BAR_LEAST ? BAR_LEAST : cells;
	full = (int)(share_done(progress) * cells);
	for (i = 0; i < cells; i++)
		bar[i] = i < full ? '#' : '.';
	if (progress->bar)
		bar[full < cells ? full : cells - 1] =
			turning[progress->turns % 4];
	bar[cells] = '\0';
}

static int is_time(struct progress *progress, double now)
{
	if (!progress->out || now - progress->drawn_at <
	    (progress->bar ? BAR_EVERY_S : LINE_EVERY_S))
		return 0;
	progress->drawn_at = now;
	progress->turns++;
	return 1;
}

void progress_draw_text(struct progress *progress, double now,
			const char *text, double left_s)
{
	char line[256], left[24] = "";

	if (!is_time(progress, now))
		return;
	if (isfinite(left_s))
		duration(left_s, left, sizeof(left));
	snprintf(line, sizeof(line), "%s %c %s%s%s%s", progress->target,
		 progress->bar ? turning[progress->turns % 4] : ' ', text,
		 *left ? "  " : "", left, *left ? " left" : "");
	show(progress, line);
}

void progress_draw(struct progress *progress, double now)
{
	char line[256], words[192], bar[BAR_MOST + 1];

	if (!is_time(progress, now))
		return;
	if (progress->phase < PROGRESS_TRAINING) {
		snprintf(line, sizeof(line), "%-8s %c %s", progress->target,
			 progress->bar ? turning[progress->turns % 4] : ' ',
			 progress->phase == PROGRESS_STARTING ? "starting" :
								"warming up");
	} else {
		describe(progress, now, words, sizeof(words));
		draw_bar(progress, words, bar);
		snprintf(line, sizeof(line), "%-8s [%s] %s", progress->target,
			 bar, words);
		progress->line_at = now;
		progress->line_samples = progress->samples;
	}
	show(progress, line);
}

static void show_test(struct progress *progress)
{
	const double loss = progress->test_loss;
	char line[128], number[24];

	if (loss < 1e6)
		snprintf(number, sizeof(number), "%.4f", loss);
	else
		snprintf(number, sizeof(number), "%.3g", loss);
	snprintf(line, sizeof(line),
		 "%-8s epoch %d/%d  test loss %s, accuracy %.2f%%",
		 progress->target, progress->tested, progress->epochs,
		 number, progress->accuracy_pct);
	show(progress, line);
}

void progress_row(struct progress *progress, double now,
		  const struct observation *row)
{
	const int epoch = row->epoch > 0 ? (int)row->epoch : 0;

	if (!progress->out || row->core != CELL_NO_INT ||
	    observation_is_modelled(row) || strcmp(row->status, "ok") != 0)
		return;
	if (strcmp(row->phase, "setup") == 0) {
		progress->phase = PROGRESS_WARMING_UP;
	} else if (strcmp(row->phase, "step") == 0) {
		note_step(progress, now, epoch, (int)row->iter,
			  row->samples > 0 ? row->samples : 0, row->loss);
	} else if (strcmp(row->phase, "test") == 0) {
		progress->tested = epoch;
		progress->test_loss = row->loss;
		progress->accuracy_pct = row->accuracy_pct;
	} else if (strcmp(row->phase, "epoch") == 0) {
		/* Now all its rows are there. */
		if (progress->tested == epoch && !progress->bar)
			show_test(progress);
	}
}

void progress_pause(const struct progress *progress)
{
	if (!progress->out || !progress->bar)
		return;
	fputs("\r\033[K", progress->out);
	fflush(progress->out);
}

void progress_end(struct progress *progress)
{
	progress_pause(progress);
	progress->out = NULL;
}
