/* Steps that start with a linear layer: linear.cl, linear_forward.cl. */
#include "backends/opencl/solvers/cpu_class/cpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"

/* Inputs that one item sums over, about. */
#define CHUNK 1152

/* Weights that stay in the first cache: of the inputs that are processed at
 * once, and of the vectors of outputs. */
#define MOST_PANEL_INPUTS 160
#define MOST_PANEL_OUTPUTS 4

/* Samples of an item: many, as it first transposes weights that others do, too,
 * except where these are few and it finishes its samples. */
#define MOST_ITEM_SAMPLES 128
#define FINISHED_SAMPLES 12

/* Samples whose sums stay in registers, and so should the places of their
 * inputs. */
#define MOST_TILE_SAMPLES 12

/* Vectors of inputs whose sums, of several lists, stay in registers on the way
 * back with every multiplication. Else registers hold one output's sums and its
 * weights, and a third is left. */
#define DENSE_BLOCK 3

/* Entries before a list's first one, and samples that have one at least. */
#define LIST 16
#define FEWEST_LISTS 64

static int inputs_of(const struct opencl_program *program, int index)
{
	return (int)shape_size(step_at(program, index)->in);
}

/* Inputs of a plane that a convolution may drop as a whole; 0: none is. */
static int plane_inputs(const struct opencl_program *program, int index)
{
	const int source = step_source(program, index);
	const struct shape in = step_at(program, index)->in;
	const int plane = in.height * in.width;

	return source != STEP_IMAGES && !program_is_dense(program) &&
	       chain_at(program, source).window &&
	       step_dropping(program, source) == DROP_PLANES &&
			       plane % program_device(program)->width == 0 ?
		       plane : 0;
}

/* What is kept of these planes; NULL: all, or they do not count. */
static cl_mem planes_keep(const struct opencl_program *program,
			  const struct pass *pass, int index)
{
	return plane_inputs(program, index) ?
		       pass->steps[step_source(program, index)].keep : NULL;
}

/* The share of the inputs whose planes are not dropped, on average. */
static double planes_kept(const struct opencl_program *program, int index)
{
	const struct model *model = program->base.model;
	const int source = step_source(program, index);

	return plane_inputs(program, index) ?
		       1 - model->layers[chain_at(program, source).dropout]
				       .drop : 1;
}

/* Inputs that are multiplied at once, of one plane if those count. */
static int panel_inputs(const struct opencl_program *program, int index)
{
	const int width = program_device(program)->width;
	const int plane = plane_inputs(program, index);
	const int inputs = plane ? plane : inputs_of(program, index);

	return width * largest_divisor(vector_count(program, inputs),
				       MOST_PANEL_INPUTS / width);
}

static int output_vectors(const struct opencl_program *program, int index)
{
	return vector_count(program, step_at(program, index)->out.channels);
}

/* Vectors of outputs of a panel. */
static int panel_outputs(const struct opencl_program *program, int index)
{
	return largest_divisor(output_vectors(program, index),
			       MOST_PANEL_OUTPUTS);
}

static int panel_count(const struct opencl_program *program, int index)
{
	return output_vectors(program, index) / panel_outputs(program, index);
}

/* Parts of the inputs that are summed by themselves, as equal as can be: whole
 * panels. */
static int chunk_size(const struct opencl_program *program, int index)
{
	const int inputs = inputs_of(program, index);
	const int chunks = parts_of(inputs, CHUNK);

	return round_up(parts_of(inputs, chunks),
			panel_inputs(program, index));
}

static int chunk_count(const struct opencl_program *program, int index)
{
	const int size = chunk_size(program, index);

	return parts_of(inputs_of(program, index), size);
}

/* Whether an item has all that its samples are finished from. */
static int is_finished(const struct opencl_program *program, int index)
{
	return chunk_count(program, index) * panel_count(program, index) == 1;
}

/* A full batch leaves no unit of the device without an item. */
static int item_samples(const struct opencl_program *program, int index)
{
	const int units = program_device(program)->chosen.info.units;
	const int items = chunk_count(program, index) *
			  panel_count(program, index);
	int samples = MOST_ITEM_SAMPLES;

	if (is_finished(program, index))
		return FINISHED_SAMPLES;
	while (samples > FINISHED_SAMPLES &&
	       items * (batch_most(program) / samples) < units)
		samples /= 2;
	return samples;
}

static int tile_samples(const struct opencl_program *program, int index)
{
	const int most = program_device(program)->registers /
			 panel_outputs(program, index);

	return most < MOST_TILE_SAMPLES ? most : MOST_TILE_SAMPLES;
}

