/* Convolutions with stride 1, and folded ones of images, by tiles:
 * winograd_nhwc.cl. */
#include "backends/opencl/solvers/cpu_class/conv_nhwc.h"

#include "backends/opencl/solvers/cpu_class/cpu_class.h"
#include "backends/opencl/device/status.h"

/* Cost of the transforms, in multiplications: of a tile as a share of its
 * products, and of a weight, whose points are stored. */
#define TILE_COST .25
#define WEIGHT_COST 4 /* and point */

/* A convolution without a stride, which it is of the folded image if it has
 * one: then this window, and these channels, are what they are folded to. */
struct tiled {
	struct shape in, out;
	int channels, window, stride, pad;
	int tile, side, points; /* of a tile, and of all that it comes from */
};

/* Planes by the tiles of what is made of them. */
struct tiles {
	struct shape plane;
	int before;	   /* pixels of the first tile above and left of it */
	int across, count; /* of a sample */
	size_t apart;	   /* floats from point to point */
};

/* One way of a step: of values to planes; sums are its M. */
struct way {
	struct tiles values;
	int from; /* channels */
	struct shape to;
	size_t sums_apart;
};

/* Of a channel to another, in multiplications. */
static double cost_of(struct shape out, int window, int tile, int samples)
{
	const double side = tile + window - 1;
	const double tiles = (double)samples * parts_of(out.height, tile) *
			     parts_of(out.width, tile);

	return side * side * (tiles * (1 + TILE_COST) + WEIGHT_COST);
}

/* Seven points a side, or six where these are less work. */
static int tile_of(struct shape out, int window, int samples)
{
	if (window == 3 && cost_of(out, 3, 4, samples) <=
				   cost_of(out, 3, 5, samples))
		return 4;
	return 8 - window;
}

static struct tiled tiled_of(const struct node *node, int samples, int width)
{
	const struct layer *layer = node->layer;
	struct tiled t = { .in = node->in, .out = node->out,
			   .channels = node->in.channels,
			   .window = layer->window, .pad = layer->pad };

	t.stride = layer_stride_within(layer, node->in);
	if (t.stride > 1) {
		t.channels = round_up(node->in.channels * t.stride * t.stride,
				      width);
		t.window = parts_of(t.window, t.stride);
	}
	t.tile = tile_of(t.out, t.window, samples);
	t.side = t.tile + t.window - 1;
	t.points = t.side * t.side;
	return t;
}

static struct tiled tiled_at(const struct opencl_program *program, int index)
{
	return tiled_of(generic_node(program, index),
			program->base.options.batch,
			product_tile(program).wide);
}

/* Between points: a power of two apart, they would compete for few sets of a
 * cache. */
static size_t point_size(const struct opencl_program *program, int samples,
			 int tiles, int channels)
{
	return (size_t)samples * (size_t)tiles * (size_t)channels +
	       (size_t)product_tile(program).wide;
}

/* Returns the tiles of planes with this number of channels, from which tiles of
 * outputs are computed. */
static struct tiles tiles_of(const struct opencl_program *program,
			     const struct tiled *t, struct shape plane,
			     int before, struct shape outputs, int channels,
			     int samples)
{
	struct tiles tiles = { .plane = plane, .before = before };

	tiles.across = parts_of(outputs.width, t->tile);
	tiles.count = tiles.across * parts_of(outputs.height, t->tile);
	tiles.apart = point_size(program, samples, tiles.count, channels);
	return tiles;
}

static struct way way_of(const struct opencl_program *program,
			 const struct tiled *t, int samples)
{
	struct way way = { .from = t->channels, .to = t->out };

	way.values = tiles_of(program, t, t->in, t->pad, t->out, t->channels,
			      samples);
	way.sums_apart = point_size(program, samples, way.values.count,
				    way.to.channels);
	return way;
}

/* An input's first output is a window but one pixel, less the padding, before
 * it. */
static struct way way_back(const struct opencl_program *program,
			   const struct tiled *t, int samples)
{
	struct way way = { .from = t->out.channels, .to = t->in };

	way.values = tiles_of(program, t, t->out, t->window - 1 - t->pad, t->in,
			      t->out.channels, samples);
	way.sums_apart = point_size(program, samples, way.values.count,
				    way.to.channels);
	return way;
}

/* Of a channel to another: whether there is less to do than by definition. */
static int is_cheaper(const struct node *node, const struct tiled *t,
		      int samples)
{
	return t->channels * cost_of(t->out, t->window, t->tile, samples) <
	       (double)samples * node->out.height * node->out.width *
		       node->in.channels * node->layer->window *
		       node->layer->window;
}

