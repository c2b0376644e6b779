/* The choices of --dataset. */
#ifndef BENCH_OPTIONS_DATASET_NAMES_H
#define BENCH_OPTIONS_DATASET_NAMES_H

struct dataset_name {
	const char *name; /* NULL ends a table */
	const char *summary;
};

#define DATASET_NAMES(NAME) \
	NAME("auto", "the model's own; Fashion-MNIST if MNIST is missing") \
	NAME("mnist", "handwritten digits: 60000 of 28x28, and 10000 to test") \
	NAME("fashion-mnist", "clothes of ten classes, as many images as " \
	     "MNIST") \
	NAME("fashion-scenes", "four of them in a scene of 128x128, with " \
	     "several labels") \
	NAME("folder", "JPEG and PNG files in DIR/train/CLASS and " \
	     "DIR/val/CLASS") \
	NAME("synthetic", "generated noisy patterns of ten classes") \
	NAME("fake", "one batch that repeats: zeros, or noise for vectors")

#endif
