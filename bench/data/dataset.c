#include "bench/data/dataset.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/dataset_files.h"
#include "bench/data/images/image.h"
#include "bench/data/targets.h"
#include "bench/system/command_line.h"
#include "bench/system/hash.h"
#include "bench/system/suggest.h"
#include "bench/system/text.h"
#include "models/random.h"

#define SYNTHETIC_TRAIN 60000 /* as in MNIST */
#define SYNTHETIC_TEST 10000
#define FAKE_TRAIN 1200000
#define FAKE_TEST 50000
#define SCENES "fashion-scenes"
#define FOLDER "folder"
#define SCENES_FROM "fashion-mnist"
#define CELLS 7	   /* cells per side of a pattern */
#define CELL 3	   /* pixels per side of a cell */
#define SHIFT 3	   /* shift from the centre, at most, in pixels */
#define NOISE 128  /* pixels without a pattern are below */
#define WEAKEST 48 /* least value that a pattern adds to its pixels */
#define STRONGEST 120

#define NAMED(name, summary) { name, summary },
const struct dataset_name dataset_names[] = {
	DATASET_NAMES(NAMED)
	{ NULL, NULL },
};

/* Adds a sentence to the note for the user. */
static void __attribute__((format(printf, 2, 3)))
add_notice(struct dataset *dataset, const char *format, ...)
{
	va_list arguments;
	size_t length;

	if (dataset->notice[0])
		text_append(dataset->notice, sizeof(dataset->notice), "; ");
	length = strlen(dataset->notice);
	va_start(arguments, format);
	vsnprintf(dataset->notice + length, sizeof(dataset->notice) - length,
		  format, arguments);
	va_end(arguments);
}

/* Labels as wide as they are in memory, of bytes as a file has them. */
static uint16_t *widen(const struct idx *idx)
{
	uint16_t *labels = malloc(idx->size * sizeof(*labels));

	for (size_t i = 0; labels && i < idx->size; i++)
		labels[i] = idx->items[i];
	return labels;
}

/*
 * Reads one half, or scans it if only its count is needed. sha256 gets the
 * hashes of its images and its labels. The short labels come first: they give
 * the number of images.
 */
static int read_samples(struct samples *samples,
			char paths[DATASET_FILES][PATH_MAX],
			enum dataset_file images, enum dataset_file labels,
			int is_scan,
			char sha256[DATASET_FILES][HASH_SHA256_SIZE],
			struct error *err)
{
	struct idx_form form = dataset_file_form(labels);
	struct idx idx;

	form.is_scan = is_scan;
	if (idx_read(paths[labels], &form, &idx, err))
		return -1;
	memcpy(sha256[labels], idx.sha256, sizeof(idx.sha256));
	memcpy(samples->labels_sha256, idx.sha256, sizeof(idx.sha256));
	samples->count = idx.count;
	samples->labels = is_scan ? NULL : widen(&idx);
	idx_release(&idx);
	if (!samples->labels && !is_scan)
		return error_memory(err, "labels");
	form = dataset_file_form(images);
	form.is_scan = is_scan;
	form.count = samples->count;
	form.like = paths[labels];
	if (idx_read(paths[images], &form, &idx, err))
		return -1;
	memcpy(sha256[images], idx.sha256, sizeof(idx.sha256));
	memcpy(samples->sha256, idx.sha256, sizeof(idx.sha256));
	samples->images = idx.items;
	return 0;
}

/* Names the content, and notes if it is not what was asked for. */
static void identify(struct dataset *dataset,
		     const struct dataset_known *wanted,
		     char sha256[DATASET_FILES][HASH_SHA256_SIZE])
{
	const struct dataset_known *closest = dataset_known_closest(sha256);
	int matches = closest ? dataset_known_matches(closest, sha256) : 0;

	if (matches == DATASET_FILES) {
		snprintf(dataset->name, sizeof(dataset->name), "%s",
			 closest->name);
		if (wanted && wanted != closest)
			add_notice(dataset,
				   "%s was asked for, but %.200s holds %s: "
				   "labelled %s", wanted->name, dataset->source,
				   closest->title, closest->name);
		return;
	}
	snprintf(dataset->name, sizeof(dataset->name), "unknown-%.8s",
		 dataset->train.sha256);
	add_notice(dataset, "%.200s holds no known data set: labelled %s",
		   dataset->source, dataset->name);
	if (closest)
		add_notice(dataset, "only %d of its 4 files belong to %s",
			   matches, closest->title);
}

