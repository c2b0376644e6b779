/*
 * One vector of Adadelta:
 *
 *   v = rho v + (1 - rho) g^2
 *   delta = sqrt(u + eps) / sqrt(v + eps) g
 *   u = rho u + (1 - rho) delta^2
 *   p = p - lr delta
 *
 * The quotient of roots is taken as (u + eps) / sqrt((u + eps) (v + eps)): one
 * reciprocal root, no division.
 *
 * Averages of gradients that stay zero, as a dead unit's do, would shrink
 * until they are denormal, and take 20 times as long from then on. They end at
 * 1e-29 instead, which is nothing beside eps.
 */
#ifndef BACKENDS_CPU_KERNELS_ADADELTA_H
#define BACKENDS_CPU_KERNELS_ADADELTA_H

#include "backends/contract/backend.h"
#include "backends/cpu/kernels/simd.h"

#define ADADELTA_LEAST 1e-30f

struct adadelta {
	vec lr, rho, rest, eps;
};

INLINE struct adadelta adadelta_of(const struct update *update)
{
	return (struct adadelta){
		.lr = vec_set((float)update->lr),
		.rho = vec_set((float)update->rho),
		.rest = vec_set((float)(1 - update->rho)),
		.eps = vec_set((float)update->eps),
	};
}

/* From gradients g; v and u become those of this step. Returns lr * delta,
 * rounded, so that an update has the same bits whoever makes it. */
INLINE vec adadelta_step(const struct adadelta *rates, vec g, vec *v, vec *u)
{
	const vec squares =
		rates->rho * *v + (rates->rest * g * g + ADADELTA_LEAST);
	const vec moved = *u + rates->eps;
	const vec root = vec_rsqrt(moved * (squares + rates->eps));
	const vec delta = moved * root * g;

	*v = squares;
	*u = rates->rho * *u + (rates->rest * delta * delta + ADADELTA_LEAST);
	return vec_rounded(rates->lr * delta);
}

#endif
