#include "backends/opencl/solvers/decisions.h"

#include <stdlib.h>

#include "backends/opencl/program/memory.h"

/* Where element i of a plane-ordered sample of this shape is. */
static size_t place(struct layout layout, struct shape shape, size_t i)
{
	const size_t width = (size_t)shape.width;
	const size_t plane = width * (size_t)shape.height;

	return i / plane * (size_t)layout.channel +
	       i % plane / width * (size_t)layout.row +
	       i % width * (size_t)layout.column;
}

int decisions_of_signs(struct opencl_program *program, cl_mem memory,
		       struct layout layout, struct shape shape,
		       uint8_t *values, struct error *err)
{
	const size_t sample = (size_t)layout.sample, size = shape_size(shape);
	float *y = memory_copy(&program->queue, memory,
			       (size_t)program->count * sample * sizeof(*y),
			       err);

	for (int n = 0; y && n < program->count; n++)
		for (size_t i = 0; i < size; i++)
			*values++ = !(y[(size_t)n * sample +
					place(layout, shape, i)] <= 0);
	free(y);
	return y ? 0 : -1;
}

int decisions_of_bytes(struct opencl_program *program, cl_mem memory,
		       struct layout layout, struct shape shape,
		       uint8_t *values, struct error *err)
{
	const size_t sample = (size_t)layout.sample, size = shape_size(shape);
	uint8_t *all = memory_copy(&program->queue, memory,
				   (size_t)program->count * sample, err);

	for (int n = 0; all && n < program->count; n++)
		for (size_t i = 0; i < size; i++)
			*values++ = all[(size_t)n * sample +
					place(layout, shape, i)];
	free(all);
	return all ? 0 : -1;
}
