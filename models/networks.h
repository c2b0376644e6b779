/* The networks that registry.c lists. */
#ifndef MODELS_NETWORKS_H
#define MODELS_NETWORKS_H

#include "models/model.h"

extern const struct model mnist_model;
extern const struct model mnist_example_model;
extern const struct model xla_mnist_model;
extern const struct model mnist_2019_model;
extern const struct model tiny_model;

#endif
