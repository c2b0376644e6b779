/*
 * The cpu backend: a list of solvers with fused kernels. The stem's
 * convolutions, pooling, ReLU and dropout run on a few samples while they are
 * in the cache. Linear layers run on the batch and skip what dropout took; they
 * update at once if no other core needs the gradient. Generic solvers compute
 * every other layer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/factors.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/profile.h"

extern const struct backend cpu_backend;

/* It is no step: the step before it ends with the logits. */
static const struct solver loss_solver = { .name = "loss", .kind = LAYER_LOSS };

/* The most special solvers first, then one for every kind of layer. */
static const struct solver *const solvers[] = {
	&cpu_stem_solver.base,
	&cpu_sparse_linear_solver.base,
	&cpu_winograd_solver.base,
	&cpu_conv_solver.base,
	&cpu_linear_solver.base,
	&cpu_maxpool_solver.base,
	&cpu_avgpool_solver.base,
	&cpu_batchnorm_solver.base,
	&cpu_add_solver.base,
	&cpu_relu_solver.base,
	&cpu_dropout_solver.base,
	&loss_solver,
};

#define SOLVERS ((int)(sizeof(solvers) / sizeof(solvers[0])))
_Static_assert(SOLVERS <= CPU_MOST_SOLVERS, "a program lists them all");

struct cpu_device {
	struct device base;
	const struct cpu_kernels *kernels;
};

static int cpu_open(const struct device_request *request,
		    struct device **device, struct error *err)
{
	const struct cpu_kernels *kernels = cpu_choose_kernels(err);
	struct cpu_device *cpu;

	(void)request;
	if (!kernels)
		return -1;
	cpu = malloc(sizeof(*cpu));
	if (!cpu)
		return error_memory(err, "a device");
	cpu->base.backend = &cpu_backend;
	cpu->kernels = kernels;
	*device = &cpu->base;
	return 0;
}

static void cpu_describe(struct device *device, struct device_info *info)
{
	host_describe_cpu(info);
	snprintf(info->driver, sizeof(info->driver), "%s kernels",
		 ((struct cpu_device *)device)->kernels->name);
}

static void cpu_free(struct program *program)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	cpu_factors_close(cpu);
	cpu_release_steps(cpu);
	host_release(&cpu->host);
	free(cpu);
}

/*
 * In bf16, AMX's tiles do all multiplications in less time than vectors do
 * Winograd's few. With rounds_all, the indirect GEMM rounds every convolution.
 */
static int list_solvers(struct cpu_program *program,
			const struct program_options *options)
{
	const int gathers = options->precision == PRECISION_BF16 &&
			    (program->kernels->has_tiles ||
			     program->rounds_all);
	int count = 0;

	for (int s = 0; s < SOLVERS; s++)
		if (!(gathers && solvers[s] == &cpu_winograd_solver.base) &&
		    !(program->rounds_all &&
		      solvers[s] == &cpu_stem_solver.base))
			program->solvers[count++] = solvers[s];
	return count;
}

static void release_layout(struct cpu_program *program)
{
	cpu_factors_close(program);
	cpu_release_steps(program);
	free(program);
}

static int lay_out_steps(struct cpu_program *program, struct device *device,
			 const struct model *model,
			 const struct program_options *options, size_t *length,
			 struct error *err)
{
	program->kernels = ((struct cpu_device *)device)->kernels;
	if (cpu_check_precision(program->kernels, options, err) ||
	    host_plan(&program->host, device, model, options, program->solvers,
		      list_solvers(program, options), err))
		return -1;
	if (cpu_lay_out(program, length))
		return error_memory(err, "a program");
	storage_resolve(&program->storage, &program->host.graph,
			options->precision);
	return 0;
}

static struct cpu_program *try_layout(struct device *device,
				      const struct model *model,
				      const struct program_options *options,
				      int rounds_all, size_t *length,
				      struct error *err)
{
	struct cpu_program *program = calloc(1, sizeof(*program));

	if (!program) {
		error_memory(err, "a program");
		return NULL;
	}
	program->rounds_all = rounds_all;
	if (!lay_out_steps(program, device, model, options, length, err))
		return program;
	release_layout(program);
	return NULL;
}

/* Else fp32 would be called bf16. */
static int rounds_something(const struct cpu_program *program)
{
	return program->host.base.options.precision != PRECISION_BF16 ||
	       program->host.base.rounds || program->rounds_forward ||
	       program->kernels->has_tiles;
}

/* Lays out steps and their places, but no arrays. If no product is faster in
 * bf16, all products that can be are rounded. */
