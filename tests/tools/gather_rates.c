/*
 * How fast gathered products are: multiply-adds of the definition a second,
 * forward, by the input and by the weights, and their share of the core's peak.
 *
 *   build/tests/gather_rates [SECONDS]
 *
 * One row of CSV for each shape, of layers of AlexNet and ResNet. The best of
 * the rounds that fit into SECONDS counts: this is about kernels, not machines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/train/peaks.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/solvers/igemm_conv.h"
#include "backends/host/host.h"
#include "bench/system/clock.h"

struct rate_case {
	struct shape in;
	int outputs, window, stride, pad, count;
};

static const struct rate_case cases[] = {
	{ { 64, 32, 32 }, 64, 3, 1, 1, 32 },
	{ { 128, 16, 16 }, 128, 3, 1, 1, 32 },
	{ { 256, 8, 8 }, 256, 3, 1, 1, 32 },
	{ { 512, 4, 4 }, 512, 3, 1, 1, 32 },
	{ { 256, 56, 56 }, 64, 1, 1, 0, 8 },
	{ { 64, 56, 56 }, 256, 1, 1, 0, 8 },
	{ { 1024, 14, 14 }, 256, 1, 1, 0, 8 },
	{ { 2048, 7, 7 }, 512, 1, 1, 0, 8 },
	{ { 128, 16, 16 }, 256, 3, 2, 1, 32 },
	{ { 3, 224, 224 }, 64, 7, 2, 3, 8 },
	{ { 3, 224, 224 }, 64, 11, 4, 2, 8 },
	{ { 64, 27, 27 }, 192, 5, 1, 2, 8 },
	{ { 10, 12, 12 }, 20, 5, 1, 0, 128 },
	{ { 9216, 1, 1 }, 4096, 1, 1, 0, 8 },
};

/* Numbers that are not 0, so that nothing becomes denormal. */
static float *take_numbers(size_t count)
{
	float *values = host_allocate(count * sizeof(*values));

	if (!values) {
		fprintf(stderr, "gather_rates: no memory\n");
		exit(ERROR_FAILED);
	}
	for (size_t i = 0; i < count; i++)
		values[i] = (float)(i % 7) * .01f;
	return values;
}

/* One layer, and what a round of it does. */
struct subject {
	const struct igemm_kernels *kernels;
	struct igemm_conv conv;
	struct igemm_batch batch;
	float *in, *out, *weights, *bias, *dw, *dx, *transposed;
	size_t dx_sample;
	void *scratch;
};

static void run_forward(const struct subject *subject)
{
	const struct igemm_end end = { .bias = subject->bias };

	subject->kernels->multiply(&subject->conv.forward, &subject->batch,
				   subject->weights, &end, subject->out,
				   subject->scratch);
}

static void run_dx(const struct subject *subject)
{
	const struct igemm_batch batch = {
		subject->batch.count, subject->out, subject->batch.out_sample,
		subject->dx_sample
	};

	igemm_conv_transpose(&subject->conv, subject->kernels,
			      subject->weights, subject->transposed);
	igemm_conv_dx(&subject->conv, subject->kernels, &batch,
		       subject->transposed, 0, subject->dx, subject->scratch);
}

static void run_dw(const struct subject *subject)
{
	subject->kernels->differentiate(
		&subject->conv.forward, &subject->batch, subject->out,
		subject->dw, subject->bias, subject->scratch);
}

static double best_of(const struct subject *subject,
		      void (*run)(const struct subject *), double seconds)
{
	const double began_s = clock_now();
	double best = 0, now;

	do {
		const double start = clock_now();

		run(subject);
		now = clock_now();
		if (best == 0 || now - start < best)
			best = now - start;
	} while (now - began_s < seconds);
	return best;
}

/* Images get no gradient. */
static enum igemm_dx dx_of(const struct rate_case *one,
			    const struct igemm_kernels *kernels)
{
	return one->in.channels <= 3 ? IGEMM_DX_NONE :
	       kernels->spreads ? IGEMM_DX_CHEAPEST : IGEMM_DX_PIXELS;
}

