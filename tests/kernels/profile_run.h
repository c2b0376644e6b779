/* For tests: an iteration of a program that is watched, and its parts. */
#ifndef TESTS_PROFILE_RUN_H
#define TESTS_PROFILE_RUN_H

#include "tests/kernels/subject.h"

#define BATCH 5
#define SEED 7

/* Which parts have ended. */
struct watch {
	struct profile_observer observer;
	int ended[PROFILE_MOST_PARTS];
};

static inline void note_end(struct profile_observer *observer, int part)
{
	assert_in_range(part, 0, PROFILE_MOST_PARTS - 1);
	((struct watch *)observer)->ended[part]++;
}

/*
 * One iteration of count samples, as of several cores or of one alone; returns
 * how many parts there are.
 */
static inline int run_batch(struct subject *subject, int count, int alone,
			    struct watch *watch, struct profile_part *parts)
{
	const struct update update =
		recipe_update(&subject->program->model->recipe, 1, 0);
	struct batch batch = batch_make(subject->program->model, 3, count);
	struct error err;

	*watch = (struct watch){ .observer = { note_end } };
	subject_start(subject, SEED);
	must(program_observe(subject->program, &watch->observer, &err), &err);
	if (alone) {
		must(program_train(subject->program, &batch, &update, &err),
		     &err);
	} else {
		subject_gradient(subject, &batch);
		subject_update(subject, &update);
	}
	batch_free(&batch);
	return program_profile(subject->program, parts);
}

static inline int run_once(struct subject *subject, int alone,
			   struct watch *watch, struct profile_part *parts)
{
	return run_batch(subject, BATCH, alone, watch, parts);
}

static inline const struct profile_part *
part_of(const struct profile_part *parts, int count, const char *name)
{
	for (int p = 0; p < count; p++)
		if (!strcmp(parts[p].name, name))
			return &parts[p];
	fail_msg("there is no part '%s'", name);
	return NULL;
}

#endif
