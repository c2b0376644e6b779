/*
 * Fused kernels for CPU cores: the convolutions, pooling, ReLU and dropout of a
 * few samples while they are in the cache, linear layers over the batch without
 * what dropout took, their update at once where no other core wants slopes.
 */
#include "backends/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/blas.h"

extern const struct backend cpu_backend;

static const struct fusion fusions[] = {
	{ "conv+relu+conv+relu+maxpool+dropout", 6,
	  { LAYER_CONV, LAYER_RELU, LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL,
	    LAYER_DROPOUT } },
	{ "conv+relu+conv+maxpool+dropout2d", 5,
	  { LAYER_CONV, LAYER_RELU, LAYER_CONV, LAYER_MAXPOOL,
	    LAYER_DROPOUT2D } },
	{ "conv+relu+conv+relu+maxpool", 5,
	  { LAYER_CONV, LAYER_RELU, LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL } },
	{ "conv+relu+conv+maxpool", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_CONV, LAYER_MAXPOOL } },
	{ "conv+relu+maxpool+dropout", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT } },
	{ "conv+relu+maxpool+dropout2d", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT2D } },
	{ "conv+maxpool+dropout", 3,
	  { LAYER_CONV, LAYER_MAXPOOL, LAYER_DROPOUT } },
	{ "conv+maxpool+dropout2d", 3,
	  { LAYER_CONV, LAYER_MAXPOOL, LAYER_DROPOUT2D } },
	{ "conv+relu+maxpool", 3, { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL } },
	{ "conv+maxpool", 2, { LAYER_CONV, LAYER_MAXPOOL } },
	{ "conv+relu", 2, { LAYER_CONV, LAYER_RELU } },
	{ "conv", 1, { LAYER_CONV } },
	{ "linear+relu+dropout", 3,
	  { LAYER_LINEAR, LAYER_RELU, LAYER_DROPOUT } },
	{ "linear+relu", 2, { LAYER_LINEAR, LAYER_RELU } },
	{ "linear", 1, { LAYER_LINEAR } },
	{ "loss", 1, { LAYER_LOSS } },
};

/* The first rows are stems, of two convolutions; only some shapes fit those. */
static int count_stems(void)
{
	int stems = 0;

	while (fusions[stems].kinds[2] == LAYER_CONV)
		stems++;
	return stems;
}

struct cpu_device {
	struct device base;
	const struct cpu_kernels *kernels;
};

static int cpu_open(const struct device_request *request,
		    struct device **device, struct error *err)
{
	const struct cpu_kernels *kernels = cpu_choose_kernels(err);
	struct cpu_device *cpu;

	if (!kernels || blas_prepare(request->threads, err))
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
	char blas[96];

	host_describe_cpu(info);
	blas_describe(blas, sizeof(blas));
	snprintf(info->driver, sizeof(info->driver), "%s kernels, %s",
		 ((struct cpu_device *)device)->kernels->name, blas);
}

static void cpu_free(struct program *program)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	cpu_joint_release(cpu);
	cpu_release_arrays(cpu);
	host_release(&cpu->host);
	free(cpu);
}

/* The first fusions are left out where no stem fits; returns how many. */
static int skipped_fusions(const struct model *model,
			   const struct program_options *options)
{
	return options->algorithm == ALGORITHM_FAST && cpu_stem_fits(model) ?
		       0 : count_stems();
}

static int fusions_from(int skipped)
{
	return (int)(sizeof(fusions) / sizeof(fusions[0])) - skipped;
}

/* A float and its gradient of all that is made, and where maxima were. */
static double cpu_sample_bytes(const struct model *model,
			       const struct program_options *options)
{
	const int skipped = skipped_fusions(model, options);
	struct error ignored;
	struct plan plan;

	if (plan_build(&plan, model, fusions + skipped, fusions_from(skipped),
		       &ignored))
		return 0;
	return plan_decision_bytes(model) +
	       (2 * sizeof(float) + 1) * plan_sample_floats(&plan);
}

static int cpu_compile(struct device *device, const struct model *model,
		       const struct program_options *options,
		       struct program **out, struct error *err)
{
	struct cpu_program *program = calloc(1, sizeof(*program));
	const int skipped = skipped_fusions(model, options);
	size_t length;

	if (!program)
		return error_memory(err, "a program");
	program->kernels = ((struct cpu_device *)device)->kernels;
	if (cpu_check_precision(program->kernels, options, err) ||
	    host_plan(&program->host, device, model, options,
		      fusions + skipped, fusions_from(skipped), err))
		goto fail;
	cpu_lay_out(program, &length);
	if (program->first_linear == program->host.plan.count - 1 ||
	    !cpu_convs_come_first(program)) {
		error_set(err, ERROR_MISSING,
			  "backend cpu wants convolutions first and a linear "
			  "layer before the loss; model '%s' is otherwise",
			  model->name);
		goto fail;
	}
	program->host.base.shared = options->memory != NULL;
	if (host_allocate_all(&program->host, length, err))
		goto fail;
	if (cpu_joint_allocate(program, err)) {
		cpu_free(&program->host.base);
		return -1;
	}
	if (cpu_allocate_arrays(program)) {
		cpu_free(&program->host.base);
		return error_memory(err, "the activations of a batch");
	}
	program->weights_moved = 1;
	*out = &program->host.base;
	return 0;
fail:
	free(program);
	return -1;
}

