/*
 * What is trained: a network as a table of layers, the shapes derived from it,
 * and the flat vector in which all its parameters live.
 *
 * The table is a graph: each row names the row whose output it takes, which is
 * the one above unless it says otherwise, and an addition names two. Rows are
 * in topological order, so a row reads only rows above it.
 *
 * Nothing here allocates or knows who computes.
 *
 * Flat layout: the parameters of layer 0, then of layer 1, ...; within a layer
 * the weight in row-major order, then the bias. A convolution's weight is
 * [output][input][row][column], a linear layer's [output][input]; batch norm
 * has a weight and a bias a channel. This is the order of PyTorch's
 * state_dict(). Buffers, the running statistics of batch norm, have a flat
 * vector of their own in the same order: mean, then variance.
 */
#ifndef MODELS_MODEL_H
#define MODELS_MODEL_H

#include <stddef.h>

#include "models/recipe.h"

#define MODEL_MAX_LAYERS 192
#define MODEL_MAX_TENSORS (2 * MODEL_MAX_LAYERS)
#define MODEL_MAX_WINDOW 15 /* of a pooling: its winner fits into a byte */
/* Of images, windows and padding, and of a stride. */
#define MODEL_MAX_SIDE 65535
#define MODEL_MAX_CLASSES 65535 /* labels have 16 bits */
#define MODEL_IMAGES (-1) /* as the row that another one reads */

/*
 * Sides of outputs are floor((in + 2 pad - window) / stride) + 1, as PyTorch's
 * without dilation, groups or ceil mode.
 */
enum layer_kind {
	LAYER_CONV,	 /* zeros as padding; stride 1 unless it says so */
	LAYER_RELU,	 /* 0, gradient too, where x <= 0; else both pass */
	LAYER_MAXPOOL,	 /* -infinity as padding; the first maximum wins, a NaN
			  * over any, and of several NaNs whichever; stride is
			  * the window unless it says so */
	LAYER_AVGPOOL,	 /* adaptive: output i is the mean of the inputs from
			  * floor(i in / out) to ceil((i + 1) in / out) - 1 */
	LAYER_DROPOUT,	 /* one keep-or-drop choice per element */
	LAYER_DROPOUT2D, /* one keep-or-drop choice per plane [height][width] */
	LAYER_BATCHNORM, /* a channel's mean and biased variance over the batch;
			  * in evaluation the running ones */
	LAYER_ADD,	 /* of two inputs of one shape */
	LAYER_LINEAR,	 /* flattens its input as [channel][row][column] */
	LAYER_LOSS,	 /* see enum loss; the last row, and only that */
	LAYER_KINDS
};

/*
 * Of one sample with outputs x; a batch's is their mean. Targets are a class c,
 * or a vector z of as many values as there are outputs, n.
 */
enum loss {
	LOSS_NLL, /* cross-entropy: log-softmax, negative log-likelihood:
		   * log(sum of e^x) - x[c] */
	LOSS_BCE, /* binary cross-entropy with logits:
		   * sum of max(x, 0) - x z + log(1 + e^-|x|), over n */
	LOSS_MSE, /* sum of (x - z)^2, over n */
	LOSS_COUNT
};

struct layer {
	enum layer_kind kind;
	const char *name; /* of the layers that have parameters */
	int outputs;	  /* conv: planes, linear: units, avgpool: its side */
	int window;	  /* conv, maxpool: side of the square window */
	int stride;	  /* conv, maxpool; 0: as the kind says */
	int pad;	  /* conv, maxpool: on each of the four sides */
	int no_bias;	  /* conv */
	double drop;	  /* dropout: probability that an element is dropped */
	int from;	  /* rows between this one and that of its input */
	int with;	  /* add: likewise, of its other input */
	enum loss loss;	  /* loss */
};

/* Batch norm, Ioffe and Szegedy 2015, arXiv 1502.03167; as PyTorch's defaults,
 * running <- .9 running + .1 of the batch, whose variance is there unbiased. */
#define BATCHNORM_EPS 1e-5
#define BATCHNORM_MOMENTUM .1

struct shape {
	int channels, height, width;
};

/* Where initial parameters come from; batch norm begins with weights of 1 and
 * biases of 0 in either. */
enum init {
	INIT_UNIFORM, /* as each layer's constructor draws them */
	INIT_KAIMING_FAN_OUT, /* convolutions anew, behind all constructors */
};

#define MODEL_PIXEL_CHANNELS 3

