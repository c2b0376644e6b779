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

int recipe_check(const struct recipe *recipe, char *text, size_t size)
{
	const int divides = recipe->optimizer != OPTIMIZER_SGD;
	const int adam = recipe->optimizer == OPTIMIZER_ADAM;
	const struct {
		const char *name;
		double value;
		int counts; /* for this optimizer and schedule */
		double below;
	} numbers[] = {
		{ "batch", recipe->batch, 1, INFINITY },
		{ "epochs", recipe->epochs, 1, INFINITY },
		{ "lr_gamma", recipe->lr_gamma, recipe->lr_step, INFINITY },
		{ "eps", recipe->eps, divides, INFINITY },
		{ "beta1", recipe->beta1, adam, 1 },
		{ "beta2", recipe->beta2, adam, 1 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!numbers[i].counts || (numbers[i].value > 0 &&
					   numbers[i].value < numbers[i].below))
			continue;
		snprintf(text, size, "%s is %g in its recipe, where it is more "
			 "than 0%s", numbers[i].name, numbers[i].value,
			 isinf(numbers[i].below) ? "" : " and below 1");
		return -1;
	}
	if (recipe->lr_step >= 0 && recipe->lr_warmup >= 0)
		return 0;
	snprintf(text, size, "%s is %g in its recipe, where it is at least 0",
		 recipe->lr_step < 0 ? "lr_step" : "lr_warmup",
		 recipe->lr_step < 0 ? recipe->lr_step : recipe->lr_warmup);
	return -1;
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
