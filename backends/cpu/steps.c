#include "backends/cpu/program.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/factors.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/profile.h"

struct cpu_value *cpu_value_of(struct cpu_program *program, int row)
{
	return row == MODEL_IMAGES ? &program->images : &program->values[row];
}

struct cpu_value *cpu_common_value(struct cpu_program *program, int row)
{
	struct cpu_value *value = cpu_value_of(program, row);

	if (cpu_is_common(value))
		return value;
	program->needs_common = 1;
	return &program->common_images;
}

int cpu_row_of(const struct cpu_program *program, const struct cpu_step *step,
	       enum layer_kind kind)
{
	for (int row = step->first; row <= step->last; row++) {
		const struct layer *layer = cpu_node(program, row)->layer;

		if (layer->kind == kind ||
		    (kind == LAYER_DROPOUT && layer_drops(layer)))
			return row;
	}
	return CPU_NO_ROW;
}

int cpu_drops(const struct cpu_program *program, int row)
{
	return row != CPU_NO_ROW && program->host.base.options.dropout;
}

int cpu_multiplies_tiles(const struct cpu_program *program)
{
	return program->kernels->has_tiles &&
	       program->host.base.options.precision == PRECISION_BF16;
}

const struct igemm_kernels *cpu_packed_products(
	const struct cpu_program *program)
{
	const struct program_options *options = &program->host.base.options;
	const struct igemm_kernels *bf16 = cpu_bf16_products(program->kernels);

	return options->infers && options->precision == PRECISION_BF16 &&
			       bf16 && bf16->pack ? bf16 : NULL;
}

void cpu_set_rounding(struct cpu_program *program, int row,
		      enum rounds rounding)
{
	program->rounds[row] = (unsigned char)rounding;
	program->host.base.rounds = program->rounds;
}

static int make_step(struct cpu_program *program, const struct step *step)
{
	const struct cpu_solver *solver =
		(const struct cpu_solver *)step->solver;
	const struct node *node = cpu_node(program, step->first);
	struct cpu_step *made = calloc(1, solver->size);

	if (!made)
		return -1;
	program->steps[program->count] = made;
	made->solver = solver;
	made->index = program->count++;
	made->first = step->first;
	made->last = step->first + step->length - 1;
	made->out = &program->values[made->last];
	made->in = cpu_value_of(program, node->source);
	return solver->lay_out ? solver->lay_out(program, made) : 0;
}

static size_t whole_lines(size_t count)
{
	return (count + UPDATE_LINE - 1) / UPDATE_LINE * UPDATE_LINE;
}

/* Places the parameters of steps that update at once, or of the others; returns
 * the place after them. */
static size_t place_parameters(struct cpu_program *program, int at_once,
			       size_t at)
{
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		if (step->solver->updates_at_once != at_once)
			continue;
		step->at = at;
		at += step->length;
		if (step->solver->place)
			step->solver->place(program, step);
	}
	return at;
}

/* Rounds values that all readers would round, if the step can store them so. */
static void choose_rounded(struct cpu_program *program)
{
	for (int s = 0; s < program->count; s++) {
		const struct cpu_step *step = program->steps[s];
		const int readers = cpu_node(program, step->last)->readers;

		step->out->is_rounded = step->can_round && readers &&
					step->out->rounding == readers;
	}
}

/* Weights that cores update together come last and begin a line. */
int cpu_lay_out(struct cpu_program *program, size_t *length)
{
	const struct plan *plan = &program->host.plan;
	const struct shape input = program->host.base.model->input;
	size_t at;

	program->images = cpu_value_images(input);
	program->common_images = cpu_value_common(input);
	cpu_plan_values(program);
	for (int s = 0; s < plan->count - 1; s++) /* not the loss */
		if (make_step(program, &plan->steps[s]))
			return -1;
	choose_rounded(program);
	program->deferred_end = place_parameters(program, 0, 0);
	at = place_parameters(program, 1, program->deferred_end);
	program->host.base.reduced = at;
	if (program->factors) {
		at = whole_lines(at);
		program->host.base.reduced = at;
		at = cpu_factors_place(program, at);
	}
	*length = at;
	return 0;
}

static int allocate_values(struct cpu_program *program)
{
	struct program *base = &program->host.base;
	struct lifetimes lifetimes;

	cpu_plan_memory(&lifetimes, program, base->options.batch);
	program->memory = host_allocate(lifetimes.bytes);
	if (!program->memory)
		return -1;
	base->activation_bytes = lifetimes.bytes;
	base->unshared_bytes = lifetimes.unshared;
	for (int s = 0; s < program->count; s++) {
		const struct cpu_step *step = program->steps[s];
		const size_t gradient = lifetimes.gradients[step->last];

		if (!step->out->out_is_lent)
			step->out->out = (float *)(program->memory +
				lifetimes.outputs[step->last]);
		if (step->out->is_rounded)
			step->out->rounded = (uint16_t *)(program->memory +
				lifetimes.outputs[step->last] +
				cpu_floats_bytes(program, s));
		if (gradient != LIFETIMES_NONE)
			step->out->gradient =
				(float *)(program->memory + gradient);
	}
	return 0;
}

