/*
 * A network as a table of layers, the shapes derived from it, and the flat
 * vector of its parameters.
 *
 * The table is a graph. Each row reads the output of the row above, unless it
 * names another one; an addition reads two. Rows are in topological order, so a
 * row reads only rows above it.
 *
 * The functions allocate nothing and depend on no backend.
 *
 * Flat layout: the parameters of layer 0, then of layer 1, ...; within a layer
 * the weight in row-major order, then the bias. A convolution's weight is
 * [output][input][row][column], a linear layer's [output][input]; batch norm
 * has a weight and a bias per channel. This is the order of PyTorch's
 * state_dict(). Buffers, the running statistics of batch norm, have a flat
 * vector of their own in layer order: mean, then variance.
 */
#ifndef MODELS_MODEL_H
#define MODELS_MODEL_H

#include <stddef.h>

#include "models/recipe.h"

#define MODEL_MAX_LAYERS 192
#define MODEL_MAX_TENSORS (2 * MODEL_MAX_LAYERS)
#define MODEL_MAX_WINDOW 15 /* of a pooling; its winner fits into a byte */
/* Images, windows, paddings and strides. */
#define MODEL_MAX_SIDE 65535
#define MODEL_MAX_CLASSES 65535 /* labels have 16 bits */
#define MODEL_IMAGES (-1) /* the row that a first layer reads */

/* Kinds of layers. Sides of outputs are floor((in + 2 pad - window) / stride) +
 * 1, as PyTorch's without dilation, groups or ceil mode. */
enum layer_kind {
	LAYER_CONV,	 /* padding with zeros; default stride 1 */
	LAYER_RELU,	 /* x <= 0 becomes 0, and so does its gradient */
	/* padding with -infinity; the first maximum wins, a NaN over any
	 * number, any of several NaNs; default stride: the window */
	LAYER_MAXPOOL,
	/* adaptive: output i is the mean of inputs floor(i in / out) to ceil((i
	 * + 1) in / out) - 1 */
	LAYER_AVGPOOL,
	LAYER_DROPOUT,	 /* one choice per element */
	LAYER_DROPOUT2D, /* one choice per plane [height][width] */
	/* per channel, by mean and biased variance of the batch; in evaluation
	 * by the running ones */
	LAYER_BATCHNORM,
	LAYER_ADD,	 /* of two inputs of equal shape */
	LAYER_LINEAR,	 /* flattens its input as [channel][row][column] */
	LAYER_LOSS,	 /* see enum loss; the last row, and only there */
	LAYER_KINDS
};

/* Loss of one sample with outputs x; a batch's loss is the mean. Targets are a
 * class c, or a vector z of n values, one per output. */
enum loss {
	/* cross-entropy: log-softmax, negative log-likelihood: log(sum of e^x)
	 * - x[c] */
	LOSS_NLL,
	/* binary cross-entropy with logits: sum of max(x, 0) - x z + log(1 +
	 * e^-|x|), over n */
	LOSS_BCE,
	LOSS_MSE, /* sum of (x - z)^2, over n */
	LOSS_COUNT
};

struct layer {
	enum layer_kind kind;
	const char *name; /* of layers with parameters */
	int outputs;	  /* conv: planes; linear: units; avgpool: its side */
	int window;	  /* conv, maxpool: side of the square window */
	int stride;	  /* conv, maxpool; 0 = the kind's default */
	int pad;	  /* conv, maxpool: on each of the four sides */
	int no_bias;	  /* conv */
	double drop;	  /* dropout: probability of dropping an element */
	int from;	  /* rows between this row and its input's */
	int with;	  /* add: rows between this row and its other input's */
	enum loss loss;	  /* loss */
};

/*
 * Batch norm (Ioffe and Szegedy 2015, arXiv 1502.03167) with PyTorch's
 * defaults: running <- .9 running + .1 batch, with the batch's unbiased
 * variance.
 */
#define BATCHNORM_EPS 1e-5
#define BATCHNORM_MOMENTUM .1

struct shape {
	int channels, height, width;
};

/* Initial parameters. Batch norm begins with weights of 1 and biases of 0. */
enum init {
	INIT_UNIFORM, /* as each layer's constructor draws them */
	/* convolutions drawn again, after all constructors */
	INIT_KAIMING_FAN_OUT,
};

#define MODEL_PIXEL_CHANNELS 3

/* Scale of images: byte b of channel c becomes (b / 255 - mean[c]) / std[c], or
 * b / 255 if std is 0. More channels use the entries in turn. */
struct pixel_scale {
	float mean[MODEL_PIXEL_CHANNELS], std[MODEL_PIXEL_CHANNELS];
};