static int tiles_take(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	const int width = ((const struct opencl_options *)options)->width;
	const struct node *node = &graph->nodes[first];
	const struct layer *layer = node->layer;
	struct tiled t;

	if (layer->kind != LAYER_CONV)
		return 0;
	if (options->algorithm == ALGORITHM_DENSE)
		return plan_decline(why, "--algorithm is dense");
	if (layer->pad >= layer->window)
		return plan_decline(why, "padding is as wide as the window");
	if (node->in.height * node->in.width == 1)
		return plan_decline(why, "the image is one pixel");
	t = tiled_of(node, options->batch, width);
	if (t.window < 3 || t.window > 5)
		return plan_decline(why, "the window is not 3x3 to 5x5");
	if (t.channels % width || t.out.channels % width)
		return plan_decline(why, "channels are not whole vectors");
	if (t.stride != 1 && node->needs_dx)
		return plan_decline(why, "a stride, and not the first layer");
	if (!is_cheaper(node, &t, options->batch))
		return plan_decline(why, "no fewer multiplications");
	return 1;
}

/* Steps of one kind share their kernels. */
static int tiles_build(struct opencl_program *program, int index,
		       struct error *err)
{
	const struct tiled t = tiled_at(program, index);
	const struct define kind[] = {
		{ "TILE", t.tile },
		{ "WINDOW", t.window },
		{ "COLUMNS", product_tile(program).columns },
	};
	struct defines defines = { .count = 0 };

	for (int i = 0; i < index; i++) {
		struct tiled other;

		if (solver_of(program, i) != &winograd_nhwc)
			continue;
		other = tiled_at(program, i);
		if (other.tile != t.tile || other.window != t.window)
			continue;
		program->built[index] = program->built[i];
		clRetainProgram(program->built[i]);
		return 0;
	}
	generic_define(program, &defines);
	defines_add(&defines, kind, COUNT(kind));
	return generic_build(program, index, err) ||
	       source_build(program_device(program),
			    t.side == 6 ? SOURCE_TILES : SOURCE_TILES7,
			    &defines, &program->built[index], err) ? -1 : 0;
}

static size_t packed_size(const struct opencl_program *program,
			  const struct tiled *t, const struct way *way)
{
	return (size_t)t->points * (size_t)way->from *
	       (size_t)round_up(way->to.channels,
				product_tile(program).columns);
}

static size_t weights_of(const struct tiled *t)
{
	return (size_t)t->channels * (size_t)t->out.channels;
}

static struct split split_of(const struct opencl_program *program,
			     const struct tiled *t)
{
	const struct product_tile tile = product_tile(program);
	const int groups = t->points *
			   parts_of(t->out.channels, tile.run_columns) *
			   parts_of(t->channels, tile.run_rows);

	return split_batch(program, groups, (size_t)t->points * weights_of(t));
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct generic_room tiles_room(const struct opencl_program *program,
				      int index, int samples)
{
	const struct tiled t = tiled_at(program, index);
	const size_t points = (size_t)t.points;
	const size_t wide = (size_t)product_tile(program).wide;
	const struct way to = way_of(program, &t, samples);
	struct generic_room room = {
		.parts = (size_t)split_of(program, &t).parts * points *
			 weights_of(&t),
		.packed = packed_size(program, &t, &to),
		.points = points * to.values.apart + wide,
		.sums = points * to.sums_apart + wide,
	};

	if (t.stride > 1) {
		room.x = weights_of(&t) * (size_t)(t.window * t.window);
	} else {
		const struct way back = way_back(program, &t, samples);

		room.packed = larger(room.packed,
				     packed_size(program, &t, &back));
		room.points = larger(room.points,
				     points * back.values.apart + wide);
		room.sums = larger(room.sums, points * back.sums_apart + wide);
	}
	return room;
}

/* Appends what is of kernels that are the tiles'. */
static int add_own(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int memory_count, const cl_int *words, int word_count,
		   struct error *err)
{
	return pass_add_words(pass, launch,
			      program->built[launch->work.step], memories,
			      memory_count, (const cl_uint *)words, word_count,
			      err);
}

/* Appends the launch that computes V or, of gradients by outputs, dM. Planes
 * with a stride are folded. */
static int add_points(struct opencl_program *program, struct pass *pass,
		      int index, const struct tiles *tiles, int channels,
		      int stride, cl_mem from, int sample, int outputs,
		      cl_mem points, struct error *err)
{
	const struct shape plane = tiles->plane;
	struct launch launch = last_launch("tiles_spread", index);
	const cl_mem memories[] = { from, points };
	const cl_int words[] = { channels, plane.height, plane.width, sample,
				 tiles->before, tiles->across, tiles->count,
				 (cl_int)tiles->apart, outputs, stride,
				 plane.channels };

	launch.items[0] = tiles->count / tiles->across;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)shape_size(plane) +
			    (double)channels * tiles->count *
				    tiled_at(program, index).points;
	return add_own(program, pass, &launch, memories, COUNT(memories),
		       words, COUNT(words), err);
}