/* Notes the places that the search skipped. */
static void notice_search(struct dataset *dataset,
			  const struct dataset_search *search,
			  const struct dataset_place *place)
{
	size_t length = search->variable ? strlen(search->variable) : 0;

	if (place->other)
		add_notice(dataset, "%.200s was skipped: it holds %s",
			   place->passed_over, place->other->title);
	else if (place->passed_over[0])
		add_notice(dataset, "%.200s was skipped: it has only some of "
			   "the four files", place->passed_over);
	else if (length && !search->only &&
		 strncmp(place->dir, search->variable, length))
		add_notice(dataset, "BENCH_DATA_DIR=%.200s has none of the "
			   "files: using those in %.200s",
			   search->variable, place->dir);
}

/* The reader of a file does not have its source. */
static int suggest_download(const struct dataset_known *known,
			    struct error *err)
{
	char get[300];

	command_line_hint(get, sizeof(get), "data get", known->name);
	if (err->kind == ERROR_INPUT)
		text_append(err->message, sizeof(err->message),
			    "; `%s` downloads the right files", get);
	return -1;
}

static int load_files(struct dataset *dataset,
		      const struct dataset_request *request,
		      const struct dataset_known *wanted, struct error *err)
{
	const char *dir = request->dir;
	const struct dataset_known *mnist = dataset_known_find("mnist");
	char sha256[DATASET_FILES][HASH_SHA256_SIZE];
	struct dataset_search search;
	struct dataset_place place;
	char get[300];

	dataset_search_init(&search, dir);
	if (dataset_find(&search, wanted, &place, err))
		return -1;
	snprintf(dataset->source, sizeof(dataset->source), "%.511s", place.dir);
	if (read_samples(&dataset->train, place.paths, DATASET_TRAIN_IMAGES,
			 DATASET_TRAIN_LABELS, request->is_scan, sha256,
			 err) ||
	    read_samples(&dataset->test, place.paths, DATASET_TEST_IMAGES,
			 DATASET_TEST_LABELS, request->is_scan, sha256, err))
		return suggest_download(wanted ? wanted : mnist, err);
	identify(dataset, wanted, sha256);
	notice_search(dataset, &search, &place);
	command_line_hint(get, sizeof(get), "data get", mnist->name);
	if (!wanted && !dir && strcmp(dataset->name, mnist->name))
		add_notice(dataset,
			   "MNIST was not found: using %s from %.120s; `%s` "
			   "downloads MNIST", dataset->name, dataset->source,
			   get);
	return 0;
}

/* Seeds of the patterns and of the two halves. */
enum { SEED_PATTERNS = 1998, SEED_TRAIN, SEED_TEST };

struct patterns {
	uint8_t cell[DATASET_CLASSES][CELLS][CELLS]; /* 1: drawn */
};

/* Uniform enough in [0, below): below is far smaller than 2^32. */
static int draw(struct mt19937 *generator, int below)
{
	return (int)(mt19937_next(generator) % (uint32_t)below);
}

/* Draws a third of the cells, about as much as digits cover. */
static void make_patterns(struct patterns *patterns)
{
	struct mt19937 generator;

	mt19937_seed(&generator, SEED_PATTERNS);
	for (int class = 0; class < DATASET_CLASSES; class++)
		for (int row = 0; row < CELLS; row++)
			for (int column = 0; column < CELLS; column++)
				patterns->cell[class][row][column] =
					draw(&generator, 3) == 0;
}

/* Each byte times NOISE / 256, the even and the odd ones at once. */
static uint32_t dim(uint32_t word)
{
	const uint32_t even = 0x00ff00ff;

	return ((word & even) * NOISE >> 8 & even) |
	       ((word >> 8 & even) * NOISE & ~even);
}

