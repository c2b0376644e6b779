#include "bench/data/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "bench/system/text.h"
#include "models/model.h"

#define LAYOUT "--dataset folder takes DIR/train/CLASS/*.jpg (.jpeg, .png) " \
	       "and DIR/val/CLASS/*.jpg, or DIR/test"

/* Names in a folder, sorted. */
struct entries {
	struct dirent **list;
	int count;
};

static void names_release(struct entries *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct entries){ .count = 0 };
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int is_below(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

/* Names of images end as ImageFolder's IMG_EXTENSIONS. */
static const char *const read_ends[] = { ".jpg", ".jpeg", ".png", NULL };
static const char *const unread_ends[] = { ".ppm", ".bmp", ".pgm", ".tif",
					   ".tiff", ".webp", NULL };

static int ends_as(const char *name, const char *const ends[])
{
	const char *end = strrchr(name, '.');

	for (int i = 0; end && ends[i]; i++)
		if (!strcasecmp(end, ends[i]))
			return 1;
	return 0;
}

int folder_has_image_name(const char *name)
{
	return ends_as(name, read_ends);
}

static int refuse_reading(const char *path, int code, struct error *err)
{
	return code == ENOMEM ? error_memory(err, path) :
				error_set(err, ERROR_INPUT, "%.800s: %s", path,
					  strerror(code));
}

/* Reads the names in a folder. Release names after success. */
static int names_read(struct entries *names, const char *path,
		      int (*filter)(const struct dirent *), struct error *err)
{
	names->list = NULL;
	names->count = scandir(path, &names->list, filter, by_bytes);
	if (names->count >= 0)
		return 0;
	names->count = 0;
	return refuse_reading(path, errno, err);
}

/* Returns 1 for a folder, 0 for anything else, -1 if there is nothing. */
static int is_folder(const char *path)
{
	struct stat about;

	return stat(path, &about) ? -1 : S_ISDIR(about.st_mode) != 0;
}

static int refuse_length(const char *dir, const char *name, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%.300s/%.300s: its path is too "
			 "long; move the folder up", dir, name);
}

/* A path of parts; -1 where it is too long for the system. */
static int join(char path[PATH_MAX], const char *dir, const char *name,
		struct error *err)
{
	const int length = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return length > 0 && length < PATH_MAX ? 0 :
	       refuse_length(dir, name, err);
}

/* Doubles the room of what is full. */
static int make_room(struct folder *folder, struct folder_part *part,
		     size_t length, int has_targets)
{
	const size_t classes = (size_t)folder->classes;
	const int room = part->room ? 2 * part->room : 64;
	void *grown;

	while (folder->text_room - folder->text_size < length) {
		const size_t size = folder->text_room ? 2 * folder->text_room :
							8192;

		grown = realloc(folder->text, size);
		if (!grown)
			return -1;
		folder->text = grown;
		folder->text_room = size;
	}
	if (part->count < part->room)
		return 0;
	grown = realloc(part->paths, (size_t)room * sizeof(*part->paths));
	if (!grown)
		return -1;
	part->paths = grown;
	grown = has_targets ? realloc(part->targets, (size_t)room * classes) :
			      realloc(part->labels, (size_t)room *
						    sizeof(*part->labels));
	if (!grown)
		return -1;
	if (has_targets)
		part->targets = grown;
	else
		part->labels = grown;
	part->room = room;
	return 0;
}

/* Checks that a file can hold an image, and counts its bytes. Its path is the
 * next one in the text. */
static int check_file(struct folder *folder, const char *name,
		      struct error *err)
{
	char path[PATH_MAX];
	struct stat about;

	if (join(path, folder->dir, name, err))
		return -1;
	if (stat(path, &about))
		return error_set(err, ERROR_INPUT, "%.800s: %s", path,
				 strerror(errno));
	if (!S_ISREG(about.st_mode))
		return error_set(err, ERROR_INPUT, "%.800s: a regular file "
				 "expected; remove it", path);
	if (!about.st_size)
		return error_set(err, ERROR_INPUT, "%.800s: empty, an image "
				 "expected; replace or remove the file", path);
	folder->file_bytes += (double)about.st_size;
	if (folder->largest_bytes < (double)about.st_size) {
		folder->largest_bytes = (double)about.st_size;
		folder->largest = folder->text_size;
	}
	return 0;
}

