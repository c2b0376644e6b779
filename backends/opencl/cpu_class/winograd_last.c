/* Convolutions with 3x3 windows and stride 1 by tiles: winograd_last.cl. */
#include "backends/opencl/cpu_class/conv_last.h"

#include "backends/opencl/cpu_class/cpu_class.h"
#include "backends/opencl/device/status.h"

#define TILE 4
#define SIDE 6
#define POINTS (SIDE * SIDE)
#define TAPS 9

/* What is computed beside the products, in multiplications: of a tile as a
 * share of its products, and of a weight, whose points are POINTS. */
#define TILE_COST .25
#define WEIGHT_COST 150

/* Planes by the tiles of what is made of them. */
struct tiles {
	struct shape plane;
	int before;	   /* pixels of the first tile above and left of it */
	int across, count; /* of a sample */
	size_t apart;	   /* floats from point to point */
};

/* One way of a step: of values to planes; sums are its M. */
struct tiled {
	struct tiles values;
	struct shape from, to;
	size_t sums_apart;
};

static int tiles_along(int length)
{
	return parts_of(length, TILE);
}

/* Between points: a power of two apart, they would compete for few sets of a
 * cache. */
static size_t point_size(int samples, int tiles, int channels, int gap)
{
	return (size_t)samples * (size_t)tiles * (size_t)channels + (size_t)gap;
}

/* The tiles of planes from which those of outputs are made. */
static struct tiles tiles_of(const struct opencl_program *program,
			     struct shape plane, int before,
			     struct shape outputs, int samples)
{
	struct tiles tiles = { .plane = plane, .before = before };

	tiles.across = tiles_along(outputs.width);
	tiles.count = tiles.across * tiles_along(outputs.height);
	tiles.apart = point_size(samples, tiles.count, plane.channels,
				 product_tile(program).wide);
	return tiles;
}

/* Back, an input's first output is two pixels, less the padding, before it. */
static struct tiled tiled_way(const struct opencl_program *program,
			      const struct sides *s, int samples, int back)
{
	struct tiled way = { .from = back ? s->out : s->in,
			     .to = back ? s->in : s->out };

	way.values = tiles_of(program, way.from,
			      back ? SIDE - TILE - s->pad : s->pad, way.to,
			      samples);
	way.sums_apart = point_size(samples, way.values.count, way.to.channels,
				    product_tile(program).wide);
	return way;
}

/* Of a channel to another: whether there is less to do than by definition. */
static int is_cheaper(struct shape out, int samples)
{
	const double tiles = (double)samples * tiles_along(out.height) *
			     tiles_along(out.width);

	return tiles * POINTS * (1 + TILE_COST) + WEIGHT_COST <
	       (double)samples * out.height * out.width * TAPS;
}

static int tiles_take(const struct graph *graph, int first,
		      const struct program_options *options)
{
	const int width = ((const struct opencl_options *)options)->width;
	const struct node *node = &graph->nodes[first];
	const struct layer *layer = node->layer;

	return options->algorithm != ALGORITHM_DENSE &&
	       layer->kind == LAYER_CONV && layer->window == 3 &&
	       layer_stride_within(layer, node->in) == 1 && layer->pad < 3 &&
	       node->in.channels % width == 0 &&
	       node->out.channels % width == 0 &&
	       node->in.height * node->in.width > 1 &&
	       is_cheaper(node->out, options->batch);
}

static size_t packed_size(const struct opencl_program *program,
			  const struct tiled *way)
{
	return POINTS * (size_t)way->from.channels *
	       (size_t)round_up(way->to.channels,
				product_tile(program).columns);
}

static size_t points_of(const struct sides *s)
{
	return POINTS * (size_t)s->in.channels * (size_t)s->out.channels;
}