static struct cpu_program *lay_out(struct device *device,
				   const struct model *model,
				   const struct program_options *options,
				   size_t *length, struct error *err)
{
	for (int all = 0; all < 2; all++) {
		struct cpu_program *program = try_layout(device, model, options,
							 all, length, err);

		if (!program || rounds_something(program))
			return program;
		release_layout(program);
	}
	error_set(err, ERROR_MISSING, "--precision bf16: model %s has no "
		  "convolution, and the %s kernels round no linear layer of "
		  "%d samples; leave the option out", model->name,
		  ((struct cpu_device *)device)->kernels->name, options->batch);
	return NULL;
}

/* With masks_only, a ReLU's decisions take no memory, and a pooling's are
 * places. */
static double cpu_sample_bytes(const struct model *model,
			       const struct program_options *options)
{
	struct error ignored;
	struct cpu_device device = {
		.base.backend = &cpu_backend,
		.kernels = cpu_choose_kernels(&ignored),
	};
	struct program_options own = *options;
	struct cpu_program *program;
	double bytes;
	size_t length;

	own.batch = options->batch > 0 ? options->batch : 1;
	program = device.kernels ? lay_out(&device.base, model, &own, &length,
					   &ignored) : NULL;
	if (!program)
		return NAN;
	bytes = cpu_array_bytes(program) / own.batch;
	for (int i = 0; i < program->host.graph.count; i++)
		if (!own.infers &&
		    (program->host.graph.nodes[i].layer->kind != LAYER_RELU ||
		     !own.masks_only))
			bytes += (double)program->host.graph.nodes[i].decisions;
	release_layout(program);
	return bytes;
}

/* Marks all that is derived from the parameters as out of date. */
static void mark_stale(struct cpu_program *program)
{
	program->stale_forward = program->stale_backward = 1;
}

static int cpu_compile(struct device *device, const struct model *model,
		       const struct program_options *options,
		       struct program **out, struct error *err)
{
	size_t length;
	struct cpu_program *program = lay_out(device, model, options, &length,
					      err);

	if (!program)
		return -1;
	program->host.base.shared = options->memory != NULL;
	program->host.masks_only = options->masks_only || options->infers;
	if (host_allocate_all(&program->host, length, err)) {
		release_layout(program);
		return -1;
	}
	if (program->factors && cpu_factors_share(program, err)) {
		cpu_free(&program->host.base);
		return -1;
	}
	if (cpu_allocate_arrays(program)) {
		cpu_free(&program->host.base);
		return error_memory(err, "the activations of a batch");
	}
	mark_stale(program);
	*out = &program->host.base;
	return 0;
}

static int cpu_store(struct program *program, enum vector which,
		     const float *values, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	if (which == VECTOR_BUFFERS)
		return host_store(program, which, values, err);
	/* It is only read. */
	cpu_copy_parameters(cpu, cpu->host.vectors[which], (float *)values, 1);
	if (storage_rounds_vectors(program->options.precision))
		storage_round(program->options.precision,
			      cpu->host.vectors[which], program->length);
	mark_stale(cpu);
	return 0;
}

static int cpu_load(struct program *program, enum vector which, float *values,
		    struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	if (which == VECTOR_BUFFERS)
		return host_load(program, which, values, err);
	cpu_copy_parameters(cpu, cpu->host.vectors[which], values, 0);
	return 0;
}

/* Copies from [channel][row][column] to the layout of value, or back. */
static void copy_logits(const struct cpu_value *value, float *own, float *flat,
			int to_own)
{
	for (int c = 0; c < value->shape.channels; c++)
		for (int p = 0; p < cpu_pixels(value); p++, flat++)
			if (to_own)
				own[cpu_value_at(value, c, p)] = *flat;
			else
				*flat = own[cpu_value_at(value, c, p)];
}

static void losses(struct cpu_program *program, const struct cpu_pass *pass,
		   struct score *score)
{
	const struct graph *graph = &program->host.graph;
	const struct batch *batch = pass->batch;
	const struct cpu_value *value = cpu_value_of(
		program, graph->nodes[graph->count - 1].source);
	const int classes = model_classes(graph->model);
	float *gradient = program->logits + classes;

	for (int i = 0; i < pass->count; i++) {
		const size_t at = (size_t)i * value->size;

		copy_logits(value, value->out + at, program->logits, 0);
		host_loss(graph->nodes[graph->count - 1].layer->loss,
			  program->logits, classes, batch, pass->first + i,
			  score, pass->training ? gradient : NULL);
		if (pass->training)
			copy_logits(value, value->gradient + at, gradient, 1);
	}
}

