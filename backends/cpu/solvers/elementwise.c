/* ReLU, dropout and addition alone: layers without products and parameters. */
#include <string.h>

#include "backends/cpu/profile.h"

struct add_step {
	struct cpu_step step;
	struct cpu_value *other; /* second operand of the sum */
};

static int lay_out_element(struct cpu_program *program, struct cpu_step *step)
{
	step->in = cpu_common_value(program,
				    cpu_node(program, step->first)->source);
	return 0;
}

static size_t floats_of(const struct cpu_step *step,
			const struct cpu_pass *pass)
{
	return (size_t)pass->count * step->out->size;
}

static void forward_relu(struct cpu_program *program, struct cpu_step *step,
			 const struct cpu_pass *pass)
{
	program->kernels->elementwise->relu(floats_of(step, pass),
					    step->in->out, step->out->out);
}

static void backward_relu(struct cpu_program *program, struct cpu_step *step,
			  const struct cpu_pass *pass)
{
	program->kernels->elementwise->relu_backward(
		floats_of(step, pass), step->out->out, step->out->gradient,
		cpu_node(program, step->first)->adds_dx, step->in->gradient);
}

static void decide_relu(const struct cpu_program *program,
			const struct cpu_step *step, int row, uint8_t *values)
{
	(void)row;
	cpu_decide_relu(program, step->out, values);
}

static int lay_out_add(struct cpu_program *program, struct cpu_step *step)
{
	((struct add_step *)step)->other = cpu_common_value(
		program, cpu_node(program, step->first)->other);
	return lay_out_element(program, step);
}

static void forward_add(struct cpu_program *program, struct cpu_step *step,
			const struct cpu_pass *pass)
{
	const struct add_step *add = (struct add_step *)step;

	program->kernels->elementwise->add(floats_of(step, pass), step->in->out,
					   add->other->out, step->out->out);
}

/* Passes the gradient or the value on, unless it is there already. */
static void pass_on(const struct cpu_program *program, size_t count,
		    const float *dy, int needed, int adds, float *dx)
{
	if (needed && adds)
		program->kernels->elementwise->add_to(count, dy, dx);
	else if (needed && dx != dy)
		memcpy(dx, dy, count * sizeof(*dx));
}

static void backward_add(struct cpu_program *program, struct cpu_step *step,
			 const struct cpu_pass *pass)
{
	const struct add_step *add = (struct add_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const size_t count = floats_of(step, pass);
	const float *dy = step->out->gradient;

	pass_on(program, count, dy, node->needs_dx, node->adds_dx,
		step->in->gradient);
	pass_on(program, count, dy, node->needs_other_dx, node->adds_other_dx,
		add->other->gradient);
}

/* Returns scale * value if keep is 1, 0 if it is 0; without a branch, which
 * would be mispredicted every other time. */
static float kept(float value, float scale, uint8_t keep)
{
	const float scaled = scale * value;
	uint32_t bits;
	float result;

	memcpy(&bits, &scaled, sizeof(bits));
	bits &= -(uint32_t)keep;
	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* to = from, or to += from, times the scale where kept, else 0. */
static void drop(const struct cpu_program *program, const struct cpu_step *step,
		 int sample, int adds, const float *from, float *to)
{
	const uint8_t *keep = host_decisions_at(&program->host, step->first,
						sample);
	const float scale = cpu_drop_scale(program, step->first);
	const int by_plane = cpu_drops_planes(program, step->first);
	const int pixels = cpu_pixels(step->out), stride = step->out->by_pixel;

	for (int p = 0; p < pixels; p++, from += stride, to += stride)
		for (int c = 0; c < step->out->shape.channels; c++) {
			const float value =
				kept(from[c], scale,
				     keep[by_plane ? c : c * pixels + p]);

			to[c] = adds ? to[c] + value : value;
		}
}

static void forward_dropout(struct cpu_program *program, struct cpu_step *step,
			    const struct cpu_pass *pass)
{
	if (!pass->training || !cpu_drops(program, step->first)) {
		pass_on(program, floats_of(step, pass), step->in->out, 1, 0,
			step->out->out);
		return;
	}
	for (int i = 0; i < pass->count; i++)
		drop(program, step, i, 0,
		     step->in->out + (size_t)i * step->in->size,
		     step->out->out + (size_t)i * step->out->size);
}

static void backward_dropout(struct cpu_program *program, struct cpu_step *step,
			     const struct cpu_pass *pass)
{
	const struct node *node = cpu_node(program, step->first);

	if (!cpu_drops(program, step->first)) {
		pass_on(program, floats_of(step, pass), step->out->gradient, 1,
			node->adds_dx, step->in->gradient);
		return;
	}
	for (int i = 0; i < pass->count; i++)
		drop(program, step, i, node->adds_dx,
		     step->out->gradient + (size_t)i * step->out->size,
		     step->in->gradient + (size_t)i * step->in->size);
}

const struct cpu_solver cpu_relu_solver = {
	.base = { .name = "relu", .kind = LAYER_RELU },
	.size = sizeof(struct cpu_step),
	.lay_out = lay_out_element,
	.forward = forward_relu,
	.backward = backward_relu,
	.decide = decide_relu,
	.work = work_elements,
};

const struct cpu_solver cpu_add_solver = {
	.base = { .name = "add", .kind = LAYER_ADD },
	.size = sizeof(struct add_step),
	.lay_out = lay_out_add,
	.forward = forward_add,
	.backward = backward_add,
	.work = work_elements,
};

const struct cpu_solver cpu_dropout_solver = {
	.base = { .name = "dropout", .kind = LAYER_DROPOUT },
	.size = sizeof(struct cpu_step),
	.lay_out = lay_out_element,
	.forward = forward_dropout,
	.backward = backward_dropout,
	.work = work_elements,
};
