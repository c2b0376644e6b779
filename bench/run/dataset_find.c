#include "bench/run/dataset_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/system/file.h"

#define MAX_FOLDERS 8

/* Folders to try, in order. Long names are left out: they cannot exist. */
struct folders {
	int count;
	char paths[MAX_FOLDERS][PATH_MAX];
};

static void folders_add(struct folders *folders, const char *dir,
			const char *below)
{
	int written;

	if (!dir || !*dir || folders->count == MAX_FOLDERS)
		return;
	written = snprintf(folders->paths[folders->count], PATH_MAX, "%s%s%s",
			   dir, below ? "/" : "", below ? below : "");
	if (written > 0 && written < PATH_MAX)
		folders->count++;
}

static void folders_list(struct folders *folders,
			 const struct dataset_search *search,
			 const struct dataset_known *known)
{
	const struct dataset_known *other = NULL;

	folders->count = 0;
	if (search->only) {
		folders_add(folders, search->only, NULL);
		if (known)
			folders_add(folders, search->only, known->torchvision);
		while ((other = dataset_known_next(other)))
			if (other != known)
				folders_add(folders, search->only,
					    other->torchvision);
		return;
	}
	folders_add(folders, search->variable, NULL);
	folders_add(folders, search->variable, known->name);
	folders_add(folders, search->variable, known->torchvision);
	folders_add(folders, search->cache, known->name);
	folders_add(folders, search->system, known->name);
}

void dataset_search_init(struct dataset_search *search, const char *dir)
{
	const char *variable = getenv("BENCH_DATA_DIR");

	search->only = dir;
	search->variable = variable && *variable ? variable : NULL;
	search->system = "/usr/share/datasets";
	kept_cache(search->cache);
}

int dataset_place_look(struct dataset_place *place, const char *dir)
{
	int count = 0;

	snprintf(place->dir, sizeof(place->dir), "%s", dir);
	for (int file = 0; file < DATASET_FILES; file++)
		if (dataset_file_path(dir, file, place->paths[file], PATH_MAX))
			count++;
		else
			place->paths[file][0] = '\0';
	return count;
}

/* Returns whether one of the folders has all files. */
static int look_in_all(const struct folders *folders,
		       struct dataset_place *place)
{
	for (int i = 0; i < folders->count; i++) {
		int count = dataset_place_look(place, folders->paths[i]);

		if (count == DATASET_FILES)
			return 1;
		if (count > 0 && !place->passed_over[0])
			memcpy(place->passed_over, folders->paths[i], PATH_MAX);
	}
	return 0;
}

/* Adds to text of size bytes as much as fits. */
static void append(char *text, size_t size, const char *words)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", words);
}

/* Names of the files, of all or of those that place has not. */
static void name_files(const struct dataset_place *place, char *text,
		       size_t size)
{
	text[0] = '\0';
	for (int file = 0; file < DATASET_FILES; file++) {
		if (place && place->paths[file][0])
			continue;
		append(text, size, text[0] ? ", " : "");
		append(text, size, dataset_file_name((enum dataset_file)file));
	}
}

static int missing_only(const struct folders *folders,
			const struct dataset_search *search,
			const struct dataset_known *known, struct error *err)
{
	char names[160], absent[160];
	struct dataset_place place;
	struct stat about;
	int count = 0;

	if (stat(search->only, &about))
		return error_set(err, ERROR_MISSING,
				 "%.700s: %s; `bench data get %s --data-dir "
				 "DIR` makes a folder with the files",
				 search->only, strerror(errno),
				 known ? known->name : "mnist");
	if (!S_ISDIR(about.st_mode))
		return error_set(err, ERROR_MISSING,
				 "%.700s: a folder expected; `bench data get "
				 "%s --data-dir DIR` makes one", search->only,
				 known ? known->name : "mnist");
	for (int i = 0; i < folders->count && !count; i++)
		count = dataset_place_look(&place, folders->paths[i]);
	name_files(NULL, names, sizeof(names));
	name_files(&place, absent, sizeof(absent));
	return error_set(err, ERROR_MISSING,
			 "%.300s has %s%s of %s (names with .idx for -idx and "
			 "with .gz will do; looked in it and in its MNIST/raw "
			 "and FashionMNIST/raw); `bench data get %s --data-dir "
			 "DIR` brings them",
			 search->only, count ? "no " : "none",
			 count ? absent : "", names,
			 known ? known->name : "mnist");
}

static int missing_everywhere(const struct dataset_search *search,
			      const struct dataset_known *known,
			      struct error *err)
{
	struct folders folders;
	char places[500] = "";
	char package[120] = "";

	folders_list(&folders, search,
		     known ? known : dataset_known_next(NULL));
	for (int i = 0; i < folders.count; i++) {
		append(places, sizeof(places), i ? ", " : "");
		append(places, sizeof(places), folders.paths[i]);
	}
	if (!known)
		return error_set(err, ERROR_MISSING,
				 "no data set is found, neither MNIST (in %s) "
				 "nor Fashion-MNIST; `bench data get mnist` "
				 "downloads the one, `apt-get install "
				 "dataset-fashion-mnist` or `make deps` "
				 "installs the other, `--dataset synthetic` "
				 "needs no files", places);
	if (known->package)
		snprintf(package, sizeof(package),
			 ", `apt-get install %s` or `make deps` installs them",
			 known->package);
	return error_set(err, ERROR_MISSING,
			 "%s is not found (looked in %s); `bench data get %s` "
			 "downloads its files%s", known->title, places,
			 known->name, package);
}

int dataset_find(const struct dataset_search *search,
		 const struct dataset_known *known,
		 struct dataset_place *place, struct error *err)
{
	const struct dataset_known *each = NULL;
	struct folders folders;

	place->passed_over[0] = '\0';
	if (search->only || known) {
		folders_list(&folders, search, known);
		if (look_in_all(&folders, place))
			return 0;
		return search->only ?
			       missing_only(&folders, search, known, err) :
			       missing_everywhere(search, known, err);
	}
	while ((each = dataset_known_next(each))) {
		folders_list(&folders, search, each);
		if (look_in_all(&folders, place))
			return 0;
	}
	return missing_everywhere(search, known, err);
}