int folder_add(struct folder *folder, struct folder_part *part,
	       const struct folder_sample *sample, struct error *err)
{
	const size_t classes = (size_t)folder->classes;
	const size_t length = strlen(sample->path) + 1;

	if (check_file(folder, sample->path, err))
		return -1;
	if (part->count > INT_MAX / 2)
		return error_set(err, ERROR_INPUT, "%.800s: too many images",
				 folder->dir);
	if (make_room(folder, part, length, sample->targets != NULL))
		return error_memory(err, "the list of images");
	memcpy(folder->text + folder->text_size, sample->path, length);
	part->paths[part->count] = folder->text_size;
	folder->text_size += length;
	if (sample->targets)
		memcpy(part->targets + (size_t)part->count * classes,
		       sample->targets, classes);
	else
		part->labels[part->count] = sample->label;
	part->count++;
	return 0;
}

static void leave_out(struct folder *folder, enum folder_left why,
		      const char *path)
{
	struct folder_left_out *left = &folder->left[why];

	if (!left->count++)
		text_clean(left->first, sizeof(left->first), path, 0);
}

/* The walk below the folder of a class. */
struct class_walk {
	struct folder *folder;
	struct folder_part *part;
	uint16_t label;
	char path[PATH_MAX]; /* current folder or file */
};

/* A folder of walk.path, and its parents. */
struct level {
	const struct level *above; /* NULL: this is the class */
	dev_t device;
	ino_t inode;
	int is_hidden; /* a name below the class begins with a dot */
};

static int take_file(struct class_walk *walk, const char *name, int is_hidden,
		     struct error *err)
{
	struct folder *folder = walk->folder;
	const char *path = walk->path + strlen(folder->dir) + 1;
	const struct folder_sample sample = { .path = path,
					      .label = walk->label };
	const int is_read = ends_as(name, read_ends);

	if (is_read && !is_hidden)
		return folder_add(folder, walk->part, &sample, err);
	if (is_read || ends_as(name, unread_ends))
		leave_out(folder, is_hidden ? FOLDER_HIDDEN : FOLDER_UNREAD,
			  path);
	else if (!is_hidden)
		leave_out(folder, FOLDER_NO_IMAGE, path);
	return 0;
}

static int walk_folder(struct class_walk *walk, const struct level *above,
		       int is_hidden, struct error *err);

static int walk_entry(struct class_walk *walk, const struct level *level,
		      const char *name, struct error *err)
{
	const int is_hidden = level->is_hidden || name[0] == '.';
	const size_t length = strlen(walk->path);
	int failed;

	if (length + 1 + strlen(name) >= sizeof(walk->path))
		return refuse_length(walk->folder->dir, name, err);
	snprintf(walk->path + length, sizeof(walk->path) - length, "/%s", name);
	failed = is_folder(walk->path) == 1 ?
			 walk_folder(walk, level, is_hidden, err) :
			 take_file(walk, name, is_hidden, err);
	walk->path[length] = '\0';
	return failed;
}

/* Takes the files below walk->path. Not by fts_open(), which in glibc 2.36
 * uses memory that it did not get. */
static int walk_folder(struct class_walk *walk, const struct level *above,
		       int is_hidden, struct error *err)
{
	struct level level = { .above = above, .is_hidden = is_hidden };
	struct entries names;
	struct stat about;
	int failed = 0;

	if (stat(walk->path, &about))
		return refuse_reading(walk->path, errno, err);
	level.device = about.st_dev;
	level.inode = about.st_ino;
	for (; above; above = above->above)
		if (above->device == level.device &&
		    above->inode == level.inode)
			return error_set(err, ERROR_INPUT, "%.800s: a link to "
					 "a folder that it is in; remove it",
					 walk->path);
	if (names_read(&names, walk->path, is_below, err))
		return -1;
	for (int i = 0; i < names.count && !failed; i++)
		failed = walk_entry(walk, &level, names.list[i]->d_name, err);
	names_release(&names);
	return failed;
}

/* Compares for qsort_r as Python sorts os.walk(): by the path of the folder
 * ("a-b" before "a/b"), then by the file's name. */
static int by_folder(const void *a, const void *b, void *text)
{
	const char *first = (char *)text + *(const size_t *)a;
	const char *second = (char *)text + *(const size_t *)b;
	const size_t one = (size_t)(strrchr(first, '/') - first);
	const size_t two = (size_t)(strrchr(second, '/') - second);
	const int order = memcmp(first, second, one < two ? one : two);

	if (order || one != two)
		return order ? order : one < two ? -1 : 1;
	return strcmp(first + one, second + two);
}

/* The images below DIR/below/class. */
static int list_class(struct folder *folder, struct folder_part *part,
		      const char *below, const char *class, uint16_t label,
		      struct error *err)
{
	const int unread = folder->left[FOLDER_UNREAD].count;
	const int before = part->count;
	struct class_walk walk = { folder, part, label, "" };
	char inner[PATH_MAX];

