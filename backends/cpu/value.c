#include "backends/cpu/value.h"

#include "backends/cpu/kernels/kernels.h"

struct cpu_value cpu_value_common(struct shape shape)
{
	const int pixels = shape.height * shape.width;
	const int by_pixel = pixels > 1 ?
				     (int)cpu_whole_lanes(shape.channels) :
				     shape.channels;

	return (struct cpu_value){
		.shape = shape,
		.by_channel = 1,
		.by_pixel = by_pixel,
		.size = (size_t)pixels * (size_t)by_pixel,
		.dropped_by = CPU_NO_ROW,
	};
}

struct cpu_value cpu_value_images(struct shape shape)
{
	const int pixels = shape.height * shape.width;

	return (struct cpu_value){
		.shape = shape,
		.by_channel = pixels,
		.by_pixel = pixels > 1 ? 1 : shape.channels,
		.size = shape_size(shape),
		.dropped_by = CPU_NO_ROW,
	};
}

void cpu_value_copy(const struct cpu_value *from, const float *values,
		    int count, const struct cpu_value *to, float *copies)
{
	const int pixels = cpu_pixels(from), channels = from->shape.channels;

	for (int i = 0; i < count; i++) {
		for (int p = 0; p < pixels; p++) {
			const float *pixel = values + cpu_value_at(from, 0, p);
			float *copy = copies + cpu_value_at(to, 0, p);

			for (int c = 0; c < channels; c++)
				copy[c * to->by_channel] =
					pixel[c * from->by_channel];
		}
		values += from->size;
		copies += to->size;
	}
}
