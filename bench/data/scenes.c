#include "bench/data/scenes.h"

#include <stdlib.h>

#include "bench/data/fold.h"

#define GROUP 8 /* images */
#define LEAST_SCENES 4 /* of a group */
#define MOST_SCENES 12
#define PERMUTATIONS 1680 /* of SCENE_IMAGES of GROUP */

/* Steele and others 2014, doi 10.1145/2660193.2660195, of state x. */
static uint64_t splitmix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int scenes_of(int group)
{
	return LEAST_SCENES +
	       (int)(splitmix64((uint64_t)group) %
		     (MOST_SCENES - LEAST_SCENES + 1));
}

static struct scene make_scene(int group, int number)
{
	/* Permutations that begin alike, after each image. */
	static const int each[SCENE_IMAGES] = { 7 * 6 * 5, 6 * 5, 5, 1 };
	int rank = (int)(splitmix64(64 * (uint64_t)group + (uint64_t)number +
				    (UINT64_C(1) << 32)) %
			 PERMUTATIONS);
	int left[GROUP], count = GROUP;
	struct scene scene;

	for (int i = 0; i < GROUP; i++)
		left[i] = GROUP * group + i;
	for (int i = 0; i < SCENE_IMAGES; i++) {
		const int at = rank / each[i];

		rank %= each[i];
		scene.images[i] = left[at];
		count--;
		for (int j = at; j < count; j++)
			left[j] = left[j + 1];
	}
	return scene;
}

static void list_scenes(struct scenes *scenes, int groups,
			const uint8_t *is_test)
{
	for (int g = 0; g < groups; g++)
		for (int s = 0; s < scenes_of(g); s++) {
			const struct scene scene = make_scene(g, s);

			if (is_test[g])
				scenes->test[scenes->test_count++] = scene;
			else
				scenes->train[scenes->train_count++] = scene;
		}
}

int scenes_make(struct scenes *scenes, int images, int height, int width,
		struct error *err)
{
	const int groups = images / GROUP;
	const size_t most = (size_t)groups * MOST_SCENES + 1;
	uint8_t *is_test = calloc((size_t)groups + 1, 1);
	int *sizes = malloc(((size_t)groups + 1) * sizeof(*sizes));
	int failed;

	*scenes = (struct scenes){ .train = NULL };
	scenes->train = malloc(most * sizeof(*scenes->train));
	scenes->test = malloc(most * sizeof(*scenes->test));
	for (int g = 0; sizes && g < groups; g++)
		sizes[g] = scenes_of(g);
	failed = !is_test || !sizes || !scenes->train || !scenes->test ||
		 resize_make(&scenes->resize, height, width, SCENE_SIDE / 2,
			     SCENE_SIDE / 2) ||
		 fold_groups(sizes, groups, is_test);
	if (!failed)
		list_scenes(scenes, groups, is_test);
	free(is_test);
	free(sizes);
	return failed ? error_memory(err, "scenes") : 0;
}

void scenes_release(struct scenes *scenes)
{
	free(scenes->train);
	free(scenes->test);
	resize_release(&scenes->resize);
	*scenes = (struct scenes){ .train = NULL };
}

void scene_draw(const struct scenes *scenes, const struct scene *scene,
		const uint8_t *images, uint8_t *scratch,
		uint8_t pixels[SCENE_SIDE * SCENE_SIDE])
{
	const size_t size = (size_t)scenes->resize.down.from *
			    (size_t)scenes->resize.across.from;
	const size_t half = SCENE_SIDE / 2;

	for (size_t i = 0; i < SCENE_IMAGES; i++) {
		const struct resize_source plane = {
			images + (size_t)scene->images[i] * size,
			(size_t)scenes->resize.across.from, 1
		};

		resize_plane(&scenes->resize, &plane, scratch,
			     pixels + (i / 2 * SCENE_SIDE + i % 2) * half,
			     SCENE_SIDE);
	}
}

void scene_targets(const struct scene *scene, const uint16_t *labels,
		   int classes, float *targets)
{
	for (int k = 0; k < classes; k++)
		targets[k] = 0;
	for (int i = 0; i < SCENE_IMAGES; i++)
		targets[labels[scene->images[i]]] = 1;
}
