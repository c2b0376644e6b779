/*
 * ResNet-34 and ResNet-50 as in torchvision (He and others 2015, arXiv
 * 1512.03385; a bottleneck's stride is in its 3x3 convolution), for posts 003
 * and 004. Blocks are macros; a block's rows follow the row that it reads.
 */
#include "models/model.h"

#define CONV(name_, outputs_, window_, stride_)                        \
	{ .kind = LAYER_CONV, .name = name_, .outputs = outputs_,      \
	  .window = window_, .stride = stride_, .pad = (window_) / 2,  \
	  .no_bias = 1 }
#define NORM(name_) { .kind = LAYER_BATCHNORM, .name = name_ }
#define RELU { .kind = LAYER_RELU }
#define ADD(rows) { .kind = LAYER_ADD, .with = rows }

/* The block's input if its shape changes; rows: rows since that input. */
#define DOWNSAMPLE(block, outputs_, stride_, rows)                       \
	{ .kind = LAYER_CONV, .name = block ".downsample.0",             \
	  .outputs = outputs_, .window = 1, .stride = stride_,           \
	  .no_bias = 1, .from = rows },                                  \
	NORM(block ".downsample.1"), ADD(2), RELU

#define BASIC_ROWS(block, planes, stride)                              \
	CONV(block ".conv1", planes, 3, stride), NORM(block ".bn1"),   \
	RELU, CONV(block ".conv2", planes, 3, 1), NORM(block ".bn2")
#define BASIC(block, planes) BASIC_ROWS(block, planes, 1), ADD(5), RELU
#define BASIC_DOWN(block, planes)                                      \
	BASIC_ROWS(block, planes, 2), DOWNSAMPLE(block, planes, 2, 5)

#define BOTTLENECK_ROWS(block, planes, stride)                         \
	CONV(block ".conv1", planes, 1, 1), NORM(block ".bn1"), RELU,  \
	CONV(block ".conv2", planes, 3, stride), NORM(block ".bn2"),   \
	RELU, CONV(block ".conv3", 4 * (planes), 1, 1),                \
	NORM(block ".bn3")
#define BOTTLENECK(block, planes)                                      \
	BOTTLENECK_ROWS(block, planes, 1), ADD(8), RELU
#define BOTTLENECK_DOWN(block, planes, stride)                         \
	BOTTLENECK_ROWS(block, planes, stride),                        \
	DOWNSAMPLE(block, 4 * (planes), stride, 8)

#define STEM                                                           \
	CONV("conv1", 64, 7, 2), NORM("bn1"), RELU,                    \
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 }
#define HEAD(classes, loss_)                                           \
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },                       \
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = classes },    \
	{ .kind = LAYER_LOSS, .loss = loss_ }

static const struct layer resnet34_layers[] = {
	STEM,
	BASIC("layer1.0", 64), BASIC("layer1.1", 64), BASIC("layer1.2", 64),
	BASIC_DOWN("layer2.0", 128), BASIC("layer2.1", 128),
	BASIC("layer2.2", 128), BASIC("layer2.3", 128),
	BASIC_DOWN("layer3.0", 256), BASIC("layer3.1", 256),
	BASIC("layer3.2", 256), BASIC("layer3.3", 256),
	BASIC("layer3.4", 256), BASIC("layer3.5", 256),
	BASIC_DOWN("layer4.0", 512), BASIC("layer4.1", 512),
	BASIC("layer4.2", 512),
	HEAD(10, LOSS_BCE),
};

const struct model resnet34_model = {
	.name = "resnet34",
	.summary = "post 003: ResNet-34 at 128x128, ten labels, Adam",
	.input = { 3, 128, 128 },
	.dataset = "fashion-scenes",
	.layers = resnet34_layers,
	.layer_count = sizeof(resnet34_layers) / sizeof(resnet34_layers[0]),
	.init = INIT_KAIMING_FAN_OUT,
	.replaced_outputs = 1000, /* the post replaces the last layer */
	.recipe = { .batch = 128,
		    .test_batch = 128,
		    .steps = 1002,
		    .epochs = 1,
		    .optimizer = OPTIMIZER_ADAM,
		    .lr = 1e-4,
		    .scale_lr = 1,
		    .eps = 1e-8,
		    .beta1 = 0.9,
		    .beta2 = 0.999,
		    .lr_step = 1,
		    .lr_gamma = 0.5 },
};

static const struct layer resnet50_layers[] = {
	STEM,
	BOTTLENECK_DOWN("layer1.0", 64, 1), BOTTLENECK("layer1.1", 64),
	BOTTLENECK("layer1.2", 64),
	BOTTLENECK_DOWN("layer2.0", 128, 2), BOTTLENECK("layer2.1", 128),
	BOTTLENECK("layer2.2", 128), BOTTLENECK("layer2.3", 128),
	BOTTLENECK_DOWN("layer3.0", 256, 2), BOTTLENECK("layer3.1", 256),
	BOTTLENECK("layer3.2", 256), BOTTLENECK("layer3.3", 256),
	BOTTLENECK("layer3.4", 256), BOTTLENECK("layer3.5", 256),
	BOTTLENECK_DOWN("layer4.0", 512, 2), BOTTLENECK("layer4.1", 512),
	BOTTLENECK("layer4.2", 512),
	HEAD(1000, LOSS_NLL),
};

const struct model resnet50_model = {
	.name = "resnet50",
	.summary = "post 004: ResNet-50 at 224x224, 1000 classes, SGD",
	.input = { 3, 224, 224 },
	.scale = { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } },
	.dataset = "fake",
	.layers = resnet50_layers,
	.layer_count = sizeof(resnet50_layers) / sizeof(resnet50_layers[0]),
	.init = INIT_KAIMING_FAN_OUT,
	.recipe = { .batch = 128,
		    .test_batch = 64,
		    .drop_last_of_several = 1,
		    .epochs = 18,
		    .optimizer = OPTIMIZER_SGD,
		    .lr = 0.8,
		    .momentum = 0.9,
		    .weight_decay = 1e-4,
		    .lr_warmup = 0.9,
		    .lr_step = 20,
		    .lr_gamma = 0.2 },
};
