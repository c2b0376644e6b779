/*
 * What is done once a step: a loss that no linear layer comes before, and the
 * optimizer.
 */

/* Item n: see loss.cl. */
kernel GROUP void loss(const int count, const int global_count,
		       global const float *restrict logits,
		       global const ushort *restrict labels,
		       global float *restrict outcomes,
		       global float *restrict slopes, const int classes,
		       const int logits_sample)
{
	const int n = get_global_id(0);

	if (n < count)
		sample_loss(n, classes, logits_sample, global_count, logits,
			    labels, outcomes, slopes);
}

/*
 * v = rho v + (1 - rho) g^2, delta = sqrt(u + eps) / sqrt(v + eps) g,
 * u = rho u + (1 - rho) delta^2, p = p - lr delta; rest is 1 - rho.
 */
static inline void adadelta_one(float lr, float rho, float rest, float eps,
				float g, size_t i, global float *parameters,
				global float *square_avg,
				global float *acc_delta)
{
	const float v = rho * square_avg[i] + rest * g * g;
	const float u = acc_delta[i];
	const float delta = sqrt(u + eps) / sqrt(v + eps) * g;

	square_avg[i] = v;
	acc_delta[i] = rho * u + rest * delta * delta;
	parameters[i] -= lr * delta;
}

/* Group b makes parameters from + UPDATED * b ..., none at to or beyond. */
kernel GROUP void adadelta(const float lr, const float rho, const float rest,
			   const float eps, const uint from, const uint to,
			   global float *restrict parameters,
			   global const float *restrict gradient,
			   global float *restrict square_avg,
			   global float *restrict acc_delta)
{
	const uint first = from + get_group_id(0) * UPDATED;
	const uint last = min(first + UPDATED, to);

	for (uint i = first + get_local_id(0); i < last; i += ITEMS)
		adadelta_one(lr, rho, rest, eps, gradient[i], i, parameters,
			     square_avg, acc_delta);
}
