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

/* One way of a step: from planes with some channels to others. */
struct tiled {
	struct shape from, to;
	const struct spread *spread;
	int begin;		/* where the first tile's values are in it */
	int across, tiles;	/* of a plane of `to` */
	size_t apart, made_apart; /* floats from point to point, of both */
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

static struct tiled tiled_way(const struct opencl_program *program,
			      const struct sides *s, int samples, int back)
{
	const int gap = product_tile(program).wide;
	struct tiled way = { .from = back ? s->out : s->in,
			     .to = back ? s->in : s->out,
			     .spread = back ? &s->dy : &s->x };

	/* An input's first output is pad before it, behind the border of two:
	 * so the first that its tile reads is as many from the copy's. */
	way.begin = back ? s->pad * (s->dy.row + s->out.channels) : 0;
	way.across = tiles_along(way.to.width);
	way.tiles = way.across * tiles_along(way.to.height);
	way.apart = point_size(samples, way.tiles, way.from.channels, gap);
	way.made_apart = point_size(samples, way.tiles, way.to.channels, gap);
	return way;
}

static struct sides tiled_sides(const struct node *node)
{
	struct sides s = sides_of(node);
	const int height = TILE * tiles_along(s.out.height);
	const int width = TILE * tiles_along(s.out.width);

	/* Tiles are read whole: of x, of dy as outputs, and of dy for dx. */
	spread_widen(&s.x, height + 2, width + 2);
	spread_widen(&s.dy, height + 2, width + 2);
	spread_widen(&s.dy, s.pad + TILE * tiles_along(s.in.height) + 2,
		     s.pad + TILE * tiles_along(s.in.width) + 2);
	return s;
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

/* Samples of a part of the weight gradient, and how many parts there are. */
static int part_samples(const struct opencl_program *program,
			const struct sides *s)
{
	const struct product_tile tile = product_tile(program);
	const int groups = POINTS *
			   parts_of(s->out.channels, tile.run_columns) *
			   parts_of(s->in.channels, tile.run_rows);

	return split_samples(program, groups, points_of(s));
}

static int part_count(const struct opencl_program *program,
		      const struct sides *s)
{
	return parts_of(batch_most(program), part_samples(program, s));
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

struct generic_room winograd_last_room(const struct opencl_program *program,
				       int index, int samples)
{
	const struct sides s = tiled_sides(generic_node(program, index));
	const size_t wide = (size_t)product_tile(program).wide;
	const struct tiled to = tiled_way(program, &s, samples, 0);
	const struct tiled back = tiled_way(program, &s, samples, 1);

	return (struct generic_room){
		.parts = (size_t)part_count(program, &s) * points_of(&s),
		.packed = larger(packed_size(program, &to),
				 packed_size(program, &back)),
		.x = (size_t)samples * (size_t)s.x.sample,
		.dy = (size_t)batch_most(program) * (size_t)s.dy.sample,
		.points = POINTS * larger(to.apart, back.apart) + wide,
		.sums = POINTS * larger(to.made_apart, back.made_apart) + wide,
	};
}

/* Points of a copy's tiles, which begin so far in it, as values. */
static int add_values(struct opencl_program *program, struct pass *pass,
		      int index, const struct tiled *way, cl_mem copy,
		      struct error *err)
{
	struct launch launch = last_launch("tiles_spread", index);
	const cl_mem memories[] = { copy, program->generic_memory.points };
	const cl_int words[] = { way->from.channels, way->spread->row,
				 way->spread->sample, way->begin, way->across,
				 way->tiles, (cl_int)way->apart, 0 };

	launch.items[0] = way->tiles;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)way->from.channels *
			    (way->spread->height * way->spread->width +
			     POINTS * way->tiles);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

/* Points of the gradient's tiles, into the memory that else has M. */
static int add_outputs(struct opencl_program *program, struct pass *pass,
		       int index, const struct tiled *way,
		       const struct spread *dy, struct error *err)
{
	const struct generic_memory *own = &program->generic_memory;
	struct launch launch = last_launch("tiles_spread", index);
	const cl_mem memories[] = { own->dy, own->sums };
	const cl_int words[] = { way->to.channels, dy->row, dy->sample,
				 dy->border * (dy->row + way->to.channels),
				 way->across, way->tiles,
				 (cl_int)way->made_apart, 1 };

	launch.items[0] = way->tiles;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)way->to.channels *
			    (dy->height * dy->width + POINTS * way->tiles);
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
				 way->tiles, (cl_int)way->apart,
				 (cl_int)way->made_apart };

