/* report.html: tables, pictures, machine, and how to measure it again. */
#include "bench/report/pictures/plot.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/option_table.h"
#include "bench/options/run_settings.h"
#include "bench/record/run.h"
#include "bench/report/table.h"
#include "bench/report/table_view.h"
#include "bench/system/command_line.h"
#include "bench/system/file.h"
#include "bench/system/text.h"
#include "models/model.h"

/* Made from bench/report/pictures/report.css, one string a line. */
static const char *const style_lines[] = {
#include "report/pictures/report.css.h"
	NULL
};

/* Writes the folder's own name: path may be ".". */
static void base_name(const char *path, char *name, size_t size)
{
	char whole[PATH_MAX];
	const char *base = NULL;

	if (realpath(path, whole))
		base = strrchr(whole, '/');
	/* The root folder has no name. */
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
	      "&#39;unsafe-inline&#39;\"/>\n", out);
	print_html(out, "<title>", name, ": bench</title>\n<style>\n");
	for (const char *const *line = style_lines; *line; line++)
		fputs(*line, out);
	plot_svg_print_style(out);
	fputs("</style>\n</head>\n<body>\n", out);
}

/* Prints the network and settings of each setup. */
static void print_setup(FILE *out, const struct line *line)
{
	const struct run *run = line->run;
	char model[100] = "", cpus[40] = "", text[400];

	if (run->model[0])
		snprintf(model, sizeof(model), ", model %s on %s", run->model,
			 run->dataset);
	if (run->logical_cpus != CELL_NO_INT)
		snprintf(cpus, sizeof(cpus), ", %ld CPUs", run->logical_cpus);
	snprintf(text, sizeof(text), "n = %d %s of each target%s; %s%s; %s.",
		 line->repetitions,
		 line->repetitions == 1 ? "run" : "fresh processes", model,
		 run->cpu_model[0] ? run->cpu_model : "unknown machine", cpus,
		 run->started_utc);
	print_html(out, "<p><b>", setup_name(line), "</b>: ");
	print_html(out, "", text, "</p>\n");
}

static void print_top(FILE *out, const struct report *report, const char *name)
{
	const struct results *results = &report->plot->results;
	const struct line *line;
	char text[1024];

	print_html(out, "<header>\n<h1>", name, "</h1>\n");
	fputs(plot_is_inference(report->plot) ?
	      "<p>The times of a network\u2019s forward passes, without "
	      "training.</p>\n" :
	      "<p>One network trained on one emulated core, on several cores "
	      "and on an OpenCL device: times of iterations and epochs, and "
	      "accuracy.</p>\n", out);
	for (int at = 0; (line = next_setup(results, &at));)
		print_setup(out, line);
	disturbed_text(results, text, sizeof(text));
	if (text[0])
		print_html(out, "<p><b>", text, "</b></p>\n");
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

	if (!note->rows && !note->text[0])
		return;
	fprintf(out, "<figure>\n<h3>%s</h3>\n", picture->title);
	if (note->rows)
		plot_svg_print_element(out, &report->svgs[at]);
	print_html(out, "<figcaption>", note->rows ? picture->caption :
						    "Not drawn:", " ");
	print_html(out, "", note->text, "</figcaption>\n</figure>\n");
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
	      "was measured in. <b>±</b> is a standard deviation. In the line "
	      "of one run it is the spread of its iterations or epochs. In a "
	      "line of several (\u201call\u201d) it is the spread of their "
	      "means. "
	      "Neither says how well a mean is known; the 95 % intervals under "
	      "the tables do, and need several runs. The best of its row is "
	      "underlined if its interval overlaps no other; single runs have "
	      "no interval.</p>\n"
	      "<p>A column that trains with a larger global batch makes fewer "
	      "updates, and learns differently: compare times together with "
	      "accuracy.</p>\n</section>\n", out);
}

/* Returns the first run of a setup that has its settings and machine. */
static const struct run *known_run(const struct line *line)
{
	const struct run *run;
	int at = 0;

	while ((run = next_run(line, &at)) && !run->cpu_model[0])
		;
	return run ? run : line->run;
}

