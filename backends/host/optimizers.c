/* Optimizers in plain loops over flat vectors, in float and in double; their
 * formulas are in models/recipe.h. */
#include <math.h>

#include "backends/host/host.h"

/* Of Adam: p changes by rate m / (sqrt(v) grown + eps). */
struct adam {
	double rate, grown;
};

static struct adam adam_of(const struct update *update)
{
	const double t = (double)update->step + 1;

	return (struct adam){
		.rate = update->lr / (1 - pow(update->beta1, t)),
		.grown = 1 / sqrt(1 - pow(update->beta2, t)),
	};
}

static void adadelta(const struct update *update, size_t count, float *p,
		     const float *g, float *v, float *u)
{
	const float lr = (float)update->lr, rho = (float)update->rho;
	const float eps = (float)update->eps, rest = (float)(1 - update->rho);

	/* u is the average before this step's delta. */
	for (size_t i = 0; i < count; i++) {
		float delta;

		v[i] = rho * v[i] + rest * g[i] * g[i];
		delta = sqrtf(u[i] + eps) / sqrtf(v[i] + eps) * g[i];
		u[i] = rho * u[i] + rest * delta * delta;
		p[i] -= lr * delta;
	}
}

static void adam(const struct update *update, size_t count, float *p,
		 const float *g, float *m, float *v)
{
	const struct adam adam = adam_of(update);
	const float rate = (float)adam.rate, grown = (float)adam.grown;
	const float beta1 = (float)update->beta1;
	const float beta2 = (float)update->beta2, eps = (float)update->eps;
	const float rest1 = (float)(1 - update->beta1);
	const float rest2 = (float)(1 - update->beta2);

	for (size_t i = 0; i < count; i++) {
		m[i] = beta1 * m[i] + rest1 * g[i];
		v[i] = beta2 * v[i] + rest2 * g[i] * g[i];
		p[i] -= rate * m[i] / (sqrtf(v[i]) * grown + eps);
	}
}

/* b is NULL without momentum. */
static void sgd(const struct update *update, size_t count, float *p,
		const float *g, float *b)
{
	const float lr = (float)update->lr;
	const float momentum = (float)update->momentum;
	const float decay = (float)update->weight_decay;

	for (size_t i = 0; i < count; i++) {
		float change = g[i] + decay * p[i];

		if (b)
			b[i] = change += momentum * b[i];
		p[i] -= lr * change;
	}
}

void host_optimize(const struct update *update, size_t count, float *p,
		   const float *g, float *state_0, float *state_1)
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

/* One parameter's. */
static void adadelta_double(const struct update *update, double *p, double g,
			    double *v, double *u)
{
	double delta;

	*v = update->rho * *v + (1 - update->rho) * g * g;
	delta = sqrt(*u + update->eps) / sqrt(*v + update->eps) * g;
	*u = update->rho * *u + (1 - update->rho) * delta * delta;
	*p -= update->lr * delta;
}

static void adam_double(const struct update *update, const struct adam *adam,
			double *p, double g, double *m, double *v)
{
	*m = update->beta1 * *m + (1 - update->beta1) * g;
	*v = update->beta2 * *v + (1 - update->beta2) * g * g;
	*p -= adam->rate * *m / (sqrt(*v) * adam->grown + update->eps);
}

static void sgd_double(const struct update *update, double *p, double g,
		       double *b)
{
	double change = g + update->weight_decay * *p;

	if (b)
		*b = change += update->momentum * *b;
	*p -= update->lr * change;
}

void host_optimize_double(const struct update *update, size_t count, double *p,
			  const double *g, double *state_0, double *state_1)
{
	const struct adam adam = adam_of(update);

	for (size_t i = 0; i < count; i++)
		switch (update->optimizer) {
		case OPTIMIZER_ADAM:
			adam_double(update, &adam, &p[i], g[i], &state_0[i],
				    &state_1[i]);
			break;
		case OPTIMIZER_SGD:
			sgd_double(update, &p[i], g[i],
				   update->momentum != 0 ? &state_0[i] : NULL);
			break;
		default:
			adadelta_double(update, &p[i], g[i], &state_0[i],
					&state_1[i]);
		}
}
