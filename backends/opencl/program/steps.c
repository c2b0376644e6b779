#include "backends/opencl/program/steps.h"

#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"

const struct opencl_device *
program_device(const struct opencl_program *program)
{
	return (const struct opencl_device *)program->base.device;
}

const struct device_class *program_class(const struct opencl_program *program)
{
	return program_device(program)->class;
}

const struct step *step_at(const struct opencl_program *program, int index)
{
	return &program->plan.steps[index];
}

int batch_most(const struct opencl_program *program)
{
	const int batch = program->base.options.batch;

	return batch > 0 ? batch : 1;
}

static int vector_width(const struct opencl_program *program)
{
	return program_device(program)->width;
}

int vector_count(const struct opencl_program *program, int floats)
{
	return parts_of(floats, vector_width(program));
}

struct layout layout_channels_last(const struct opencl_program *program,
				   struct shape shape)
{
	int padded = round_up(shape.channels, vector_width(program));

	return (struct layout){ .sample = shape.height * shape.width * padded,
				.channel = 1,
				.row = shape.width * padded,
				.column = padded };
}

static struct layout layout_planar(struct shape shape, int sample)
{
	return (struct layout){ .sample = sample,
				.channel = shape.height * shape.width,
				.row = shape.width,
				.column = 1 };
}

/*
 * In the cpu class samples are whole vectors apart, and not a multiple of
 * 4 KiB: those would all compete for the same few lines of a cache.
 */
static int planar_sample(const struct opencl_program *program,
			 struct shape shape)
{
	const int size = (int)shape_size(shape);
	const int width = vector_width(program);
	const int sample = round_up(size, width);

	if (program_class(program)->tiling.items > 1)
		return size;
	return sample % 1024 ? sample : sample + width;
}

const struct opencl_solver *solver_of(const struct opencl_program *program,
				      int index)
{
	return (const struct opencl_solver *)step_at(program, index)->solver;
}

int step_of(const struct opencl_program *program, int row)
{
	int index = 0;

	while (row >= program->plan.steps[index].first +
			      program->plan.steps[index].length)
		index++;
	return index;
}

static const struct node *first_node(const struct opencl_program *program,
				     int index)
{
	return &program->graph.nodes[step_at(program, index)->first];
}

int step_source(const struct opencl_program *program, int index)
{
	const int row = first_node(program, index)->source;

	return row == MODEL_IMAGES ? STEP_IMAGES : step_of(program, row);
}

int step_reader(const struct opencl_program *program, int index)
{
	const struct step *step = step_at(program, index);
	const int row = chain_reader(&program->graph,
				     step->first + step->length - 1);

	return row == STEP_NO_LAYER ? STEP_NONE : step_of(program, row);
}

int step_leads(const struct opencl_program *program, int index)
{
	const struct opencl_solver *solver = solver_of(program, index);

	return solver->leads && solver->leads(program, index);
}

int step_is_led(const struct opencl_program *program, int index)
{
	const int reader = step_reader(program, index);

	return reader != STEP_NONE && step_leads(program, reader);
}

int step_has_loss(const struct opencl_program *program, int index)
{
	return index != STEP_IMAGES && solver_of(program, index)->makes_loss &&
	       model_has_classes(program->base.model) &&
	       step_reader(program, index) == program->plan.count - 1;
}

int step_needs_dx(const struct opencl_program *program, int index)
{
	return first_node(program, index)->needs_dx;
}

/*
 * An output is planar, which all steps can read, unless its only reader needs
 * channels last. That reader's solver has checked that this step can write
 * them.
 */
struct layout layout_output(const struct opencl_program *program, int index)
{
	const struct shape shape = program->plan.steps[index].out;
	const int reader = step_reader(program, index);

	if (reader != STEP_NONE && solver_of(program, reader)->channels_last)
		return layout_channels_last(program, shape);
	return layout_planar(shape, planar_sample(program, shape));
}

struct layout layout_input(const struct opencl_program *program, int index)
{
	const struct shape shape = program->base.model->input;
	const int source = step_source(program, index);

	if (source != STEP_IMAGES)
		return layout_output(program, source);
	return layout_planar(shape, (int)shape_size(shape));
}

enum dropping step_dropping(const struct opencl_program *program, int index)
{
	const int layer = chain_at(program, index).dropout;

	if (layer == STEP_NO_LAYER || !program->base.options.dropout)
		return DROP_NOTHING;
	return program->base.model->layers[layer].kind == LAYER_DROPOUT2D ?
		       DROP_PLANES : DROP_ELEMENTS;
}

