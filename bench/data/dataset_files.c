#include "bench/data/dataset_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/system/command_line.h"
#include "bench/system/file.h"

#define MAX_FOLDERS 8

const struct shape dataset_shape = { 1, 28, 28 };

static const struct dataset_known known_sets[] = {
	{
		.name = "mnist",
		.title = "MNIST",
		.torchvision = "MNIST/raw",
		.mirrors = {
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
		.sha256 = {
			"ba891046e6505d7aadcbbe25680a0738"
			"ad16aec93bde7f9b65e87a2fc25776db",
			"65a50cbbf4e906d70832878ad85ccda5"
			"333a97f0f4c3dd2ef09a8a9eef7101c5",
			"0fa7898d509279e482958e8ce81c8e77"
			"db3f2f8254e26661ceb7762c4d494ce7",
			"ff7bcfd416de33731a308c3f266cc351"
			"222c34898ecbeaf847f06e48f7ec33f2",
		},
	},
	{
		.name = "fashion-mnist",
		.title = "Fashion-MNIST",
		.torchvision = "FashionMNIST/raw",
		.package = "dataset-fashion-mnist",
		.mirrors = {
			"https://raw.githubusercontent.com/zalandoresearch/"
			"fashion-mnist/master/data/fashion/",
		},
		.sha256 = {
			"c59f468a2f672dc815687fe0f8388776"
			"8d799fd8a3f3276145d20f83aa44d888",
			"bad3541b69d912435c50bb6ba87bec29"
			"4ff4f6a2e1246121d8633921760443d9",
			"5b4141f0afbad91edebe8549f8fcffe0"
			"87ea10ca49f1dbef5c9a5cd8815ce37b",
			"0402a96d92fd2663957122ceb108a494"
			"c5af83dab82d92729df917d7dec38c34",
		},
	},
};

#define KNOWN_COUNT (sizeof(known_sets) / sizeof(known_sets[0]))

static const char *const file_names[DATASET_FILES] = {
	[DATASET_TRAIN_IMAGES] = "train-images-idx3-ubyte",
	[DATASET_TRAIN_LABELS] = "train-labels-idx1-ubyte",
	[DATASET_TEST_IMAGES] = "t10k-images-idx3-ubyte",
	[DATASET_TEST_LABELS] = "t10k-labels-idx1-ubyte",
};

const struct dataset_known *
dataset_known_next(const struct dataset_known *previous)
{
	const struct dataset_known *next = previous ? previous + 1 : known_sets;

	return next < known_sets + KNOWN_COUNT ? next : NULL;
}

const struct dataset_known *dataset_known_find(const char *name)
{
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (!strcmp(known_sets[i].name, name))
			return &known_sets[i];
	return NULL;
}

int dataset_known_matches(const struct dataset_known *known,
			  char sha256[DATASET_FILES][HASH_SHA256_SIZE])
{
	int matches = 0;

	for (int file = 0; file < DATASET_FILES; file++)
		matches += !strcmp(known->sha256[file], sha256[file]);
	return matches;
}

const struct dataset_known *
dataset_known_closest(char sha256[DATASET_FILES][HASH_SHA256_SIZE])
{
	const struct dataset_known *closest = NULL;
	int most = 0;

	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		int matches = dataset_known_matches(&known_sets[i], sha256);

		if (matches > most) {
			most = matches;
			closest = &known_sets[i];
		}
	}
	return closest;
}

const char *dataset_file_name(enum dataset_file file)
{
	return file_names[file];
}

int dataset_file_path(const char *dir, enum dataset_file file, char *path,
		      size_t size)
{
	const char *name = file_names[file];
	int stem = (int)strcspn(name, "-");
	int found = 0;

	stem += 1 + (int)strcspn(name + stem + 1, "-");
	for (int i = 0; i < 4; i++) {
		char candidate[PATH_MAX];
		struct stat about;
		int written = snprintf(candidate, sizeof(candidate),
				       "%s/%.*s%c%s%s", dir, stem, name,
				       "-."[i / 2], name + stem + 1,
				       i % 2 ? ".gz" : "");

		if (written < 0 || (size_t)written >= sizeof(candidate) ||
		    (size_t)written >= size || stat(candidate, &about))
			continue;
		if (!found || S_ISREG(about.st_mode))
			memcpy(path, candidate, (size_t)written + 1);
		found = 1;
		if (S_ISREG(about.st_mode))
			break;
	}
	return found;
}

struct idx_form dataset_file_form(enum dataset_file file)
{
	const struct idx_form images = {
		.side_count = 2,
		.sides = { dataset_shape.height, dataset_shape.width },
	};
	const struct idx_form labels = { .limit = DATASET_CLASSES };

	return file == DATASET_TRAIN_IMAGES || file == DATASET_TEST_IMAGES ?
		       images : labels;
}

int dataset_file_hash(const char *path, enum dataset_file file,
		      char sha256[HASH_SHA256_SIZE], struct error *err)
{
	struct idx_form form = dataset_file_form(file);
	struct idx idx;

	sha256[0] = '\0';
	form.is_scan = 1;
	if (idx_read(path, &form, &idx, err))
		return -1;
	memcpy(sha256, idx.sha256, sizeof(idx.sha256));
	idx_release(&idx);
	return 0;
}

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

