#include "backends/parallel/loss_scaler.h"

#include <math.h>
#include <stdlib.h>

void loss_scaler_begin(struct loss_scaler *scaler)
{
	const char *planned = getenv("BENCH_TEST_OVERFLOW");

	*scaler = (struct loss_scaler){
		.scale = LOSS_SCALE_FIRST,
		.planned = planned && *planned ? strtol(planned, NULL, 10) : -1,
	};
}

void loss_scaler_plant(const struct loss_scaler *scaler,
		       const struct group *group, uint32_t step,
		       float *gradient, size_t count)
{
	if (scaler->planned == (long)step && group->rank == group->size - 1)
		for (size_t i = 0; i < count; i++)
			gradient[i] = INFINITY;
}

int loss_scaler_finite(const float *values, size_t count)
{
	int finite = 1;

	for (size_t i = 0; i < count; i++)
		finite &= isfinite(values[i]) != 0;
	return finite;
}

static int halve(struct loss_scaler *scaler, struct error *err)
{
	scaler->skipped++;
	scaler->steps = 0;
	if (scaler->scale <= 1)
		return error_set(err, ERROR_FAILED, "the gradient overflows in "
				 "fp16 even without scaling the loss, after "
				 "%ld skipped steps: choose another "
				 "--precision, or a smaller --lr",
				 scaler->skipped);
	scaler->scale /= 2;
	return 0;
}

int loss_scaler_decide(struct loss_scaler *scaler, struct group *group,
		       int finite, int *made, struct error *err)
{
	int all[GROUP_MAX_SIZE] = { finite };

	if (group->size > 1 &&
	    group_gather(group, &finite, sizeof(finite), all, err))
		return -1;
	*made = 1;
	for (int r = 0; r < group->size; r++)
		*made &= all[r];
	if (!*made)
		return halve(scaler, err);
	if (++scaler->steps == LOSS_SCALE_STEPS) {
		scaler->scale = fmin(scaler->scale * 2, LOSS_SCALE_MOST);
		scaler->steps = 0;
	}
	return 0;
}