/* What images are scaled by: a byte b of channel c becomes (b / 255 - mean[c])
 * / std[c], without a std b / 255. Channels take turns where there are more. */
struct pixel_scale {
	float mean[MODEL_PIXEL_CHANNELS], std[MODEL_PIXEL_CHANNELS];
};

struct model {
	const char *name;
	const char *summary;
	struct shape input;
	struct pixel_scale scale;
	const char *dataset; /* its own; NULL: MNIST, or else Fashion-MNIST */
	int layer_count;
	const struct layer *layers;
	enum init init;
	/* With INIT_KAIMING_FAN_OUT: outputs of the linear layer that was built
	 * first, and then replaced by the one of the table; 0: it was not. */
	int replaced_outputs;
	struct recipe recipe;
};

/* One named piece of the flat vector. */
struct tensor {
	char name[48]; /* "conv1.weight" */
	size_t offset, count;
	int layer;
	int fan_in; /* inputs that one output sums over; batch norm: 1 */
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

/* "conv", "linear" */
const char *layer_kind_name(enum layer_kind kind);

/* "layer 8 (linear 'fc2')": a row of the table, counted from 0. */
void layer_describe(const struct model *model, int index, char *text,
		    size_t size);

size_t shape_size(struct shape shape);

/* Whether the layer has a weight; all but a conv's no_bias have a bias too. */
int layer_has_parameters(const struct layer *layer);
/* Whether it is either dropout. */
int layer_drops(const struct layer *layer);

/* Of a conv or maxpool. */
int layer_stride(const struct layer *layer);

/* The same, but no longer than the padded input: there is one place then. */
int layer_stride_within(const struct layer *layer, struct shape input);

/* Shape that a layer makes of input; all zero when it does not fit. */
struct shape layer_output(const struct layer *layer, struct shape input);

/*
 * Decisions that a layer takes for one sample: one per element of a ReLU and a
 * dropout, one per window of a max pooling, one per plane of a 2d dropout.
 */
size_t layer_decisions(const struct layer *layer, struct shape input);

/* The row whose output is the input of row index, or MODEL_IMAGES. */
int model_source(const struct model *model, int index);
/* Likewise the other one of an addition; of other kinds undefined. */
int model_other_source(const struct model *model, int index);

/* What a byte of an image is to the model, in this channel. */
float model_pixel(const struct model *model, int channel, int byte);

/* Shape that goes into layer index (0 .. layer_count - 1). */
struct shape model_layer_input(const struct model *model, int index);

/* The same for all layers at once, layer_count of them. */
void model_inputs(const struct model *model, struct shape *inputs);

/* Into learnt[row], layer_count of them: whether its output depends on
 * parameters, so that a gradient by it is wanted. */
void model_learnt(const struct model *model, unsigned char *learnt);

/* Whether a layer sees other samples of its batch. */
int model_has_batchnorm(const struct model *model);

/* A row of batch norm that has one value a channel and sample, or -1: of one
 * sample there is no variance then. */
int model_lone_norm(const struct model *model);

/* That of its last row. */
enum loss model_loss(const struct model *model);

/* Whether targets are classes; else they are vectors. */
int model_has_classes(const struct model *model);

/* Classes that the loss tells apart, or values of the vectors. */
int model_classes(const struct model *model);

/* What a sample is asked: its class, whether it has each label (LOSS_BCE), or
 * nothing that is right or wrong (LOSS_MSE, 0). */
int model_answers(const struct model *model);

size_t model_parameter_count(const struct model *model);

/*
 * Fills the named tensors in the order of the flat vector and returns how many
 * there are, at most MODEL_MAX_TENSORS.
 */
int model_tensors(const struct model *model,
		  struct tensor tensors[MODEL_MAX_TENSORS]);

size_t model_buffer_count(const struct model *model);

/* The same of buffers: "bn1.running_mean", "bn1.running_var". */
int model_buffers(const struct model *model,
		  struct tensor buffers[MODEL_MAX_TENSORS]);

/* Means of 0, variances of 1. */
void model_init_buffers(const struct model *model, float *buffers);

struct model_work model_work(const struct model *model);

/*
 * The parameters that torch.manual_seed(seed) and then building the net give:
 * every weight and bias uniform within 1 / sqrt(fan_in) of zero, drawn in the
 * order of the flat vector; and with INIT_KAIMING_FAN_OUT, the convolutions'
 * weights normal, within rounding of PyTorch's, whose logarithms and cosines
 * are its own.
 */
void model_init(const struct model *model, unsigned long long seed,
		float *parameters);

#endif
