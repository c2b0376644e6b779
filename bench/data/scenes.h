/*
 * A data set made of another one's training images, like the studies of
 * patients in post 003. Eight images are a group, with 4 to 12 scenes. Each
 * scene has four of the eight, two by two, at half its side. A scene's targets
 * say for each class whether it is present. Images after the last whole group
 * are in no scene (Fashion-MNIST's 60000 have none).
 *
 * Group g has 4 + splitmix64(g) mod 9 scenes. The images of its scene s are a
 * permutation of 4 of 8. Its rank in lexicographic order is splitmix64(64 g + s
 * + 2^32) mod 1680. The test set is the first of five folds of groups
 * (bench/data/fold.h), so that it shares no image with the training set.
 */
#ifndef BENCH_DATA_SCENES_H
#define BENCH_DATA_SCENES_H

#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/data/images/resize.h"

#define SCENE_IMAGES 4
#define SCENE_SIDE 128

struct scene {
	int images[SCENE_IMAGES]; /* indices in the other data set, by rows */
};

struct scenes {
	struct resize resize;
	struct scene *train, *test;
	int train_count, test_count;
};

/* Makes the scenes of images of height x width. Fewer than eight images make no
 * scene, which is no error. Release scenes in any case. */
int scenes_make(struct scenes *scenes, int images, int height, int width,
		struct error *err);
void scenes_release(struct scenes *scenes); /* all zero is allowed */

/* Draws a scene from images. scratch has resize_scratch_size() bytes. */
void scene_draw(const struct scenes *scenes, const struct scene *scene,
		const uint8_t *images, uint8_t *scratch,
		uint8_t pixels[SCENE_SIDE * SCENE_SIDE]);

/* Sets target k to 1 if one of the scene's images has label k, else to 0. */
void scene_targets(const struct scene *scene, const uint16_t *labels,
		   int classes, float *targets);

#endif