/* Vectors of inputs that are summed at once, of one plane if those count. */
static int block_vectors(const struct opencl_program *program, int index)
{
	const int plane = plane_inputs(program, index);
	const int inputs = plane ? plane : inputs_of(program, index);
	const int most = program_is_dense(program) ?
				 DENSE_BLOCK :
				 program_device(program)->registers / 3;

	return largest_divisor(vector_count(program, inputs), most);
}

/* Lists that are multiplied at once: LISTS of linear_dense.cl. */
static int list_tile(const struct opencl_program *program, int index)
{
	return program_device(program)->registers /
	       block_vectors(program, index);
}

/* Returns the entries of an output's list: one of few numbers, so that batch
 * sizes share kernels. */
static int samples_most(const struct opencl_program *program)
{
	int most = FEWEST_LISTS;

	while (most < batch_most(program))
		most *= 2;
	return most;
}

/* Lists of samples, SAMPLE_LISTS of linear.cl. */
static int sample_lists(const struct opencl_program *program)
{
	return program_is_dense(program) ? samples_most(program) : 0;
}

static int list_count(const struct opencl_program *program, int index)
{
	return sample_lists(program) + step_at(program, index)->out.channels;
}

/* Entries of a sample's list, and of an output's. */
static int sample_list(const struct opencl_program *program, int index)
{
	return LIST + layout_output(program, index).sample;
}

static int output_list(const struct opencl_program *program)
{
	return LIST + samples_most(program);
}

/* Of all lists; a last tile goes over some that are beyond. */
static size_t list_entries(const struct opencl_program *program, int index)
{
	const size_t samples = (size_t)sample_lists(program);
	const size_t outs = (size_t)step_at(program, index)->out.channels;
	const size_t by_sample = (size_t)sample_list(program, index);
	const size_t by_output = (size_t)output_list(program);
	const size_t beyond = (size_t)list_tile(program, index) - 1;

	return samples * by_sample + outs * by_output +
	       beyond * (by_sample > by_output ? by_sample : by_output);
}

/* With every multiplication, no layer needs kernels for what is not listed. */
static int is_listed(const struct opencl_program *program, int index)
{
	return program_is_dense(program) ||
	       chain_at(program, index).relu != STEP_NO_LAYER ||
	       step_dropping(program, index) != DROP_NOTHING;
}

static int linear_build(struct opencl_program *program, int index,
			struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const int sample = layout_output(program, index).sample;
	const int source_keep =
		plane_inputs(program, index) ?
			step_keep_sample(program,
					 step_source(program, index)) : 0;
	const struct define all[] = {
		{ "INPUTS", inputs_of(program, index) },
		{ "IN_SAMPLE", layout_input(program, index).sample },
		{ "OUTPUTS", chain.out.channels },
		{ "OUT_SAMPLE", sample },
		{ "RELU", chain.relu != STEP_NO_LAYER },
		{ "DROPOUT", step_dropping(program, index) },
		{ "KEEP_SAMPLE", step_keep_sample(program, index) },
		{ "GROWTH_BITS", step_growth_bits(program, index) },
		{ "WEIGHT", chain.weight },
		{ "BIAS", chain.bias },
		{ "CHUNK", chunk_size(program, index) },
		{ "CHUNKS", chunk_count(program, index) },
		{ "PANEL_INPUTS", panel_inputs(program, index) },
		{ "PANEL_OUTPUTS", panel_outputs(program, index) },
		{ "ITEM_SAMPLES", item_samples(program, index) },
		{ "TILE_SAMPLES", tile_samples(program, index) },
		{ "BLOCK", block_vectors(program, index) },
		{ "IN_PLANE", plane_inputs(program, index) },
		{ "IN_KEEP_SAMPLE", source_keep },
		{ "SAMPLE_LISTS", sample_lists(program) },
		{ "LIST", LIST },
		{ "SAMPLE_LIST", sample_list(program, index) },
		{ "OUTPUT_LIST", output_list(program) },
		{ "BROKEN", chain.broken },
		{ "LOSS", step_has_loss(program, index) },
		{ "CLASSES", chain.out.channels },
		{ "LOGITS_SAMPLE", sample },
		{ "DENSE", program_is_dense(program) },
		{ "LISTS", list_tile(program, index) },
	};
	struct defines defines = { .count = 0 };

	defines_add(&defines, all, COUNT(all));
	return source_build(program_device(program), SOURCE_LINEAR, &defines,
			    &program->built[index], err);
}

