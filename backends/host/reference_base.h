/*
 * Base of backends that others are compared with: host.h's program with vectors
 * in double, and with imposed decisions. A program in fp32 has only the latter.
 */
#ifndef BACKENDS_HOST_REFERENCE_BASE_H
#define BACKENDS_HOST_REFERENCE_BASE_H

#include "backends/host/host.h"
#include "backends/host/storage.h"

/* First member of such a backend's program. */
struct reference_base {
	/* in double, its vectors are used for exchange only */
	struct host_program host;
	double *vectors[VECTOR_COUNT]; /* NULL in fp32 */
	double *buffers; /* in fp32 too: statistics are summed in double */
	struct storage storage;
	/* The parameters, rounded, for layers that round them; NULL = none
	 * does, or VECTOR_PARAMETERS itself is rounded. */
	void *rounded;
	/* enum rounds of each layer, and space for a batch of one layer's
	 * factors: inputs, and the gradient of outputs. */
	unsigned char rounds[MODEL_MAX_LAYERS];
	void *factors[2];
	double *points; /* scratch of layers that round their points */
	uint8_t *imposed[MODEL_MAX_LAYERS]; /* NULL = own decisions */
	double regret[MODEL_MAX_LAYERS];    /* of the last gradient */
};

/* Initialises a zeroed base; releases all on failure. Returns 0, or -1 with
 * err. */
int base_init(struct reference_base *reference, struct device *device,
	      const struct model *model,
	      const struct program_options *options, int in_double,
	      struct error *err);
void base_release(struct reference_base *reference);

/* Clears the last gradient, score and regrets, and chooses what dropout keeps
 * of this batch. */
void base_begin(struct reference_base *reference, const struct batch *batch);

/* Updates the rounded parameters; call before each pass. */
void base_round_parameters(struct reference_base *reference);
/* Returns all parameters as this row uses them, reals. */
const void *base_parameters(const struct reference_base *reference,
			    const struct node *node);
/* Returns values of this row as its products use them, valid until the next
 * call of the same kind. */
enum base_factor { BASE_INPUTS, BASE_GRADIENTS };
const void *base_factors(const struct reference_base *reference, int row,
			 enum base_factor kind, const void *values,
			 size_t count);
/* Returns 1 and sets y to the row's output for x, if the row is a convolution
 * that rounds its points; else returns 0. x and y are reals of one sample. */
int base_points(const struct reference_base *reference, int row, const void *x,
		void *y);
/* Rounds the stored values of a row, or their gradients, of count samples;
 * reals. MODEL_IMAGES: the images. */
void base_round_row(const struct reference_base *reference, int row,
		    void *values, int count);
/* Rounds the complete gradient, and divides it by the loss's scale. */
void base_end(struct reference_base *reference, const struct batch *batch);

/* Returns imposed decisions of sample i at a layer, or NULL. */
const uint8_t *base_imposed(const struct reference_base *reference, int layer,
			    int i);

/* Slots of struct backend. */
int base_store(struct program *program, enum vector which,
	       const float *values, struct error *err);
int base_load(struct program *program, enum vector which, float *values,
	      struct error *err);
float *base_map(struct program *program, enum vector which,
		struct error *err);
int base_unmap(struct program *program, enum vector which,
	       struct error *err);
int base_update(struct program *program, const struct update *update,
		size_t from, size_t to, struct error *err);
int base_impose(struct program *program, int layer, const uint8_t *values,
		struct error *err);
int base_round_factors(struct program *program, const unsigned char *rounds,
		       struct error *err);

#endif
