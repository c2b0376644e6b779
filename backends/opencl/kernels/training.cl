/*
 * Losses and optimizers, for devices of either class. models/model.h and
 * models/recipe.h have the formulas.
 */

/* The cpu class has vectors of floats here: vector.cl. */
#ifndef FLOATS
#define FLOATS float
#define FLOATS_WIDTH 1
#define LOAD_SOME(at, count) (*(at))
#define STORE_SOME(value, at, count) (*(at) = (value))
#endif

/* Item n: see loss.cl. */
kernel GROUP void loss(const int count, const int global_count,
		       global const float *restrict logits,
		       global const ushort *restrict labels,
		       global float *restrict outcomes,
		       global float *restrict dlogits, const int classes,
		       const int logits_sample)
{
	const int n = get_global_id(0);

	if (n < count)
		sample_loss(n, classes, logits_sample, global_count, logits,
			    labels, outcomes, dlogits);
}

/*
 * Item n: binary cross-entropy or squared errors of logits[n][classes], which
 * are logits_sample apart, and targets[n][classes]. loss.cl has the loss of
 * classes.
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
	int right = 0;

	if (n >= count)
		return;
	for (int c = 0; c < classes; c++) {
		const float x = logits[n * logits_sample + c];
		const float z = targets[n * classes + c];
		float gradient = 2 * (x - z);

		if (is_binary) {
			const float e = exp(-fabs(x));

			sum += max(x, 0.f) - x * z + log1p(e);
			right += (x > 0) == (z > .5f);
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

/* Averages of gradients that stay zero would become denormal, and slow. */
static inline FLOATS unless_least(FLOATS value)
{
	return select(value, (FLOATS)(0), fabs(value) <= (FLOATS)(1e-30f));
}

/*
 * v = rho v + (1 - rho) g^2, delta = sqrt(u + eps) / sqrt(v + eps) g,
 * u = rho u + (1 - rho) delta^2, p = p - lr delta; rest is 1 - rho. Updates
 * parameters from i on, as many as FLOATS has, but none from count on.
 */
static inline void adadelta_update(float lr, float rho, float rest, float eps,
				   FLOATS g, size_t i, int count,
				   global float *parameters,
				   global float *square_avg,
				   global float *acc_delta)
{
	const FLOATS p = LOAD_SOME(parameters + i, count);
	const FLOATS v = unless_least(rho * LOAD_SOME(square_avg + i, count) +
				      rest * g * g);
	const FLOATS u = LOAD_SOME(acc_delta + i, count);
	const FLOATS delta = sqrt(u + eps) / sqrt(v + eps) * g;

	STORE_SOME(v, square_avg + i, count);
	STORE_SOME(unless_least(rho * u + rest * delta * delta), acc_delta + i,
		   count);
	STORE_SOME(p - lr * delta, parameters + i, count);
}

/* Group b makes parameters from + UPDATED * b ..., none at to or beyond; as
 * many from i on as FLOATS has, unless fewer are left. */
#if UPDATED % FLOATS_WIDTH
#error "a vector would be of two groups"
#endif
#define EACH_UPDATED(i)                                                     \
	for (uint i = from + get_group_id(0) * UPDATED +                    \
		      get_local_id(0) * FLOATS_WIDTH;                       \
	     i < min(from + (uint)(get_group_id(0) + 1) * UPDATED, to);     \
	     i += ITEMS * FLOATS_WIDTH)

kernel GROUP void adadelta(const float lr, const float rho, const float rest,
			   const float eps, const uint from, const uint to,
			   global float *restrict parameters,
			   global const float *restrict gradient,
			   global float *restrict square_avg,
			   global float *restrict acc_delta)
{
	EACH_UPDATED(i)
		adadelta_update(lr, rho, rest, eps,
				LOAD_SOME(gradient + i, to - i), i, to - i,
				parameters, square_avg, acc_delta);
}

/* rate is lr / (1 - beta1^t), grown 1 / sqrt(1 - beta2^t). */
kernel GROUP void adam(const float rate, const float grown, const float beta1,
		       const float rest1, const float beta2, const float rest2,
		       const float eps, const uint from, const uint to,
		       global float *restrict parameters,
		       global const float *restrict gradient,
		       global float *restrict m, global float *restrict v)
{
	EACH_UPDATED(i) {
		const FLOATS g = LOAD_SOME(gradient + i, to - i);
		const FLOATS p = LOAD_SOME(parameters + i, to - i);
		const FLOATS first = unless_least(
			beta1 * LOAD_SOME(m + i, to - i) + rest1 * g);
		const FLOATS second = unless_least(
			beta2 * LOAD_SOME(v + i, to - i) + rest2 * g * g);

		STORE_SOME(first, m + i, to - i);
		STORE_SOME(second, v + i, to - i);
		STORE_SOME(p - rate * first / (sqrt(second) * grown + eps),
			   parameters + i, to - i);
	}
}

/* b is as long as the parameters where there is momentum. */
kernel GROUP void sgd(const float lr, const float momentum, const float decay,
		      const uint from, const uint to,
		      global float *restrict parameters,
		      global const float *restrict gradient,
		      global float *restrict b,
		      global const float *restrict none)
{
	EACH_UPDATED(i) {
		const FLOATS p = LOAD_SOME(parameters + i, to - i);
		FLOATS change = LOAD_SOME(gradient + i, to - i) + decay * p;

		if (momentum != 0) {
			change = unless_least(
				change + momentum * LOAD_SOME(b + i, to - i));
			STORE_SOME(change, b + i, to - i);
		}
		STORE_SOME(p - lr * change, parameters + i, to - i);
	}
}
