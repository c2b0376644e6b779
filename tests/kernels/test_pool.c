/* Max pooling of the cpu backend's kernels: windows that its builds know, and
 * others, at the edge of planes and inside; pixels with and without gaps. */
#include "backends/cpu/kernels/kernels.h"

#include "tests/kernels/subject.h"

#define MOST_BUILDS 8
#define MOST_VALUES (13 * 11 * 80)

static const struct pool_shape shapes[] = {
	{ .in = { 10, 12, 10 }, .window = 2, .stride = 2 },
	{ .in = { 16, 13, 11 }, .window = 3, .stride = 2, .pad = 1 },
	{ .in = { 33, 9, 11 }, .window = 3, .stride = 1 },
	{ .in = { 70, 7, 8 }, .window = 2, .stride = 1, .pad = 1 },
	{ .in = { 5, 8, 9 }, .window = 4, .stride = 3, .pad = 2 },
};

struct arrays {
	float in[MOST_VALUES], out[MOST_VALUES], dy[MOST_VALUES],
		dx[MOST_VALUES], right[MOST_VALUES];
	uint8_t winners[MOST_VALUES + CPU_LANES];
};

static struct arrays is;

static int side_of(const struct pool_shape *shape, int length)
{
	return (length + 2 * shape->pad - shape->window) / shape->stride + 1;
}

/* gap: floats from pixel to pixel are whole vectors, with zeros behind. */
static struct pool_shape complete(struct pool_shape shape, int gap, int marks)
{
	const int channels = shape.in.channels;
	const int whole = (int)cpu_whole_lanes(channels);

	shape.out = (struct shape){ channels, side_of(&shape, shape.in.height),
				    side_of(&shape, shape.in.width) };
	shape.in_stride = shape.out_stride = gap ? whole : channels;
	shape.winners_stride = whole;
	shape.marks = marks;
	return shape;
}

static int is_gap(const struct pool_shape *shape, int i)
{
	return i % shape->in_stride >= shape->in.channels;
}

/* Few different ones, so that some are equal; and a NaN here and there. What
 * is marked comes out of a ReLU: most of it is 0. */
static void fill(const struct pool_shape *shape)
{
	const float least = shape->marks ? 0 : -INFINITY;

	memset(&is, 0, sizeof(is));
	for (int i = 0; i < MOST_VALUES; i++) {
		is.in[i] = is_gap(shape, i) ? 0 :
			fmaxf((float)(i * 7919 % 23 - (shape->marks ? 20 : 11)),
			      least);
		is.dy[i] = is_gap(shape, i) ? 0 : (float)(i % 37 + 1);
		if (i % 211 == 0 && !is_gap(shape, i))
			is.in[i] = NAN;
	}
}

/* The place of the first of the largest, or of the first NaN. */
static int winner_of(const struct pool_shape *shape, int y, int x, int c)
{
	int best = -1;

	for (int place = 0; place < shape->window * shape->window; place++) {
		const int row = y * shape->stride - shape->pad +
				place / shape->window;
		const int column = x * shape->stride - shape->pad +
				   place % shape->window;
		const int at = (row * shape->in.width + column) *
			       shape->in_stride + c;

		if (row < 0 || row >= shape->in.height || column < 0 ||
		    column >= shape->in.width)
			continue;
		if (best < 0 || is.in[at] > is.in[best] ||
		    (isnan(is.in[at]) && !isnan(is.in[best])))
			best = at;
	}
	return best;
}

static void compare(const struct pool_shape *shape)
{
	const int pixels = shape->in.height * shape->in.width;

	for (int p = 0; p < shape->out.height * shape->out.width; p++)
		for (int c = 0; c < shape->out_stride; c++) {
			const int o = p * shape->out_stride + c;
			int best;

			if (is_gap(shape, o)) {
				assert_true(is.out[o] == 0);
				continue;
			}
			best = winner_of(shape, p / shape->out.width,
					 p % shape->out.width, c);
			assert_true(is.out[o] == is.in[best] ||
				    (isnan(is.out[o]) && isnan(is.in[best])));
			if (!shape->marks || !(is.out[o] <= 0))
				is.right[best] += is.dy[o];
		}
	for (int i = 0; i < pixels * shape->in_stride; i++)
		assert_true(is.dx[i] == is.right[i]);
}

static void poolings_are_right(void **state)
{
	const struct plane_kernels *kernels =
		((const struct cpu_kernels *)*state)->planes;

	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (int way = 0; way < 4; way++) {
			const struct pool_shape shape =
				complete(shapes[s], way % 2, way / 2);

			fill(&shape);
			kernels->maxpool(&shape, is.in, is.out, is.winners);
			kernels->maxpool_backward(&shape, is.dy, is.winners,
						  is.dx);
			compare(&shape);
			memset(is.out, 0, sizeof(is.out));
			memset(is.right, 0, sizeof(is.right));
			kernels->maxpool(&shape, is.in, is.out, NULL);
			compare(&shape);
		}
}

int main(void)
{
	struct CMUnitTest tests[MOST_BUILDS];
	size_t count = 0;

	for (; cpu_builds[count]; count++) {
		assert_true(count < MOST_BUILDS);
		tests[count] = (struct CMUnitTest){
			.name = cpu_builds[count]->name,
			.test_func = test_if(cpu_builds[count]->supported(),
					     poolings_are_right),
			.initial_state = (void *)cpu_builds[count],
		};
	}
	return _cmocka_run_group_tests("pool", tests, count, NULL, NULL);
}
