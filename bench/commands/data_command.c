#include "bench/commands/commands.h"

#include <string.h>

#include "bench/data/data_get.h"
#include "bench/data/dataset_files.h"
#include "bench/system/command_line.h"
#include "bench/system/suggest.h"

/* Hashes the four files. reasons has an error for each file without a hash.
 * Fails only if there is no memory. */
static int hash_place(struct dataset_place *place,
		      char sha256[DATASET_FILES][HASH_SHA256_SIZE],
		      struct error reasons[DATASET_FILES], struct error *err)
{
	for (int file = 0; file < DATASET_FILES; file++)
		if (dataset_file_hash(place->paths[file],
				      (enum dataset_file)file, sha256[file],
				      &reasons[file]) &&
		    reasons[file].memory) {
			*err = reasons[file];
			return -1;
		}
	return 0;
}

/* "found" is what has this very content. */
static int list_content(const struct dataset_known *known,
			struct dataset_place *place, FILE *out,
			struct error *err)
{
	char sha256[DATASET_FILES][HASH_SHA256_SIZE];
	struct error reasons[DATASET_FILES];
	const struct dataset_known *content;
	int matches;

	if (hash_place(place, sha256, reasons, err))
		return -1;
	content = dataset_known_closest(sha256);
	matches = content ? dataset_known_matches(content, sha256) : 0;
	fprintf(out, "%s     %s", content == known && matches == DATASET_FILES ?
					  "found" : "other", place->dir);
	if (matches > 0 && matches < DATASET_FILES)
		fprintf(out, " (only %d of its 4 files belong to %s)",
			matches, content->name);
	else if (content != known)
		fprintf(out, " (it holds %s)",
			content ? content->name : "unknown content");
	return 0;
}

static int list_known(const struct dataset_known *known,
		      const struct dataset_search *search, FILE *out,
		      struct error *err)
{
	struct dataset_place place;
	char get[300];

	fprintf(out, "%-14s", known->name);
	if (dataset_find(search, known, &place, err)) {
		command_line_hint(get, sizeof(get), "data get", known->name);
		fprintf(out, "missing   %s", get);
		if (known->package)
			fprintf(out, ", or apt-get install %s",
				known->package);
	} else {
		if (list_content(known, &place, out, err))
			return -1;
	}
	fprintf(out, "\n");
	return 0;
}

/* only: the one to list, or NULL for all; dir: where to look, or NULL. */
static int data_list(const struct dataset_known *only, const char *dir,
		     FILE *out, struct error *err)
{
	const struct dataset_known *known = NULL;
	struct dataset_search search;

	dataset_search_init(&search, dir);
	fprintf(out, "NAME          STATE     WHERE, OR HOW TO GET IT\n");
	while ((known = dataset_known_next(known)))
		if ((!only || only == known) &&
		    list_known(known, &search, out, err))
			return -1;
	if (!only) {
		fprintf(out, "\n--dataset takes\n");
		list_datasets(out);
	}
	return 0;
}

/* Compares the files with the hashes of known. If known is NULL, uses the set
 * that most files belong to. */
static int check_place(struct dataset_place *place,
		       const struct dataset_known *known, FILE *out,
		       struct error *err)
{
	char sha256[DATASET_FILES][HASH_SHA256_SIZE];
	struct error reasons[DATASET_FILES];
	char get[300];
	int matches;

	if (hash_place(place, sha256, reasons, err))
		return -1;
	if (!known)
		known = dataset_known_closest(sha256);
	if (!known)
		known = dataset_known_next(NULL);
	for (int file = 0; file < DATASET_FILES; file++)
		if (!sha256[file][0])
			fprintf(out, "%s\n", reasons[file].message);
		else if (strcmp(sha256[file], known->sha256[file]))
			fprintf(out, "%s: not the file from %s: expected "
				"sha256 %s, found %s\n", place->paths[file],
				known->title, known->sha256[file],
				sha256[file]);
		else
			fprintf(out, "%s: OK, %s\n", place->paths[file],
				known->name);
	matches = dataset_known_matches(known, sha256);
	if (matches == DATASET_FILES)
		return 0;
	command_line_hint(get, sizeof(get), "data get", known->name);
	return error_set(err, ERROR_INPUT,
			 "%.500s: only %d of the 4 files belong to %s; `%s` "
			 "fetches all four", place->dir, matches,
			 known->title, get);
}

/* Every set that is found, each folder once. */
static int check_all(const struct dataset_search *search, FILE *out,
		     struct error *err)
{
	const struct dataset_known *known = NULL;
	struct dataset_place place, last;
	struct error missing, reason;
	int found = 0, status = 0;

	while ((known = dataset_known_next(known))) {
		if (dataset_find(search, known, &place, &reason)) {
			if (!found)
				missing = reason;
			continue;
		}
		if (found++ && !strcmp(place.dir, last.dir))
			continue;
		last = place;
		if (check_place(&place, NULL, out, &reason)) {
			*err = reason;
			status = -1;
		}
	}
	if (!found)
		*err = missing;
	return found ? status : -1;
}

static int data_check(const struct dataset_known *known, const char *dir,
		      FILE *out, struct error *err)
{
	struct dataset_search search;
	struct dataset_place place;

	dataset_search_init(&search, dir);
	if (!known && !dir)
		return check_all(&search, out, err);
	if (dataset_find(&search, known, &place, err))
		return -1;
	return check_place(&place, known, out, err);
}

/* The set of that name, which is NULL if none was given. */
static int find_set(const char *name, const struct dataset_known **known,
		    struct error *err)
{
	struct suggestion suggestion = { .typed = name };

	*known = name ? dataset_known_find(name) : NULL;
	if (!name || *known)
		return 0;
	while ((*known = dataset_known_next(*known)))
		suggest_add(&suggestion, (*known)->name);
	return error_set(err, ERROR_USAGE, "unknown data set '%.100s'; %s",
			 name, suggest_text(&suggestion));
}

int data_command(const struct options *options, FILE *out, FILE *log,
		 struct error *err)
{
	const int count = options->argument_count;
	const char *verb = count > 0 ? options->arguments[0] : "";
	const struct dataset_known *known;
	int status;

	if (strcmp(verb, "get") && strcmp(verb, "list") &&
	    strcmp(verb, "check"))
		return error_set(err, ERROR_USAGE,
				 "bench data takes get, check or list%s%.100s",
				 *verb ? ", not " : "", verb);
	if (options->mirror && strcmp(verb, "get"))
		return error_set(err, ERROR_USAGE,
				 "--mirror is for bench data get only");
	if (find_set(count > 1 ? options->arguments[1] : NULL, &known, err))
		return -1;
	if (!strcmp(verb, "get"))
		status = data_get(known, options, out, log, err);
	else if (!strcmp(verb, "list"))
		status = data_list(known, options->data_dir, out, err);
	else
		status = data_check(known, options->data_dir, out, err);
	if ((fflush(out) || ferror(out)) && !status)
		return error_set(err, ERROR_OUTPUT,
				 "the result could not be written");
	return status;
}