/* Folds the weights into memory of all steps, or unfolds their gradient. */
static int add_fold(struct opencl_program *program, struct pass *pass,
		    int index, const struct tiled *t, int back,
		    struct error *err)
{
	const struct node *node = generic_node(program, index);
	struct launch launch = last_launch(back ? "windows_unfold" :
						  "windows_fold", index);
	const cl_mem folded = program->generic_memory.x;
	const cl_mem memories[] = {
		back ? folded : program->products,
		back ? program->vectors[VECTOR_GRADIENT] : folded
	};
	const cl_int words[] = { (cl_int)node->weight, t->channels,
				 node->in.channels, node->layer->window,
				 t->stride };

	if (t->stride == 1)
		return 0;
	launch.items[0] = t->out.channels;
	launch.work.moved_once = 2 * step_parameters(program, index);
	return add_own(program, pass, &launch, memories, COUNT(memories),
		       words, COUNT(words), err);
}

static int add_pack(struct opencl_program *program, struct pass *pass,
		    int index, const struct tiled *t, const struct way *way,
		    int back, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const int taps = t->window * t->window;
	const int by_layer = t->channels * taps; /* outputs of it */
	const int folds = t->stride > 1;
	struct launch launch = last_launch("tiles_pack", index);
	const cl_mem memories[] = { folds ? program->generic_memory.x :
					    program->products,
				    program->generic_memory.packed };
	const cl_int words[] = {
		way->from, way->to.channels, back,
		folds ? 0 : (cl_int)generic_node(program, index)->weight,
		back ? taps : by_layer, back ? by_layer : taps
	};

	if (add_fold(program, pass, index, t, 0, err))
		return -1;
	launch.items[0] = parts_of(way->from, tile.wide);
	launch.items[1] = parts_of(way->to.channels, tile.columns);
	launch.work.moved_once = (double)packed_size(program, t, way) +
				 (double)by_layer * t->out.channels;
	return add_own(program, pass, &launch, memories, COUNT(memories),
		       words, COUNT(words), err);
}

static int add_multiply(struct opencl_program *program, struct pass *pass,
			int index, const struct tiled *t,
			const struct way *way, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct generic_memory *own = &program->generic_memory;
	const int tiles = way->values.count;
	struct launch launch = last_launch("tiles_multiply", index);
	const cl_mem memories[] = { own->points, own->packed, own->sums };
	const cl_int words[] = { way->from, way->to.channels, tiles,
				 (cl_int)way->values.apart,
				 (cl_int)way->sums_apart };

	launch.items[0] = parts_of(pass->most * tiles, tile.rows);
	launch.items[1] = parts_of(way->to.channels, tile.columns);
	launch.items[2] = (size_t)t->points;
	launch.work.dense = step_products(program, index);
	launch.work.done = (double)t->points * way->from * way->to.channels *
			   tiles;
	launch.work.moved = (double)t->points * tiles *
			    (way->from + way->to.channels);
	launch.work.moved_once = (double)packed_size(program, t, way);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_store(struct opencl_program *program, struct pass *pass,
		     int index, const struct tiled *t, const struct way *way,
		     int back, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const int tiles = way->values.count;
	struct launch launch = last_launch("tiles_store", index);
	const cl_mem memories[] = { program->generic_memory.sums,
				    program->products,
				    back ? g.x.gradient : g.y.memory };
	const cl_int words[] = {
		way->to.channels, way->to.height, way->to.width,
		back ? g.x.sample : g.y.sample, way->values.across, tiles,
		(cl_int)way->sums_apart,
		back || !g.node->has_bias ? -1 : (cl_int)g.node->bias,
		back && g.node->adds_dx
	};

	launch.items[0] = tiles / way->values.across;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)t->points * tiles * way->to.channels +
			    (double)shape_size(way->to);
	return add_own(program, pass, &launch, memories, COUNT(memories),
		       words, COUNT(words), err);
}

