/* bench verify notices kernels of bf16 that round, place or sum wrongly. */
#include "bench/verify/verify.h"

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/kernels.h"
#include "tests/unit/own.h"
#include "tests/kernels/skipping.h"

/* The second convolution is by Winograd's points, in bf16: its outputs are two
 * blocks, the second of half a vector, and the third convolution reads them
 * rounded. */
static const struct layer blocks[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 64, .window = 4,
	  .stride = 4 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 72, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "conv3", .outputs = 16, .window = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model own_models[] = {
	MODEL("blocks", blocks, RECIPE),
	{ .name = NULL },
};

struct backend own_backends[1]; /* none */

const struct cpu_kernels *__real_cpu_choose_kernels(struct error *err);
const struct cpu_kernels *__wrap_cpu_choose_kernels(struct error *err);

static const struct cpu_kernels *right, *tried; /* NULL: the right ones */
static int calls;

const struct cpu_kernels *__wrap_cpu_choose_kernels(struct error *err)
{
	return tried ? tried : __real_cpu_choose_kernels(err);
}

/* The upper half of each float. */
static void truncates(const struct winograd_planes *planes,
		      const struct winograd_tiles *tiles, int pad,
		      int channels, const float *in, uint16_t *points)
{
	const size_t count = 36 * tiles->point;
	float *whole = calloc(count, sizeof(*whole));
	uint32_t bits;

	assert_non_null(whole);
	right->winograd->from_data(planes, tiles, pad, channels, in, whole);
	for (size_t p = 0; p < 36; p++)
		for (int t = 0; t < tiles->count; t++)
			for (int c = 0; c < channels; c++) {
				const size_t at = p * tiles->point +
						  (size_t)t * tiles->tile +
						  (size_t)c;

				memcpy(&bits, &whole[at], sizeof(bits));
				points[at] = (uint16_t)(bits >> 16);
			}
	free(whole);
	calls++;
}

/* Rounded outputs of the second block take the places of the first. */
static void misplaces(const struct winograd_planes *planes,
		      const struct winograd_tiles *tiles,
		      const struct winograd_end *end, const float *points,
		      float *out)
{
	struct winograd_end own = *end;

	if (own.rounded && own.outputs < IGEMM_BLOCK) {
		own.rounded -= IGEMM_BLOCK;
		calls++;
	}
	right->winograd->to_outputs(planes, tiles, &own, points, out);
}

/* The last output of a vector that is not full. */
static void forgets(const struct winograd_planes *planes,
		    const struct winograd_tiles *tiles,
		    const struct winograd_end *end, const float *points,
		    float *out)
{
	struct winograd_end own = *end;

	if (own.rounded && own.outputs % IGEMM_LANES) {
		own.outputs--;
		calls++;
	}
	right->winograd->to_outputs(planes, tiles, &own, points, out);
}

/* The last two channels of each sum. */
static void sums_less(const struct igemm *igemm,
		      const struct igemm_batch *batch, const uint16_t *in,
		      const void *packed, const struct igemm_end *end,
		      float *out, void *scratch)
{
	struct igemm own = *igemm;

	if (own.taps == 1 && own.depth == 64) {
		own.depth -= 2;
		calls++;
	}
	right->igemm_bf16->multiply_packed(&own, batch, in, packed, end, out,
					    scratch);
}

/* The last sample of a gradient. */
static void sums_few(const struct igemm *igemm,
		     const struct igemm_batch *batch, const float *dy,
		     float *dw, float *dbias, void *scratch)
{
	struct igemm_batch own = *batch;

	if (own.count > 1) {
		own.count--;
		calls++;
	}
	right->igemm_bf16->differentiate(igemm, &own, dy, dw, dbias,
					  scratch);
}

static const char infer[] = "verify cpu -m blocks --infer -b 16 --precision "
			    "bf16";
static const char train[] = "verify cpu -m blocks --steps 1 -b 16 "
			    "--test-batch 16 --precision bf16";

static void right_kernels_pass(void **state)
{
	static const char *const lines[] = { infer, train };

	(void)state;
	assert_right(lines, COUNT(lines));
}

static void is_noticed(const char *name, const struct winograd_kernels *points,
		       const struct igemm_kernels *products, const char *line,
		       const char *says)
{
	struct cpu_kernels kernels = *right;
	struct said said;

	kernels.winograd = points;
	kernels.igemm_bf16 = products;
	tried = &kernels;
	calls = 0;
	said = say(line);
	tried = NULL;
	if (!calls)
		fail_msg("%s was not called", name);
	if (said.code != 1 || !strstr(said.out, says))
		fail_msg("%s: %d, %s", name, said.code, said.out);
	free(said.out);
}

static void wrong_kernels_are_noticed(void **state)
{
	static const char output[] = "WRONG: cpu: an output of a sample is off";
	struct winograd_kernels points = *right->winograd;
	struct igemm_kernels products = *right->igemm_bf16;

	(void)state;
	points.from_data_rounded = truncates;
	is_noticed("truncates", &points, &products, infer, "WRONG: cpu: ");
	points = *right->winograd;
	points.to_outputs = misplaces;
	is_noticed("misplaces", &points, &products, infer, output);
	points.to_outputs = forgets;
	is_noticed("forgets", &points, &products, infer, output);
	points = *right->winograd;
	products.multiply_packed = sums_less;
	is_noticed("sums_less", &points, &products, infer, output);
	products = *right->igemm_bf16;
	products.differentiate = sums_few;
	is_noticed("sums_few", &points, &products, train,
		   "WRONG: cpu: the gradient of ");
}

/* Points are rounded by AVX-512 alone: where there are AMX's tiles, all
 * products are by them. */
static int have_rounded(void)
{
	struct error err;

	setenv("BENCH_ISA", "avx512", 1);
	right = __real_cpu_choose_kernels(&err);
	return right && cpu_bf16_products(right) &&
	       right->winograd->from_data_rounded;
}

int main(void)
{
	const int can = have_rounded();
	const struct CMUnitTest tests[] = {
		unit_test_if(can, right_kernels_pass),
		unit_test_if(can, wrong_kernels_are_noticed),
	};

	return cmocka_run_group_tests_name("verify, rounded", tests, NULL,
					   NULL);
}
