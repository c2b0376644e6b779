/*
 * A network as forward passes alone may compute it. In evaluation a batch norm
 * multiplies each channel and adds to it, by constants: where it is the only
 * reader of a convolution or linear layer, it becomes part of that layer,
 *
 *	w' = w s, b' = (b - mean) s + bias of the norm,
 *	s = weight of the norm / sqrt(variance + BATCHNORM_EPS),
 *
 * a channel each. Other norms stay.
 */
#ifndef MODELS_FOLD_NORMS_H
#define MODELS_FOLD_NORMS_H

#include "models/model.h"

/* Points into itself: make it where it stays. */
struct folded_model {
	struct model model;
	struct layer layers[MODEL_MAX_LAYERS]; /* the table of model */
	/* Of each of its rows, rows of the original: what it was, and the norm
	 * that is part of it now, or -1. */
	int rows[MODEL_MAX_LAYERS], norms[MODEL_MAX_LAYERS];
};

/* Of a model that model_check() allows. */
void fold_norms(struct folded_model *folded, const struct model *model);

/*
 * The vectors of folded->model, model_parameter_count() and
 * model_buffer_count() of it, from those of the original; computed in double.
 */
void fold_norms_vectors(const struct folded_model *folded,
			const struct model *model, const float *parameters,
			const float *buffers, float *folded_parameters,
			float *folded_buffers);

#endif