static const struct fact {
	const char *label, *column;
} facts[] = {
	{ "CPU", "cpu_model" },	     { "logical CPUs", "logical_cpus" },
	{ "CPU quota", "cpu_quota" }, { "memory (bytes)", "mem_bytes" },
	{ "system", "os" },	     { "kernel", "kernel" },
	{ "bench", "version" },	     { "commit", "git_commit" },
	{ "compiler", "compiler" },  { "flags", "cflags" },
	{ "the program's SHA-256", "binary_sha256" },
	{ "variables set", "variables" },
	{ "libraries, cpu targets", "device_driver" },
	{ "data set", "dataset" },   { "its SHA-256", "dataset_sha256" },
};

static void print_fact(FILE *out, const struct results *results,
		       const struct fact *fact)
{
	const struct line *line;
	char number[NUMBER_SIZE];

	fprintf(out, "<tr><th scope=\"row\">%s</th>", fact->label);
	for (int at = 0; (line = next_setup(results, &at));) {
		const char *text = run_cell_text(known_run(line), fact->column,
						 number);

		print_html(out, "<td>", text[0] ? text : "-", "</td>");
	}
	fputs("</tr>\n", out);
}

static void print_machines(FILE *out, const struct report *report)
{
	const struct results *results = &report->plot->results;
	const struct line *line;

	fputs("<section id=\"machine\">\n<h2>Machine and build</h2>\n"
	      "<div class=\"wide facts\" role=\"region\" tabindex=\"0\" "
	      "aria-label=\"Machine and build\">\n<table>\n"
	      "<caption>From runs.csv; devices are under the tables"
	      "</caption>\n<thead><tr><td></td>", out);
	for (int at = 0; (line = next_setup(results, &at));)
		print_html(out, "<th scope=\"col\">", setup_name(line),
			   "</th>");
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		print_fact(out, results, &facts[i]);
	fputs("</tbody>\n</table>\n</div>\n</section>\n", out);
}

/* One word of a shell's command. */
static void print_word(FILE *out, const char *text)
{
	char clean[8192], word[4 * sizeof(clean)] = "";

	text_clean(clean, sizeof(clean), text, TEXT_LINES);
	command_line_append(word, sizeof(word), clean);
	fputc(' ', out);
	text_print(out, word, TEXT_HTML | TEXT_LINES);
}

static void print_option(FILE *out, const char *name, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, " --%s", name);
	print_word(out, value);
}

/* Prints the targets of a setup, without suffixes of --straggler. Sets *shared
 * if their iterations have one global batch at any number of cores. */
static void print_targets(FILE *out, const struct line *line, int *shared)
{
	const struct result *cell;
	long batch = CELL_NO_INT, cores = CELL_NO_INT;

	*shared = 0;
	for (int at = 0; (cell = next_target(line, &at));) {
		const struct run *run = cell->run;
		char target[sizeof(run->target)];

		snprintf(target, sizeof(target), "%.*s",
			 (int)strcspn(run->target, "+"), run->target);
		print_word(out, target);
		if (run->global_batch == batch && run->cores != cores)
			*shared = 1;
		batch = run->global_batch;
		cores = run->cores;
	}
}

/* Returns the value of a device option that all runs of a setup share, if it is
 * not the default; otherwise empty. */
static const char *device_setting(const struct line *line,
				  const struct run_setting *setting)
{
	const char *common = "";
	char number[NUMBER_SIZE];
	const struct run *run;

	for (int at = 0; (run = next_run(line, &at));) {
		const char *text = run_setting_text(setting, run, number);

		if (!text[0] || (setting->usual &&
				 !strcmp(setting->usual, text)))
			continue;
		if (common[0] && strcmp(common, text))
			return "";
		common = text;
	}
	return common;
}

/* Returns 1 for --batch or --global-batch if the other one fits all targets. */
static int is_said_otherwise(const struct run_setting *setting,
			     const struct run *run, int shared)
{
	const int by_all = shared || run->batch == CELL_NO_INT;

	return !strcmp(setting->option, by_all ? "batch" : "global-batch");
}

