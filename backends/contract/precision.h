/* Algorithms and number formats, with their names. */
#ifndef BACKENDS_CONTRACT_PRECISION_H
#define BACKENDS_CONTRACT_PRECISION_H

/*
 * Dense does every multiplication of the layers' definitions. Fast may skip
 * what does not change a result for any input: dropped planes, all but the
 * winner of a pooling window, zeros from ReLU. It may also use Winograd's
 * algorithm.
 */
enum algorithm { ALGORITHM_FAST, ALGORITHM_DENSE, ALGORITHM_COUNT };

/*
 * With bf16 the factors of products may be rounded to bf16, if that is faster.
 * Sums, parameters and the optimizer's state stay fp32. With fp64 everything is
 * double; only vectors that cross this interface are rounded to floats. fp16
 * and bf16-storage round stored values: backends/host/storage.h.
 */
enum precision {
	PRECISION_FP32,
	PRECISION_BF16,
	PRECISION_FP64,
	PRECISION_FP16,
	PRECISION_BF16_STORAGE,
	PRECISION_COUNT
};

/* Numbers that a layer rounds with PRECISION_BF16; it rounds no others. */
enum rounds {
	ROUNDS_NOTHING,
	/* factors of its products: inputs, weights, and gradients of outputs */
	ROUNDS_FACTORS,
	ROUNDS_POINTS, /* points, in an evaluation: backends/host/points.h */
};

/* Returns "fast" or "dense". */
const char *algorithm_name(enum algorithm algorithm);
/* Returns "fp32", "bf16", "fp64", "fp16" or "bf16-storage". */
const char *precision_name(enum precision precision);
/* Returns the precision called name, which must exist; fp32 for NULL. */
enum precision precision_find(const char *name);

/* Returns 1 if the precision rounds stored values: backends/host/storage.h. */
int precision_rounds(enum precision precision);

#endif