unsigned step_growth_bits(const struct opencl_program *program, int index)
{
	const int layer = chain_at(program, index).dropout;
	float growth = 1;
	uint32_t bits;

	if (step_dropping(program, index) != DROP_NOTHING)
		growth = (float)(1 /
				 (1 - program->base.model->layers[layer].drop));
	memcpy(&bits, &growth, sizeof(bits));
	return bits;
}

int step_keep_sample(const struct opencl_program *program, int index)
{
	const struct shape shape = program->plan.steps[index].out;

	switch (step_dropping(program, index)) {
	case DROP_PLANES:
		return round_up(shape.channels, 4 * vector_width(program));
	case DROP_ELEMENTS:
		return round_up((int)shape_size(shape),
				4 * vector_width(program));
	default:
		return 0;
	}
}

double step_products(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);
	const double outs = (double)shape_size(chain.main_out);

	return outs * (chain.window ? chain.window * chain.window *
					      chain.in.channels :
				      (double)shape_size(chain.in));
}

double step_parameters(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);

	return step_products(program, index) /
		       (chain.main_out.height * chain.main_out.width) +
	       chain.main_out.channels;
}

double step_inputs(const struct opencl_program *program, int index)
{
	return (double)shape_size(step_at(program, index)->in);
}

double step_outputs(const struct opencl_program *program, int index)
{
	return (double)shape_size(step_at(program, index)->out);
}

cl_mem step_input(const struct opencl_program *program,
		  const struct pass *pass, int index)
{
	const int source = step_source(program, index);

	return source == STEP_IMAGES ? pass->images :
				       pass->steps[source].output;
}

cl_mem step_dx(const struct opencl_program *program, const struct pass *pass,
	       int index)
{
	return step_needs_dx(program, index) ?
		       pass->steps[step_source(program, index)].gradient : NULL;
}

int chain_reader(const struct graph *graph, int row)
{
	int reader = row + 1;

	if (graph->nodes[row].readers != 1)
		return STEP_NO_LAYER;
	while (graph->nodes[reader].source != row &&
	       graph->nodes[reader].other != row)
		reader++;
	return reader;
}

/* Windows that do not overlap, of more than one element each. */
static int has_plain_windows(const struct layer *pool)
{
	return !pool->pad && layer_stride(pool) == pool->window &&
	       pool->window > 1;
}

int chain_of_conv(const struct graph *graph, int first, const char **why)
{
	static const enum layer_kind kinds[] = { LAYER_CONV, LAYER_RELU,
						 LAYER_MAXPOOL,
						 LAYER_DROPOUT };
	const struct node *conv = &graph->nodes[first];
	const int most = plan_chain(graph, first, kinds,
				    COUNT(kinds));

	if (!most)
		return 0;
	if (layer_stride(conv->layer) != 1 || conv->layer->pad)
		return plan_decline(why, "it has a stride or padding");
	if (conv->layer->no_bias)
		return plan_decline(why, "it has no bias");
	if (conv->adds_dx)
		return plan_decline(why, "its input has other readers");
	for (int i = 1; i < most; i++) {
		const struct layer *layer = graph->nodes[first + i].layer;

		if (layer->kind == LAYER_MAXPOOL && !has_plain_windows(layer))
			return i;
	}
	return most;
}

int chain_of_linear(const struct graph *graph, int first, const char **why)
{
	static const enum layer_kind kinds[] = { LAYER_LINEAR, LAYER_RELU,
						 LAYER_DROPOUT };

	const int length = plan_chain(graph, first, kinds, COUNT(kinds));

	if (length && graph->nodes[first].adds_dx)
		return plan_decline(why, "its input has other readers");
	return length;
}

static void add_row(struct chain *chain, const struct graph *graph, int row)
{
	const struct node *node = &graph->nodes[row];

	switch (node->layer->kind) {
	case LAYER_CONV:
	case LAYER_LINEAR:
		chain->main = row;
		chain->window = node->layer->window;
		chain->main_out = node->out;
		chain->weight = node->weight;
		chain->bias = node->bias;
		chain->broken = node->broken;
		break;
	case LAYER_RELU:
		chain->relu = row;
		break;
	case LAYER_MAXPOOL:
		chain->pool = row;
		chain->pool_window = node->layer->window;
		break;
	case LAYER_DROPOUT:
	case LAYER_DROPOUT2D:
		chain->dropout = row;
		break;
	default:
		break;
	}
}

struct chain chain_at(const struct opencl_program *program, int index)
{
	const struct step *step = step_at(program, index);
	struct chain chain = { .main = STEP_NO_LAYER,
			       .relu = STEP_NO_LAYER,
			       .pool = STEP_NO_LAYER,
			       .dropout = STEP_NO_LAYER,
			       .pool_window = 1,
			       .in = step->in,
			       .out = step->out };

	for (int i = 0; i < step->length; i++)
		add_row(&chain, &program->graph, step->first + i);
	return chain;
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
