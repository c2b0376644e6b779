#include "bench/commands/outputs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/argument.h"
#include "bench/data/dataset_files.h"
#include "bench/data/folder.h"
#include "bench/plan/plan.h"
#include "bench/record/campaign.h"
#include "bench/report/pictures/plot.h"
#include "bench/system/file_id.h"
#include "bench/system/memory.h"

struct output {
	struct file_id id;
	char path[PATH_MAX], writer[48]; /* such as "--trace" */
	int in_folder; /* one of several that the writer has in a folder */
};

struct files {
	const struct options *options;
	int writes; /* 1: outputs are gathered; 0: inputs are held to them */
	struct output *outputs;
	size_t count, room;
	struct error *err;
};

/* why: "which --weights reads", or another reason to leave path alone. */
static int refuse(const struct files *files, const struct output *output,
		  const char *path, const char *why)
{
	return error_set(files->err, ERROR_USAGE, "%.300s of %s is %.300s, %s: "
			 "name another file", output->path, output->writer,
			 path, why);
}

static int keep(struct files *files, const struct output *output)
{
	void *items = files->outputs;

	if (array_make_room(&items, files->count, &files->room, sizeof(*output),
			    "the names of outputs", files->err))
		return -1;
	files->outputs = items;
	files->outputs[files->count++] = *output;
	return 0;
}

/* The output that is this file, or NULL. */
static const struct output *find(const struct files *files,
				 const struct file_id *id)
{
	for (size_t i = 0; i < files->count; i++)
		if (file_is_same(&files->outputs[i].id, id))
			return &files->outputs[i];
	return NULL;
}

