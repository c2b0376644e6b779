/*
 * What is trained: a network as a table of layers, the shapes that follow
 * from it, and the flat vector in which all its parameters live.
 *
 * Nothing here allocates or knows who computes.
 *
 * Flat layout: the parameters of layer 0, then of layer 1, ...; within a layer
 * the weight in row-major order, then the bias. A convolution's weight is
 * [output][input][row][column], a linear layer's [output][input]. This is the
 * order of PyTorch's state_dict().
 */
#ifndef MODELS_MODEL_H
#define MODELS_MODEL_H

#include <stddef.h>

#define MODEL_MAX_LAYERS 16
#define MODEL_MAX_TENSORS (2 * MODEL_MAX_LAYERS)
#define MODEL_MAX_WINDOW 16 /* of a pooling: its winner fits into a byte */
#define MODEL_MAX_CLASSES 256 /* labels are bytes */

enum layer_kind {
	LAYER_CONV,	 /* stride 1, no padding, with bias */
	LAYER_RELU,	 /* 0, and its slope 0, where x <= 0; else both pass */
	LAYER_MAXPOOL,	 /* windows do not overlap; a rest is dropped */
	LAYER_DROPOUT,	 /* one keep-or-drop choice per element */
	LAYER_DROPOUT2D, /* one keep-or-drop choice per plane [height][width] */
	LAYER_LINEAR,	 /* flattens its input as [channel][row][column] */
	LAYER_LOSS,	 /* log-softmax and negative log-likelihood; the last */
	LAYER_KINDS
};

struct layer {
	enum layer_kind kind;
	const char *name; /* of the layers that have parameters */
	int outputs;	  /* conv: planes, linear: units */
	int window;	  /* conv, maxpool: side of the square window */
	double drop;	  /* dropout: probability that an element is dropped */
};

struct shape {
	int channels, height, width;
};

/* How a network is trained unless the user says otherwise. */
struct recipe {
	int batch; /* samples per core and iteration */
	int epochs;
	double lr, rho, eps; /* Adadelta, Zeiler 2012, arXiv 1212.5701 */
	int lr_step;	     /* StepLR: after so many epochs ... */
	double lr_gamma;     /* ... the rate is multiplied by this */
};

struct model {
	const char *name;
	const char *summary;
	struct shape input;
	int layer_count;
	const struct layer *layers;
	struct recipe recipe;
};

/* One named piece of the flat vector. */
struct tensor {
	char name[32]; /* "conv1.weight" */
	size_t offset, count;
	int layer;
	int fan_in; /* inputs that one output sums over */
};

/* Multiplications and additions, counted as one, for one sample. */
struct model_work {
	double forward, backward_data, backward_weights;
};

/* The model called name, or NULL. */
const struct model *model_find(const char *name);

/* Walks over all models: the one after previous, the first for NULL. */
const struct model *model_next(const struct model *previous);

/*
 * 0, or -1 and one sentence into text about what is wrong with the table: the
 * model's name, the layer, the numbers that do not fit and those that would.
 */
int model_check(const struct model *model, char *text, size_t size);

/* The same of numbers that a training divides by or counts to. */
int recipe_check(const struct recipe *recipe, char *text, size_t size);

/* "conv", "linear" */
const char *layer_kind_name(enum layer_kind kind);

/* "layer 8 (linear 'fc2')": a row of the table, counted from 0. */
void layer_describe(const struct model *model, int index, char *text,
		    size_t size);

size_t shape_size(struct shape shape);

/* Whether the layer has a weight and a bias. */
int layer_has_parameters(const struct layer *layer);

/* Shape that a layer makes of input; all zero when it does not fit. */
struct shape layer_output(const struct layer *layer, struct shape input);

/*
 * Decisions that a layer takes for one sample: one per element of a ReLU and a
 * dropout, one per window of a max pooling, one per plane of a 2d dropout.
 */
size_t layer_decisions(const struct layer *layer, struct shape input);

/* Shape that goes into layer index (0 .. layer_count - 1). */
struct shape model_layer_input(const struct model *model, int index);

/* Classes that the loss tells apart. */
int model_classes(const struct model *model);

size_t model_parameter_count(const struct model *model);

/*
 * Fills the named tensors in the order of the flat vector and returns how many
 * there are, at most MODEL_MAX_TENSORS.
 */
int model_tensors(const struct model *model,
		  struct tensor tensors[MODEL_MAX_TENSORS]);

struct model_work model_work(const struct model *model);

/* StepLR: lr * gamma^floor(epoch / step), the first epoch being 0. */
double recipe_rate(const struct recipe *recipe, int epoch);

/*
 * The parameters that torch.manual_seed(seed) and then building the net give:
 * every weight and bias uniform within 1 / sqrt(fan_in) of zero, drawn in the
 * order of the flat vector.
 */
void model_init(const struct model *model, unsigned long long seed,
		float *parameters);

#endif
