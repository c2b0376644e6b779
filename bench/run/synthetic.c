#include "bench/run/synthetic.h"

#include <stdlib.h>
#include <string.h>

#include "bench/system/hash.h"
#include "models/random.h"

#define CLASSES 10
#define CELLS 7	   /* a pattern is a grid of so many cells a side, ... */
#define CELL 3	   /* each a square of so many pixels, ... */
#define SHIFT 3	   /* drawn at most so far from the middle */
#define NOISE 128  /* pixels without a pattern are below */
#define WEAKEST 48 /* what a pattern adds to its pixels, ... */
#define STRONGEST 120

/* Seeds of the patterns and of the two halves. */
enum { SEED_PATTERNS = 1998, SEED_TRAIN, SEED_TEST };

struct patterns {
	uint8_t cell[CLASSES][CELLS][CELLS]; /* 1: drawn */
};

/* Uniform enough in [0, below): below is far smaller than 2^32. */
static int draw(struct mt19937 *generator, int below)
{
	return (int)(mt19937_next(generator) % (uint32_t)below);
}

/* A third of the cells is drawn, about as much as digits cover. */
static void make_patterns(struct patterns *patterns)
{
	struct mt19937 generator;

	mt19937_seed(&generator, SEED_PATTERNS);
	for (int class = 0; class < CLASSES; class++)
		for (int row = 0; row < CELLS; row++)
			for (int column = 0; column < CELLS; column++)
				patterns->cell[class][row][column] =
					draw(&generator, 3) == 0;
}

/* Four pixels from each random word, whatever the byte order of the host. */
static void draw_noise(struct mt19937 *generator, uint8_t *pixels, size_t count)
{
	for (size_t i = 0; i < count; i += 4) {
		uint32_t word = mt19937_next(generator);

		for (size_t j = i; j < i + 4 && j < count; j++) {
			pixels[j] = (uint8_t)((word & 255) * NOISE >> 8);
			word >>= 8;
		}
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

/* As if the images were in an IDX file. */
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

static int make_samples(struct samples *samples, int count, struct shape shape,
			struct patterns *patterns, unsigned long long seed,
			struct error *err)
{
	const int top = (shape.height - CELLS * CELL) / 2 - SHIFT;
	const int left = (shape.width - CELLS * CELL) / 2 - SHIFT;
	const size_t size = shape_size(shape);
	struct mt19937 generator;

	samples->count = count;
	samples->images = malloc((size_t)count * size);
	samples->labels = malloc((size_t)count * sizeof(*samples->labels));
	if (!samples->images || !samples->labels)
		return error_memory(err, "synthetic images");
	mt19937_seed(&generator, seed);
	for (int i = 0; i < count; i++) {
		uint8_t *image = samples->images + (size_t)i * size;
		int label = draw(&generator, CLASSES);
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

int synthetic_make(struct dataset *dataset, int train_count, int test_count,
		   struct error *err)
{
	struct patterns patterns;

	make_patterns(&patterns);
	if (make_samples(&dataset->train, train_count, dataset->shape,
			 &patterns, SEED_TRAIN, err))
		return -1;
	return make_samples(&dataset->test, test_count, dataset->shape,
			    &patterns, SEED_TEST, err);
}
