/* Linear layers of the gpu class: gpu_linear.cl. */
#include "backends/opencl/solvers/gpu_class/gpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"

/* Of more weights the products of any layer, gpu_generic_conv.cl, are faster:
 * an H200 trains AlexNet's layer of 9216 x 4096 with 32 samples in 1.3 instead
 * of 2.3 ms. Nothing between that and mnist's was measured. */
#define MOST_WEIGHTS (4 << 20)

/* Outputs of a sample that a work-group has in local memory. */
#define MOST_HEAD_OUTPUTS 2048
#define MOST_TAIL_OUTPUTS 512

static int is_linear(const struct opencl_program *program, int index)
{
	return index >= 0 && solver_of(program, index) == &gpu_linear_solver;
}

/* Returns 1 if step index also computes the next step and the loss, both
 * ways. */
static int has_tail(const struct opencl_program *program, int index)
{
	const struct step *tail = step_at(program, index + 1);

	return is_linear(program, index) &&
	       step_reader(program, index) == index + 1 &&
	       step_has_loss(program, index + 1) && tail->length == 1 &&
	       step_at(program, index)->out.channels <= MOST_HEAD_OUTPUTS &&
	       tail->out.channels <= MOST_TAIL_OUTPUTS;
}

/* Whether the step before does this one as well. */
static int is_tail(const struct opencl_program *program, int index)
{
	return index && has_tail(program, index - 1);
}

static int inputs_of(const struct opencl_program *program, int index)
{
	return (int)shape_size(step_at(program, index)->in);
}

static int chunk_size(const struct opencl_program *program, int index)
{
	const int inputs = inputs_of(program, index);
	const int chunks = parts_of(inputs, gpu_tiling(program)->chunk);

	return round_up(parts_of(inputs, chunks),
			gpu_tiling(program)->linear_deep);
}

static int chunk_count(const struct opencl_program *program, int index)
{
	return parts_of(inputs_of(program, index), chunk_size(program, index));
}

/* Rows of a tile are samples one time and outputs the other. */
static int tile_rows(const struct opencl_program *program, int index)
{
	const int outputs = step_at(program, index)->out.channels;
	const int samples = batch_most(program);

	return gpu_rows(program, gpu_tiling(program)->columns,
			samples > outputs ? samples : outputs);
}

static int linear_build_step(struct opencl_program *program, int index,
			     struct error *err)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct step *step = step_at(program, index);
	const int is_head = has_tail(program, index);
	const struct chain tail = chain_at(program, index + is_head);
	const struct define all[] = {
		{ "INPUTS", inputs_of(program, index) },
		{ "OUTPUTS", step->out.channels },
		{ "CHUNK", chunk_size(program, index) },
		{ "CHUNKS", chunk_count(program, index) },
		{ "ROWS", tile_rows(program, index) },
		{ "COLUMNS", tiling->columns },
		{ "DEEP", tiling->linear_deep },
		{ "MOST_ACROSS", 16 },
		{ "HEAD", is_head },
		{ "LOSS", step_has_loss(program, index) },
		{ "HEAD_SPLIT", tiling->head_split },
		{ "TAIL_OUTPUTS", tail.out.channels },
		{ "TAIL_WEIGHT", tail.weight },
		{ "TAIL_BIAS", tail.bias },
		{ "TAIL_BROKEN", tail.broken },
		{ "CLASSES", tail.out.channels },
		{ "LOGITS_SAMPLE", tail.out.channels },
	};
	struct defines defines = { .count = 0 };

	if (is_tail(program, index))
		return 0;
	defines_add(&defines, all, COUNT(all));
	return gpu_build(program, SOURCE_GPU_LINEAR, index, &defines, err);
}

static int linear_allocate_step(struct opencl_program *program,
				struct pass *pass, int index,
				struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const size_t out = (size_t)pass->most * gpu_outputs(program, index);
	const struct request requests[] = {
		{ &memory->output, 1, out * sizeof(cl_float) },
		{ &memory->routes, pass->training && !is_tail(program, index),
		  out * sizeof(cl_ushort) },
		{ &memory->gradient, pass->training, out * sizeof(cl_float) },
		{ &memory->sums, !is_tail(program, index),
		  out * (size_t)chunk_count(program, index) *
			  sizeof(cl_float) },
	};

	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}

