/*
 * The linear layers of a program: by kernels that leave out what dropout and
 * ReLU have stopped, or dense, as products of whole matrices.
 */
#include <string.h>

#include "backends/blas.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/relu.h"

static int is_dense(const struct cpu_program *program)
{
	return program->host.base.options.algorithm == ALGORITHM_DENSE;
}

static const uint8_t *decided(const struct cpu_program *program, int layer)
{
	return layer == STEP_NO_LAYER ? NULL :
					program->host.decisions[layer];
}

void cpu_linear_lay_out(struct cpu_program *program, int s)
{
	struct cpu_step *bound = &program->steps[s];
	const int planes = s == 1 && program->stem.step != NULL;
	const int blocks = planes ? bound->step->in.channels : 1;

	bound->linear = (struct linear_shape){
		.blocks = blocks,
		.block = (int)bound->in_size / blocks,
		.outputs = bound->step->out.channels,
		.relu = bound->step->relu != STEP_NO_LAYER,
		.bf16 = program->host.base.options.precision == PRECISION_BF16,
	};
}

static struct linear_values values_of(const struct cpu_program *program,
				      const struct cpu_step *bound,
				      enum vector which)
{
	float *vector = program->host.vectors[which];

	return (struct linear_values){ .weights = vector + bound->weight,
				       .bias = vector + bound->bias };
}

static struct linear_batch batch_of(const struct cpu_program *program, int s,
				    const float *in, int count, int training)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct step *step = bound->step;
	struct linear_batch batch = { .count = count,
				      .in = in,
				      .sample = bound->in_size,
				      .block = (size_t)bound->linear.block,
				      .scale = 1 };

	if (training && bound->linear.blocks > 1)
		batch.keep_in = cpu_stem_keep(program, 0);
	if (training && cpu_drops(program, step)) {
		batch.keep_out = decided(program, step->dropout);
		batch.scale = cpu_drop_scale(program, step);
	}
	return batch;
}

/* In place: ReLU, then dropout. */
static void finish_dense(struct cpu_program *program,
			 const struct cpu_step *bound, int count, int training)
{
	const struct step *step = bound->step;
	const size_t all = (size_t)count * bound->out_size;

	if (step->relu != STEP_NO_LAYER)
		relu_apply(bound->out, all);
	if (training && cpu_drops(program, step))
		host_dropout(bound->out, all, 1,
			     decided(program, step->dropout),
			     cpu_drop_probability(program, step));
}

static void forward_dense(struct cpu_program *program, struct cpu_step *bound,
			  const float *in, int count, int training)
{
	const float *p = program->host.vectors[VECTOR_PARAMETERS];
	const size_t outputs = bound->out_size;

	for (int i = 0; i < count; i++)
		memcpy(bound->out + (size_t)i * outputs, p + bound->bias,
		       outputs * sizeof(float));
	blas_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, count, (int)outputs,
		  (int)bound->in_size, in, p + bound->weight, 1, bound->out);
	finish_dense(program, bound, count, training);
}

void cpu_linear_forward(struct cpu_program *program, int s, const float *in,
			int count, int training)
{
	struct cpu_step *bound = &program->steps[s];
	const struct linear_values parameters =
		values_of(program, bound, VECTOR_PARAMETERS);
	const struct linear_batch batch =
		batch_of(program, s, in, count, training);

	if (is_dense(program))
		forward_dense(program, bound, in, count, training);
	else
		program->kernels->linear->forward(&bound->linear, &parameters,
						  &batch, bound->out,
						  program->scratch);
}

/* In place: those by the outputs become those before dropout and ReLU. */
static void start_dense(struct cpu_program *program,
			const struct cpu_step *bound, int count)
{
	const struct step *step = bound->step;
	const size_t all = (size_t)count * bound->out_size;

	if (cpu_drops(program, step))
		host_dropout(bound->out_slopes, all, 1,
			     decided(program, step->dropout),
			     cpu_drop_probability(program, step));
	if (bound->linear.relu)
		relu_stop(bound->out, all, bound->out_slopes);
}

static void backward_dense(struct cpu_program *program, int s, const float *in,
			   int count)
{
	struct cpu_step *bound = &program->steps[s];
	const float *p = program->host.vectors[VECTOR_PARAMETERS];
	const struct linear_values gradient =
		values_of(program, bound, VECTOR_GRADIENT);
	const int outputs = (int)bound->out_size;
	const int inputs = (int)bound->in_size;

	start_dense(program, bound, count);
	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, inputs,
		  count - bound->step->broken, bound->out_slopes, in, 0,
		  gradient.weights);
	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, 1, count,
		  bound->out_slopes, program->ones, 0, gradient.bias);
	if (s)
		blas_gemm(BLAS_AS_IS, BLAS_AS_IS, count, inputs, outputs,
			  bound->out_slopes, p + bound->weight, 0,
			  program->steps[s - 1].out_slopes);
}

static void backward_stored(struct cpu_program *program,
			    const struct cpu_step *bound,
			    struct linear_batch batch,
			    struct linear_slopes slopes)
{
	const struct linear_values parameters =
		values_of(program, bound, VECTOR_PARAMETERS);
	const struct linear_values gradient =
		values_of(program, bound, VECTOR_GRADIENT);

	program->kernels->linear->backward(&bound->linear, &parameters, &batch,
					   &slopes, &gradient,
					   program->scratch);
	if (!bound->step->broken)
		return;
	/* Once more, over what that has stored, and without the last one. */
	batch.count--;
	slopes.in_slopes = NULL;
	program->kernels->linear->backward(&bound->linear, &parameters, &batch,
					   &slopes, &gradient,
					   program->scratch);
}

struct linear_state cpu_linear_state(const struct cpu_program *program, int s)
{
	const struct cpu_step *bound = &program->steps[s];

	return (struct linear_state){
		.parameters = values_of(program, bound, VECTOR_PARAMETERS),
		.square_avg = values_of(program, bound, VECTOR_SQUARE_AVG),
		.acc_delta = values_of(program, bound, VECTOR_ACC_DELTA),
	};
}

void cpu_linear_backward(struct cpu_program *program, int s, const float *in,
			 int count, const struct update *update)
{
	struct cpu_step *bound = &program->steps[s];
	const struct linear_batch batch = batch_of(program, s, in, count, 1);
	const struct linear_slopes slopes = {
		.out = bound->out,
		.out_slopes = bound->out_slopes,
		.in_slopes = s ? program->steps[s - 1].out_slopes : NULL,
	};
	const struct linear_state state = cpu_linear_state(program, s);

	if (program->leaves == CPU_LEAVES_PARTS && s == program->first_linear)
		cpu_joint_backward(program, &batch, &slopes);
	else if (is_dense(program))
		backward_dense(program, s, in, count);
	else if (update)
		program->kernels->linear->backward_update(
			&bound->linear, &state, update, &batch, &slopes,
			program->scratch);
	else
		backward_stored(program, bound, batch, slopes);
}