/* Returns how many of the four files dir itself has. Fills dir and paths. */
static int look_in(struct dataset_place *place, const char *dir)
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

/* The known set whose test labels are there, which are few bytes, or NULL. */
static const struct dataset_known *recognise(const struct dataset_place *place)
{
	const enum dataset_file file = DATASET_TEST_LABELS;
	const struct dataset_known *known = NULL;
	char sha256[HASH_SHA256_SIZE];
	struct error ignored;

	if (dataset_file_hash(place->paths[file], file, sha256, &ignored))
		return NULL;
	while ((known = dataset_known_next(known)))
		if (!strcmp(known->sha256[file], sha256))
			break;
	return known;
}

/* Returns whether one of the folders has all files, and not another set's. */
static int look_in_all(const struct folders *folders,
		       const struct dataset_known *known,
		       struct dataset_place *place)
{
	for (int i = 0; i < folders->count; i++) {
		const struct dataset_known *other = NULL;
		int count = look_in(place, folders->paths[i]);

		if (count == DATASET_FILES && known)
			other = recognise(place);
		if (count == DATASET_FILES && (!other || other == known))
			return 1;
		if (count > 0 && !place->passed_over[0]) {
			memcpy(place->passed_over, folders->paths[i], PATH_MAX);
			place->other = other;
		}
	}
	return 0;
}

/* Appends words to text, cut to size bytes. */
static void append(char *text, size_t size, const char *words)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", words);
}

/* Names all files, or the files that place lacks. */
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
	char names[160], absent[160], get[300];
	struct dataset_place place;
	struct stat about;
	int count = 0;

	command_line_hint(get, sizeof(get), "data get", known ? known->name :
								"mnist");
	if (stat(search->only, &about))
		return error_set(err, ERROR_MISSING,
				 "%.600s: %s; `%s --data-dir DIR` makes a "
				 "folder with the files", search->only,
				 strerror(errno), get);
	if (!S_ISDIR(about.st_mode))
		return error_set(err, ERROR_MISSING,
				 "%.600s: a folder expected; `%s --data-dir "
				 "DIR` makes one", search->only, get);
	for (int i = 0; i < folders->count && !count; i++)
		count = look_in(&place, folders->paths[i]);
	name_files(NULL, names, sizeof(names));
	name_files(&place, absent, sizeof(absent));
	return error_set(err, ERROR_MISSING,
			 "%.300s has %s%s of %s (.idx for -idx, and .gz, are "
			 "accepted; searched there, in MNIST/raw and "
			 "FashionMNIST/raw); `%s --data-dir DIR` downloads "
			 "them", search->only, count ? "no " : "none",
			 count ? absent : "", names, get);
}

static int missing_everywhere(const struct dataset_search *search,
			      const struct dataset_known *known,
			      const struct dataset_place *place,
			      struct error *err)
{
	struct folders folders;
	char places[500] = "";
	char package[120] = "";
	char other[400] = "", get[300];

	command_line_hint(get, sizeof(get), "data get", known ? known->name :
								"mnist");
	folders_list(&folders, search,
		     known ? known : dataset_known_next(NULL));
	for (int i = 0; i < folders.count; i++) {
		append(places, sizeof(places), i ? ", " : "");
		append(places, sizeof(places), folders.paths[i]);
	}
	if (!known)
		return error_set(err, ERROR_MISSING,
				 "no data set was found, neither MNIST (in %s) "
				 "nor Fashion-MNIST. `%s` downloads "
				 "MNIST, `apt-get install "
				 "dataset-fashion-mnist` or `make deps` "
				 "installs Fashion-MNIST. --data-dir DIR "
				 "names a folder that has the files; "
				 "`--dataset synthetic` needs none", places,
				 get);
	if (place->other)
		snprintf(other, sizeof(other), "; %.300s holds %s",
			 place->passed_over, place->other->title);
	if (known->package)
		snprintf(package, sizeof(package),
			 ", `apt-get install %s` or `make deps` installs them",
			 known->package);
	return error_set(err, ERROR_MISSING,
			 "%s was not found (looked in %s%s); `%s` downloads "
			 "its files%s, --data-dir DIR names a folder that has "
			 "them", known->title, places, other, get, package);
}

int dataset_find(const struct dataset_search *search,
		 const struct dataset_known *known,
		 struct dataset_place *place, struct error *err)
{
	const struct dataset_known *each = NULL;
	struct folders folders;

	place->passed_over[0] = '\0';
	place->other = NULL;
	if (search->only || known) {
		folders_list(&folders, search, known);
		if (look_in_all(&folders, search->only ? NULL : known, place))
			return 0;
		return search->only ?
			       missing_only(&folders, search, known, err) :
			       missing_everywhere(search, known, place, err);
	}
	while ((each = dataset_known_next(each))) {
		folders_list(&folders, search, each);
		/* No set was asked for: takes any set in the user's folder. */
		if (look_in_all(&folders, NULL, place))
			return 0;
	}
	return missing_everywhere(search, known, place, err);
}
