#include <string.h>

#include "models/model.h"

extern const struct model mnist_model;
extern const struct model mnist_example_model;
extern const struct model xla_mnist_model;
extern const struct model mnist_2019_model;
extern const struct model ddp_toy_model;
extern const struct model alexnet_model;
extern const struct model resnet34_model;
extern const struct model resnet50_model;
extern const struct model tiny_model;

/* A new network needs one table and two lines here. */
static const struct model *const models[] = {
	&mnist_model,
	&mnist_example_model,
	&xla_mnist_model,
	&mnist_2019_model,
	&alexnet_model,
	&ddp_toy_model,
	&resnet34_model,
	&resnet50_model,
	&tiny_model,
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

const struct model *model_next(const struct model *previous)
{
	size_t i = 0;

	if (previous)
		while (i < MODEL_COUNT && models[i++] != previous)
			;
	return i < MODEL_COUNT ? models[i] : NULL;
}

const struct model *model_find(const char *name)
{
	for (size_t i = 0; i < MODEL_COUNT; i++)
		if (!strcmp(models[i]->name, name))
			return models[i];
	return NULL;
}
