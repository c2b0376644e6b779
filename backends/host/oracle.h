/*
 * Base of backends that others are compared with: host.h's program with vectors
 * in double, and with imposed decisions. A program in fp32 has only the latter.
 */
#ifndef BACKENDS_HOST_ORACLE_H
#define BACKENDS_HOST_ORACLE_H

#include "backends/host/host.h"
#include "backends/host/storage.h"

/* First member of such a backend's program. */
struct oracle {
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

/* Initialises a zeroed oracle; releases all on failure. Returns 0, or -1 with
 * err. */
int oracle_init(struct oracle *oracle, struct device *device,
		const struct model *model,
		const struct program_options *options, int in_double,
		struct error *err);
void oracle_release(struct oracle *oracle);

/* Clears the last gradient, score and regrets, and chooses what dropout keeps
 * of this batch. */
void oracle_begin(struct oracle *oracle, const struct batch *batch);

/* Updates the rounded parameters; call before each pass. */
void oracle_round_parameters(struct oracle *oracle);
/* Returns all parameters as this row uses them, reals. */
const void *oracle_parameters(const struct oracle *oracle,
			      const struct node *node);
/* Returns values of this row as its products use them, valid until the next
 * call of the same kind. */
enum oracle_factor { ORACLE_INPUTS, ORACLE_GRADIENTS };
const void *oracle_factors(const struct oracle *oracle, int row,
			   enum oracle_factor kind, const void *values,
			   size_t count);
/* Returns 1 and sets y to the row's output for x, if the row is a convolution
 * that rounds its points; else returns 0. x and y are reals of one sample. */
int oracle_points(const struct oracle *oracle, int row, const void *x,
		  void *y);
/* Rounds the stored values of a row, or their gradients, of count samples;
 * reals. MODEL_IMAGES: the images. */
void oracle_round_row(const struct oracle *oracle, int row, void *values,
		      int count);
/* Rounds the complete gradient, and divides it by the loss's scale. */
void oracle_end(struct oracle *oracle, const struct batch *batch);

/* Returns imposed decisions of sample i at a layer, or NULL. */
const uint8_t *oracle_imposed(const struct oracle *oracle, int layer, int i);

/* Slots of struct backend. */
int oracle_store(struct program *program, enum vector which,
		 const float *values, struct error *err);
int oracle_load(struct program *program, enum vector which, float *values,
		struct error *err);
float *oracle_map(struct program *program, enum vector which,
		  struct error *err);
int oracle_unmap(struct program *program, enum vector which,
		 struct error *err);
int oracle_update(struct program *program, const struct update *update,
		  size_t from, size_t to, struct error *err);
int oracle_impose(struct program *program, int layer, const uint8_t *values,
		  struct error *err);
int oracle_round_factors(struct program *program, const unsigned char *rounds,
			 struct error *err);

#endif