/* A file that user, an option or the verb, reads or writes. */
static int see(struct files *files, const char *user, int in_folder,
	       const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int see(struct files *files, const char *user, int in_folder,
	       const char *format, ...)
{
	struct output file = { .in_folder = in_folder };
	const struct output *other;
	va_list arguments;
	char why[128];
	int length;

	va_start(arguments, format);
	length = vsnprintf(file.path, sizeof(file.path), format, arguments);
	va_end(arguments);
	if (length < 0 || length >= PATH_MAX ||
	    file_identify(file.path, &file.id))
		return 0;
	snprintf(file.writer, sizeof(file.writer), "%s", user);
	other = find(files, &file.id);
	if (!other)
		return files->writes ? keep(files, &file) : 0;
	if (files->writes)
		in_folder = other->in_folder;
	snprintf(why, sizeof(why), "%s%s %s", in_folder ?
		 "a file of the folder that " : "which ",
		 files->writes ? other->writer : user,
		 files->writes ? "writes" : "reads");
	return files->writes ? refuse(files, &file, other->path, why) :
			       refuse(files, other, file.path, why);
}

/* Adds the files that bench run, check and scale write to a results folder. */
static int see_folder(struct files *files, const char *user, const char *folder)
{
	static const char *const names[] = {
		"observations.csv", "modelled.csv", "runs.csv", "summary.csv",
		"tables.md", "verdicts.csv", "verdicts.md", "scale.csv"
	};
	/* bench scale replaces the last one. */
	const size_t count = sizeof(names) / sizeof(names[0]) -
			     (files->options->verb == VERB_SCALE);

	for (size_t i = 0; i < count; i++)
		if (see(files, user, 1, "%s/%s", folder, names[i]))
			return -1;
	return 0;
}

static int see_pictures(struct files *files, const char *folder)
{
	for (int i = 0; i < PLOT_PICTURES; i++) {
		const char *name = pictures[i].name;

		if (see(files, "--out", 1, "%s/%s.svg", folder, name) ||
		    see(files, "--out", 1, "%s/plot/%s.csv", folder, name) ||
		    see(files, "--out", 1, "%s/plot/%s.gp", folder, name))
			return -1;
	}
	return see(files, "--out", 1, "%s/report.html", folder);
}

/* An argument of the verb: a folder, or a file; of the two files of a folder
 * the other one, too. */
static int see_argument(struct files *files, const char *path)
{
	char user[48], folder[PATH_MAX];
	const char *other = campaign_other_half(path);

	snprintf(user, sizeof(user), "bench %s",
		 verb_name(files->options->verb));
	campaign_folder_of(path, folder);
	return see(files, user, 0, "%s", path) ||
			       see_folder(files, user, path) ||
			       (other && see(files, user, 1, "%s/%s", folder,
					     other)) ?
		       -1 : 0;
}

static int see_arguments(struct files *files)
{
	const struct options *options = files->options;
	struct argument argument;
	int position = -1;

	for (int a = 0; a < options->argument_count; a++) {
		if (position < 0 || !argument.repeats)
			position++;
		if (!verb_argument(options->verb, position, &argument))
			return 0;
		if (argument_offer(&argument) >= OFFER_FOLDERS &&
		    see_argument(files, options->arguments[a]))
			return -1;
	}
	return 0;
}

static const char *value_of(const struct files *files,
			    const struct option_row *row)
{
	const struct options *options = files->options;
	const char *value =
		*(const char *const *)((const char *)options + row->offset);

	/* Output to standard output, or to a descriptor, is appended. */
	return value && files->writes &&
			       (file_is_special(value) ||
				(!strncmp(row->name, "export-", 7) &&
				 !strcmp(value, "-"))) ?
		       NULL : value;
}

static int see_option(struct files *files, const struct option_row *row)
{
	const enum verb verb = files->options->verb;
	const unsigned users = files->writes ? row->writes : row->reads;
	const char *value = users >> verb & 1 && verb_knows(verb, row) ?
				    value_of(files, row) : NULL;
	struct argument argument;
	char user[48];

	if (!value || !option_argument(row, &argument))
		return 0;
	snprintf(user, sizeof(user), "--%s", row->name);
	if (!strcmp(row->name, "save-weights"))
		return see(files, user, 0, "%.*s",
			   (int)plan_saved_length(value), value);
	if (argument_offer(&argument) == OFFER_FILES)
		return see(files, user, 0, "%s", value);
	if (!strcmp(row->name, "data-dir"))
		return 0; /* see_data() */
	return verb == VERB_PLOT ? see_pictures(files, value) :
				   see_folder(files, user, value);
}

static int see_all(struct files *files)
{
	for (int i = 0; i < option_row_count; i++)
		if (see_option(files, &option_rows[i]))
			return -1;
	return files->writes ? 0 : see_arguments(files);
}

static int is_below(const char *path, const char *folder)
{
	char real[PATH_MAX];
	size_t length;

	if (!folder || !*folder || !realpath(folder, real))
		return 0;
	length = strlen(real);
	return !strncmp(path, real, length) && path[length] == '/';
}

/* Recognises files of data sets by name, wherever they are searched. */
static int is_data(const char *path, const struct options *options)
{
	char real[PATH_MAX], folder[PATH_MAX], known[PATH_MAX];
	struct dataset_search search;

	if (!realpath(path, real))
		return 0;
	dataset_search_init(&search, options->data_dir);
	if (!is_below(real, search.only ? search.only : search.variable) &&
	    (search.only || !is_below(real, search.cache)))
		return 0;
	campaign_folder_of(real, folder);
	folder[strlen(folder) - 1] = '\0';
	for (int file = 0; file < DATASET_FILES; file++)
		if (dataset_file_path(folder, (enum dataset_file)file, known,
				      sizeof(known)) && !strcmp(known, real))
			return 1;
	return folder_has_image_name(real);
}

static int see_data(const struct files *files)
{
	if (!verb_knows(files->options->verb, option_find("data-dir")))
		return 0;
	for (size_t i = 0; i < files->count; i++)
		if (is_data(files->outputs[i].path, files->options))
			return refuse(files, &files->outputs[i],
				      files->outputs[i].path, "a file of the "
				      "data set");
	return 0;
}

/* A shell has opened standard output: it may be a new file in place of an
 * input. */
static int see_standard(const struct files *files)
{
	static const char *const paths[] = { "/dev/stdout", "/dev/stderr" };
	const struct output *output;
	struct file_id id;

	for (int i = 0; i < 2; i++) {
		if (file_identify(paths[i], &id))
			continue;
		output = find(files, &id);
		if (output)
			return refuse(files, output, paths[i],
				      "which has the rest of the output");
	}
	return 0;
}

/* Returns 1 if the first columns are as in runs.csv or observations.csv. */
static int has_runs(const char *path)
{
	static const char runs[] = "schema,run_id,campaign_id,";
	static const char rows[] = "schema,run_id,target,cores,core,phase,";
	char line[sizeof(rows)] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return !strcmp(line, rows) || !strncmp(line, runs, strlen(runs));
}

/* Rows that another command measured. --run-file names a file of one row, which
 * the next run may replace. */
static int see_rows(const struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct output *output = &files->outputs[i];

		if (!output->in_folder &&
		    strcmp(output->writer, "--run-file") != 0 &&
		    has_runs(output->path))
			return error_set(files->err, ERROR_USAGE, "%.300s of "
					 "%s has measured rows: name another "
					 "file", output->path, output->writer);
	}
	return 0;
}

int outputs_check(const struct options *options, struct error *err)
{
	struct files files = { .options = options, .writes = 1, .err = err };
	int failed = see_all(&files);

	files.writes = 0;
	if (!failed && files.count)
		failed = see_all(&files) || see_data(&files) ||
			 see_standard(&files) || see_rows(&files);
	free(files.outputs);
	return failed ? -1 : 0;
}