/* Takes four pixels from each random word, in any byte order of the host. */
static void draw_noise(struct mt19937 *generator, uint8_t *pixels, size_t count)
{
	uint32_t words[256];
	uint8_t made[sizeof(words)];

	for (size_t i = 0; i < count; i += sizeof(words)) {
		const size_t left = count - i;
		const size_t bytes = left < sizeof(words) ? left :
							    sizeof(words);
		const size_t drawn = (bytes + 3) / 4;

		mt19937_words(generator, drawn, words);
		for (size_t w = 0; w < drawn; w++) {
			const uint32_t word = dim(words[w]);

			for (size_t b = 0; b < 4; b++)
				made[4 * w + b] = (uint8_t)(word >> 8 * b);
		}
		memcpy(pixels + i, made, bytes);
	}
}

/* pixels is [height][width]; the pattern fits for every shift. */
static void draw_pattern(uint8_t cell[CELLS][CELLS], int top, int left,
			 int strength, struct shape shape, uint8_t *pixels)
{
	for (int y = 0; y < CELLS * CELL; y++) {
		uint8_t *row = pixels + (top + y) * shape.width + left;

		for (int x = 0; x < CELLS * CELL; x++)
			if (cell[y / CELL][x / CELL])
				row[x] = (uint8_t)(row[x] + strength);
	}
}

static void put_big_endian(uint8_t *bytes, int value)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)((unsigned int)value >> (24 - 8 * i));
}

/* Hashes the images as in an IDX file. */
static void hash_images(struct samples *samples, struct shape shape)
{
	uint8_t header[16] = { 0, 0, 8, 3 };

	put_big_endian(header + 4, samples->count);
	put_big_endian(header + 8, shape.height);
	put_big_endian(header + 12, shape.width);
	hash_sha256(header, sizeof(header), samples->images,
		    (size_t)samples->count * shape_size(shape),
		    samples->sha256);
}

static int make_samples(struct samples *samples, struct shape shape,
			struct patterns *patterns, unsigned long long seed,
			struct error *err)
{
	const int count = samples->count;
	const int top = (shape.height - CELLS * CELL) / 2 - SHIFT;
	const int left = (shape.width - CELLS * CELL) / 2 - SHIFT;
	const size_t size = shape_size(shape);
	struct mt19937 generator;

	samples->images = malloc((size_t)count * size);
	samples->labels = malloc((size_t)count * sizeof(*samples->labels));
	if (!samples->images || !samples->labels)
		return error_memory(err, "synthetic images");
	mt19937_seed(&generator, seed);
	for (int i = 0; i < count; i++) {
		uint8_t *image = samples->images + (size_t)i * size;
		int label = draw(&generator, DATASET_CLASSES);
		int down = draw(&generator, 2 * SHIFT + 1);
		int right = draw(&generator, 2 * SHIFT + 1);
		int strength = WEAKEST + draw(&generator, STRONGEST - WEAKEST);

		samples->labels[i] = (uint16_t)label;
		draw_noise(&generator, image, size);
		draw_pattern(patterns->cell[label], top + down, left + right,
			     strength, shape, image);
	}
	hash_images(samples, shape);
	return 0;
}

/*
 * Each class has a pattern that is drawn at a random place with a random
 * strength on noise: a net learns them in an epoch. The same for ever; smaller
 * counts are the beginnings of larger ones.
 */
static int make_synthetic(struct dataset *dataset, struct error *err)
{
	struct patterns patterns;

	make_patterns(&patterns);
	if (make_samples(&dataset->train, dataset->shape, &patterns, SEED_TRAIN,
			 err))
		return -1;
	return make_samples(&dataset->test, dataset->shape, &patterns,
			    SEED_TEST, err);
}

static int load_synthetic(struct dataset *dataset,
			  const struct dataset_request *request,
			  struct error *err)
{
	int train = request->synthetic_train;
	int test = request->synthetic_test;

