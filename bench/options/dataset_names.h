/* The choices of --dataset. */
#ifndef BENCH_OPTIONS_DATASET_NAMES_H
#define BENCH_OPTIONS_DATASET_NAMES_H

struct dataset_name {
	const char *name; /* NULL ends a table */
	const char *summary;
};

#define DATASET_NAMES(NAME) \
	NAME("auto", "the model's own; of MNIST's models MNIST, else " \
	     "Fashion-MNIST") \
	NAME("mnist", "handwritten digits: 60000 of 28x28, and 10000 to test") \
	NAME("fashion-mnist", "clothes of ten classes, as many images as " \
	     "MNIST") \
	NAME("fashion-scenes", "four of them in one of 128x128: which " \
	     "classes are there?") \
	NAME("folder", "JPEG and PNG files in DIR/train/CLASS and " \
	     "DIR/val/CLASS") \
	NAME("synthetic", "noisy patterns of ten classes, which bench makes") \
	NAME("fake", "one batch that comes again: zeros or, for vectors, noise")

#endif