static struct split split_of(const struct opencl_program *program,
			     const struct sides *s)
{
	const struct product_tile tile = product_tile(program);
	const int groups = POINTS *
			   parts_of(s->out.channels, tile.run_columns) *
			   parts_of(s->in.channels, tile.run_rows);

	return split_batch(program, groups, points_of(s));
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct generic_room tiles_room(const struct opencl_program *program,
				      int index, int samples)
{
	const struct sides s = sides_of(generic_node(program, index));
	const size_t wide = (size_t)product_tile(program).wide;
	const struct tiled to = tiled_way(program, &s, samples, 0);
	const struct tiled back = tiled_way(program, &s, samples, 1);

	return (struct generic_room){
		.parts = (size_t)split_of(program, &s).parts * points_of(&s),
		.packed = larger(packed_size(program, &to),
				 packed_size(program, &back)),
		.points = POINTS * larger(to.values.apart, back.values.apart) +
			  wide,
		.sums = POINTS * larger(to.sums_apart, back.sums_apart) + wide,
	};
}

/* Points of tiles: V, or where they are of outputs' gradients, dM. */
static int add_points(struct opencl_program *program, struct pass *pass,
		      int index, const struct tiles *tiles, cl_mem from,
		      int sample, int outputs, cl_mem points, struct error *err)
{
	const struct shape plane = tiles->plane;
	struct launch launch = last_launch("tiles_spread", index);
	const cl_mem memories[] = { from, points };
	const cl_int words[] = { plane.channels, plane.height, plane.width,
				 sample, tiles->before, tiles->across,
				 tiles->count, (cl_int)tiles->apart, outputs };

	launch.items[0] = tiles->count / tiles->across;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)shape_size(plane) +
			    (double)plane.channels * POINTS * tiles->count;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_pack(struct opencl_program *program, struct pass *pass,
		    int index, const struct tiled *way, int back,
		    struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct product_tile tile = product_tile(program);
	const int by_layer = node->in.channels * TAPS; /* outputs of it */
	struct launch launch = last_launch("tiles_pack", index);
	const cl_mem memories[] = { program->products,
				    program->generic_memory.packed };
	const cl_int words[] = { way->from.channels, way->to.channels, back,
				 (cl_int)node->weight, back ? TAPS : by_layer,
				 back ? by_layer : TAPS };

	launch.items[0] = parts_of(way->from.channels, tile.wide);
	launch.items[1] = parts_of(way->to.channels, tile.columns);
	launch.work.moved_once = (double)packed_size(program, way) +
				 (double)by_layer * node->out.channels;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_multiply(struct opencl_program *program, struct pass *pass,
			int index, const struct tiled *way, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct generic_memory *own = &program->generic_memory;
	const double a_tile = (double)POINTS * way->from.channels *
			      way->to.channels;
	struct launch launch = last_launch("tiles_multiply", index);
	const cl_mem memories[] = { own->points, own->packed, own->sums };
	const cl_int words[] = { way->from.channels, way->to.channels,
				 way->values.count, (cl_int)way->values.apart,
				 (cl_int)way->sums_apart };

	launch.items[0] = parts_of(pass->most * way->values.count, tile.rows);
	launch.items[1] = parts_of(way->to.channels, tile.columns);
	launch.items[2] = POINTS;
	launch.work.dense = step_products(program, index);
	launch.work.done = a_tile * way->values.count;
	launch.work.moved = (double)POINTS * way->values.count *
			    (way->from.channels + way->to.channels);
	launch.work.moved_once = (double)packed_size(program, way);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_store(struct opencl_program *program, struct pass *pass,
		     int index, const struct tiled *way, int back,
		     struct error *err)
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

	launch.items[0] = tiles;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)POINTS * tiles * way->to.channels +
			    (double)shape_size(way->to);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

/* What one way makes of x or, back, of dy. */
static int add_way(struct opencl_program *program, struct pass *pass, int index,
		   const struct tiled *way, int back, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);

	return add_points(program, pass, index, &way->values,
			  back ? g.y.gradient : g.x.memory,
			  back ? g.y.sample : g.x.sample, 0,
			  program->generic_memory.points, err) ||
	       add_pack(program, pass, index, way, back, err) ||
	       add_multiply(program, pass, index, way, err) ||
	       add_store(program, pass, index, way, back, err) ? -1 : 0;
}

static int tiles_forward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct sides s = sides_of(generic_node(program, index));
	const struct tiled way = tiled_way(program, &s, pass->most, 0);

	return add_way(program, pass, index, &way, 0, err);
}

/* Points of the weight gradient from those of values and of dM. */
static int add_sum(struct opencl_program *program, struct pass *pass, int index,
		   const struct sides *s, const struct tiles *values,
		   const struct tiles *gradient, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct split split = split_of(program, s);
	const int tiles = values->count;
	const struct generic_memory *own = &program->generic_memory;
	struct launch launch = last_launch("conv_sum", index);
	const cl_mem memories[] = { own->points, own->sums, own->parts };
	const cl_int words[] = {
		s->in.channels, (cl_int)values->apart, (cl_int)gradient->apart,
		s->in.channels, 0, tiles * s->in.channels, s->out.channels, 1,
		tiles, 0, tiles * s->out.channels, 0, (cl_int)points_of(s),
		split.samples, generic_node(program, index)->broken
	};

	launch.items[0] = parts_of(s->out.channels, tile.run_columns);
	launch.items[1] = POINTS * parts_of(s->in.channels, tile.run_rows);
	launch.items[2] = split.parts;
	launch.work.dense = step_products(program, index);
	launch.work.done = (double)points_of(s) * tiles;
	launch.work.moved = (double)POINTS * tiles *
			    (s->in.channels + s->out.channels);
	launch.work.moved_once = (double)points_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_unpack(struct opencl_program *program, struct pass *pass,
		      int index, const struct sides *s, struct error *err)
{
	const int width = product_tile(program).wide;
	const struct split split = split_of(program, s);
	struct launch launch = last_launch("tiles_unpack", index);
	const cl_mem memories[] = { program->generic_memory.parts,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = {
		s->in.channels, s->out.channels,
		(cl_int)generic_node(program, index)->weight,
		(cl_int)points_of(s), split.samples
	};

	launch.items[0] = s->out.channels / width;
	launch.items[1] = s->in.channels / width;
	launch.work.moved_once = (1. + split.parts) * (double)points_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int tiles_backward(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct generic_memory *own = &program->generic_memory;
	const struct sides s = sides_of(g.node);
	const struct tiles values = tiles_of(program, s.in, s.pad, s.out,
					     pass->most);
	const struct tiles gradient = tiles_of(program, s.out, 0, s.out,
					       pass->most);
	const struct tiled back = tiled_way(program, &s, pass->most, 1);

	if (add_points(program, pass, index, &values, g.x.memory, g.x.sample, 0,
		       own->points, err) ||
	    add_points(program, pass, index, &gradient, g.y.gradient,
		       g.y.sample, 1, own->sums, err) ||
	    add_sum(program, pass, index, &s, &values, &gradient, err) ||
	    add_unpack(program, pass, index, &s, err) ||
	    add_bias(program, pass, index, err))
		return -1;
	return g.node->wants_dx ? add_way(program, pass, index, &back, 1, err) :
				  0;
}

const struct opencl_solver winograd_last = {
	.base = { .name = "padded conv by tiles", .takes = tiles_take },
	.build = generic_build,
	.allocate = generic_allocate,
	.room = tiles_room,
	.forward = tiles_forward,
	.backward = tiles_backward,
};
