/* The last parts of report.html: machines, and how to measure again. */
#include "bench/show/plot_report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/system/text.h"
#include "bench/show/table_view.h"

/* Of a setup, the first run that knows what it was asked and where it was. */
static const struct run *known_run(const struct line *line, int targets)
{
	const struct line *lines;
	int count;

	lines = line_runs(line, &count);
	for (int i = 0; i < count; i++)
		for (int t = 0; t < targets; t++) {
			const struct run *run = lines[i].cells[t].run;

			if (run && run->cpu_model[0])
				return run;
		}
	return line->run;
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

/* One cell of runs.csv, - where it is empty. */
static void print_cell(FILE *out, const struct run *run, const char *name)
{
	char number[NUMBER_SIZE];

	for (int i = 0; i < run_rows.column_count; i++) {
		const struct column *column = &run_rows.columns[i];
		const char *text = number;

		if (strcmp(column->name, name))
			continue;
		number[0] = '\0';
		if (column->kind == CELL_TEXT)
			text = cell_text(column, run);
		else if (column->kind == CELL_REAL)
			number_print(number, cell_real(column, run));
		else if (cell_int(column, run) != CELL_NO_INT)
			snprintf(number, sizeof(number), "%ld",
				 cell_int(column, run));
		text_print(out, text[0] ? text : "-", TEXT_HTML);
	}
}

static void print_fact(FILE *out, const struct results *results,
		       const struct fact *fact)
{
	fprintf(out, "<tr><th scope=\"row\">%s</th>", fact->label);
	for (int i = 0; i < results->line_count; i++) {
		if (!line_is_setup(&results->lines[i]))
			continue;
		fputs("<td>", out);
		print_cell(out, known_run(&results->lines[i],
					  results->target_count),
			   fact->column);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

void report_print_machines(FILE *out, const struct report *report)
{
	const struct results *results = &report->plot->results;

	fputs("<section id=\"machine\">\n<h2>Machine and build</h2>\n"
	      "<div class=\"wide facts\" role=\"region\" tabindex=\"0\" "
	      "aria-label=\"Machine and build\">\n<table>\n"
	      "<caption>As runs.csv has it; devices are under the tables"
	      "</caption>\n<thead><tr><td></td>", out);
	for (int i = 0; i < results->line_count; i++) {
		if (!line_is_setup(&results->lines[i]))
			continue;
		fputs("<th scope=\"col\">", out);
		text_print(out, setup_name(&results->lines[i]), TEXT_HTML);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		print_fact(out, results, &facts[i]);
	fputs("</tbody>\n</table>\n</div>\n</section>\n", out);
}

/* One word of a shell's command: in quotes unless it is plain. */
static void print_word(FILE *out, const char *text)
{
	char word[8192];
	const char *at = word;

	text_clean(word, sizeof(word), text, TEXT_LINES);
	while (*at && (isalnum((unsigned char)*at) ||
		       strchr("_@%+:,./-", *at)))
		at++;
	fputc(' ', out);
	if (*word && !*at) {
		fputs(word, out);
		return;
	}
	fputs("&#39;", out);
	for (at = word; *at; at++) {
		const char one[2] = { *at, '\0' };

		/* Out of the quotes, a quote, and into them again. */
		if (*at == '\'')
			fputs("&#39;\\&#39;&#39;", out);
		else if ((unsigned char)*at >= 0x80)
			fputc(*at, out);
		else
			text_print(out, one, TEXT_HTML | TEXT_LINES);
	}
	fputs("&#39;", out);
}

static void print_option(FILE *out, const char *name, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, " --%s", name);
	print_word(out, value);
}

static void print_number(FILE *out, const char *name, double value)
{
	char number[NUMBER_SIZE];

	number_print(number, value);
	print_option(out, name, number);
}

static double real_of(long value)
{
	return value == CELL_NO_INT ? NAN : (double)value;
}

/* The targets of a setup, without what --straggler adds to their names; sets
 * *shared if their iterations have one global batch at any number of cores. */
static void print_targets(FILE *out, const struct results *results,
			  const struct line *line, int *shared)
{
	long batch = CELL_NO_INT, cores = CELL_NO_INT;

	*shared = 0;
	for (int t = 0; t < results->target_count; t++) {
		const struct run *run = line->cells[t].run;
		char target[sizeof(run->target)];

		if (!run)
			continue;
		snprintf(target, sizeof(target), "%.*s",
			 (int)strcspn(run->target, "+"), run->target);
		print_word(out, target);
		if (run->global_batch == batch && run->cores != cores)
			*shared = 1;
		batch = run->global_batch;
		cores = run->cores;
	}
}

/* That of all a setup's devices but those that were never opened; empty if
 * each had its own. */
static const char *common_class(const struct results *results,
				const struct line *line)
{
	const char *common = "";

	for (int t = 0; t < results->target_count; t++) {
		const struct run *run = line->cells[t].run;

		if (!run || !run->device_class[0])
			continue;
		if (common[0] && strcmp(common, run->device_class))
			return "";
		common = run->device_class;
	}
	return common;
}

static int asks_upload(const struct run *run)
{
	return !strcmp(run_asked_resident(run), "no");
}

/* Was it so in any of a setup's? Other targets do not take the option. */
static int any_says(const struct results *results, const struct line *line,
		    int (*says)(const struct run *run))
{
	const struct line *lines;
	int count;

	lines = line_runs(line, &count);
	for (int i = 0; i < count; i++)
		for (int t = 0; t < results->target_count; t++)
			if (lines[i].cells[t].run &&
			    says(lines[i].cells[t].run))
				return 1;
	return 0;
}

static void print_settings(FILE *out, const struct run *run, int shared)
{
	print_option(out, "model", run->model);
	if (strncmp(run->dataset, "unknown", 7))
		print_option(out, "dataset", run->dataset);
	else
		print_option(out, "data-dir", "DIR");
	if (!strcmp(run->dataset, "synthetic")) {
		print_number(out, "synthetic-train",
			     real_of(run->train_samples));
		print_number(out, "synthetic-test", real_of(run->test_samples));
	}
	print_number(out, "epochs", real_of(run->epochs));
	print_number(out, "steps", real_of(run->steps));
	if (shared || run->batch == CELL_NO_INT)
		print_number(out, "global-batch", real_of(run->global_batch));
	else
		print_number(out, "batch", real_of(run->batch));
	print_number(out, "test-batch", real_of(run->test_batch));
	if (!strcmp(run->status, "ok") && !isfinite(run->final_accuracy_pct))
		print_option(out, "test", "off");
	print_number(out, "seed", real_of(run->seed));
	print_number(out, "lr", run->lr);
	print_option(out, "dropout", run->dropout);
	print_option(out, "algorithm", run->algorithm);
	print_option(out, "precision", run->precision);
	print_option(out, "reshuffle", run->reshuffle);
	print_number(out, "warmup", real_of(run->warmup));
	print_option(out, "straggler", run->straggler);
	print_number(out, "inject", run->inject_pct);
	print_number(out, "target-accuracy", run->target_accuracy_pct);
}

static void print_command(FILE *out, const struct results *results,
			  const struct line *line)
{
	const struct run *run = known_run(line, results->target_count);
	int shared;

	fputs("bench run", out);
	print_targets(out, results, line, &shared);
	print_settings(out, run, shared);
	if (line->repetitions > 1)
		print_number(out, "repeat", line->repetitions);
	print_option(out, "device-class", common_class(results, line));
	print_option(out, "resident", any_says(results, line, asks_upload) ?
					      "no" : "");
	print_option(out, "sync", any_says(results, line, run_is_ahead) ?
					  "epoch" : "");
	print_option(out, "label", run->label);
	fputc('\n', out);
}

void report_print_commands(FILE *out, const struct report *report)
{
	const struct results *results = &report->plot->results;

	fputs("<section id=\"again\">\n<h2>Measure again</h2>\n"
	      "<p>The options are those that the runs had, whether given or "
	      "not. Times are of this machine and this build; the same seed "
	      "gives the same bits on the same backend and number of cores."
	      "</p>\n<pre>", out);
	for (int i = 0; i < results->line_count; i++)
		if (line_is_setup(&results->lines[i]))
			print_command(out, results, &results->lines[i]);
	fputs("bench table", out);
	print_word(out, report->name);
	fputs(" --with-post\nbench plot", out);
	print_word(out, report->name);
	fputs("\n</pre>\n</section>\n", out);
}
