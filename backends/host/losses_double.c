/* Losses of outputs in double. */
#define LOSSES_DOUBLE
#include "backends/host/losses.h"

void host_loss_double(enum loss loss, const double *x, int outputs,
		      const struct batch *batch, int i, struct score *score,
		      double *dx)
{
	loss_of(loss, x, outputs, batch, i, score, dx);
}