static size_t common_images_bytes(const struct cpu_program *program)
{
	return (size_t)program->host.base.options.batch *
	       program->common_images.size * sizeof(float);
}

static size_t rounded_images_bytes(const struct cpu_program *program)
{
	return (size_t)program->host.base.options.batch *
	       program->images.size * sizeof(float);
}

/* Returns the scratch of the step that needs most. */
static size_t scratch_bytes(const struct cpu_program *program)
{
	size_t most = 0;

	for (int s = 0; s < program->count; s++)
		if (program->steps[s]->scratch > most)
			most = program->steps[s]->scratch;
	return most;
}

static size_t own_bytes(const struct cpu_program *program)
{
	size_t bytes = 0;

	for (int s = 0; s < program->count; s++)
		bytes += program->steps[s]->own;
	return bytes;
}

double cpu_array_bytes(const struct cpu_program *program)
{
	struct lifetimes lifetimes;

	cpu_plan_memory(&lifetimes, program,
			program->host.base.options.batch);
	return (double)(lifetimes.bytes + scratch_bytes(program) +
			own_bytes(program) +
			(program->needs_common ?
				 common_images_bytes(program) : 0) +
			(program->storage.images ?
				 rounded_images_bytes(program) : 0));
}

static int allocate_common_images(struct cpu_program *program)
{
	struct cpu_value *images = &program->common_images;

	if (program->needs_common)
		images->out = host_allocate(common_images_bytes(program));
	return program->needs_common && !images->out;
}

static int allocate_rounded(struct cpu_program *program)
{
	const struct program *base = &program->host.base;
	const int copies = base->options.precision == PRECISION_FP16;

	if (program->storage.images)
		program->rounded_images =
			host_allocate(rounded_images_bytes(program));
	program->parameters =
		copies ? host_allocate(base->length * sizeof(float)) :
			 program->host.vectors[VECTOR_PARAMETERS];
	return program->parameters &&
	       (program->rounded_images || !program->storage.images) ? 0 : -1;
}

int cpu_allocate_arrays(struct cpu_program *program)
{
	const struct program *base = &program->host.base;
	const size_t classes = (size_t)model_classes(base->model);

	if (allocate_values(program) || allocate_common_images(program))
		return -1;
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		if (step->solver->allocate &&
		    step->solver->allocate(program, step))
			return -1;
	}
	program->scratch = host_allocate(scratch_bytes(program));
	program->logits = host_allocate(2 * classes * sizeof(float));
	if (!program->scratch || !program->logits || allocate_rounded(program))
		return -1;
	model_init_buffers(base->model, program->host.buffers);
	return 0;
}

void cpu_release_steps(struct cpu_program *program)
{
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		if (step->solver->release)
			step->solver->release(step);
		free(step);
	}
	if (program->parameters != program->host.vectors[VECTOR_PARAMETERS])
		free(program->parameters);
	free(program->rounded_images);
	free(program->memory);
	free(program->common_images.out);
	free(program->logits);
	free(program->scratch);
}

void cpu_copy_parameters(const struct cpu_program *program, float *own,
			 float *flat, int to_own)
{
	for (int s = 0; s < program->count; s++) {
		const struct cpu_step *step = program->steps[s];

		if (step->solver->copy)
			step->solver->copy(program, step, own, flat, to_own);
	}
}

static void refresh(struct cpu_program *program, int training)
{
	const struct program *base = &program->host.base;
	const float *master = program->host.vectors[VECTOR_PARAMETERS];

	if (!program->stale_forward && !(training && program->stale_backward))
		return;
	if (program->parameters != master) {
		memcpy(program->parameters, master,
		       base->length * sizeof(float));
		storage_round(program->storage.precision, program->parameters,
			      base->length);
	}
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		if (step->solver->refresh)
			step->solver->refresh(program, step, training);
	}
	program->stale_forward = 0;
	program->stale_backward = program->stale_backward && !training;
}

static void bring_images(struct cpu_program *program,
			 const struct cpu_pass *pass)
{
	const size_t size = program->images.size;
	const size_t count = (size_t)pass->count * size;
	const float *images = pass->batch->images + (size_t)pass->first * size;

	/* They are only read. */
	program->images.out = (float *)images;
	if (!program->rounded_images)
		return;
	program->images.out = program->rounded_images;
	memcpy(program->rounded_images, images, count * sizeof(float));
	storage_round(program->storage.precision, program->rounded_images,
		      count);
}

