/* The end of a step of the gpu class: sums of parts, and the optimizer. */
#include "backends/opencl/solvers/gpu_class/gpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/program/steps.h"

/* Words of gpu_sums.cl: `each` parts a `divisor` samples. */
struct segment {
	cl_uint first, size, at, each, divisor, block;
};

static size_t parameters_of(const struct opencl_program *program, int index)
{
	return (size_t)step_parameters(program, index);
}

/* Returns the parts of step index for the largest batch; none if the step
 * writes its gradient itself. */
static struct segment segment_of(const struct opencl_program *program,
				 int index)
{
	const struct chain chain = chain_at(program, index);
	struct segment segment = { .first = (cl_uint)chain.weight, .each = 1 };

	if (solver_of(program, index) != &gpu_conv_solver)
		return segment;
	segment.size = (cl_uint)parameters_of(program, index);
	segment.divisor = (cl_uint)gpu_split_samples(program);
	if (step_is_led(program, index)) {
		segment.each = (cl_uint)(chain.main_out.height *
					 chain.main_out.width);
		segment.divisor =
			(cl_uint)gpu_conv_columns(program,
						  step_reader(program, index));
	}
	return segment;
}

static size_t segment_floats(const struct opencl_program *program,
			     const struct segment *segment)
{
	return segment->size ? (size_t)segment->size *
				       (size_t)parts_of((int)segment->each *
							batch_most(program),
							(int)segment->divisor)
			     : 0;
}

size_t gpu_parts_at(const struct opencl_program *program, int index)
{
	size_t at = 0;

	for (int i = 0; i < index; i++) {
		const struct segment segment = segment_of(program, i);

		at += segment_floats(program, &segment);
	}
	return at;
}

/* Fills segments; returns their number, and in blocks their blocks. */
static int segments_list(const struct opencl_program *program,
			 struct segment segments[MODEL_MAX_LAYERS], int *blocks)
{
	int count = 0;

	*blocks = 0;
	for (int i = 0; i < program->plan.count; i++) {
		struct segment segment = segment_of(program, i);

		if (!segment.size)
			continue;
		segment.at = (cl_uint)gpu_parts_at(program, i);
		segment.block = (cl_uint)*blocks;
		*blocks += parts_of((int)segment.size,
				    gpu_tiling(program)->reduced);
		segments[count++] = segment;
	}
	return count;
}

int gpu_sums_build(struct opencl_program *program, struct error *err)
{
	const struct tiling *tiling = gpu_tiling(program);
	struct segment segments[MODEL_MAX_LAYERS];
	int blocks;
	const int count = segments_list(program, segments, &blocks);
	const struct define common[] = {
		{ "ITEMS", tiling->items },
		{ "UPDATED", tiling->updated },
		/* What gpu.cl has for layers. */
		{ "DEEP", 1 },
		{ "MOST_ACROSS", 1 },
		{ "DROP_LAYER", 0 },
		{ "DROP_THRESHOLD", 0 },
	};
	const struct define sums[] = {
		{ "SEGMENTS", count },
		{ "BLOCKS", blocks },
		{ "REDUCED", tiling->reduced },
		{ "SLICES", tiling->items / tiling->reduced },
		{ "PARAMETERS", program->base.parameters },
	};
	struct defines defines = { .count = 0 };

	defines_add(&defines, common, COUNT(common));
	if (source_build(program_device(program), SOURCE_GPU_RECIPE, &defines,
			 &program->common, err))
		return -1;
	defines_add(&defines, sums, COUNT(sums));
	return source_build(program_device(program), SOURCE_GPU_SUMS, &defines,
			    &program->sums, err);
}

int gpu_sums_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err)
{
	const size_t all = gpu_parts_at(program, program->plan.count);
	const struct request requests[] = {
		{ &program->parts, pass->training && all,
		  all * sizeof(cl_float) },
		{ &program->segments, pass->training,
		  MODEL_MAX_LAYERS * sizeof(struct segment) },
	};

	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}

static int segments_write(struct opencl_program *program, int *blocks,
			  struct error *err)
{
	struct segment segments[MODEL_MAX_LAYERS] = { { 0 } };

	segments_list(program, segments, blocks);
	return memory_write(&program->queue, program->segments,
			    sizeof(segments), segments, err);
}

int gpu_sums_end(struct opencl_program *program, struct error *err)
{
	const cl_mem *vectors = program->vectors;
	const cl_mem updated[] = { program->segments,
				   program->parts,
				   program->train.outcomes,
				   program->train.scores,
				   vectors[VECTOR_PARAMETERS],
				   vectors[VECTOR_GRADIENT],
				   vectors[VECTOR_STATE_0],
				   vectors[VECTOR_STATE_1] };
	const cl_mem reduced[] = { program->segments, program->parts,
				   program->train.outcomes,
				   program->train.scores,
				   vectors[VECTOR_GRADIENT] };
	struct launch reduce, update;
	int blocks;

	if (segments_write(program, &blocks, err))
		return -1;
	reduce = gpu_launch(program, "reduce", 0, blocks + 1);
	reduce.work.moved_once =
		(double)gpu_parts_at(program, program->plan.count);
	reduce.batch_arguments = 2;
	reduce.part = PART_SUMS;
	update = gpu_launch(program, "reduce_update", 0,
			    blocks + 1 +
				 parts_of((int)program->base.parameters,
					  gpu_tiling(program)->updated));
	update.batch_arguments = 6;
	update.part = PART_UPDATE;
	if (launch_make(&program->reduce, &reduce, program->sums, reduced,
			COUNT(reduced), err))
		return -1;
	return launch_make(&program->reduce_update, &update, program->sums,
			   updated, COUNT(updated), err);
}

int gpu_sums_gradient(struct opencl_program *program, struct error *err)
{
	const cl_uint words[] = { (cl_uint)program->count,
				  (cl_uint)program->train.slot };

	if (launch_words(&program->reduce, 0, words, 2, err))
		return -1;
	return launch_enqueue(&program->queue, &program->reduce, 1, err);
}

int gpu_sums_train(struct opencl_program *program, const struct update *update,
		   struct error *err)
{
	cl_uint words[UPDATE_WORDS + 2];
	int count = update_words(update, words);

	words[count++] = (cl_uint)program->count;
	words[count++] = (cl_uint)program->train.slot;
	if (launch_words(&program->reduce_update, 0, words, count, err))
		return -1;
	return launch_enqueue(&program->queue, &program->reduce_update, 1, err);
}
