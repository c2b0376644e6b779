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

struct value value_of(const struct opencl_program *program,
		      const struct pass *pass, int row)
{
	const struct model *model = program->base.model;
	int index;

	if (row == MODEL_IMAGES)
		return (struct value){ pass->images, NULL,
				       (int)shape_size(model->input) };
	index = step_of(program, row);
	return (struct value){ pass->steps[index].output,
			       pass->steps[index].gradient,
			       layout_output(program, index).sample };
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

static void room_for(struct request *request, size_t floats)
{
	const size_t bytes = floats * sizeof(cl_float);

	request->bytes = bytes > request->bytes ? bytes : request->bytes;
	request->wanted = request->bytes > 0;
}

/* What a step needs at once for a pass of so many samples. */
static void room_at(struct opencl_program *program, int index, int samples,
		    struct request *requests)
{
	const struct generic_room room =
		solver_of(program, index)->room(program, index, samples);

	room_for(&requests[0], room.parts);
	room_for(&requests[1], room.packed);
	room_for(&requests[2], room.x);
	room_for(&requests[3], room.dy);
	room_for(&requests[4], room.points);
	room_for(&requests[5], room.sums);
}

int generic_share(struct opencl_program *program, int batch, int test,
		  struct error *err)
{
	struct generic_memory *memory = &program->generic_memory;
	struct request requests[] = { { &memory->parts, 0, 0 },
				      { &memory->packed, 0, 0 },
				      { &memory->x, 0, 0 },
				      { &memory->dy, 0, 0 },
				      { &memory->points, 0, 0 },
				      { &memory->sums, 0, 0 } };

	for (int i = 0; i < program->plan.count; i++) {
		if (!solver_of(program, i)->room)
			continue;
		room_at(program, i, batch, requests);
		room_at(program, i, test, requests);
	}
	return memory_make_all(program, requests, COUNT(requests), err);
}

static int is_learnt(const struct node *node)
{
	return layer_has_parameters(node->layer) || node->wants_dx ||
	       node->wants_other_dx;
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

	return memory_make_all(program, requests, COUNT(requests), err);
}

struct launch generic_launch(const struct opencl_program *program,
			     const char *name, int index, size_t size)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const int span = tiling->updated;

	return (struct launch){
		.name = name,
		.items = { parts_of((int)size, span), 0, 1 },
		.group_items = tiling->items,
		.samples = 1,
		.batch_arguments = 1,
		.work = { .step = index, .moved = 2 * (double)size },
	};
}

int generic_append(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int memory_count, const cl_int *words, int word_count,
		   struct error *err)
{
	return pass_add_words(pass, launch, program->generic, memories,
			      memory_count, (const cl_uint *)words, word_count,
			      err);
}
