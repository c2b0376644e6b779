/* The default training of a network: batch and epochs, the optimizer with its
 * coefficients, and the schedule of its rate. */
#ifndef MODELS_RECIPE_H
#define MODELS_RECIPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A step changes each parameter p by its gradient g; t counts steps from 1. The
 * optimizer keeps up to two values of state per parameter, initially 0.
 *
 * Adadelta (Zeiler 2012, arXiv 1212.5701), state v and u:
 *   v = rho v + (1 - rho) g^2, d = sqrt(u + eps) / sqrt(v + eps) g,
 *   u = rho u + (1 - rho) d^2, p -= lr d
 * Adam (Kingma and Ba 2015, arXiv 1412.6980), state m and v:
 *   m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 *   p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
 * SGD as in PyTorch, state b with momentum:
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
	int batch_of_several; /* the same with several cores; 0 = batch */
	int test_batch;	      /* per core; 0 = 1000 of all cores together */
	int no_test;
	/* 1 = several cores skip the remainder of an epoch or test that does
	 * not fill an iteration */
	int drop_last_of_several;
	int steps; /* most iterations per epoch; 0 = all */
	int epochs;
	enum optimizer optimizer;
	double lr;
	int scale_lr; /* 1 = the default rate is lr times the number of cores */
	double rho;	   /* Adadelta */
	double eps;	   /* Adadelta, Adam */
	double beta1, beta2; /* Adam */
	double momentum, weight_decay; /* SGD */
	/* Part of the first epoch in which the rate rises; 0 = none. */
	double lr_warmup;
	int lr_step;	 /* epochs between changes of the rate; 0 = constant */
	double lr_gamma; /* factor of the rate at each change */
};

/* One step of an optimizer, with the rate of its iteration. */
struct update {
	double lr, rho, eps;
	enum optimizer optimizer;
	double beta1, beta2, momentum, weight_decay;
	uint32_t step; /* steps before this one */
};

/* Returns 0, or -1 and writes a sentence into text about a number that is out
 * of range or unused by the optimizer. */
int recipe_check(const struct recipe *recipe, char *text, size_t size);

/* Returns "adadelta", "adam" or "sgd". */
const char *optimizer_name(enum optimizer optimizer);

/* Returns the optimizer's values of state per parameter: 0 to 2. */
int recipe_states(const struct recipe *recipe);

/*
 * Returns the rate of an iteration, counted from 0 over all epochs; iterations
 * is their number per epoch:
 *
 *   lr gamma^floor(epoch / step), the first epoch being 0; and in that one
 *   times min(1, (iteration + 2) / (warmup iterations))
 *
 * The 2 is from the schedule of PyTorch/XLA's tests, test/schedulers.py.
 */
double recipe_rate(const struct recipe *recipe, long iteration,
		   long iterations);

/* Terms of Adam's formula that depend on the step alone: lr / (1 - beta1^t),
 * and 1 / sqrt(1 - beta2^t). */
struct adam_terms {
	double rate, grown;
};
struct adam_terms update_adam_terms(const struct update *update);

/* Returns the step after step others, at rate lr. */
struct update recipe_update(const struct recipe *recipe, double lr,
			    uint32_t step);

#endif
