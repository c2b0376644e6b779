/*
 * What a program has that others are compared with, beside that of host.h:
 * vectors in double, and decisions of others that it follows. A program in fp32
 * has the latter alone.
 */
#ifndef BACKENDS_HOST_ORACLE_H
#define BACKENDS_HOST_ORACLE_H

#include "backends/host/host.h"
#include "backends/host/storage.h"

/* First member of such a backend's own program. */
struct oracle {
	struct host_program host; /* in double, lends its vectors of floats */
	double *vectors[VECTOR_COUNT]; /* NULL in fp32 */
	double *buffers; /* in fp32 too: statistics are summed in double */
	struct storage storage;
	/* The parameters as the layers take them that round them; NULL: none
	 * does, or VECTOR_PARAMETERS itself is rounded. */
	void *rounded;
	/* enum rounds of each layer, and room for a batch of one layer's
	 * factors: inputs, and the gradient by outputs. */
	unsigned char rounds[MODEL_MAX_LAYERS];
	void *factors[2];
	double *points; /* scratch of the layers that round their points */
	uint8_t *imposed[MODEL_MAX_LAYERS]; /* NULL: own decisions */
	double regret[MODEL_MAX_LAYERS];    /* of the last gradient */
};

/* Of a zeroed oracle; on failure nothing is left. */
int oracle_init(struct oracle *oracle, struct device *device,
		const struct model *model,
		const struct program_options *options, int in_double,
		struct error *err);
void oracle_release(struct oracle *oracle);

/* The last gradient's vectors, scores and regrets are forgotten, and what the
 * dropout layers keep of this batch is decided. */
void oracle_begin(struct oracle *oracle, const struct batch *batch);

/* Before each pass: what the layers take of the parameters is up to date. */
void oracle_round_parameters(struct oracle *oracle);
/* All parameters as this row takes them, reals. */
const void *oracle_parameters(const struct oracle *oracle,
			      const struct node *node);
/* Values of this row as its products take them, until the next call of the
 * same kind. */
enum oracle_factor { ORACLE_INPUTS, ORACLE_GRADIENTS };
const void *oracle_factors(const struct oracle *oracle, int row,
			   enum oracle_factor kind, const void *values,
			   size_t count);
/* If the row is a convolution that rounds its points, returns 1 and sets y to
 * its output for x, one sample each, in reals. Returns 0 for other rows. */
int oracle_points(const struct oracle *oracle, int row, const void *x,
		  void *y);
/* What is stored of count samples of a row's values, or of the gradients by
 * them, reals; of the images for MODEL_IMAGES. */
void oracle_round_row(const struct oracle *oracle, int row, void *values,
		      int count);
/* Once a gradient is there: its roundings, and the loss's scale taken out. */
void oracle_end(struct oracle *oracle, const struct batch *batch);

/* Decisions of sample i at a layer that are imposed, or NULL. */
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
