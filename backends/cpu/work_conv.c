/*
 * The work of convolutions: which planes dropout took, and how many slopes are
 * not 0, where kernels leave these out. A product of floats is one, also where
 * it is done as several of their parts.
 */
#include <math.h>
#include <stdio.h>

#include "backends/cpu/work.h"

/* Values that are there and that are not 0; of dropped planes none is. */
struct tally {
	double all, kept, nonzero;
};

static double lead_work(const struct step *step)
{
	return work_of_conv(step->lead.out, step->lead.window,
			    step->in.channels);
}

/* Channels-last or not, a step without a stem has no plane left out. */
static struct tally tally_plain(const float *values, size_t count)
{
	struct tally tally = { (double)count, (double)count, 0 };

	for (size_t i = 0; i < count; i++)
		tally.nonzero += values[i] != 0;
	return tally;
}

/* Dropped planes of a stem may hold anything. */
static struct tally tally_stem(const struct cpu_program *program,
			       const float *values)
{
	const struct stem_shape *shape = &program->stem.shape;
	const size_t plane = (size_t)stem_plane(shape);
	struct tally sum = { 0 };

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep = cpu_stem_keep(program, i);

		for (int o = 0; o < shape->outputs; o++, values += plane) {
			sum.all += (double)plane;
			if (keep && !keep[o])
				continue;
			sum.kept += (double)plane;
			sum.nonzero += tally_plain(values, plane).nonzero;
		}
	}
	return sum;
}

/* Of what a step puts out, or of the slopes by that; padding is 0. */
static struct tally tally_step(const struct cpu_program *program, int s,
			       const float *values)
{
	const struct cpu_step *bound = &program->steps[s];
	struct tally tally;

	if (work_is_stem(bound->step))
		return tally_stem(program, values);
	tally = tally_plain(values, (size_t)program->host.batch_count *
					    bound->out_size);
	tally.all = tally.kept =
		work_samples(program) * (double)shape_size(bound->step->out);
	return tally;
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

/* Points of the tiles of planes that have so many pooled outputs. */
static double point_work(const struct stem_shape *shape, double outputs)
{
	return outputs / STEM_QUADRANTS * STEM_POINTS * shape->middle;
}

/* What both ways read or write: images, weights, pooled planes with their
 * winners, and signs. */
static double stem_bytes(const struct cpu_program *program, double kept)
{
	const struct cpu_stem *stem = &program->stem;
	const struct stem_shape *shape = &stem->shape;
	const double count = work_samples(program);
	const int window = shape->bf16 ? STEM_TAPS : STEM_POINTS;
	const double weights =
		(double)shape->middle * (shape->channels * STEM_TAPS + 1) +
		(double)shape->outputs * (shape->middle * window + 1);

	return WORK_FLOAT *
		       (count * (double)shape_size(stem->step->in) + weights) +
	       kept * (WORK_FLOAT + 1) +
	       ceil(count / stem->group) * (double)stem->signs_size;
}

/* The planes between are computed once more. */
static void fill_weight_slopes(const struct cpu_program *program,
			       const struct tally *slopes,
			       struct profile_part *part)
{
	const struct cpu_stem *stem = &program->stem;
	const struct step *step = stem->step;
	const struct stem_shape *shape = &stem->shape;
	const double count = work_samples(program);
	const double main = stem->kernels->weight_slopes_are_dense(shape) ?
				    count * work_of_main(step) :
				    slopes->nonzero * STEM_TAPS * shape->middle;

	*part = (struct profile_part){
		.dense = count * work_of_main(step),
		.done = main + count * lead_work(step),
		.bytes = WORK_FLOAT * (count * (double)shape_size(step->in) +
				       work_parameters(step)) +
			 slopes->kept * (WORK_FLOAT + 1),
		.nonzero = work_share(slopes->nonzero, slopes->all),
	};
	snprintf(part->name, sizeof(part->name), "%.12s weight slopes",
		 program->host.base.model->layers[step->main].name);
}

void work_fill_stem(const struct cpu_program *program,
		    struct profile_part *parts)
{
	const struct cpu_stem *stem = &program->stem;
	const struct stem_shape *shape = &stem->shape;
	const struct tally slopes =
		tally_stem(program, program->steps[0].out_slopes);
	const double count = work_samples(program);
	const double lead = count * tile_work(shape);
	const double dense =
		count * (lead_work(stem->step) + work_of_main(stem->step));
	struct profile_part part = {
		.dense = dense,
		/* Of bf16, both ways are convolutions of all planes. */
		.done = shape->bf16 ? dense :
				      point_work(shape, slopes.kept) + lead,
		.bytes = stem_bytes(program, slopes.kept),
		.nonzero = work_share(slopes.kept, slopes.all),
	};

	/* By the planes between, and by the first weights: the same work. */
	work_name(program, 0, "backward", &part);
	parts[cpu_part_backward(0, CPU_SLOPES)] = part;
	if (!shape->bf16 && stem->kernels->forward_is_dense(shape))
		part.done = point_work(shape, slopes.all) + lead;
	work_name(program, 0, "forward", &part);
	parts[CPU_PART_FORWARD] = part;
	fill_weight_slopes(program, &slopes,
			   &parts[cpu_part_backward(0, CPU_STEM_WEIGHTS)]);
}

/* Of a sample, backward: the slopes by the input are a convolution of the
 * unpooled slopes with a border around, see dense.c. */
static double dense_conv_work(const struct step *step, int is_first)
{
	return work_of_main(step) +
	       (is_first ? 0 : work_of_conv(step->in, step->window,
					    step->main_out.channels));
}

void work_fill_conv(const struct cpu_program *program, int s,
		    struct profile_part *parts)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct step *step = bound->step;
	const struct tally slopes = tally_step(program, s, bound->out_slopes);
	const double count = work_samples(program);
	const double in = count * (double)shape_size(step->in);
	const int ways = s ? 2 : 1; /* by weights, and by the input */
	struct profile_part part = {
		.dense = count * work_of_main(step),
		.done = count * work_of_main(step),
		.bytes = WORK_FLOAT *
				 (in + slopes.all + work_parameters(step)) +
			 (bound->winners ? slopes.all : 0),
		.nonzero = NAN,
	};

	work_name(program, s, "forward", &part);
	parts[CPU_PART_FORWARD + s] = part;
	work_name(program, s, "backward", &part);
	part.dense *= ways;
	part.done = program->host.base.options.algorithm == ALGORITHM_DENSE ?
			    count * dense_conv_work(step, !s) :
			    ways * slopes.nonzero * step->window *
				    step->window * step->in.channels;
	part.bytes += WORK_FLOAT * ((s ? in : 0) + work_parameters(step));
	part.nonzero = work_share(slopes.nonzero, slopes.all);
	parts[cpu_part_backward(s, CPU_SLOPES)] = part;
}
