/*
 * A network as it may be once it has learnt: all layers have a say in what it
 * puts out, statistics of batch norm are not 0 and 1, its weights not 1, its
 * biases not 0. What is drawn is the same in all processes.
 */
#ifndef BENCH_VERIFY_VERIFY_NETWORK_H
#define BENCH_VERIFY_VERIFY_NETWORK_H

#include "models/model.h"

/* model_parameter_count() of them: what images differ in reaches the outputs,
 * through however many layers. */
void verify_draw_parameters(const struct model *model, long seed,
			    float *parameters);

/* Running statistics, model_buffer_count() of them: about as large as what
 * these parameters make of inputs that have a mean square of 1, so that no
 * network vanishes or overflows. */
void verify_draw_statistics(const struct model *model, long seed,
			    const float *parameters, float *buffers);

#endif
