#include "models/recipe.h"

#include <math.h>
#include <stdio.h>

static const char *const optimizer_names[OPTIMIZER_COUNT] = {
	[OPTIMIZER_ADADELTA] = "adadelta",
	[OPTIMIZER_ADAM] = "adam",
	[OPTIMIZER_SGD] = "sgd",
};

const char *optimizer_name(enum optimizer optimizer)
{
	return optimizer_names[optimizer];
}

int recipe_states(const struct recipe *recipe)
{
	if (recipe->optimizer != OPTIMIZER_SGD)
		return 2;
	return recipe->momentum != 0;
}

/* A coefficient; it may be 0 unless it divides. */
struct coefficient {
	const char *name;
	double value;
	unsigned optimizers; /* that use it: 1u << enum optimizer */
	int divides;
	double below;
};

#define ADADELTA (1u << OPTIMIZER_ADADELTA)
#define ADAM (1u << OPTIMIZER_ADAM)
#define SGD (1u << OPTIMIZER_SGD)
#define ALL (ADADELTA | ADAM | SGD)

static int coefficient_check(const struct coefficient *is,
			     enum optimizer optimizer, char *text, size_t size)
{
	if (!(is->optimizers >> optimizer & 1)) {
		if (is->value == 0)
			return 0;
		snprintf(text, size, "%s is %g in its recipe, but %s has none",
		is->name, is->value, optimizer_name(optimizer));
		return -1;
	}
	if ((is->divides ? is->value > 0 : is->value >= 0) &&
	    is->value < is->below)
		return 0;
	snprintf(text, size, "%s is %g in its recipe, where it is %s%s",
		 is->name, is->value,
		 is->divides ? "more than 0" : "at least 0",
		 isinf(is->below) ? "" : " and below 1");
	return -1;
}

int recipe_check(const struct recipe *recipe, char *text, size_t size)
{
	const unsigned steps = recipe->lr_step ? ALL : 0;
	const struct coefficient all[] = {
		{ "batch", recipe->batch, ALL, 1, INFINITY },
		{ "batch_of_several", recipe->batch_of_several, ALL, 0,
		  INFINITY },
		{ "test_batch", recipe->test_batch, ALL, 0, INFINITY },
		{ "steps", recipe->steps, ALL, 0, INFINITY },
		{ "epochs", recipe->epochs, ALL, 1, INFINITY },
		{ "lr", recipe->lr, ALL, 0, INFINITY },
		{ "lr_step", recipe->lr_step, ALL, 0, INFINITY },
		{ "lr_gamma", steps ? recipe->lr_gamma : 0, steps, 1,
		  INFINITY },
		{ "lr_warmup", recipe->lr_warmup, ALL, 0, INFINITY },
		{ "rho", recipe->rho, ADADELTA, 0, 1 },
		{ "eps", recipe->eps, ADADELTA | ADAM, 1, INFINITY },
		{ "beta1", recipe->beta1, ADAM, 1, 1 },
		{ "beta2", recipe->beta2, ADAM, 1, 1 },
		{ "momentum", recipe->momentum, SGD, 0, 1 },
		{ "weight_decay", recipe->weight_decay, SGD, 0, INFINITY },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (coefficient_check(&all[i], recipe->optimizer, text, size))
			return -1;
	return 0;
}

double recipe_rate(const struct recipe *recipe, long iteration, long iterations)
{
	const long epoch = iteration / iterations;
	const double rises = recipe->lr_warmup * (double)iterations;
	double rate = recipe->lr;

	if (recipe->lr_step)
		rate *= pow(recipe->lr_gamma,
			    (double)(epoch / recipe->lr_step));
	if (epoch == 0 && rises > 0)
		rate *= fmin(1, (double)(iteration + 2) / rises);
	return rate;
}

struct update recipe_update(const struct recipe *recipe, double lr,
			    uint32_t step)
{
	return (struct update){
		.optimizer = recipe->optimizer,
		.lr = lr,
		.rho = recipe->rho,
		.eps = recipe->eps,
		.beta1 = recipe->beta1,
		.beta2 = recipe->beta2,
		.momentum = recipe->momentum,
		.weight_decay = recipe->weight_decay,
		.step = step,
	};
}

struct adam_terms update_adam_terms(const struct update *update)
{
	const double t = (double)update->step + 1;

	return (struct adam_terms){
		.rate = update->lr / (1 - pow(update->beta1, t)),
		.grown = 1 / sqrt(1 - pow(update->beta2, t)),
	};
}