static void open_subject(struct subject *subject, const struct rate_case *one)
{
	const struct layer layer = { .kind = LAYER_CONV,
				     .outputs = one->outputs,
				     .window = one->window,
				     .stride = one->stride,
				     .pad = one->pad };
	const int joined = one->in.channels < IGEMM_LANES;
	const size_t count = (size_t)one->count;
	struct igemm_conv *conv = &subject->conv;
	size_t weights;

	if (igemm_conv_open(conv, &layer, one->in,
			     igemm_whole(one->in.channels),
			     igemm_whole(one->outputs), joined,
			     dx_of(one, subject->kernels)))
		exit(ERROR_FAILED);
	weights = igemm_weights(&conv->forward);
	subject->dx_sample = (size_t)(one->in.height * one->in.width *
				      igemm_whole(one->in.channels));
	subject->batch = (struct igemm_batch){
		.count = one->count,
		.in_sample = joined ? igemm_conv_joined_size(conv) :
				      subject->dx_sample,
		.out_sample = (size_t)(conv->forward.pixels *
				       igemm_whole(one->outputs)),
	};
	subject->in = take_numbers(count * subject->batch.in_sample);
	subject->batch.in = subject->in;
	subject->out = take_numbers(count * subject->batch.out_sample);
	subject->weights = take_numbers(weights);
	subject->dw = take_numbers(weights);
	subject->bias = take_numbers((size_t)igemm_whole(one->outputs));
	subject->dx = take_numbers(count * subject->dx_sample);
	subject->transposed = take_numbers(conv->transposed + 1);
	subject->scratch = host_allocate(IGEMM_SCRATCH +
					 igemm_conv_rounded(conv));
	if (!subject->scratch)
		exit(ERROR_FAILED);
}

static void close_subject(struct subject *subject)
{
	igemm_conv_close(&subject->conv);
	free(subject->in);
	free(subject->out);
	free(subject->weights);
	free(subject->dw);
	free(subject->bias);
	free(subject->dx);
	free(subject->transposed);
	free(subject->scratch);
}

static void print_rates(const struct rate_case *one, double seconds,
			const char *isa, const struct igemm_kernels *kernels,
			const char *precision)
{
	/* The clock rate, and who else is there, change with time. */
	const double peak = peak_measure(
		backend_fp32_peak(backend_find("cpu")), NULL, 0, seconds).best;
	struct subject subject = { .kernels = kernels };
	double flop;

	open_subject(&subject, one);
	flop = 2e-9 * one->count * subject.conv.forward.pixels * one->outputs *
	       one->window * one->window * one->in.channels;
	printf("%d,%d,%d,%d,%d,%d,%d,%d,%s,%s,%.1f,%.1f,", one->in.channels,
	       one->in.height, one->in.width, one->outputs, one->window,
	       one->stride, one->pad, one->count, isa, precision, peak * 1e-9,
	       flop / best_of(&subject, run_forward, seconds));
	if (subject.conv.class_count)
		printf("%.1f", flop / best_of(&subject, run_dx, seconds));
	printf(",%.1f\n", flop / best_of(&subject, run_dw, seconds));
	close_subject(&subject);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : .3;
	struct error err;
	const struct cpu_kernels *kernels = cpu_choose_kernels(&err);

	if (!kernels) {
		fprintf(stderr, "gather_rates: %s\n", err.message);
		return (int)err.kind;
	}
	printf("channels,height,width,outputs,window,stride,pad,samples,isa,"
	       "precision,fp32_peak_gflops,forward_gflops,dx_gflops,"
	       "dw_gflops\n");
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct igemm_kernels *bf16 = cpu_bf16_products(kernels);

		print_rates(&cases[c], seconds, kernels->name, kernels->igemm,
			    "fp32");
		if (bf16)
			print_rates(&cases[c], seconds, kernels->name, bf16,
				    "bf16");
	}
	return 0;
}
