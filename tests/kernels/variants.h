/*
 * For tests: every backend that computes, in every build of its kernels, and
 * the reference. It follows the backend's decisions, since rounding may choose
 * another winner.
 */
#ifndef TESTS_VARIANTS_H
#define TESTS_VARIANTS_H

#include "tests/kernels/subject.h"

#define BATCH 32
#define TEST_BATCH 40 /* more than BATCH: evaluated in slices */
#define SEED (77 + (3ull << 32))

/* Who computes; what a CPU does not have is skipped. */
struct variant {
	const char *name, *backend, *isa;
	int needed;
	const char *device_class;
	enum precision precision;
};

static const struct variant variants[] = {
	{ "cpu amx", "cpu", "amx", 0, NULL, 0 },
	{ "cpu avx512", "cpu", "avx512", 0, NULL, 0 },
	{ "cpu avx2", "cpu", "avx2", 0, NULL, 0 },
	{ "cpu portable", "cpu", "portable", 1, NULL, 0 },
	{ "openblas", "openblas", NULL, 1, NULL, 0 },
	{ "openblas fp64", "openblas", NULL, 1, NULL, PRECISION_FP64 },
	{ "opencl cpu", "opencl", NULL, 0, "cpu", 0 },
	{ "opencl gpu", "opencl", NULL, 0, "gpu", 0 },
	{ "reference", "reference", NULL, 1, NULL, 0 },
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static inline void variant_choose(const struct variant *variant)
{
	if (variant->isa)
		setenv("BENCH_ISA", variant->isa, 1);
	else
		unsetenv("BENCH_ISA");
}

static inline int have_variant(const struct variant *variant)
{
	const struct device_request request = {
		.threads = 1,
		.cpus = 1,
		.device_class = variant->device_class
	};

	variant_choose(variant);
	return variant->needed || have_device(variant->backend, &request);
}

/* The subject, and the reference. */
struct pair {
	struct subject tried, right;
};

static inline void pair_open_with(struct pair *pair,
				  const struct variant *variant,
				  const struct model *model,
				  const struct program_options *options)
{
	struct program_options own = *options;

	own.precision = variant->precision;
	variant_choose(variant);
	subject_open_class(&pair->tried, variant->backend,
			   variant->device_class, model, &own);
	subject_open(&pair->right, "reference", model, options);
	subject_start(&pair->tried, 5);
}

static inline void pair_open(struct pair *pair, const struct variant *variant,
			     const struct model *model, int batch, int dropout)
{
	const struct program_options options = { .batch = batch,
						 .test_batch = TEST_BATCH,
						 .seed = SEED,
						 .dropout = dropout };

	pair_open_with(pair, variant, model, &options);
}

static inline void pair_close(struct pair *pair)
{
	subject_close(&pair->tried);
	subject_close(&pair->right);
}

/* One check, made of each variant, which is its state. */
struct check {
	const char *name;
	CMUnitTestFunction function;
	int large; /* too large for sanitizers */
};

#define MOST_CHECKS 16

/* The reference, compared with itself, is always right. */
static inline int is_tried(const struct variant *variant)
{
	return !backend_find(variant->backend)->is_reference;
}

/* Runs the checks of the variants that takes() accepts; NULL: all. */
static inline int run_some_variants(const char *group,
				    const struct check *checks,
				    size_t check_count,
				    int (*takes)(const struct variant *))
{
	static struct CMUnitTest tests[VARIANTS * MOST_CHECKS];
	static char names[VARIANTS * MOST_CHECKS][64];
	size_t count = 0;

	memset(tests, 0, sizeof(tests)); /* from an earlier group */
	for (size_t v = 0; v < VARIANTS; v++) {
		const int have = (!takes || takes(&variants[v])) &&
				 have_variant(&variants[v]);

		for (size_t c = 0; c < check_count; c++, count++) {
			const int can = have && !(checks[c].large &&
						  tests_are_light());

			snprintf(names[count], sizeof(names[count]), "%s: %s",
				 variants[v].name, checks[c].name);
			tests[count] = (struct CMUnitTest){
				.name = names[count],
				.test_func = test_if(can, checks[c].function),
				.initial_state = (void *)&variants[v],
			};
		}
	}
	return cmocka_run_group_tests_name(group, tests, NULL, NULL);
}

static inline int run_variants(const char *group, const struct check *checks,
			       size_t check_count)
{
	return run_some_variants(group, checks, check_count, NULL);
}

#endif
