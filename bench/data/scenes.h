/*
 * A data set made of another one's training images, as post 003 has studies of
 * patients: groups of eight images, of each 4 to 12 scenes, and each scene four
 * of the eight, resized to half its side, two by two. A scene's targets are,
 * for each class, whether it is there. Groups are whole: images behind the last
 * eight, fewer than that, are in no scene (Fashion-MNIST's 60000 leave none).
 *
 * Group g has 4 + splitmix64(g) mod 9 scenes; the images of its scene s are the
 * permutation of rank splitmix64(64 g + s + 2^32) mod 1680 of 4 of 8, in
 * lexicographic order. The test set is the first of five folds of groups
 * (bench/data/fold.h), so that it shares no image with the training set.
 */
#ifndef BENCH_DATA_SCENES_H
#define BENCH_DATA_SCENES_H

#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/data/resize.h"

#define SCENE_IMAGES 4
#define SCENE_SIDE 128

struct scene {
	int images[SCENE_IMAGES]; /* of the other data set, by rows */
};

struct scenes {
	struct resize resize;
	struct scene *train, *test;
	int train_count, test_count;
};

/* Of so many images of height x width; fewer than eight make no scene, which is
 * no error. To be released in any case. */
int scenes_make(struct scenes *scenes, int images, int height, int width,
		struct error *err);
void scenes_release(struct scenes *scenes); /* all zero is fine */

/* A scene of these images, of which scene has the places; scratch has
 * resize_scratch_size() bytes. */
void scene_draw(const struct scenes *scenes, const struct scene *scene,
		const uint8_t *images, uint8_t *scratch,
		uint8_t pixels[SCENE_SIDE * SCENE_SIDE]);

/* Target k: 1 if one of the scene's images has label k, else 0. */
void scene_targets(const struct scene *scene, const uint16_t *labels,
		   int classes, float *targets);

#endif