/* Rounds a row's stored output or gradient. */
static void round_row(const struct cpu_program *program, int row, float *values,
		      int count)
{
	const struct storage *storage = &program->storage;

	if (values && storage_rounds(storage, row))
		storage_round(storage->precision, values,
			      (size_t)count * program->values[row].size);
}

/* Rounds the gradient of a row's output. */
static void round_gradient(const struct cpu_program *program, int row,
			   int count)
{
	round_row(program, row, program->values[row].gradient, count);
}

/* Stores decisions before the memory of their values is reused. */
static void decide(struct cpu_program *program, const struct cpu_step *step)
{
	for (int row = step->first; row <= step->last; row++) {
		const struct layer *layer = cpu_node(program, row)->layer;

		if (layer->kind == LAYER_RELU || layer->kind == LAYER_MAXPOOL)
			step->solver->decide(program, step, row,
					     program->host.decisions[row]);
	}
}

void cpu_forward(struct cpu_program *program, const struct cpu_pass *pass)
{
	struct program *base = &program->host.base;

	refresh(program, pass->training);
	program_end_part(base, CPU_PART_WEIGHTS);
	bring_images(program, pass);
	if (program->needs_common)
		cpu_value_copy(&program->images, program->images.out,
			       pass->count, &program->common_images,
			       program->common_images.out);
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		step->solver->forward(program, step, pass);
		round_row(program, step->last, step->out->out, pass->count);
		if (pass->training && !base->options.masks_only)
			decide(program, step);
		program_end_part(base, CPU_PART_FORWARD + s);
	}
}

/* Rounds each step's gradient and divides it by the loss scale. */
static void end_gradient(struct cpu_program *program,
			 const struct batch *batch)
{
	const enum precision precision = program->storage.precision;
	float *gradient = program->host.vectors[VECTOR_GRADIENT];
	const float back = (float)(1 / storage_loss_scale(batch));

	for (int s = 0; s < program->count; s++) {
		const struct cpu_step *step = program->steps[s];
		float *own = gradient + step->at;

		if (storage_rounds_layer(precision,
					 cpu_node(program, step->first)->layer))
			storage_round(precision, own, step->length);
		for (size_t i = 0; back != 1 && i < step->length; i++)
			own[i] *= back;
	}
	if (storage_rounds_vectors(precision))
		storage_round(precision, program->host.buffers,
			      program->host.base.buffers);
}

/* Reports that gradients from some place on are complete: those places follow
 * all parameters of steps before s. */
static void report_complete(const struct cpu_program *program, int s)
{
	struct gradient_watcher *watcher = program->host.base.watcher;
	const size_t reduced = program->host.base.reduced;
	size_t from = 0;

	/* Gradients that are rounded are complete only at the end. */
	if (!watcher || precision_rounds(program->storage.precision))
		return;
	for (int t = 0; t < s; t++) {
		const struct cpu_step *step = program->steps[t];

		if (step->length && step->at + step->length > from)
			from = step->at + step->length;
	}
	watcher->complete(watcher, program->host.vectors[VECTOR_GRADIENT],
			  from < reduced ? from : reduced);
}

void cpu_backward(struct cpu_program *program, const struct cpu_pass *pass)
{
	const struct graph *graph = &program->host.graph;

	round_gradient(program, graph->nodes[graph->count - 1].source,
		       pass->count);
	for (int s = program->count - 1; s >= 0; s--) {
		struct cpu_step *step = program->steps[s];
		const struct node *node = cpu_node(program, step->first);

		if (!step->out->gradient)
			continue;
		step->solver->backward(program, step, pass);
		if (node->needs_dx)
			round_gradient(program, node->source, pass->count);
		if (node->needs_other_dx)
			round_gradient(program, node->other, pass->count);
		program_end_part(&program->host.base,
				 cpu_part_backward(s, CPU_BACKWARD_ALL));
		report_complete(program, s);
	}
	if (precision_rounds(program->storage.precision))
		end_gradient(program, pass->batch);
}

void cpu_decide_relu(const struct cpu_program *program,
		     const struct cpu_value *value, uint8_t *values)
{
	const int pixels = cpu_pixels(value);
	const float *out = value->out;

	for (int i = 0; i < program->host.batch_count; i++, out += value->size)
		for (int c = 0; c < value->shape.channels; c++)
			for (int p = 0; p < pixels; p++)
				*values++ = !(out[cpu_value_at(value, c, p)] <=
					      0);
}
