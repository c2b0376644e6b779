/*
 * Self-check of OpenBLAS. A library that is not made for threads returns wrong
 * products now and then, without an error. All threads therefore multiply at
 * once before the work begins, each its own numbers, and compare with the right
 * result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backends/host/blas.h"

#define CALLS 240 /* of all threads: some milliseconds */
#define MOST_CALLS 1000000

/*
 * Rows and columns of all three matrices: similar to a batch and a layer of the
 * models, and large enough for the library's shared buffers. Equal in all
 * threads, so that these stay in step and collide.
 */
#define SIZE 128
#define ENTRIES (SIZE * SIZE)

struct blas_trial {
	float *a, *b, *c, *right;
};

/* Returns small integers, whose sums are exact in any order. */
static float *make_numbers(int step, int start, int range)
{
	float *values = malloc(ENTRIES * sizeof(*values));

	for (int i = 0; values && i < ENTRIES; i++)
		values[i] = (float)((i * step + start) % range - range / 2);
	return values;
}

static void multiply(const float *a, const float *b, float *c)
{
	for (int i = 0; i < SIZE; i++)
		for (int l = 0; l < SIZE; l++)
			for (int j = 0; j < SIZE; j++)
				c[i * SIZE + j] += a[i * SIZE + l] *
						   b[l * SIZE + j];
}

static int trial_open(struct blas_trial *trial, int thread, struct error *err)
{
	trial->a = make_numbers(7, thread, 17);
	trial->b = make_numbers(5, thread, 13);
	trial->c = calloc(ENTRIES, sizeof(float));
	trial->right = calloc(ENTRIES, sizeof(float));
	if (!trial->a || !trial->b || !trial->c || !trial->right)
		return error_memory(err, "the self-check of OpenBLAS");
	multiply(trial->a, trial->b, trial->right);
	return 0;
}

static void trial_close(struct blas_trial *trial)
{
	free(trial->a);
	free(trial->b);
	free(trial->c);
	free(trial->right);
}

static int trial_run(const struct blas_trial *trial, int threads,
		     struct error *err)
{
	char library[96];
	int i = 0;

	blas_gemm(BLAS_AS_IS, BLAS_AS_IS, SIZE, SIZE, SIZE, trial->a, trial->b,
		  0, trial->c);
	while (i < ENTRIES && trial->c[i] == trial->right[i])
		i++;
	if (i == ENTRIES)
		return 0;
	blas_describe(library, sizeof(library));
	return error_set(err, ERROR_FAILED,
			 "OpenBLAS fails its self-check. With %d threads, "
			 "entry %d of a product of %d x %d x %d is %g, not %g "
			 "(%s): apt-get install libopenblas0-pthread",
			 threads, i, SIZE, SIZE, SIZE,
			 (double)trial->c[i], (double)trial->right[i],
			 library);
}

/* Returns the calls of each thread; a test may raise it to provoke a race. */
static long count_calls(int threads)
{
	const char *text = getenv("BENCH_TEST_BLAS_CALLS");
	const long wanted = text ? strtol(text, NULL, 10) : CALLS;
	const long calls = wanted < CALLS ? CALLS :
			   wanted > MOST_CALLS ? MOST_CALLS : wanted;

	return calls > threads ? calls / threads : 1;
}

int blas_check(int thread, int threads, struct error *err)
{
	const long calls = count_calls(threads);
	struct blas_trial trial = { 0 };
	int failed = trial_open(&trial, thread, err);

	for (long i = 0; i < calls && !failed; i++)
		failed = trial_run(&trial, threads, err);
	trial_close(&trial);
	return failed;
}

const struct library blas_library = {
	.variable = blas_variable,
	.check = blas_check,
};
