/*
 * Folding of batch norms for inference. In evaluation a batch norm multiplies
 * each channel by a constant and adds one. If it is the only reader of a
 * convolution or linear layer, it becomes part of that layer. Per channel:
 *
 *	w' = w s, b' = (b - mean) s + bias of the norm,
 *	s = weight of the norm / sqrt(variance + BATCHNORM_EPS)
 *
 * Other norms stay.
 */
#ifndef MODELS_FOLD_NORMS_H
#define MODELS_FOLD_NORMS_H

#include "models/model.h"

/* Has pointers into itself: do not copy it. */
struct folded_model {
	struct model model;
	struct layer layers[MODEL_MAX_LAYERS]; /* the table of model */
	/* By row: the original row, and the original norm that is now part of
	 * it, or -1. */
	int rows[MODEL_MAX_LAYERS], norms[MODEL_MAX_LAYERS];
};

/* Makes folded from a model that model_check() accepts. */
void fold_norms(struct folded_model *folded, const struct model *model);

/*
 * Computes the vectors of folded->model from the original's, in double. Their
 * lengths are model_parameter_count() and model_buffer_count() of
 * folded->model.
 */
void fold_norms_vectors(const struct folded_model *folded,
			const struct model *model, const float *parameters,
			const float *buffers, float *folded_parameters,
			float *folded_buffers);

#endif