/* Vectors come from a file of labels, classes from names of folders. A data set
 * of unknown content is given by its folder. */
static void print_dataset(FILE *out, const struct run *run)
{
	const struct model *model = model_find(run->model);

	if (!strncmp(run->dataset, "unknown", strlen("unknown"))) {
		fputs(" --data-dir DIR", out);
	} else if (!strncmp(run->dataset, "scenes-of", strlen("scenes-of"))) {
		fputs(" --dataset fashion-scenes --data-dir DIR", out);
	} else if (!strcmp(run->dataset, "folder")) {
		fputs(" --dataset folder --data-dir DIR", out);
		if (model && !model_has_classes(model))
			fputs(" --targets-csv FILE", out);
	} else {
		print_option(out, "dataset", run->dataset);
	}
}

static void print_setting(FILE *out, const struct line *line,
			  const struct run *run,
			  const struct run_setting *setting)
{
	char number[NUMBER_SIZE];

	if (setting->flags & SETTING_DEVICE)
		print_option(out, setting->option,
			     device_setting(line, setting));
	else if (!strcmp(setting->option, "dataset"))
		print_dataset(out, run);
	else if (!strcmp(setting->option, "weights")) /* has a hash */
		print_option(out, "weights", run->weights[0] ? "FILE" : "");
	else
		print_option(out, setting->option,
			     run_setting_text(setting, run, number));
}

/* Prints the CPUs of the target with most. Other targets use a part of them.
 * Prints nothing if they are all CPUs. */
static void print_cpus(FILE *out, const struct line *line)
{
	const struct run *most = NULL, *run;

	for (int at = 0; (run = next_run(line, &at));)
		if (run->cpu_list[0] && (!most || run->cpus > most->cpus))
			most = run;
	if (most && most->cpus < most->logical_cpus)
		print_option(out, "cpus", most->cpu_list);
}

static void print_command(FILE *out, const struct line *line)
{
	const struct run *run = known_run(line);
	const enum verb verb = run_is_inference(run) ? VERB_INFER : VERB_RUN;
	char repeat[NUMBER_SIZE] = "";
	int shared;

	fprintf(out, "bench %s", verb_rows[verb].name);
	print_targets(out, line, &shared);
	for (int i = 0; i < run_setting_count; i++)
		if (run_setting_is_of(&run_settings[i], verb) &&
		    run_setting_concerns(&run_settings[i], run) &&
		    !is_said_otherwise(&run_settings[i], run, shared))
			print_setting(out, line, run, &run_settings[i]);
	if (verb == VERB_RUN && !strcmp(run->status, "ok") &&
	    !isfinite(run->final_accuracy_pct))
		print_option(out, "test", "off");
	print_cpus(out, line);
	if (line->repetitions > 1)
		snprintf(repeat, sizeof(repeat), "%d", line->repetitions);
	print_option(out, "repeat", repeat);
	print_option(out, "label", run->label);
	fputc('\n', out);
}

static void print_commands(FILE *out, const struct report *report)
{
	const struct line *line;

	fputs("<section id=\"again\">\n<h2>Measure again</h2>\n<p>The "
	      "commands have all options of the runs, given or default. "
	      "Times are "
	      "from this machine and this build; the same seed gives the same "
	      "bits on the same backend and number of cores.</p>\n<pre>", out);
	for (int at = 0; (line = next_setup(&report->plot->results, &at));)
		print_command(out, line);
	fputs("bench table", out);
	print_word(out, report->name);
	fputs(" --with-post\nbench plot", out);
	print_word(out, report->name);
	fputs("\n</pre>\n</section>\n", out);
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
	print_machines(out, report);
	print_commands(out, report);
	fputs("</main>\n</body>\n</html>\n", out);
	return 0;
}

int report_write(const char *path, const struct report *report,
		 struct error *err)
{
	return file_replace_with(path, print_report, report, err);
}
