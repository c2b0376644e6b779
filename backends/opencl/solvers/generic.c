#include "backends/opencl/solvers/generic.h"

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/source.h"
#include "backends/opencl/program/steps.h"

/* Floats that the parts of a weight gradient may take: fixed, so that devices
 * of the same tiles sum in the same order. */
#define MOST_PARTS_FLOATS (4 << 20)

const struct node *generic_node(const struct opencl_program *program,
				int index)
{
	return &program->graph.nodes[step_at(program, index)->first];
}

struct generic generic_at(const struct opencl_program *program,
			  const struct pass *pass, int index)
{
	const struct node *node = generic_node(program, index);

	return (struct generic){
		.node = node,
		.x = value_of(program, pass, node->source),
		.y = value_of(program, pass, step_at(program, index)->first),
	};
}

/* Sums of a cpu class's item fill the registers. */
struct product_tile product_tile(const struct opencl_program *program)
{
	const struct opencl_device *device = program_device(program);
	const int items = device->class->tiling.items;
	const int across = device->registers < 24 ? 2 : 4;
	struct product_tile tile = { .wide = 1, .abreast = 16, .across = 8,
				     .tall = 8, .deep = 16 };

	if (items > 1) {
		tile.rows = tile.tall * (items / tile.abreast);
		tile.columns = tile.across * tile.abreast;
		return tile;
	}
	tile = (struct product_tile){ .wide = device->width,
				      .across = across,
				      .tall = device->registers / across,
				      .blocks = 8,
				      .deep = 64,
				      .run_blocks = 32,
				      .run_tiles = 2 };
	tile.rows = tile.blocks * tile.tall;
	tile.columns = tile.wide * tile.across;
	tile.run_rows = tile.run_blocks * tile.tall;
	tile.run_columns = tile.run_tiles * tile.columns;
	return tile;
}

struct sides sides_of(const struct node *node)
{
	const struct layer *layer = node->layer;
	struct sides s = { .in = { (int)shape_size(node->in), 1, 1 },
				.out = node->out, .window = 1, .stride = 1 };

	if (layer->kind == LAYER_CONV) {
		s.in = node->in;
		s.window = layer->window;
		s.stride = layer_stride_within(layer, node->in);
		s.pad = layer->pad;
	}
	s.inputs = s.in.channels * s.window * s.window;
	return s;
}

int split_groups(const struct opencl_program *program, int groups)
{
	return parts_of(program_device(program)->class->tiling.groups, groups);
}

struct split split_batch(const struct opencl_program *program, int groups,
			 size_t floats)
{
	const size_t room = MOST_PARTS_FLOATS / floats;
	int parts = split_groups(program, groups);
	struct split split;

	if ((size_t)parts > room)
		parts = room ? (int)room : 1;
	split.samples = parts_of(batch_most(program), parts);
	split.parts = parts_of(batch_most(program), split.samples);
	return split;
}

void generic_define(const struct opencl_program *program,
		    struct defines *defines)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const struct product_tile tile = product_tile(program);
	const struct define tiles[] = {
		{ "ITEMS", tiling->items },
		{ "SPAN", tiling->updated },
		{ "WIDE", tile.wide },
		{ "ABREAST", tile.abreast },
		{ "ACROSS", tile.across },
		{ "TALL", tile.tall },
		{ "BLOCKS", tile.blocks },
		{ "RUN_BLOCKS", tile.run_blocks },
		{ "RUN_TILES", tile.run_tiles },
		{ "DEEP", tile.deep },
	};

	defines_add(defines, tiles, COUNT(tiles));
}

int generic_build(struct opencl_program *program, int index,
		  struct error *err)
{
	const struct opencl_device *device = program_device(program);
	struct defines defines = { .count = 0 };

	(void)index;
	if (program->generic)
		return 0;
	generic_define(program, &defines);
	return source_build(device, device->class->tiling.items > 1 ?
					    SOURCE_GPU_GENERIC :
					    SOURCE_GENERIC,
			    &defines, &program->generic, err);
}

static int is_learnt(const struct node *node)
{
	return layer_has_parameters(node->layer) || node->needs_dx ||
	       node->needs_other_dx;
}

int generic_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const struct node *node = generic_node(program, index);
	const size_t bytes = (size_t)pass->most * sizeof(cl_float) *
			     (size_t)layout_output(program, index).sample;
	const enum layer_kind kind = node->layer->kind;
	const struct request requests[] = {
		{ &memory->output, 1, bytes },
		{ &memory->gradient, pass->training && is_learnt(node), bytes },
		{ &memory->codes,
		  kind == LAYER_MAXPOOL ||
			  (pass->training && layer_drops(node->layer)),
		  (size_t)pass->most * node->decisions },
		{ &memory->sums, kind == LAYER_BATCHNORM,
		  (size_t)node->in.channels * NORM_FLOATS * sizeof(cl_float) },
	};

	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}
