/*
 * Parameters and statistics as in a trained network. All layers contribute to
 * the output. In batch norms, statistics are not 0 and 1, weights not 1 and
 * biases not 0. All processes draw the same values.
 */
#ifndef BENCH_VERIFY_VERIFY_NETWORK_H
#define BENCH_VERIFY_VERIFY_NETWORK_H

#include "models/model.h"

/* Draws model_parameter_count() parameters, scaled so that differences between
 * images reach the outputs through any number of layers. */
void verify_draw_parameters(const struct model *model, long seed,
			    float *parameters);

/* Draws model_buffer_count() running statistics. They are about as large as in
 * a run with these parameters and inputs with a mean square of 1. Outputs then
 * neither vanish nor overflow. */
void verify_draw_statistics(const struct model *model, long seed,
			    const float *parameters, float *buffers);

#endif
