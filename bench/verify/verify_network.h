/*
 * Parameters and statistics like those of a trained network: all layers
 * contribute to the output, statistics of batch norm are not 0 and 1, its
 * weights not 1, its biases not 0. All processes draw the same values.
 */
#ifndef BENCH_VERIFY_VERIFY_NETWORK_H
#define BENCH_VERIFY_VERIFY_NETWORK_H

#include "models/model.h"

/* Draws model_parameter_count() parameters, scaled so that differences between
 * images reach the outputs through any number of layers. */
void verify_draw_parameters(const struct model *model, long seed,
			    float *parameters);

/* Draws model_buffer_count() running statistics. They are about as large as
 * these parameters would make them for inputs with a mean square of 1, so that
 * outputs neither vanish nor overflow. */
void verify_draw_statistics(const struct model *model, long seed,
			    const float *parameters, float *buffers);

#endif