	if (join(inner, below, class, err) ||
	    join(walk.path, folder->dir, inner, err) ||
	    walk_folder(&walk, NULL, 0, err))
		return -1;
	if (part->count > before) {
		qsort_r(part->paths + before, (size_t)(part->count - before),
			sizeof(*part->paths), by_folder, folder->text);
		return 0;
	}
	return error_set(err, ERROR_INPUT, "%.800s: has no file .jpg, .jpeg or "
			 ".png; %s this folder of a class, or remove it",
			 walk.path,
			 folder->left[FOLDER_UNREAD].count > unread ?
				 "convert the images in" : "put images into");
}

/* Keeps the folders among names in DIR/below. */
static int keep_folders(struct folder *folder, const char *below,
			struct entries *names, struct error *err)
{
	char inner[PATH_MAX], path[PATH_MAX];
	int kept = 0, failed = 0;

	for (int i = 0; i < names->count; i++) {
		struct dirent *entry = names->list[i];

		failed = failed || join(inner, below, entry->d_name, err) ||
			 join(path, folder->dir, inner, err);
		if (!failed && is_folder(path) == 1) {
			names->list[kept++] = entry;
			continue;
		}
		if (!failed && (ends_as(entry->d_name, read_ends) ||
				ends_as(entry->d_name, unread_ends)))
			leave_out(folder, FOLDER_BESIDE, inner);
		free(entry);
	}
	names->count = kept;
	return failed ? -1 : 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct dirent *const *first = a, *const *second = b;

	return strcmp((*first)->d_name, (*second)->d_name);
}

/* Returns the index among the classes, or -1. */
static int find_class(const struct entries *classes, const struct dirent *entry)
{
	struct dirent **found = bsearch(&entry, classes->list,
					(size_t)classes->count, sizeof(entry),
					compare_entries);

	return found ? (int)(found - classes->list) : -1;
}

/* DIR/below, whose folders are some of the classes. */
static int list_part(struct folder *folder, struct folder_part *part,
		     const char *below, const struct entries *classes,
		     struct entries *own, struct error *err)
{
	for (int i = 0; i < own->count; i++) {
		const char *name = own->list[i]->d_name;
		const int class = find_class(classes, own->list[i]);

		if (class < 0)
			return error_set(err, ERROR_INPUT, "%.700s/%s/%.200s: "
					 "train has no class of this name; "
					 "remove the folder", folder->dir,
					 below, name);
		if (list_class(folder, part, below, name, (uint16_t)class,
			       err))
			return -1;
	}
	return 0;
}

/* The names of classes in DIR/below, to be released in any case. */
static int read_classes(struct folder *folder, const char *below,
			struct entries *names, struct error *err)
{
	char path[PATH_MAX];

	if (join(path, folder->dir, below, err) ||
	    names_read(names, path, is_shown, err) ||
	    keep_folders(folder, below, names, err))
		return -1;
	if (!names->count)
		return error_set(err, ERROR_INPUT, "%.700s: has no folder of a "
				 "class; " LAYOUT, path);
	if (names->count > MODEL_MAX_CLASSES)
		return error_set(err, ERROR_INPUT, "%.800s: %d class folders, "
				 "at most %d are allowed", path, names->count,
				 MODEL_MAX_CLASSES);
	return 0;
}

static const char *const train_names[] = { "train", NULL };
static const char *const test_names[] = { "val", "test", NULL };

/* The first of these folders in DIR, or NULL and an error. */
static const char *find_part(const struct folder *folder,
			     const char *const names[], struct error *err)
{
	char path[PATH_MAX];

	for (int i = 0; names[i]; i++)
		if (!join(path, folder->dir, names[i], err) &&
		    is_folder(path) == 1)
			return names[i];
	error_set(err, ERROR_MISSING, "%.600s: %s%s; " LAYOUT, folder->dir,
		  is_folder(folder->dir) == 1 ? "has no folder " :
						"there is no such folder",
		  is_folder(folder->dir) == 1 ? names[0] : "");
	return NULL;
}

int folder_is_split(const struct folder *folder)
{
	struct error ignored;

	return find_part(folder, train_names, &ignored) &&
	       find_part(folder, test_names, &ignored);
}