	if (request->dir)
		return error_set(err, ERROR_USAGE,
				 "--dataset synthetic has no files: --data-dir "
				 "cannot be used with it");
	if (train < 0 || train > IDX_MAX_COUNT || test < 0 ||
	    test > IDX_MAX_COUNT)
		return error_set(err, ERROR_USAGE,
				 "%d and %d synthetic samples: each must be 1 "
				 "to %d", train, test, IDX_MAX_COUNT);
	snprintf(dataset->name, sizeof(dataset->name), "synthetic");
	snprintf(dataset->source, sizeof(dataset->source),
		 "generated: ten patterns, shifted, on noise");
	dataset->train.count = train ? train : SYNTHETIC_TRAIN;
	dataset->test.count = test ? test : SYNTHETIC_TEST;
	return request->is_scan ? 0 : make_synthetic(dataset, err);
}

/* The counts are about ImageNet's, as in PyTorch/XLA's --fake_data. */
static int load_fake(struct dataset *dataset,
		     const struct dataset_request *request, struct error *err)
{
	if (request->dir)
		return error_set(err, ERROR_USAGE, "--dataset fake has no "
				 "files: --data-dir cannot be used with it; "
				 "--dataset folder reads images");
	snprintf(dataset->name, sizeof(dataset->name), "fake");
	snprintf(dataset->source, sizeof(dataset->source),
		 "generated: one batch of zeros, or of normal draws");
	dataset->is_fake = 1;
	dataset->train.count = FAKE_TRAIN;
	dataset->test.count = FAKE_TEST;
	return 0;
}

/* The scenes take the place of the images that they are made of. */
static int become_scenes(struct dataset *dataset, struct error *err)
{
	const struct shape shape = dataset->shape;
	char name[sizeof(dataset->name)];

	memcpy(name, dataset->name, sizeof(name));
	snprintf(dataset->name, sizeof(dataset->name), "%s%.20s",
		 strcmp(name, SCENES_FROM) ? "scenes-of-" : SCENES,
		 strcmp(name, SCENES_FROM) ? name : "");
	dataset->pool = dataset->train;
	free(dataset->test.images);
	free(dataset->test.labels);
	dataset->train = dataset->test = (struct samples){ .count = 0 };
	if (scenes_make(&dataset->scenes, dataset->pool.count, shape.height,
			shape.width, err))
		return -1;
	dataset->shape = (struct shape){ 1, SCENE_SIDE, SCENE_SIDE };
	dataset->has_vectors = 1;
	dataset->train.scenes = dataset->scenes.train;
	dataset->train.count = dataset->scenes.train_count;
	dataset->test.scenes = dataset->scenes.test;
	dataset->test.count = dataset->scenes.test_count;
	memcpy(dataset->train.sha256, dataset->pool.sha256,
	       sizeof(dataset->train.sha256));
	memcpy(dataset->train.labels_sha256, dataset->pool.labels_sha256,
	       sizeof(dataset->train.labels_sha256));
	return 0;
}

static int load_scenes(struct dataset *dataset,
		       const struct dataset_request *request, struct error *err)
{
	return load_files(dataset, request, dataset_known_find(SCENES_FROM),
			  err) ||
	       become_scenes(dataset, err) ? -1 : 0;
}

static void take_part(struct samples *samples, const struct folder_part *part)
{
	samples->files = part;
	samples->count = part->count;
}

/* The largest file and its pixels. The sides of a file that cannot be decoded
 * count as 0: the loader reports the file. */
static double decoding_bytes(const struct folder *folder)
{
	char path[PATH_MAX];
	struct image image = { .pixels = NULL };
	struct error ignored;

	snprintf(path, sizeof(path), "%s/%s", folder->dir,
		 folder->text + folder->largest);
	image_read_sides(path, &image, &ignored);
	return folder->largest_bytes + (double)image.height * image.width *
					       image.channels;
}

