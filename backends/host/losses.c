/* The losses of models/model.h. Sums and exponentials are in double, also for
 * outputs in float: losses_float.c. */
#include <math.h>

#include "backends/host/host.h"
#include "backends/host/real.h"
#include "backends/host/storage.h"

static void loss_nll(const real *logits, int classes, int label, int divisor,
		     struct score *score, real *dx)
{
	real top = logits[0];
	double sum = 0;
	int best = 0;

	for (int k = 1; k < classes; k++)
		if (logits[k] > top) {
			top = logits[k];
			best = k;
		}
	for (int k = 0; k < classes; k++)
		sum += exp((double)logits[k] - top);
	score->loss += log(sum) - ((double)logits[label] - top);
	score->correct += best == label;
	if (!dx)
		return;
	for (int k = 0; k < classes; k++)
		dx[k] = (real)((exp((double)logits[k] - top) / sum -
				(k == label)) / divisor);
}

static void loss_bce(const real *x, int outputs, const float *z, int divisor,
		     struct score *score, real *dx)
{
	double sum = 0;

	for (int k = 0; k < outputs; k++) {
		const double e = exp(-fabs((double)x[k]));

		sum += fmax(x[k], 0) - (double)x[k] * z[k] + log1p(e);
		score->correct += (x[k] > 0) == (z[k] > .5f);
		if (dx)
			dx[k] = (real)(((x[k] > 0 ? 1 : e) / (1 + e) - z[k]) /
				       ((double)outputs * divisor));
	}
	score->loss += sum / outputs;
}

static void loss_mse(const real *x, int outputs, const float *z, int divisor,
		     struct score *score, real *dx)
{
	double sum = 0;

	for (int k = 0; k < outputs; k++) {
		const double away = (double)x[k] - z[k];

		sum += away * away;
		if (dx)
			dx[k] = (real)(2 * away / ((double)outputs * divisor));
	}
	score->loss += sum / outputs;
}

void real_loss(enum loss loss, const real *x, int outputs,
	       const struct batch *batch, int i, struct score *score, real *dx)
{
	const float *z = loss == LOSS_NLL ? NULL :
				batch->targets + (size_t)i * (size_t)outputs;
	const double scale = storage_loss_scale(batch);

	for (int k = 0; batch->outputs && k < outputs; k++)
		batch->outputs[(size_t)i * (size_t)outputs + (size_t)k] =
			(float)x[k];
	if (loss == LOSS_NLL)
		loss_nll(x, outputs, batch->labels[i], batch->global_count,
			 score, dx);
	else if (loss == LOSS_BCE)
		loss_bce(x, outputs, z, batch->global_count, score, dx);
	else
		loss_mse(x, outputs, z, batch->global_count, score, dx);
	for (int k = 0; dx && scale != 1 && k < outputs; k++)
		dx[k] = (real)(dx[k] * scale);
	score->count++;
}