static int linear_allocate(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const int dropped = step_dropping(program, index) != DROP_NOTHING;
	const size_t out = (size_t)pass->most * sizeof(float) *
			   (size_t)layout_output(program, index).sample;
	const int listed = pass->training && is_listed(program, index);
	const size_t lists = list_entries(program, index);
	const struct request requests[] = {
		{ &memory->y, 1, out },
		{ &memory->output, dropped, out },
		{ &memory->gradient, pass->training, out },
		{ &memory->sums, 1, out * (size_t)chunk_count(program, index) },
		{ &memory->places, listed, lists * sizeof(cl_int) },
		{ &memory->values, listed, lists * sizeof(cl_float) },
	};

	if (memory_make_all(&program->queue, requests, COUNT(requests), err))
		return -1;
	if (!dropped)
		memory->output = memory->y;
	return dropout_allocate(program, pass, index, err);
}

static int linear_forward(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct step_memory *memory = &pass->steps[index];
	const double products = step_products(program, index);
	const double inputs = step_inputs(program, index);
	const double outs = step_outputs(program, index);
	const int chunks = chunk_count(program, index);
	const struct launch forward = {
		.name = "linear_forward",
		.items = { panel_count(program, index), 0, chunks },
		.samples = item_samples(program, index),
		.batch_arguments = 2,
		.work = { index, products,
			  products * planes_kept(program, index),
			  inputs + chunks * outs,
			  step_parameters(program, index), 0 },
	};
	const struct launch finish = { .name = "linear_finish",
				       .items = { 0, 1, 1 },
				       .samples = 1,
				       .batch_arguments = 2,
				       .work = { .step = index,
						 .moved = (chunks + 1) *
							  outs } };
	/* finish has no input, and nothing of the step before. */
	const cl_mem memories[] = { step_input(program, pass, index),
				    memory->sums,
				    program->vectors[VECTOR_PARAMETERS],
				    memory->keep,
				    memory->y,
				    memory->output,
				    pass->labels,
				    pass->outcomes,
				    memory->gradient,
				    planes_keep(program, pass, index) };
	const cl_program built = program->built[index];

	if (pass_add(pass, &forward, built, memories, 10, err))
		return -1;
	return is_finished(program, index) ?
		       0 : pass_add(pass, &finish, built, memories + 1, 8, err);
}

/* Appends the weight and the input gradient, after linear_lists. */
static int linear_gradients(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct step_memory *memory = &pass->steps[index];
	const cl_mem gradient = program->vectors[VECTOR_GRADIENT];
	const cl_mem parameters = program->vectors[VECTOR_PARAMETERS];
	const cl_mem x = step_input(program, pass, index);
	const cl_mem dx = step_dx(program, pass, index);
	const int dense = program_is_dense(program);
	const double products =
		(dx ? 2 : 1) * step_products(program, index);
	const int blocks = vector_count(program, inputs_of(program, index)) /
			   block_vectors(program, index);
	const struct launch backward = {
		.name = dense ? "linear_dense" : "linear_backward",
		.items = { blocks, 1, 1 },
		.batch_arguments = 1,
		.work = { index, products, products,
			  2 * step_inputs(program, index) +
				  2 * step_outputs(program, index),
			  2 * step_parameters(program, index), !dense },
	};
	const cl_mem all[] = { x, parameters, memory->values, gradient, dx };
	const cl_mem few[] = { x, parameters, memory->gradient, memory->places,
			       memory->values,
			       planes_keep(program, pass, index),
			       gradient, dx };

	return pass_add(pass, &backward, program->built[index],
			dense ? all : few, dense ? 5 : 8, err);
}

static int linear_backward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct step_memory *memory = &pass->steps[index];
	const struct launch lists = {
		.name = "linear_lists",
		.items = { list_count(program, index), 1, 1 },
		.batch_arguments = 1,
		.work = { .step = index,
			  .moved = 6 * step_outputs(program, index) },
	};
	const cl_mem listed[] = { memory->output, memory->keep,
				  memory->gradient, memory->places,
				  memory->values,
				  program->vectors[VECTOR_GRADIENT] };

	if (is_listed(program, index) &&
	    pass_add(pass, &lists, program->built[index], listed, 6, err))
		return -1;
	return linear_gradients(program, pass, index, err);
}

static int linear_takes(const struct graph *graph, int first,
			const struct program_options *options, const char **why)
{
	(void)options;
	return chain_of_linear(graph, first, why);
}

const struct opencl_solver linear_solver = {
	.base = { .name = "linear", .takes = linear_takes },
	.makes_loss = 1,
	.build = linear_build,
	.allocate = linear_allocate,
	.forward = linear_forward,
	.backward = linear_backward,
};
