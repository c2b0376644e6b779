/* What the last gradient decided, for the oracle. */
#include "backends/cpu/cpu.h"

void cpu_decide_relu(const struct cpu_program *program,
		     const struct cpu_value *value, uint8_t *values)
{
	const int pixels = cpu_pixels(value);
	const float *out = value->out;

	for (int i = 0; i < program->host.batch_count; i++, out += value->size)
		for (int c = 0; c < value->shape.channels; c++)
			for (int p = 0; p < pixels; p++)
				*values++ = !(out[cpu_value_at(value, c, p)] <=
					      0);
}

int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err)
{
	const struct cpu_program *cpu = (const struct cpu_program *)program;
	const enum layer_kind kind = program->model->layers[layer].kind;

	if (kind != LAYER_RELU && kind != LAYER_MAXPOOL)
		return host_decisions(program, layer, values, err);
	for (int s = 0; s < cpu->count; s++) {
		const struct cpu_step *step = cpu->steps[s];

		if (step->first <= layer && layer <= step->last)
			step->solver->decide(cpu, step, layer, values);
	}
	return 0;
}