/* The files are listed and the largest one is read; a scan does no more. */
static int load_folder(struct dataset *dataset,
		       const struct dataset_request *request, struct error *err)
{
	if (!request->dir)
		return error_set(err, ERROR_USAGE, "--dataset folder needs "
				 "--data-dir DIR, the folder of the images");
	dataset->folder = calloc(1, sizeof(*dataset->folder));
	if (!dataset->folder)
		return error_memory(err, "the list of images");
	if (request->targets ? targets_list(dataset->folder, request->dir,
					    request->targets, err) :
			       folder_list(dataset->folder, request->dir, err))
		return -1;
	snprintf(dataset->name, sizeof(dataset->name), FOLDER);
	snprintf(dataset->source, sizeof(dataset->source), "%.511s",
		 request->dir);
	dataset->shape = (struct shape){ .channels = 0 };
	dataset->classes = dataset->folder->classes;
	dataset->has_vectors = request->targets != NULL;
	folder_note(dataset->folder, dataset->notice, sizeof(dataset->notice));
	take_part(&dataset->train, &dataset->folder->train);
	take_part(&dataset->test, &dataset->folder->test);
	dataset->decoding_bytes = decoding_bytes(dataset->folder);
	if (!request->is_scan)
		folder_hash(dataset->folder, dataset->train.sha256);
	return 0;
}

double dataset_bytes(const struct dataset *dataset)
{
	const struct samples *pool = &dataset->pool;

	if (dataset->is_fake)
		return 0;
	if (dataset->folder)
		return folder_bytes(dataset->folder);
	if (pool->count)
		return (double)pool->count *
			       (double)(shape_size(dataset_shape) +
					sizeof(*pool->labels)) +
		       (double)(dataset->train.count + dataset->test.count) *
			       sizeof(struct scene);
	return (double)(shape_size(dataset->shape) + sizeof(*pool->labels)) *
	       (dataset->train.count + dataset->test.count);
}

const uint8_t *dataset_image(const struct dataset *dataset,
			     const struct samples *samples, int index,
			     uint8_t *scratch, uint8_t *made)
{
	if (!samples->scenes)
		return samples->images +
		       (size_t)index * shape_size(dataset->shape);
	scene_draw(&dataset->scenes, &samples->scenes[index],
		   dataset->pool.images, scratch, made);
	return made;
}

size_t dataset_scratch_size(const struct dataset *dataset)
{
	return dataset->pool.count ?
		       resize_scratch_size(&dataset->scenes.resize) : 1;
}

void dataset_target(const struct dataset *dataset,
		    const struct samples *samples, int index, uint16_t *label,
		    float *vector)
{
	if (samples->scenes)
		scene_targets(&samples->scenes[index], dataset->pool.labels,
			      dataset->classes, vector);
	else if (samples->files)
		folder_target(dataset->folder, samples->files, index, label,
			      vector);
	else
		*label = samples->labels[index];
}

static int refuse_name(const char *name, struct error *err)
{
	struct suggestion suggestion = { .typed = name };

	for (const struct dataset_name *each = dataset_names; each->name;
	     each++)
		suggest_add(&suggestion, each->name);
	return error_set(err, ERROR_USAGE, "unknown data set '%.100s'; %s",
			 name, suggest_text(&suggestion));
}

int dataset_load(struct dataset *dataset, const struct dataset_request *request,
		 struct error *err)
{
	const char *name = request->name ? request->name : "auto";
	const struct dataset_known *known = dataset_known_find(name);
	int status;

	memset(dataset, 0, sizeof(*dataset));
	dataset->shape = dataset_shape;
	dataset->classes = DATASET_CLASSES;
	if (request->targets && strcmp(name, FOLDER))
		status = error_set(err, ERROR_USAGE, "--targets-csv requires "
				   "--dataset folder: give both or neither");
	else if (!strcmp(name, "synthetic"))
		status = load_synthetic(dataset, request, err);
	else if (!strcmp(name, "fake"))
		status = load_fake(dataset, request, err);
	else if (!strcmp(name, SCENES))
		status = load_scenes(dataset, request, err);
	else if (!strcmp(name, FOLDER))
		status = load_folder(dataset, request, err);
	else if (known || !strcmp(name, "auto"))
		status = load_files(dataset, request, known, err);
	else
		status = refuse_name(name, err);
	if (status)
		dataset_release(dataset);
	return status;
}

void dataset_release(struct dataset *dataset)
{
	free(dataset->train.images);
	free(dataset->train.labels);
	free(dataset->test.images);
	free(dataset->test.labels);
	free(dataset->pool.images);
	free(dataset->pool.labels);
	scenes_release(&dataset->scenes);
	if (dataset->folder)
		folder_release(dataset->folder);
	free(dataset->folder);
	memset(dataset, 0, sizeof(*dataset));
}
