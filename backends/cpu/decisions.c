/* What the last gradient decided at ReLUs and poolings, for the oracle. */
#include <string.h>

#include "backends/cpu/cpu.h"

/*
 * The planes after pooling tell what ReLU and pooling decided. ReLU's effect
 * on values that did not win their window, or were dropped, is none.
 */
static void relu_of_planes(const struct cpu_program *program,
			   const struct cpu_step *bound, int sample,
			   uint8_t *values)
{
	const struct step *step = bound->step;
	const int pool = step->pool_window, stride = bound->conv.out_stride;
	const struct shape before = step->main_out, after = step->out;
	const size_t at = (size_t)sample * bound->out_size;
	const uint8_t *keep = step->dropout == STEP_NO_LAYER ? NULL :
		host_decisions_at(&program->host, step->dropout, sample);
	const int by_plane = keep && cpu_drops_planes(program, step);

	memset(values, DECISION_ANY, shape_size(before));
	for (int c = 0; c < after.channels; c++)
		for (int w = 0; w < after.height * after.width; w++) {
			const int choice = c * after.height * after.width + w;
			const size_t place = at + (size_t)(w * stride + c);
			const int k = pool > 1 ? bound->winners[place] : 0;
			const int row = w / after.width * pool + k / pool;
			const int column = w % after.width * pool + k % pool;

			if (!keep || keep[by_plane ? c : choice])
				values[(c * before.height + row) *
					       before.width + column] =
					!(bound->out[place] <= 0);
		}
}

static void winners_of_planes(const struct cpu_step *bound, int sample,
			      uint8_t *values)
{
	const struct shape out = bound->step->out;
	const uint8_t *winners =
		bound->winners + (size_t)sample * bound->out_size;

	for (int c = 0; c < out.channels; c++)
		for (int w = 0; w < out.height * out.width; w++)
			*values++ = winners[w * bound->conv.out_stride + c];
}

/* Likewise, of planes in the order of places. */
static void relu_of_stem(const struct cpu_program *program, int sample,
			 uint8_t *values)
{
	const struct cpu_stem *stem = &program->stem;
	const struct cpu_step *bound = &program->steps[0];
	const struct shape before = stem->step->main_out;
	const struct shape after = stem->step->out;
	const int plane = after.height * after.width;
	const uint8_t *keep = stem->step->dropout == STEP_NO_LAYER ? NULL :
		host_decisions_at(&program->host, stem->step->dropout, sample);
	const int by_plane = keep && cpu_drops_planes(program, stem->step);

	memset(values, DECISION_ANY, shape_size(before));
	for (int c = 0; c < after.channels; c++)
		for (int w = 0; w < plane; w++) {
			const size_t at = (size_t)sample * bound->out_size +
					  (size_t)(c * plane + stem->places[w]);
			const int k = bound->winners[at];
			const int row = w / after.width * 2 + k / 2;
			const int column = w % after.width * 2 + k % 2;

			if (!keep || keep[by_plane ? c : c * plane + w])
				values[(c * before.height + row) *
					       before.width + column] =
					!(bound->out[at] <= 0);
		}
}

/* Nobody has looked for those of a dropped plane. */
static void winners_of_stem(const struct cpu_program *program, int sample,
			    uint8_t *values)
{
	const struct cpu_step *bound = &program->steps[0];
	const struct cpu_stem *stem = &program->stem;
	const int plane = stem_plane(&stem->shape);
	const uint8_t *winners =
		bound->winners + (size_t)sample * bound->out_size;

	const uint8_t *keep = cpu_stem_keep(program, sample);

	for (int c = 0; c < stem->shape.outputs; c++)
		for (int w = 0; w < plane; w++)
			*values++ = keep && !keep[c] ? DECISION_ANY :
				winners[c * plane + stem->places[w]];
}

/* Whether the stem takes a layer's decisions. */
static int stem_decides(const struct cpu_stem *stem, int layer)
{
	const struct step *step = stem->step;

	return step && (layer == step->pool || layer == step->relu ||
			layer == step->lead.relu);
}

/* Those of one sample. */
static void decisions_of_stem(const struct cpu_program *program, int layer,
			      int sample, uint8_t *values)
{
	const struct cpu_stem *stem = &program->stem;

	if (layer == stem->step->pool)
		winners_of_stem(program, sample, values);
	else if (layer == stem->step->relu)
		relu_of_stem(program, sample, values);
	else
		stem->kernels->unpack(
			&stem->shape,
			stem->signs + (size_t)(sample / stem->group) *
					      stem->signs_size,
			sample % stem->group, values);
}

static void relu_of_linear(const struct cpu_program *program,
			   const struct cpu_step *bound, uint8_t *values)
{
	const struct step *step = bound->step;
	const uint8_t *keep = step->dropout == STEP_NO_LAYER ? NULL :
				      program->host.decisions[step->dropout];
	const size_t all = (size_t)program->host.batch_count * bound->out_size;

	for (size_t i = 0; i < all; i++)
		values[i] = keep && !keep[i] ? DECISION_ANY :
					       !(bound->out[i] <= 0);
}

/* The linear layer, or convolution that is none of the stem's, that decides. */
static const struct cpu_step *step_that_decides(const struct cpu_program *cpu,
						int layer)
{
	for (int s = 0; s < cpu->host.plan.count; s++) {
		const struct step *step = cpu->steps[s].step;

		if (layer == step->relu || layer == step->pool)
			return &cpu->steps[s];
	}
	return NULL;
}

int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const struct model *model = program->model;
	const size_t each = layer_decisions(&model->layers[layer],
					    model_layer_input(model, layer));
	const int count = cpu->host.batch_count;
	const struct cpu_step *bound = step_that_decides(cpu, layer);

	if (stem_decides(&cpu->stem, layer))
		for (int i = 0; i < count; i++, values += each)
			decisions_of_stem(cpu, layer, i, values);
	else if (!bound)
		return host_decisions(program, layer, values, err);
	else if (!bound->conv.window)
		relu_of_linear(cpu, bound, values);
	else if (layer == bound->step->pool)
		for (int i = 0; i < count; i++, values += each)
			winners_of_planes(bound, i, values);
	else
		for (int i = 0; i < count; i++, values += each)
			relu_of_planes(cpu, bound, i, values);
	return 0;
}
