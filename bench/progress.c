#include "bench/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH 10 /* the line then fits 80 columns */
#define WIDEST 200    /* of a line that overwrites another */
#define BAR_EVERY_S 0.1
#define LINE_EVERY_S 30 /* a silent job is taken for a hanging one */

static int terminal_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	if (width <= 0)
		return 80;
	return width < WIDEST ? (int)width : WIDEST;
}

static void draw(struct progress *progress, const char *line)
{
	const int most = progress->width - 1;

	if (progress->bar)
		fprintf(progress->out, "\r%-*.*s", most, most, line);
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
	int capable = isatty(STDERR_FILENO) && !isatty(fileno(rows)) &&
		      (!term || strcmp(term, "dumb") != 0);
	char line[80];

	*progress = (struct progress){
		.out = quiet || !strcmp(when, "never") ? NULL : stderr,
		.bar = capable || !strcmp(when, "always"),
		.target = target,
		.epochs = epochs,
		.iterations = iterations,
		.width = terminal_width(),
		.accuracy_pct = -1,
	};
	snprintf(line, sizeof(line), "%-8s starting and warming up", target);
	if (progress->out && progress->bar)
		draw(progress, line);
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

void progress_step(struct progress *progress, double now, int epoch,
		   int iteration, long samples, double loss)
{
	char line[256], bar[BAR_WIDTH + 1], left[32] = "", accuracy[24] = "";
	double done, rate;

	if (!progress->out || !epoch)
		return;
	if (!progress->began_at) {
		progress->began_at = progress->drawn_at = now;
		return; /* the rate needs an interval */
	}
	progress->samples += samples;
	if (now - progress->drawn_at <
	    (progress->bar ? BAR_EVERY_S : LINE_EVERY_S))
		return;
	progress->drawn_at = now;
	done = ((epoch - 1.) * progress->iterations + iteration) /
	       ((double)progress->epochs * progress->iterations);
	rate = (double)progress->samples / (now - progress->began_at);
	duration((now - progress->began_at) * (1 - done) / done, left,
		 sizeof(left));
	for (int i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < done * BAR_WIDTH ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	if (progress->accuracy_pct >= 0)
		snprintf(accuracy, sizeof(accuracy), "  test %.2f%%",
			 progress->accuracy_pct);
	snprintf(line, sizeof(line),
		 "%-8s [%s] epoch %d/%d  %.0f img/s  loss %.4f%s  %s left",
		 progress->target, bar, epoch, progress->epochs, rate, loss,
		 accuracy, left);
	draw(progress, line);
}

void progress_test(struct progress *progress, int epoch, double loss,
		   double accuracy_pct)
{
	char line[128];

	progress->accuracy_pct = accuracy_pct;
	if (!progress->out || progress->bar)
		return;
	snprintf(line, sizeof(line),
		 "%-8s epoch %d/%d  test loss %.4f, accuracy %.2f%%",
		 progress->target, epoch, progress->epochs, loss, accuracy_pct);
	draw(progress, line);
}

void progress_end(struct progress *progress)
{
	if (!progress->out || !progress->bar)
		return;
	fprintf(progress->out, "\r%*s\r", progress->width - 1, "");
	fflush(progress->out);
	progress->out = NULL;
}
