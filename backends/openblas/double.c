#define OPENBLAS_DOUBLE
#include "backends/openblas/passes.h"

void openblas_pass_double(struct openblas *openblas, const struct batch *batch,
			  int training, struct score *score)
{
	pass(openblas, batch, training, score);
}