	launch.items[0] = parts_of(pass->most * way->tiles, tile.rows);
	launch.items[1] = parts_of(way->to.channels, tile.columns);
	launch.items[2] = POINTS;
	launch.work.dense = step_products(program, index);
	launch.work.done = a_tile * way->tiles;
	launch.work.moved = (double)POINTS * way->tiles *
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
	struct launch launch = last_launch("tiles_store", index);
	const cl_mem memories[] = { program->generic_memory.sums,
				    program->products,
				    back ? g.x.gradient : g.y.memory };
	const cl_int words[] = {
		way->to.channels, way->to.height, way->to.width,
		back ? g.x.sample : g.y.sample, way->across, way->tiles,
		(cl_int)way->made_apart,
		back || !g.node->has_bias ? -1 : (cl_int)g.node->bias,
		back && g.node->adds_dx
	};

	launch.items[0] = way->tiles;
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = (double)POINTS * way->tiles * way->to.channels +
			    (double)shape_size(way->to);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

/* What one way makes of a copy. */
static int add_way(struct opencl_program *program, struct pass *pass, int index,
		   const struct tiled *way, cl_mem copy, int back,
		   struct error *err)
{
	return add_values(program, pass, index, way, copy, err) ||
	       add_pack(program, pass, index, way, back, err) ||
	       add_multiply(program, pass, index, way, err) ||
	       add_store(program, pass, index, way, back, err) ? -1 : 0;
}

static int tiles_forward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = tiled_sides(g.node);
	const struct tiled way = tiled_way(program, &s, pass->most, 0);
	const cl_mem copy = program->generic_memory.x;

	return add_spread(program, pass, index, &s.x, g.x.memory, g.x.sample,
			  copy, err) ||
	       add_way(program, pass, index, &way, copy, 0, err) ? -1 : 0;
}

static int add_sum(struct opencl_program *program, struct pass *pass, int index,
		   const struct sides *s, const struct tiled *way,
		   struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct generic_memory *own = &program->generic_memory;
	struct launch launch = last_launch("conv_sum", index);
	const cl_mem memories[] = { own->points, own->sums, own->parts };
	const cl_int words[] = {
		s->in.channels, (cl_int)way->apart, (cl_int)way->made_apart,
		s->in.channels, 0,
		way->tiles * s->in.channels, s->out.channels, 1, way->tiles, 0,
		way->tiles * s->out.channels, 0, (cl_int)points_of(s),
		part_samples(program, s),
		generic_node(program, index)->broken
	};

	launch.items[0] = parts_of(s->out.channels, tile.run_columns);
	launch.items[1] = POINTS * parts_of(s->in.channels, tile.run_rows);
	launch.items[2] = part_count(program, s);
	launch.work.dense = step_products(program, index);
	launch.work.done = (double)points_of(s) * way->tiles;
	launch.work.moved = (double)POINTS * way->tiles *
			    (s->in.channels + s->out.channels);
	launch.work.moved_once = (double)points_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_unpack(struct opencl_program *program, struct pass *pass,
		      int index, const struct sides *s, struct error *err)
{
	const int width = product_tile(program).wide;
	struct launch launch = last_launch("tiles_unpack", index);
	const cl_mem memories[] = { program->generic_memory.parts,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = {
		s->in.channels, s->out.channels,
		(cl_int)generic_node(program, index)->weight,
		(cl_int)points_of(s),
		part_samples(program, s)
	};

	launch.items[0] = s->out.channels / width;
	launch.items[1] = s->in.channels / width;
	launch.work.moved_once = (1. + part_count(program, s)) *
				 (double)points_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int tiles_backward(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct generic_memory *own = &program->generic_memory;
	const struct sides s = tiled_sides(node);
	const struct tiled way = tiled_way(program, &s, pass->most, 0);
	const struct tiled back = tiled_way(program, &s, pass->most, 1);

	if (add_spreads(program, pass, index, &s, err) ||
	    add_values(program, pass, index, &way, own->x, err) ||
	    add_outputs(program, pass, index, &way, &s.dy, err) ||
	    add_sum(program, pass, index, &s, &way, err) ||
	    add_unpack(program, pass, index, &s, err) ||
	    add_bias(program, pass, index, err))
		return -1;
	return node->wants_dx ? add_way(program, pass, index, &back, own->dy, 1,
					err) : 0;
}

const struct opencl_solver winograd_last = {
	.base = { .name = "padded conv by tiles", .takes = tiles_take },
	.allocate = generic_allocate,
	.forward = tiles_forward,
	.backward = tiles_backward,
};