int folder_list(struct folder *folder, const char *dir, struct error *err)
{
	struct entries classes = { .count = 0 }, tested = { .count = 0 };
	const char *below;
	int failed;

	*folder = (struct folder){ .dir = dir };
	below = find_part(folder, train_names, err);
	failed = !below || read_classes(folder, below, &classes, err);
	folder->classes = classes.count;
	failed = failed || list_part(folder, &folder->train, below, &classes,
				     &classes, err);
	below = failed ? NULL : find_part(folder, test_names, err);
	failed = !below || read_classes(folder, below, &tested, err) ||
		 list_part(folder, &folder->test, below, &classes, &tested,
			   err);
	names_release(&classes);
	names_release(&tested);
	return failed ? -1 : 0;
}

void folder_note(const struct folder *folder, char *note, size_t size)
{
	static const char *const reasons[FOLDER_REASONS] = {
		[FOLDER_UNREAD] = "bench reads JPEG and PNG only",
		[FOLDER_HIDDEN] = "the name begins with a dot",
		[FOLDER_NO_IMAGE] = "the name is not an image's",
		[FOLDER_BESIDE] = "not in the folder of a class",
	};

	note[0] = '\0';
	for (int why = 0; why < FOLDER_REASONS; why++) {
		const struct folder_left_out *left = &folder->left[why];

		if (left->count)
			text_append(note, size, "%s%d file%s left out, %s "
				    "(%s%s)", note[0] ? "; " : "", left->count,
				    left->count == 1 ? "" : "s", reasons[why],
				    left->first, left->count > 1 ? ", ..." :
								   "");
	}
}

static void part_release(struct folder_part *part)
{
	free(part->paths);
	free(part->labels);
	free(part->targets);
}

void folder_release(struct folder *folder)
{
	part_release(&folder->train);
	part_release(&folder->test);
	free(folder->text);
	*folder = (struct folder){ .dir = NULL };
}

double folder_bytes(const struct folder *folder)
{
	const size_t targets = folder->train.targets ?
			(size_t)folder->classes : sizeof(uint16_t);

	return (double)folder->text_room +
	       ((double)folder->train.room + folder->test.room) *
		       (double)(sizeof(*folder->train.paths) + targets);
}

void folder_path(const struct folder *folder, const struct folder_part *part,
		 int index, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", folder->dir,
		 folder->text + part->paths[index]);
}

void folder_target(const struct folder *folder, const struct folder_part *part,
		   int index, uint16_t *label, float *vector)
{
	const size_t classes = (size_t)folder->classes;

	if (!part->targets)
		*label = part->labels[index];
	for (size_t k = 0; part->targets && k < classes; k++)
		vector[k] = part->targets[(size_t)index * classes + k];
}

/* Hashes the file's bytes or its size. An unreadable file has no hash: the
 * error comes when its pixels are read. */
static void hash_file(const char *path, int reads, char hex[HASH_SHA256_SIZE])
{
	struct stat about;

	hex[0] = '\0';
	if (reads)
		hash_sha256_file(path, hex);
	else if (!stat(path, &about))
		snprintf(hex, HASH_SHA256_SIZE, "%lld",
			 (long long)about.st_size);
}

static void hash_part(const struct folder *folder,
		      const struct folder_part *part, int reads,
		      struct hash_pieces *pieces)
{
	const size_t classes = (size_t)folder->classes;

	for (size_t i = 0; i < (size_t)part->count; i++) {
		const char *name = folder->text + part->paths[i];
		char path[PATH_MAX], content[HASH_SHA256_SIZE], label[16] = "";

		folder_path(folder, part, (int)i, path, sizeof(path));
		hash_file(path, reads, content);
		if (part->labels)
			snprintf(label, sizeof(label), "%d", part->labels[i]);
		hash_pieces_add(pieces, name, strlen(name) + 1);
		hash_pieces_add(pieces, content, strlen(content) + 1);
		hash_pieces_add(pieces, label, strlen(label) + 1);
		if (part->targets)
			hash_pieces_add(pieces, part->targets + i * classes,
					classes);
	}
}

void folder_hash(const struct folder *folder, char hex[HASH_SHA256_SIZE])
{
	const int reads = folder->file_bytes <= FOLDER_HASHED_BYTES;
	struct hash_pieces pieces;
	char head[96];

	snprintf(head, sizeof(head), "%d classes, %d to train on, %d to test, "
		 "%s", folder->classes, folder->train.count,
		 folder->test.count, reads ? "bytes" : "sizes");
	hash_pieces_begin(&pieces);
	hash_pieces_add(&pieces, head, strlen(head) + 1);
	hash_part(folder, &folder->train, reads, &pieces);
	hash_part(folder, &folder->test, reads, &pieces);
	hash_pieces_end(&pieces, hex);
}
