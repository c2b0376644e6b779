#include "bench/commands/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/gate/verdict.h"
#include "bench/report/pictures/plot.h"
#include "bench/system/command_line.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/system/text.h"

/* One invocation. */
struct drawing {
	const struct options *options;
	struct plot plot;
	const char *folder;	 /* of pictures and report */
	char work[PATH_MAX];	 /* in it: scripts, data and what is drawn */
	struct plot_note notes[PLOT_PICTURES];
	struct plot_svg svgs[PLOT_PICTURES]; /* text NULL: not drawn */
	FILE *out, *log; /* log NULL: no notes */
};

/* A name in one of the two folders, whose own may end with slashes. */
static int name_file(char path[PATH_MAX], const char *folder, const char *name,
		     const char *suffix, struct error *err)
{
	int length = (int)strnlen(folder, PATH_MAX);

	while (length > 0 && folder[length - 1] == '/')
		length--;
	if (snprintf(path, PATH_MAX, "%.*s/%s%s", length, folder, name,
		     suffix) < PATH_MAX)
		return 0;
	return error_set(err, ERROR_OUTPUT, "the path is too long: %.200s...",
			 folder);
}

static void print_name(FILE *out, const char *path)
{
	char text[4 * PATH_MAX];

	text_clean(text, sizeof(text), path, 0);
	fprintf(out, "%s\n", text);
}

/* Context of a printer of rows. */
struct plot_request {
	const struct picture *picture;
	const struct plot *plot;
	struct plot_note *note;
};

static int print_data(FILE *out, const void *context, struct error *err)
{
	const struct plot_request *request = context;

	return request->picture->write(out, request->plot, request->note, err);
}

static int write_data(struct drawing *drawing, struct error *err)
{
	char path[PATH_MAX];

	for (int i = 0; i < PLOT_PICTURES; i++) {
		const struct plot_request request = {
			&pictures[i], &drawing->plot, &drawing->notes[i]
		};

		if (name_file(path, drawing->work, pictures[i].name, ".csv",
			      err) ||
		    file_replace_with(path, print_data, &request, err))
			return -1;
	}
	return plot_write_scripts(drawing->work, err);
}

/* Reads gnuplot's whole output and adds a NUL. */
static int read_svg(const char *path, struct plot_svg *svg, struct error *err)
{
	FILE *in = fopen(path, "rbe");
	struct stat status;
	char *text;

	if (!in || fstat(fileno(in), &status)) {
		error_set(err, ERROR_FAILED, "gnuplot succeeded but did not "
			  "write %.900s: %s", path, strerror(errno));
		if (in)
			fclose(in);
		return -1;
	}
	text = malloc((size_t)status.st_size + 1);
	if (text) {
		svg->size = fread(text, 1, (size_t)status.st_size, in);
		text[svg->size] = '\0';
		svg->text = text;
	}
	fclose(in);
	return text ? plot_svg_check(svg, err) :
		      error_memory(err, "a picture");
}

static int run_gnuplot(const struct drawing *drawing, const char *name,
		       struct error *err)
{
	char script[64];
	/* -d: none of the user's own settings. */
	const char *const argv[] = { "gnuplot", "-d", script, NULL };
	const struct process_setting setting = {
		.folder = drawing->work, .stdout_fd = STDERR_FILENO,
		.stderr_fd = -1
	};
	const long limit_s = drawing->options->timeout == OPTION_UNSET ?
				     30 : drawing->options->timeout;
	struct process_status status;
	struct error cause;

	snprintf(script, sizeof(script), "%s.gp", name);
	if (process_run(argv, &setting, (double)limit_s, &status, &cause)) {
		if (cause.kind == ERROR_STOPPED)
			return error_set(err, cause.kind, "%s", cause.message);
		return error_set(err, cause.kind, "%.300s; its script and data "
				 "are in %.600s", cause.message, drawing->work);
	}
	if (status.signal || status.code)
		return error_set(err, ERROR_FAILED, "gnuplot failed (%s %d) at "
				 "%s in %.600s, where its script and data are",
				 status.signal ? "signal" : "exit code",
				 status.signal ? status.signal : status.code,
				 script, drawing->work);
	return 0;
}

static int print_svg(FILE *out, const void *context, struct error *err)
{
	(void)err;
	plot_svg_print_file(out, context);
	return 0;
}

