/*
 * Decisions and work of a stem in the last gradient. Work depends on dropped
 * planes and on nonzero gradients, if kernels skip these. A product of floats
 * counts as one, even if it is computed in parts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/profile.h"
#include "backends/cpu/solvers/stem.h"

/* The planes after pooling show the second ReLU's decisions. Values that did
 * not win their window, or were dropped, have no effect. */
static void decide_relu(const struct cpu_program *program,
			const struct stem_step *stem, int sample,
			uint8_t *values)
{
	const struct shape before = cpu_node(program, stem->relu)->out;
	const struct shape after = stem->planes.shape;
	const int plane = after.height * after.width;
	const size_t at = (size_t)sample * stem->planes.size;
	const uint8_t *keep = stem->dropout == CPU_NO_ROW ? NULL :
		host_decisions_at(&program->host, stem->dropout, sample);
	const int by_plane = keep && cpu_drops_planes(program, stem->dropout);

	memset(values, DECISION_ANY, shape_size(before));
	for (int c = 0; c < after.channels; c++)
		for (int w = 0; w < plane; w++) {
			const size_t place = at +
				cpu_value_at(&stem->planes, c, w);
			const int k = stem->winners[place];
			const int row = w / after.width * 2 + k / 2;
			const int column = w % after.width * 2 + k % 2;

			if (!keep || keep[by_plane ? c : c * plane + w])
				values[(c * before.height + row) *
					       before.width + column] =
					!(stem->planes.out[place] <= 0);
		}
}

/* Winners of a dropped plane are not computed. */
static void decide_pool(const struct cpu_program *program,
			const struct stem_step *stem, int sample,
			uint8_t *values)
{
	const size_t at = (size_t)sample * stem->planes.size;
	const uint8_t *keep = stem_keep(program, stem, sample);

	for (int c = 0; c < stem->shape.outputs; c++)
		for (int w = 0; w < stem_plane(&stem->shape); w++)
			*values++ = keep && !keep[c] ? DECISION_ANY :
				stem->winners[at + cpu_value_at(&stem->planes,
								c, w)];
}

void stem_decide(const struct cpu_program *program, const struct cpu_step *step,
		 int row, uint8_t *values)
{
	const struct stem_step *stem = (const struct stem_step *)step;
	const size_t each = cpu_node(program, row)->decisions;

	for (int i = 0; i < program->host.batch_count; i++, values += each)
		if (row == stem->pool)
			decide_pool(program, stem, i, values);
		else if (row == stem->relu)
			decide_relu(program, stem, i, values);
		else
			stem->kernels->unpack(
				&stem->shape,
				stem->signs + (size_t)(i / stem->group) *
						      stem->signs_size,
				i % stem->group, values);
}

/* Counts of values: all, not dropped, and not 0. */
struct tally {
	double all, kept, nonzero;
};

/* Dropped planes of a stem may hold anything. */
static struct tally tally_gradient(const struct cpu_program *program,
				   const struct stem_step *stem)
{
	const size_t plane = (size_t)stem_plane(&stem->shape);
	const float *values = stem->planes.gradient;
	struct tally sum = { 0 };

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep = stem_keep(program, stem, i);

		for (int o = 0; o < stem->shape.outputs; o++, values += plane) {
			sum.all += (double)plane;
			if (keep && !keep[o])
				continue;
			sum.kept += (double)plane;
			for (size_t p = 0; p < plane; p++)
				sum.nonzero += values[p] != 0;
		}
	}
	return sum;
}

/*
 * The first convolution is done under each tile: 36 values of a plane, where
 * the output has 16.
 */
static double tile_work(const struct stem_shape *shape)
{
	return (double)stem_tiles(shape) * STEM_POINTS * STEM_TAPS *
	       shape->middle * shape->channels;
}

/* Returns the products at the points of tiles with outputs pooled outputs. */
static double point_work(const struct stem_shape *shape, double outputs)
{
	return outputs / STEM_QUADRANTS * STEM_POINTS * shape->middle;
}

/* Returns the bytes that both passes read or write: images, weights, pooled
 * planes with their winners, and signs. */
static double stem_bytes(const struct cpu_program *program,
			 const struct stem_step *stem, double kept)
{
	const struct stem_shape *shape = &stem->shape;
	const double count = work_samples(program);
	const int window = shape->bf16 ? STEM_TAPS : STEM_POINTS;
	const double weights =
		(double)shape->middle * (shape->channels * STEM_TAPS + 1) +
		(double)shape->outputs * (shape->middle * window + 1);

	return WORK_FLOAT *
		       (count * (double)program->images.size + weights) +
	       kept * (WORK_FLOAT + 1) +
	       ceil(count / stem->group) * (double)stem->signs_size;
}

/* Return the two convolutions. */
static const struct node *lead_of(const struct cpu_program *program,
				  const struct stem_step *stem)
{
	return cpu_node(program, stem->step.first);
}

static const struct node *main_of(const struct cpu_program *program,
				  const struct stem_step *stem)
{
	return cpu_node(program, stem->step.first + 2);
}

/* The planes between are computed once more. */
static void fill_weight_gradient(const struct cpu_program *program,
			       const struct stem_step *stem,
			       const struct tally *gradient,
			       struct profile_part *part)
{
	const struct node *node = main_of(program, stem);
	const struct stem_shape *shape = &stem->shape;
	const double count = work_samples(program);
	const double main = stem->kernels->weight_gradient_is_dense(shape) ?
				    count * work_of_node(node) :
				    gradient->nonzero * STEM_TAPS *
					    shape->middle;

	*part = (struct profile_part){
		.dense = count * work_of_node(node),
		.done = main + count * work_of_node(lead_of(program, stem)),
		.bytes = WORK_FLOAT * (count * (double)program->images.size +
				       work_parameters(node)) +
			 gradient->kept * (WORK_FLOAT + 1),
		.nonzero = work_share(gradient->nonzero, gradient->all),
	};
	snprintf(part->name, sizeof(part->name), "%.12s weight gradient",
		 node->layer->name);
}

static void name_both(const struct cpu_program *program,
		      const struct stem_step *stem, const char *what,
		      struct profile_part *part)
{
	snprintf(part->name, sizeof(part->name), "%.12s+%.12s %s",
		 lead_of(program, stem)->layer->name,
		 main_of(program, stem)->layer->name, what);
}

void stem_work(const struct cpu_program *program, const struct cpu_step *step,
	       struct profile_part *parts)
{
	const struct stem_step *stem = (const struct stem_step *)step;
	const struct stem_shape *shape = &stem->shape;
	const struct tally gradient = tally_gradient(program, stem);
	const double count = work_samples(program);
	const double lead = count * tile_work(shape);
	const double dense =
		count * (work_of_node(lead_of(program, stem)) +
			 work_of_node(main_of(program, stem)));
	struct profile_part part = {
		.dense = dense,
		/* In bf16, both passes convolve all planes. */
		.done = shape->bf16 ? dense :
				      point_work(shape, gradient.kept) + lead,
		.bytes = stem_bytes(program, stem, gradient.kept),
		.nonzero = work_share(gradient.kept, gradient.all),
	};

	/* For the planes between, and for the first weights: equal work. */
	name_both(program, stem, "backward", &part);
	parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
	name_both(program, stem, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	fill_weight_gradient(program, stem, &gradient,
			   &parts[cpu_part_backward(step->index,
						    CPU_STEM_WEIGHTS)]);
}
