/*
 * A step of each optimizer on vectors; models/recipe.h has the formulas.
 *
 * One reciprocal root is enough. Adadelta's quotient of roots is (u + eps) /
 * sqrt((u + eps) (v + eps)); Adam's root is v / sqrt(v).
 *
 * A dead unit's gradients are 0, and its averages would shrink until they, or
 * their products with a rate, are denormal. Each step would then take 2 to 20
 * times as long. Instead Adadelta's averages end at 1e-29, negligible next to
 * eps, and Adam's averages and momentum become 0.
 */
#ifndef BACKENDS_CPU_KERNELS_ELEMENTWISE_OPTIMIZER_H
#define BACKENDS_CPU_KERNELS_ELEMENTWISE_OPTIMIZER_H

#include "backends/contract/program.h"
#include "backends/cpu/kernels/linear/linear_kernels.h"
#include "backends/cpu/kernels/simd/simd.h"

#define LEAST 1e-30f

struct rates {
	enum optimizer optimizer;
	int has_momentum;
	vec lr, grown; /* with Adam the terms of models/recipe.h */
	vec eps;
	vec old[2], new[2]; /* shares of the old average and of the new value */
	vec momentum, decay;
};

INLINE struct rates rates_of(const struct update *update)
{
	const int adam = update->optimizer == OPTIMIZER_ADAM;
	const struct adam_terms terms = update_adam_terms(update);
	const double olds[2] = { adam ? update->beta1 : update->rho,
				 adam ? update->beta2 : update->rho };
	struct rates rates = {
		.optimizer = update->optimizer,
		.has_momentum = update->momentum != 0,
		.lr = vec_set((float)(adam ? terms.rate : update->lr)),
		.grown = vec_set((float)terms.grown),
		.eps = vec_set((float)update->eps),
		.momentum = vec_set((float)update->momentum),
		.decay = vec_set((float)update->weight_decay),
	};

	for (int i = 0; i < 2; i++) {
		rates.old[i] = vec_set((float)olds[i]);
		rates.new[i] = vec_set((float)(1 - olds[i]));
	}
	return rates;
}

/*
 * Returns the change to subtract from parameters with gradient g, and updates v
 * and u. The change is rounded, as in all of these functions, so that each
 * caller gets the same bits.
 */
INLINE vec adadelta_step(const struct rates *rates, vec g, vec *v, vec *u)
{
	const vec squares =
		rates->old[0] * *v + (rates->new[0] * g * g + LEAST);
	const vec moved = *u + rates->eps;
	const vec root = vec_rsqrt(moved * (squares + rates->eps));
	const vec delta = moved * root * g;

	*v = squares;
	*u = rates->old[1] * *u +
	     (rates->new[1] * delta * delta + LEAST);
	return vec_rounded(rates->lr * delta);
}

/* Returns 0 if |value| is at most LEAST, else value; a NaN remains one. */
INLINE vec unless_least(vec value)
{
	const lanes_int is_least = (value <= LEAST) & (value >= -LEAST);

	return (vec)((lanes_int)value & ~is_least);
}

INLINE vec adam_step(const struct rates *rates, vec g, vec *m, vec *v)
{
	const vec mean = unless_least(rates->old[0] * *m + rates->new[0] * g);
	const vec squares =
		unless_least(rates->old[1] * *v + rates->new[1] * g * g);
	const vec root = squares * vec_rsqrt(squares + LEAST);

	*m = mean;
	*v = squares;
	return vec_rounded(rates->lr * mean /
			   (root * rates->grown + rates->eps));
}

/* b: NULL without momentum. */
INLINE vec sgd_step(const struct rates *rates, vec g, vec p, vec *b)
{
	vec change = rates->decay * p + g;

	if (b)
		*b = change = unless_least(rates->momentum * *b + change);
	return vec_rounded(rates->lr * change);
}

/* Updates one vector, or its first rest floats, at offset at of p and its
 * state; optimizer is a constant. */
INLINE void step_vector(const struct rates *rates, enum optimizer optimizer,
			vec g, float *p, float *first, float *second, size_t at,
			int rest)
{
	const vec parameters = tile_load(p + at, rest);
	const int firsts = optimizer != OPTIMIZER_SGD || rates->has_momentum;
	vec one = vec_set(0), two = vec_set(0), change;

	if (firsts)
		one = tile_load(first + at, rest);
	if (optimizer != OPTIMIZER_SGD)
		two = tile_load(second + at, rest);
	if (optimizer == OPTIMIZER_ADAM)
		change = adam_step(rates, g, &one, &two);
	else if (optimizer == OPTIMIZER_SGD)
		change = sgd_step(rates, g, parameters, firsts ? &one : NULL);
	else
		change = adadelta_step(rates, g, &one, &two);
	if (firsts)
		tile_store(first + at, one, rest);
	if (optimizer != OPTIMIZER_SGD)
		tile_store(second + at, two, rest);
	tile_store(p + at, parameters - change, rest);
}

#endif
