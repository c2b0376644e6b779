/* Names of the algorithms and of the number formats. */
#ifndef BACKENDS_CONTRACT_PRECISION_H
#define BACKENDS_CONTRACT_PRECISION_H

/*
 * Dense does every multiplication that the layers' definitions have. Fast may
 * leave out what holds for any input: dropped planes, all but the winner of a
 * pooling window, what ReLU has made zero; and may use Winograd's algorithm.
 */
enum algorithm { ALGORITHM_FAST, ALGORITHM_DENSE, ALGORITHM_COUNT };

/*
 * With bf16 the factors of products may be rounded to bf16, where that is
 * faster. Sums, parameters and the optimizer's state stay fp32. With fp64 all
 * of it is double; vectors are rounded to floats where they cross this border.
 * fp16 and bf16-storage round what is stored: backends/host/storage.h.
 */
enum precision {
	PRECISION_FP32,
	PRECISION_BF16,
	PRECISION_FP64,
	PRECISION_FP16,
	PRECISION_BF16_STORAGE,
	PRECISION_COUNT
};

/* The numbers that a layer rounds with PRECISION_BF16; it rounds no others. */
enum rounds {
	ROUNDS_NOTHING,
	ROUNDS_FACTORS, /* the factors of its products: inputs, weights, and
			 * the gradient by outputs */
	ROUNDS_POINTS, /* in an evaluation: backends/host/points.h */
};

/* "fast", "dense" */
const char *algorithm_name(enum algorithm algorithm);
/* "fp32", "bf16", "fp64", "fp16", "bf16-storage" */
const char *precision_name(enum precision precision);
/* The precision called name, which is one of these; fp32 for NULL. */
enum precision precision_find(const char *name);

/* 1 if the precision rounds stored values: backends/host/storage.h. */
int precision_rounds(enum precision precision);

#endif
