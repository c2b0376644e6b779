/* What the last gradient decided in a stem. */
#include <string.h>

#include "backends/cpu/stem_step.h"

/*
 * The planes after pooling show what the second ReLU decided. Its effect on
 * values that did not win their window, or were dropped, is none.
 */
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

/* Those of a dropped plane are not computed. */
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