/* Runs forward and backward. update: with CPU_LEAVES_UPDATE, else NULL. */
static void differentiate(struct cpu_program *program,
			  const struct batch *batch,
			  enum cpu_gradient_kind kind,
			  const struct update *update)
{
	struct program *base = &program->host.base;
	const size_t all = kind == CPU_GRADIENT_FACTORS ? base->reduced :
							  base->length;
	const struct cpu_pass pass = { .batch = batch,
				       .count = batch->count,
				       .training = 1,
				       .update = update };

	program->gradient_kind = kind;
	program->updated = 0;
	if (kind == CPU_GRADIENT_FACTORS)
		cpu_factors_begin(program);
	memset(program->host.vectors[VECTOR_GRADIENT], 0,
	       (batch->count ? program->deferred_end : all) * sizeof(float));
	program_end_part(base, CPU_PART_GRADIENT);
	base->score = (struct score){ 0 };
	host_choose(&program->host, batch, program->kernels->choices);
	program_end_part(base, CPU_PART_CHOICES);
	if (!batch->count)
		return;
	cpu_forward(program, &pass);
	losses(program, &pass, &base->score);
	program_end_part(base, CPU_PART_LOSS);
	cpu_backward(program, &pass);
}

static int cpu_unmap(struct program *program, enum vector which,
		     struct error *err)
{
	if (which == VECTOR_PARAMETERS)
		mark_stale((struct cpu_program *)program);
	return host_unmap(program, which, err);
}

/* State that the optimizer does not have is NULL. */
static float *from_state(float *state, size_t from)
{
	return state ? state + from : NULL;
}

static int cpu_update(struct program *program, const struct update *update,
		      size_t from, size_t to, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	float *const *vectors = cpu->host.vectors;

	if (from == program->reduced && from < to) {
		cpu_factors_update(cpu, update);
		return 0;
	}
	if (storage_rounds_vectors(program->options.precision))
		host_update(program, update, from, to, err);
	else
		cpu->kernels->linear->optimize(
			update, to - from, vectors[VECTOR_PARAMETERS] + from,
			from_state(vectors[VECTOR_STATE_0], from),
			from_state(vectors[VECTOR_STATE_1], from),
			vectors[VECTOR_GRADIENT] + from);
	mark_stale(cpu);
	cpu->updated += to - from;
	program_end_part(program, CPU_PART_UPDATE);
	return 0;
}

/* Returns 1 if the gradients of all layers are what their update needs. */
static int updates_at_once(const struct cpu_program *cpu,
			   const struct batch *batch)
{
	const struct graph *graph = &cpu->host.graph;

	for (int i = 0; i < graph->count; i++)
		if (graph->nodes[i].broken)
			return 0;
	return batch->count &&
	       !precision_rounds(cpu->host.base.options.precision);
}

static int cpu_gradient(struct program *program, const struct batch *batch,
			const struct update *update, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	if (update && updates_at_once(cpu, batch)) {
		differentiate(cpu, batch, CPU_GRADIENT_APPLIED, update);
		return cpu_update(program, update, 0, cpu->deferred_end, err);
	}
	differentiate(cpu, batch,
		      program->reduced < program->length ?
			      CPU_GRADIENT_FACTORS : CPU_GRADIENT_STORED,
		      NULL);
	return update ? program_update(program, update, err) : 0;
}

static int cpu_evaluate(struct program *program, const struct batch *batch,
			struct score *score, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const int most = program->options.batch;

	(void)err;
	/* In slices: more samples at once would only leave the cache. */
	for (int first = 0; first < batch->count; first += most) {
		const int rest = batch->count - first;
		const struct cpu_pass pass = {
			.batch = batch,
			.first = first,
			.count = rest < most ? rest : most,
		};

		cpu_forward(cpu, &pass);
		losses(cpu, &pass, score);
	}
	return 0;
}

const struct backend cpu_backend = {
	.version = BACKEND_VERSION,
	.name = "cpu",
	.summary = "fused kernels for CPU cores",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_BF16 |
		      1u << PRECISION_FP16 | 1u << PRECISION_BF16_STORAGE,
	.trains_at_once = 1,
	.shares = 1,
	.sample_bytes = cpu_sample_bytes,
	.open = cpu_open,
	.close = host_close,
	.describe = cpu_describe,
	.compile = cpu_compile,
	.free = cpu_free,
	.store = cpu_store,
	.load = cpu_load,
	.map = host_map,
	.unmap = cpu_unmap,
	.gradient = cpu_gradient,
	.update = cpu_update,
	.evaluate = cpu_evaluate,
	.decisions = host_decisions,
	.profile = cpu_profile,
	.peak = cpu_peak,
};