/* What one way makes of x or, back, of dy. */
static int add_way(struct opencl_program *program, struct pass *pass, int index,
		   const struct tiled *t, const struct way *way, int back,
		   struct error *err)
{
	const struct generic g = generic_at(program, pass, index);

	return add_points(program, pass, index, &way->values, way->from,
			  t->stride, back ? g.y.gradient : g.x.memory,
			  back ? g.y.sample : g.x.sample, 0,
			  program->generic_memory.points, err) ||
	       add_pack(program, pass, index, t, way, back, err) ||
	       add_multiply(program, pass, index, t, way, err) ||
	       add_store(program, pass, index, t, way, back, err) ? -1 : 0;
}

static int tiles_forward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct tiled t = tiled_at(program, index);
	const struct way way = way_of(program, &t, pass->most);

	return add_way(program, pass, index, &t, &way, 0, err);
}

/* Appends the points of the weight gradient, from V and dM. */
static int add_sum(struct opencl_program *program, struct pass *pass, int index,
		   const struct tiled *t, const struct tiles *values,
		   const struct tiles *gradient, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct split split = split_of(program, t);
	const int tiles = values->count, outputs = t->out.channels;
	const size_t size = (size_t)t->points * weights_of(t);
	const struct generic_memory *own = &program->generic_memory;
	struct launch launch = last_launch("conv_sum", index);
	const cl_mem memories[] = { own->points, own->sums, own->parts };
	const cl_int words[] = {
		t->channels, (cl_int)values->apart, (cl_int)gradient->apart,
		t->channels, 0, tiles * t->channels, outputs, 1, tiles, 0,
		tiles * outputs, 0, (cl_int)size, split.samples,
		generic_node(program, index)->broken
	};

	launch.items[0] = parts_of(outputs, tile.run_columns);
	launch.items[1] = t->points * parts_of(t->channels, tile.run_rows);
	launch.items[2] = split.parts;
	launch.work.dense = step_products(program, index);
	launch.work.done = (double)size * tiles;
	launch.work.moved = (double)t->points * tiles * (t->channels + outputs);
	launch.work.moved_once = (double)size;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_unpack(struct opencl_program *program, struct pass *pass,
		      int index, const struct tiled *t, struct error *err)
{
	const int width = product_tile(program).wide;
	const int folds = t->stride > 1;
	const struct split split = split_of(program, t);
	const size_t size = (size_t)t->points * weights_of(t);
	struct launch launch = last_launch("tiles_unpack", index);
	const cl_mem memories[] = { program->generic_memory.parts,
				    folds ? program->generic_memory.x :
					    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = {
		t->channels, t->out.channels,
		folds ? 0 : (cl_int)generic_node(program, index)->weight,
		(cl_int)size, split.samples
	};

	launch.items[0] = t->out.channels / width;
	launch.items[1] = t->channels / width;
	launch.work.moved_once = (1. + split.parts) * (double)size;
	return add_own(program, pass, &launch, memories, COUNT(memories),
		       words, COUNT(words), err) ||
	       add_fold(program, pass, index, t, 1, err) ? -1 : 0;
}

static int tiles_backward(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct generic_memory *own = &program->generic_memory;
	const struct tiled t = tiled_at(program, index);
	const struct way way = way_of(program, &t, pass->most);
	const struct tiles gradient = tiles_of(program, &t, t.out, 0, t.out,
					       t.out.channels, pass->most);
	const struct way back = way_back(program, &t, pass->most);

	if (add_points(program, pass, index, &way.values, t.channels, t.stride,
		       g.x.memory, g.x.sample, 0, own->points, err) ||
	    add_points(program, pass, index, &gradient, t.out.channels, 1,
		       g.y.gradient, g.y.sample, 1, own->sums, err) ||
	    add_sum(program, pass, index, &t, &way.values, &gradient, err) ||
	    add_unpack(program, pass, index, &t, err) ||
	    add_bias(program, pass, index, err))
		return -1;
	return g.node->needs_dx ?
		       add_way(program, pass, index, &t, &back, 1, err) : 0;
}

const struct opencl_solver winograd_nhwc = {
	.base = { .name = "padded conv by tiles", .takes = tiles_take },
	.build = tiles_build,
	.allocate = generic_allocate,
	.room = tiles_room,
	.forward = tiles_forward,
	.backward = tiles_backward,
};
