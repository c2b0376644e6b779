/*
 * How a network is trained unless the user says otherwise: batch and epochs,
 * the optimizer with its coefficients, and the schedule of its rate.
 */
#ifndef MODELS_RECIPE_H
#define MODELS_RECIPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A step changes each parameter p by its gradient g alone, t counting steps
 * from 1, and keeps up to two values of state for it, which begin as 0.
 *
 * Adadelta (Zeiler 2012, arXiv 1212.5701), state v and u:
 *   v = rho v + (1 - rho) g^2, d = sqrt(u + eps) / sqrt(v + eps) g,
 *   u = rho u + (1 - rho) d^2, p -= lr d
 * Adam (Kingma and Ba 2015, arXiv 1412.6980), state m and v:
 *   m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 *   p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
 * SGD, as PyTorch has it, state b where there is momentum:
 *   b = momentum b + g + weight_decay p, p -= lr b
 */
enum optimizer {
	OPTIMIZER_ADADELTA,
	OPTIMIZER_ADAM,
	OPTIMIZER_SGD,
	OPTIMIZER_COUNT
};

struct recipe {
	int batch; /* samples per core and iteration */
	int batch_of_several; /* where there are several cores; 0: batch */
	int test_batch;	      /* per core; 0: 1000 of all cores together */
	int no_test;
	/* Several cores leave out what does not fill an iteration, or a step of
	 * the test. */
	int drop_last_of_several;
	int steps; /* most iterations of an epoch; 0: all */
	int epochs;
	enum optimizer optimizer;
	double lr;
	int scale_lr;	   /* the rate is lr times the number of cores, unless
			      one is asked for */
	double rho;	   /* Adadelta */
	double eps;	   /* Adadelta, Adam */
	double beta1, beta2; /* Adam */
	double momentum, weight_decay; /* SGD */
	/* The rate rises over this part of the first epoch; 0: at once. */
	double lr_warmup;
	int lr_step;	 /* after so many epochs; 0: the rate stays ... */
	double lr_gamma; /* ... the rate is multiplied by this */
};

/* One step of an optimizer, with the rate of its iteration. */
struct update {
	double lr, rho, eps;
	enum optimizer optimizer;
	double beta1, beta2, momentum, weight_decay;
	uint32_t step; /* those before this one */
};

/* 0, or -1 and one sentence into text about a number out of range, or one that
 * the optimizer does not have. */
int recipe_check(const struct recipe *recipe, char *text, size_t size);

/* "adadelta", "adam", "sgd" */
const char *optimizer_name(enum optimizer optimizer);

/* Values of state that the optimizer keeps for each parameter: 0 to 2. */
int recipe_states(const struct recipe *recipe);

/*
 * The rate of an iteration, counted from 0 over all epochs of so many
 * iterations each:
 *   lr gamma^floor(epoch / step), the first epoch being 0; and in that one
 *   times min(1, (iteration + 2) / (warmup iterations))
 * whose 2 is that of the schedule of PyTorch/XLA's tests, test/schedulers.py.
 */
double recipe_rate(const struct recipe *recipe, long iteration,
		   long iterations);

/* What Adam's formula has of a step alone: lr / (1 - beta1^t), and 1 / sqrt(1 -
 * beta2^t). */
struct adam_terms {
	double rate, grown;
};
struct adam_terms update_adam_terms(const struct update *update);

/* The step behind step others, at rate lr. */
struct update recipe_update(const struct recipe *recipe, double lr,
			    uint32_t step);

#endif