static int add_sums(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct step *step = step_at(program, index);
	const int chunks = chunk_count(program, index);
	struct launch forward = gpu_launch(program, "linear_forward", index,
					parts_of(step->out.channels,
						 tiling->columns));
	const cl_mem memories[] = { step_input(program, pass, index),
				    program->vectors[VECTOR_PARAMETERS],
				    pass->steps[index].sums };

	forward.items[1] = parts_of(pass->most, tile_rows(program, index));
	forward.items[2] = chunks;
	forward.work.dense = forward.work.done = step_products(program, index);
	forward.work.moved = step_inputs(program, index) +
			     chunks * step_outputs(program, index);
	forward.work.moved_once = step_parameters(program, index);
	return pass_add(pass, &forward, program->built[index], memories, 3,
			err);
}

static int linear_forward_step(struct opencl_program *program,
			       struct pass *pass, int index, struct error *err)
{
	const int is_head = has_tail(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const struct step_memory *last = memory + is_head;
	const double tail = is_head ? step_products(program, index + 1) : 0;
	struct launch finish = gpu_launch(program, "linear_finish", index, 0);
	const cl_mem memories[] = {
		memory->sums, program->vectors[VECTOR_PARAMETERS],
		memory->output, memory->routes, memory->gradient, last->output,
		last->gradient, pass->labels, pass->outcomes
	};

	if (is_tail(program, index))
		return 0;
	finish.samples = 1;
	finish.batch_arguments = 5;
	finish.work.dense = finish.work.done =
		(pass->training ? 2 : 1) * tail;
	finish.work.beside = is_head;
	finish.work.moved = (chunk_count(program, index) + 2) *
			    step_outputs(program, index);
	if (add_sums(program, pass, index, err))
		return -1;
	return gpu_add_seeded(program, pass, &finish, memories, 9, err);
}

/* Of all that goes back: as linear_backward counts them. */
static int backward_tiles(const struct opencl_program *program, int index)
{
	const int columns = gpu_tiling(program)->columns;
	const int rows = tile_rows(program, index);
	const int outputs = step_at(program, index)->out.channels;
	const int across = parts_of(inputs_of(program, index), columns);
	int tiles = across * parts_of(outputs, rows);

	if (has_tail(program, index))
		tiles += parts_of(outputs, columns) *
			 parts_of(step_at(program, index + 1)->out.channels,
				  rows);
	if (step_needs_dx(program, index))
		tiles += across * parts_of(batch_most(program), rows);
	return tiles;
}

static int linear_backward_step(struct opencl_program *program,
				struct pass *pass, int index, struct error *err)
{
	const int is_head = has_tail(program, index);
	const struct step_memory *memory = &pass->steps[index];
	struct launch backward = gpu_launch(program, "linear_backward", index,
					    backward_tiles(program, index));
	const cl_mem memories[] = { step_input(program, pass, index),
				    program->vectors[VECTOR_PARAMETERS],
				    memory->routes,
				    memory->gradient,
				    program->vectors[VECTOR_GRADIENT],
				    step_dx(program, pass, index),
				    memory->output,
				    memory[is_head].gradient };

	if (is_tail(program, index))
		return 0;
	backward.work.dense = (1 + step_needs_dx(program, index)) *
				      step_products(program, index) +
			      (is_head ? step_products(program, index + 1) : 0);
	backward.work.done = backward.work.dense;
	backward.work.beside = is_head;
	backward.work.moved = 2 * step_inputs(program, index) +
			      2 * step_outputs(program, index);
	backward.work.moved_once = 2 * step_parameters(program, index);
	return pass_add(pass, &backward, program->built[index], memories, 8,
			err);
}

static int linear_takes(const struct graph *graph, int first,
			const struct program_options *options, const char **why)
{
	const struct node *node = &graph->nodes[first];
	const int length = chain_of_linear(graph, first, why);

	(void)options;
	if (length &&
	    shape_size(node->in) * shape_size(node->out) > MOST_WEIGHTS)
		return plan_decline(why, "too many weights");
	return length;
}

const struct opencl_solver gpu_linear_solver = {
	.base = { .name = "linear", .takes = linear_takes },
	.makes_loss = 1,
	.build = linear_build_step,
	.allocate = linear_allocate_step,
	.forward = linear_forward_step,
	.backward = linear_backward_step,
};
