#include "bench/data/images/crop.h"

#include <math.h>

#include "models/random.h"

#define TRIES 10
#define LEAST_AREA .08
#define LEAST_RATIO (3. / 4) /* of width to height */
#define MOST_RATIO (4. / 3)
#define STREAM UINT32_MAX /* where dropout has a layer */

enum { AREA, RATIO, TOP, LEFT, WORDS };

static void draw(const struct crop_key *key, uint32_t try, uint32_t sample,
		 uint32_t words[WORDS])
{
	const uint32_t at[] = { try, sample, key->epoch, STREAM };

	random_words(key->seed, at, words);
}

static double between(double from, double to, uint32_t word)
{
	return from + (to - from) * (word * 0x1p-32);
}

/* Returns an integer from 0 to most. */
static int up_to(int most, uint32_t word)
{
	return (int)((uint64_t)word * ((uint64_t)most + 1) >> 32);
}

/* Draws the sides of a box. Returns 0 if it does not fit. Rounds like
 * Python. */
static int draw_box(struct crop *crop, const uint32_t words[WORDS], int height,
		    int width)
{
	const double area = (double)height * width *
			    between(LEAST_AREA, 1, words[AREA]);
	const double ratio = exp(between(log(LEAST_RATIO), log(MOST_RATIO),
					 words[RATIO]));
	const double across = rint(sqrt(area * ratio));
	const double down = rint(sqrt(area / ratio));

	if (!(across >= 1 && across <= width && down >= 1 && down <= height))
		return 0;
	crop->across.from = (int)across;
	crop->down.from = (int)down;
	crop->top = up_to(height - crop->down.from, words[TOP]);
	crop->left = up_to(width - crop->across.from, words[LEFT]);
	return 1;
}

/* The largest box in the middle whose ratio is allowed. */
static void take_middle(struct crop *crop, int height, int width)
{
	const double ratio = (double)width / height;

	crop->across.from = width;
	crop->down.from = height;
	if (ratio < LEAST_RATIO)
		crop->down.from = (int)rint(width / LEAST_RATIO);
	else if (ratio > MOST_RATIO)
		crop->across.from = (int)rint(height * MOST_RATIO);
	crop->top = (height - crop->down.from) / 2;
	crop->left = (width - crop->across.from) / 2;
}

void crop_draw(struct crop *crop, const struct crop_key *key, uint32_t sample,
	       int height, int width, int to_height, int to_width)
{
	uint32_t words[WORDS], try = 0;

	*crop = (struct crop){ .down = { .whole = to_height, .to = to_height },
			       .across = { .whole = to_width,
					   .to = to_width } };
	do
		draw(key, try, sample, words);
	while (!draw_box(crop, words, height, width) && ++try < TRIES);
	if (try == TRIES)
		take_middle(crop, height, width);
	draw(key, TRIES, sample, words);
	crop->is_mirrored = words[0] < UINT32_C(1) << 31;
}

/* Returns a span of a whole side, and the middle part that the model takes. */
static struct resize_span middle(int from, int64_t whole, int to)
{
	return (struct resize_span){
		.from = from,
		.whole = whole,
		.first = (int64_t)rint((double)(whole - to) / 2),
		.to = to,
	};
}

void crop_center(struct crop *crop, int height, int width, int to_height,
		 int to_width)
{
	const int size = to_height > to_width ? to_height : to_width;
	const int64_t shorter = (int64_t)rint(size * 256. / 224);
	const int least = height < width ? height : width;

	*crop = (struct crop){
		.down = middle(height, shorter * height / least, to_height),
		.across = middle(width, shorter * width / least, to_width),
	};
}