static int cpu_store(struct program *program, enum vector which,
		     const float *values, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	float *to = cpu->host.vectors[which];

	(void)err;
	for (size_t i = 0; i < program->parameters; i++)
		to[cpu->where[i]] = values[i];
	cpu->weights_moved = 1;
	return 0;
}

static int cpu_load(struct program *program, enum vector which, float *values,
		    struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const float *from = cpu->host.vectors[which];

	(void)err;
	for (size_t i = 0; i < program->parameters; i++)
		values[i] = from[cpu->where[i]];
	return 0;
}

static void losses(struct cpu_program *program, const struct batch *batch,
		   int first, int count, int training, struct score *score)
{
	const struct program *base = &program->host.base;
	const int classes = model_classes(base->model);
	struct cpu_step *last =
		&program->steps[program->host.plan.count - 2];

	for (int i = 0; i < count; i++)
		host_loss(last->out + i * classes, classes,
			  batch->labels[first + i], batch->global_count, score,
			  training ? last->out_slopes + i * classes : NULL);
}

void cpu_differentiate(struct cpu_program *program, const struct batch *batch,
		       enum cpu_leaves leaves, const struct update *update)
{
	struct program *base = &program->host.base;
	const size_t all = leaves == CPU_LEAVES_PARTS ? base->summed :
							base->length;

	program->leaves = leaves;
	memset(program->host.vectors[VECTOR_GRADIENT], 0,
	       (batch->count ? program->conv_length : all) * sizeof(float));
	program_end_part(base, CPU_PART_GRADIENT);
	base->score = (struct score){ 0 };
	host_choose(&program->host, batch, program->kernels->choices);
	program_end_part(base, CPU_PART_CHOICES);
	if (!batch->count)
		return;
	cpu_forward(program, batch, 0, batch->count, 1);
	losses(program, batch, 0, batch->count, 1, &base->score);
	program_end_part(base, CPU_PART_LOSS);
	cpu_backward(program, batch, update);
}

static int cpu_gradient(struct program *program, const struct batch *batch,
			struct error *err)
{
	(void)err;
	cpu_differentiate((struct cpu_program *)program, batch,
			  CPU_LEAVES_GRADIENT, NULL);
	return 0;
}

static int cpu_unmap(struct program *program, enum vector which,
		     struct error *err)
{
	if (which == VECTOR_PARAMETERS)
		((struct cpu_program *)program)->weights_moved = 1;
	return host_unmap(program, which, err);
}

static int cpu_update(struct program *program, const struct update *update,
		      size_t from, size_t to, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	float *const *vectors = cpu->host.vectors;

	(void)err;
	cpu->kernels->linear->adadelta(update, to - from,
				       vectors[VECTOR_PARAMETERS] + from,
				       vectors[VECTOR_SQUARE_AVG] + from,
				       vectors[VECTOR_ACC_DELTA] + from,
				       vectors[VECTOR_GRADIENT] + from);
	cpu->weights_moved = 1;
	cpu->updated = to - from;
	program_end_part(program, CPU_PART_UPDATE);
	return 0;
}

/* Whether every linear layer's gradient is what its update needs. */
static int updates_at_once(const struct cpu_program *cpu,
			   const struct batch *batch)
{
	const struct plan *plan = &cpu->host.plan;

	for (int s = 0; s < plan->count; s++)
		if (plan->steps[s].broken)
			return 0;
	return batch->count &&
	       cpu->host.base.options.algorithm == ALGORITHM_FAST;
}

static int cpu_train(struct program *program, const struct batch *batch,
		     const struct update *update, struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const int at_once = updates_at_once(cpu, batch);

	cpu_differentiate(cpu, batch,
			  at_once ? CPU_LEAVES_UPDATE : CPU_LEAVES_GRADIENT,
			  at_once ? update : NULL);
	return cpu_update(program, update, 0,
			  at_once ? cpu->conv_length : program->length, err);
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
		const int count = rest < most ? rest : most;

		cpu_forward(cpu, batch, first, count, 0);
		losses(cpu, batch, first, count, 0, score);
	}
	return 0;
}

const struct backend cpu_backend = {
	.name = "cpu",
	.summary = "fused kernels for CPU cores",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_BF16,
	.variable = blas_variable,
	.sample_bytes = cpu_sample_bytes,
	.open = cpu_open,
	.close = host_close,
	.describe = cpu_describe,
	.check = blas_check,
	.compile = cpu_compile,
	.free = cpu_free,
	.store = cpu_store,
	.load = cpu_load,
	.map = host_map,
	.unmap = cpu_unmap,
	.gradient = cpu_gradient,
	.update = cpu_update,
	.gradient_joint = cpu_gradient_joint,
	.update_joint = cpu_update_joint,
	.train = cpu_train,
	.evaluate = cpu_evaluate,
	.decisions = cpu_decisions,
	.explain = host_explain,
	.profile = cpu_profile,
	.peak = cpu_peak,
};
