/* The last parts of report.html: machines, and how to measure again. */
#include "bench/show/plot_report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "bench/options/run_settings.h"
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

static void print_fact(FILE *out, const struct results *results,
		       const struct fact *fact)
{
	char number[NUMBER_SIZE];

	fprintf(out, "<tr><th scope=\"row\">%s</th>", fact->label);
	for (int i = 0; i < results->line_count; i++) {
		const struct run *run;
		const char *text;

		if (!line_is_setup(&results->lines[i]))
			continue;
		run = known_run(&results->lines[i], results->target_count);
		text = run_cell_text(run, fact->column, number);
		fputs("<td>", out);
		text_print(out, text[0] ? text : "-", TEXT_HTML);
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

/* What the runs of a setup that take such an option were told, if it was the
 * same and had to be said; empty else. */
static const char *device_setting(const struct results *results,
				  const struct line *line,
				  const struct run_setting *setting)
{
	const char *common = "", *text;
	char number[NUMBER_SIZE];
	const struct line *lines;
	int count;

	lines = line_runs(line, &count);
	for (int i = 0; i < count * results->target_count; i++) {
		const struct run *run = lines[i / results->target_count]
					.cells[i % results->target_count].run;

		text = run ? run_setting_text(setting, run, number) : "";
		if (!text[0] || (setting->usual &&
				 !strcmp(setting->usual, text)))
			continue;
		if (common[0] && strcmp(common, text))
			return "";
		common = text;
	}
	return common;
}

/* Of two options that say the same, the one that says it for all targets. */
static int is_said_otherwise(const struct run_setting *setting,
			     const struct run *run, int shared)
{
	const int by_all = shared || run->batch == CELL_NO_INT;

	return !strcmp(setting->option, by_all ? "batch" : "global-batch");
}

static void print_setting(FILE *out, const struct results *results,
			  const struct line *line, const struct run *run,
			  const struct run_setting *setting)
{
	char number[NUMBER_SIZE];

	if (setting->flags & SETTING_DEVICE)
		print_option(out, setting->option,
			     device_setting(results, line, setting));
	else if (!strcmp(setting->option, "dataset") &&
		 !strncmp(run->dataset, "unknown", strlen("unknown")))
		print_option(out, "data-dir", "DIR");
	else
		print_option(out, setting->option,
			     run_setting_text(setting, run, number));
}

static void print_command(FILE *out, const struct results *results,
			  const struct line *line)
{
	const struct run *run = known_run(line, results->target_count);
	char repeat[NUMBER_SIZE] = "";
	int shared;

	fputs("bench run", out);
	print_targets(out, results, line, &shared);
	for (int i = 0; i < run_setting_count; i++)
		if (run_setting_concerns(&run_settings[i], run) &&
		    !is_said_otherwise(&run_settings[i], run, shared))
			print_setting(out, results, line, run,
				      &run_settings[i]);
	if (!strcmp(run->status, "ok") && !isfinite(run->final_accuracy_pct))
		print_option(out, "test", "off");
	if (line->repetitions > 1)
		snprintf(repeat, sizeof(repeat), "%d", line->repetitions);
	print_option(out, "repeat", repeat);
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