static int draw(struct drawing *drawing, int at, struct error *err)
{
	const struct picture *picture = &pictures[at];
	struct plot_svg *svg = &drawing->svgs[at];
	char drawn[PATH_MAX], path[PATH_MAX];
	int failed;

	*svg = (struct plot_svg){ .name = picture->name,
				  .title = picture->title };
	if (name_file(drawn, drawing->work, picture->name, ".svg", err) ||
	    name_file(path, drawing->folder, picture->name, ".svg", err))
		return -1;
	/* One that was left there must not be taken for the new one. */
	remove(drawn);
	if (!drawing->notes[at].rows) {
		remove(path);
		if (drawing->log && drawing->notes[at].text[0])
			fprintf(drawing->log, "bench: note: %s.svg is not "
				"drawn: %s\n", picture->name,
				drawing->notes[at].text);
		return 0;
	}
	failed = run_gnuplot(drawing, picture->name, err) ||
		 read_svg(drawn, svg, err) ||
		 file_replace_with(path, print_svg, svg, err);
	remove(drawn);
	if (!failed)
		print_name(drawing->out, path);
	return failed ? -1 : 0;
}

static int find_gnuplot(const struct drawing *drawing, struct error *err)
{
	if (process_find_program("gnuplot"))
		return 0;
	return error_set(err, ERROR_MISSING, "gnuplot is not installed; it is "
			 "in the package gnuplot-nox (apt-get install "
			 "gnuplot-nox). Scripts and data of the pictures are "
			 "in %.600s", drawing->work);
}

/* A check may have ended without a verdict. */
static int refuse_check(const char *folder, struct error *err)
{
	struct verdicts verdicts = { 0 };
	size_t count;

	if (verdicts_read(&verdicts, folder, err))
		return -1;
	count = verdicts.count;
	verdicts_release(&verdicts);
	return error_set(err, ERROR_INPUT, "%.600s: it holds only the "
			 "processes of a bench check, %s", folder,
			 count ? "whose verdicts bench table shows" :
				 "which reached no verdict");
}

static int draw_all(struct drawing *drawing, struct error *err)
{
	struct report report = { .plot = &drawing->plot,
				 .svgs = drawing->svgs,
				 .notes = drawing->notes };
	char path[PATH_MAX];

	if (!drawing->plot.results.line_count)
		return refuse_check(drawing->options->arguments[0], err);
	if (file_make_folder(drawing->folder, err) ||
	    name_file(drawing->work, drawing->folder, "plot", "", err) ||
	    file_make_folder(drawing->work, err) || write_data(drawing, err) ||
	    find_gnuplot(drawing, err))
		return -1;
	for (int i = 0; i < PLOT_PICTURES; i++)
		if (draw(drawing, i, err))
			return -1;
	report.name = drawing->options->arguments[0];
	if (name_file(path, drawing->folder, "report", ".html", err) ||
	    report_write(path, &report, err))
		return -1;
	print_name(drawing->out, path);
	return 0;
}

static int plot_campaign(const struct options *options,
			 const struct campaign *campaign, FILE *out, FILE *log,
			 struct error *err)
{
	struct drawing *drawing = calloc(1, sizeof(*drawing));
	int failed;

	if (!drawing)
		return error_memory(err, "pictures");
	drawing->options = options;
	drawing->folder = options->out ? options->out : options->arguments[0];
	drawing->out = out;
	drawing->log = log;
	/* gnuplot ends with this process, after any number of signals. */
	interrupt_install(1);
	/* gnuplot fails before any script if it does not have that terminal. */
	process_unset("GNUTERM");
	failed = plot_build(&drawing->plot, campaign, err);
	drawing->plot.folder = options->arguments[0];
	if (!failed)
		failed = draw_all(drawing, err);
	for (int i = 0; i < PLOT_PICTURES; i++)
		free((char *)drawing->svgs[i].text);
	plot_free(&drawing->plot);
	free(drawing);
	return failed ? -1 : 0;
}

/* A single file has no folder for its pictures. */
static int check_folder(const struct options *options, struct error *err)
{
	const char *folder = options->arguments[0];
	char above[PATH_MAX], command[2 * PATH_MAX];
	struct stat status;

	if (options->argument_count == 1 && *folder) {
		if (stat(folder, &status) || S_ISDIR(status.st_mode))
			return 0;
		campaign_folder_of(folder, above);
		command_line_hint(command, sizeof(command), "plot", above);
		return error_set(err, ERROR_USAGE, "%.400s: bench plot takes "
				 "the folder of a campaign, not a file of it: "
				 "%.500s", folder, command);
	}
	return error_set(err, ERROR_USAGE, "bench plot takes the folder of one "
			 "campaign, as in: bench plot results/NAME");
}

int plot_command(const struct options *options, FILE *out, FILE *log,
		 struct error *err)
{
	struct campaign campaign = { 0 };
	int failed;

	if (check_folder(options, err))
		return -1;
	log = options->quiet ? NULL : log;
	failed = campaign_load(&campaign, options->arguments, 1, 1, log, err) ||
		 plot_campaign(options, &campaign, out, log, err);
	campaign_release(&campaign);
	return failed ? -1 : 0;
}
