#include "backends/openblas/passes.h"

void openblas_pass_float(struct openblas *openblas, const struct batch *batch,
			 int training, struct score *score)
{
	pass(openblas, batch, training, score);
}