struct model {
	const char *name;
	const char *summary;
	struct shape input;
	struct pixel_scale scale;
	/* default data set; NULL = MNIST, or else Fashion-MNIST */
	const char *dataset;
	int layer_count;
	const struct layer *layers;
	enum init init;
	/* With INIT_KAIMING_FAN_OUT: outputs of a linear layer that is
	 * constructed first and then replaced by the table's; 0 = none. */
	int replaced_outputs;
	struct recipe recipe;
};

/* A named piece of the flat vector. */
struct tensor {
	char name[48]; /* "conv1.weight" */
	size_t offset, count;
	int layer;
	int fan_in; /* inputs summed by one output; batch norm: 1 */
};

/* Multiply-adds per sample. */
struct model_work {
	double forward, backward_data, backward_weights;
};

/* Returns the model called name, or NULL. */
const struct model *model_find(const char *name);

/* Returns the model after previous, the first for NULL, NULL after the last. */
const struct model *model_next(const struct model *previous);

/*
 * Returns 0, or -1 and writes a sentence into text about the first error in the
 * table. It has the model's name, the layer, the wrong number and the allowed
 * ones.
 */
int model_check(const struct model *model, char *text, size_t size);

/* Returns the name of a kind: "conv", "linear". */
const char *layer_kind_name(enum layer_kind kind);

/* Writes a description of a row, counted from 0: "layer 8 (linear 'fc2')". */
void layer_describe(const struct model *model, int index, char *text,
		    size_t size);

size_t shape_size(struct shape shape);

/* Returns 1 if the layer has a weight; all such layers have a bias too, except
 * convolutions with no_bias. */
int layer_has_parameters(const struct layer *layer);
/* Returns 1 if the layer is a dropout of either kind. */
int layer_drops(const struct layer *layer);

/* Returns the stride of a conv or maxpool, which may be the default. */
int layer_stride(const struct layer *layer);

/* Returns the stride, but at most the side of the padded input: then there is
 * one place for the window. */
int layer_stride_within(const struct layer *layer, struct shape input);

/* Returns the shape of a layer's output; all zero if the input does not fit. */
struct shape layer_output(const struct layer *layer, struct shape input);

/* Returns the decisions per sample: one per element of a ReLU or dropout, per
 * window of a max pooling, per plane of dropout2d. */
size_t layer_decisions(const struct layer *layer, struct shape input);

/* Returns the row whose output is row index's input, or MODEL_IMAGES. */
int model_source(const struct model *model, int index);
/* Returns the row of an addition's other input; undefined for other kinds. */
int model_other_source(const struct model *model, int index);

/* Returns the model's value of a byte of an image in this channel. */
float model_pixel(const struct model *model, int channel, int byte);

/* Returns the shape of layer index's input (0 .. layer_count - 1). */
struct shape model_layer_input(const struct model *model, int index);

/* Sets inputs[layer_count] to the shapes of all layers' inputs. */
void model_inputs(const struct model *model, struct shape *inputs);

/* Sets learnt[layer_count] to 1 for rows whose outputs depend on parameters, so
 * that they need a gradient; else 0. */
void model_learnt(const struct model *model, unsigned char *learnt);

/* Returns 1 if a layer combines samples of its batch. */
int model_has_batchnorm(const struct model *model);

/* Returns a row of batch norm with one value per channel and sample, or -1. A
 * batch of one sample has no variance there. */
int model_lone_norm(const struct model *model);

/* Returns the loss of the last row. */
enum loss model_loss(const struct model *model);

/* Returns 1 if targets are classes, 0 if they are vectors. */
int model_has_classes(const struct model *model);

/* Returns the number of classes, or of a target vector's values. */
int model_classes(const struct model *model);

/* Returns the answers per sample that are right or wrong: 1 class, one per
 * label (LOSS_BCE), or 0 (LOSS_MSE). */
int model_answers(const struct model *model);

size_t model_parameter_count(const struct model *model);

/* Fills the named tensors in the order of the flat vector and returns their
 * number, at most MODEL_MAX_TENSORS. */
int model_tensors(const struct model *model,
		  struct tensor tensors[MODEL_MAX_TENSORS]);

size_t model_buffer_count(const struct model *model);

/* Fills the named buffers and returns their number: "bn1.running_mean",
 * "bn1.running_var". */
int model_buffers(const struct model *model,
		  struct tensor buffers[MODEL_MAX_TENSORS]);

/* Sets means to 0 and variances to 1. */
void model_init_buffers(const struct model *model, float *buffers);

struct model_work model_work(const struct model *model);

/*
 * Sets the parameters that PyTorch has after torch.manual_seed(seed) and
 * building the net. Weights and biases are uniform within 1 / sqrt(fan_in) of
 * zero, drawn in the order of the flat vector. With INIT_KAIMING_FAN_OUT, the
 * convolutions' weights are normal. They equal PyTorch's within rounding, since
 * its logarithms and cosines are its own.
 */
void model_init(const struct model *model, unsigned long long seed,
		float *parameters);

#endif
