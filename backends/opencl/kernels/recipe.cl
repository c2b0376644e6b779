/*
 * What recipes have besides adadelta, the same for devices of either class: a
 * loss of vectors, and optimizers. Formulas are those of models/model.h and
 * models/recipe.h.
 */

/*
 * Item n: logits[n][classes], logits_sample apart, and targets[n][classes] as
 * loss.cl has it for classes. Binary cross-entropy, or squared errors.
 */
kernel void vector_loss(const int count, const int global_count,
			global const float *restrict logits,
			global const float *restrict targets,
			global float *restrict outcomes,
			global float *restrict dx, const int classes,
			const int logits_sample, const int is_binary)
{
	const int n = get_global_id(0);
	float sum = 0;
	int right = is_binary;

	if (n >= count)
		return;
	for (int c = 0; c < classes; c++) {
		const float x = logits[n * logits_sample + c];
		const float z = targets[n * classes + c];
		float gradient = 2 * (x - z);

		if (is_binary) {
			const float e = exp(-fabs(x));

			sum += max(x, 0.f) - x * z + log1p(e);
			right &= (x > 0) == (z > .5f);
			gradient = (x > 0 ? 1 : e) / (1 + e) - z;
		} else {
			sum += (x - z) * (x - z);
		}
		if (dx)
			dx[n * logits_sample + c] =
				gradient / classes / global_count;
	}
	outcomes[2 * n] = sum / classes;
	outcomes[2 * n + 1] = right;
}

/* Group b makes parameters from + UPDATED * b ..., none at to or beyond. */
#define EACH_UPDATED(i)                                                     \
	for (uint i = from + get_group_id(0) * UPDATED + get_local_id(0);   \
	     i < min(from + (uint)(get_group_id(0) + 1) * UPDATED, to);     \
	     i += get_local_size(0))

/* rate is lr / (1 - beta1^t), grown 1 / sqrt(1 - beta2^t). */
kernel void adam(const float rate, const float grown, const float beta1,
		 const float rest1, const float beta2, const float rest2,
		 const float eps, const uint from, const uint to,
		 global float *restrict parameters,
		 global const float *restrict gradient,
		 global float *restrict m, global float *restrict v)
{
	EACH_UPDATED(i) {
		const float g = gradient[i];
		const float first = beta1 * m[i] + rest1 * g;
		const float second = beta2 * v[i] + rest2 * g * g;

		m[i] = first;
		v[i] = second;
		parameters[i] -= rate * first / (sqrt(second) * grown + eps);
	}
}

/* b is as long as the parameters where there is momentum. */
kernel void sgd(const float lr, const float momentum, const float decay,
		const uint from, const uint to,
		global float *restrict parameters,
		global const float *restrict gradient,
		global float *restrict b, global const float *restrict none)
{
	EACH_UPDATED(i) {
		float change = gradient[i] + decay * parameters[i];

		if (momentum != 0)
			b[i] = change += momentum * b[i];
		parameters[i] -= lr * change;
	}
}
