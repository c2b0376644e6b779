/* Optimizers as plain loops over flat vectors, in double, and in float by
 * optimizers_float.c. The formulas are in models/recipe.h. */
#include <math.h>

#include "backends/host/host.h"
#include "backends/host/real.h"
#include "backends/host/storage.h"

/* Averages of zero gradients would become denormal, and slow. */
#define LEAST (real)1e-30

static real unless_least(real value)
{
	return value <= LEAST && value >= -LEAST ? 0 : value;
}

static void adadelta(const struct update *update, size_t count,
		     real *restrict p, const real *restrict g,
		     real *restrict v, real *restrict u)
{
	const real lr = (real)update->lr, rho = (real)update->rho;
	const real eps = (real)update->eps, rest = (real)(1 - update->rho);

	/* u is the average before this step's delta. */
	for (size_t i = 0; i < count; i++) {
		real delta;

		v[i] = unless_least(rho * v[i] + rest * g[i] * g[i]);
		delta = real_sqrt(u[i] + eps) / real_sqrt(v[i] + eps) * g[i];
		u[i] = unless_least(rho * u[i] + rest * delta * delta);
		p[i] -= lr * delta;
	}
}

static void adam(const struct update *update, size_t count, real *restrict p,
		 const real *restrict g, real *restrict m, real *restrict v)
{
	const struct adam_terms terms = update_adam_terms(update);
	const real rate = (real)terms.rate, grown = (real)terms.grown;
	const real beta1 = (real)update->beta1;
	const real beta2 = (real)update->beta2, eps = (real)update->eps;
	const real rest1 = (real)(1 - update->beta1);
	const real rest2 = (real)(1 - update->beta2);

	for (size_t i = 0; i < count; i++) {
		m[i] = unless_least(beta1 * m[i] + rest1 * g[i]);
		v[i] = unless_least(beta2 * v[i] + rest2 * g[i] * g[i]);
		p[i] -= rate * m[i] / (real_sqrt(v[i]) * grown + eps);
	}
}

/* b is NULL without momentum. */
static void sgd(const struct update *update, size_t count, real *restrict p,
		const real *restrict g, real *restrict b)
{
	const real lr = (real)update->lr;
	const real momentum = (real)update->momentum;
	const real decay = (real)update->weight_decay;

	for (size_t i = 0; i < count; i++) {
		real change = g[i] + decay * p[i];

		if (b)
			b[i] = change = unless_least(change + momentum * b[i]);
		p[i] -= lr * change;
	}
}

void real_optimize(const struct update *update, size_t count, real *p,
		   const real *g, real *state_0, real *state_1)
{
	switch (update->optimizer) {
	case OPTIMIZER_ADAM:
		adam(update, count, p, g, state_0, state_1);
		break;
	case OPTIMIZER_SGD:
		sgd(update, count, p, g, update->momentum != 0 ? state_0 :
								 NULL);
		break;
	default:
		adadelta(update, count, p, g, state_0, state_1);
	}
}

void real_update_vectors(const struct update *update, enum precision precision,
			 real *const *vectors, size_t from, size_t to)
{
	const int rounds = storage_rounds_vectors(precision);
	const size_t count = to - from;
	real *part[VECTOR_COUNT];

	for (int v = 0; v < VECTOR_COUNT; v++)
		part[v] = vectors[v] ? vectors[v] + from : NULL;
	if (rounds)
		real_round(precision, part[VECTOR_GRADIENT], count);
	real_optimize(update, count, part[VECTOR_PARAMETERS],
		      part[VECTOR_GRADIENT], part[VECTOR_STATE_0],
		      part[VECTOR_STATE_1]);
	for (int v = 0; rounds && v < VECTOR_COUNT; v++)
		if (part[v])
			real_round(precision, part[v], count);
}
