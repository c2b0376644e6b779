#include "bench/show/plot_report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"
#include "bench/record/run.h"
#include "bench/system/file.h"
#include "bench/show/table.h"
#include "bench/show/table_view.h"

/* Made from bench/show/report.css, one string a line. */
static const char *const style_lines[] = {
#include "show/report.css.h"
	NULL
};

/* The name of the folder, without those above it: not what it was called here,
 * which may be ".". */
static void base_name(const char *path, char *name, size_t size)
{
	char whole[PATH_MAX];
	const char *base = NULL;

	if (realpath(path, whole))
		base = strrchr(whole, '/');
	/* The root has none. */
	snprintf(name, size, "%s", base && base[1] ? base + 1 : path);
}

static void print_head(FILE *out, const char *name)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\""
	      "default-src &#39;none&#39;; style-src "
	      "&#39;unsafe-inline&#39;\"/>\n"
	      "<title>", out);
	text_print(out, name, TEXT_HTML);
	fputs(": bench</title>\n<style>\n", out);
	for (const char *const *line = style_lines; *line; line++)
		fputs(*line, out);
	plot_svg_print_style(out);
	fputs("</style>\n</head>\n<body>\n", out);
}

/* What was trained, as each setup says it. */
static void print_setups(FILE *out, const struct results *results)
{
	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];
		const struct run *run = line->run;

		if (!line_is_setup(line))
			continue;
		fputs("<p><b>", out);
		text_print(out, setup_name(line), TEXT_HTML);
		fprintf(out, "</b>: n = %d %s of each target",
			line->repetitions, line->repetitions == 1 ?
			"run" : "fresh processes");
		if (run->model[0]) {
			fputs(", model ", out);
			text_print(out, run->model, TEXT_HTML);
			fputs(" on ", out);
			text_print(out, run->dataset, TEXT_HTML);
		}
		fputs("; ", out);
		text_print(out, run->cpu_model[0] ? run->cpu_model :
						    "unknown machine",
			   TEXT_HTML);
		if (run->logical_cpus != CELL_NO_INT)
			fprintf(out, ", %ld CPUs", run->logical_cpus);
		fputs("; ", out);
		text_print(out, run->started_utc, TEXT_HTML);
		fputs(".</p>\n", out);
	}
}

static void print_top(FILE *out, const struct report *report, const char *name)
{
	char text[1024];

	fputs("<header>\n<h1>", out);
	text_print(out, name, TEXT_HTML);
	fputs("</h1>\n<p>One network trained on one emulated core, on several "
	      "of them and on an OpenCL device: what an iteration and an epoch "
	      "cost, and what was learned.</p>\n", out);
	print_setups(out, &report->plot->results);
	disturbed_text(&report->plot->results, text, sizeof(text));
	if (text[0]) {
		fputs("<p><b>", out);
		text_print(out, text, TEXT_HTML);
		fputs("</b></p>\n", out);
	}
	fputs("<nav aria-label=\"Contents\"><ul>"
	      "<li><a href=\"#pictures\">Pictures</a></li>"
	      "<li><a href=\"#tables\">Tables</a></li>"
	      "<li><a href=\"#reading\">How to read them</a></li>"
	      "<li><a href=\"#machine\">Machine and build</a></li>"
	      "<li><a href=\"#again\">Measure again</a></li>"
	      "</ul></nav>\n</header>\n<main>\n", out);
}

static void print_figure(FILE *out, const struct report *report, int at)
{
	const struct picture *picture = &pictures[at];
	const struct plot_note *note = &report->notes[at];

	fprintf(out, "<figure>\n<h3>%s</h3>\n", picture->title);
	if (note->rows)
		plot_svg_print_element(out, &report->svgs[at]);
	fputs("<figcaption>", out);
	text_print(out, note->rows ? picture->caption : "Not drawn: ",
		   TEXT_HTML);
	fputs(note->rows ? " " : "", out);
	text_print(out, note->text, TEXT_HTML);
	fputs("</figcaption>\n</figure>\n", out);
}

static void print_pictures(FILE *out, const struct report *report)
{
	fputs("<section id=\"pictures\">\n<h2>Pictures</h2>\n"
	      "<div class=\"pictures\">\n", out);
	for (int i = 0; i < PLOT_PICTURES; i++)
		print_figure(out, report, i);
	fputs("</div>\n", out);
	if (report->plot->left_out)
		fprintf(out, "<p class=\"note\">The pictures show the first %d "
			"targets; %d more are in the tables only.</p>\n",
			PLOT_MOST_SERIES, report->plot->left_out);
	fputs("</section>\n", out);
}

static int print_tables(FILE *out, const struct report *report,
			struct error *err)
{
	const struct table_options options = { .format = TABLE_HTML,
					       .utf8 = 1 };

	fputs("<section id=\"tables\">\n<h2>Tables</h2>\n", out);
	if (table_print(report->plot->campaign, &options, out, err))
		return -1;
	fputs("</section>\n", out);
	return 0;
}

static void print_reading(FILE *out)
{
	fputs("<section id=\"reading\">\n<h2>How to read them</h2>\n"
	      "<p><b>n</b> is the number of fresh processes that each target "
	      "was measured in. <b>±</b> is a standard deviation: in the line "
	      "of one run the spread of its iterations or epochs, in a line "
	      "of several (\u201call\u201d) that of the runs\u2019 means. "
	      "Neither says how well a mean is known; the 95 % intervals under "
	      "the tables do, and need several runs. What is underlined is the "
	      "best of its row by intervals that do not overlap, which single "
	      "runs have none of.</p>\n"
	      "<p>A column that trains with a larger global batch makes fewer "
	      "updates, and learns differently: compare times together with "
	      "accuracy.</p>\n</section>\n", out);
}

static int print_report(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;
	char name[512];

	base_name(report->name, name, sizeof(name));
	print_head(out, name);
	print_top(out, report, name);
	print_pictures(out, report);
	if (print_tables(out, report, err))
		return -1;
	print_reading(out);
	report_print_machines(out, report);
	report_print_commands(out, report);
	fputs("</main>\n</body>\n</html>\n", out);
	return 0;
}

int report_write(const char *path, const struct report *report,
		 struct error *err)
{
	return file_replace_with(path, print_report, report, err);
}
