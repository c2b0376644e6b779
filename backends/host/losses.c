/* Losses of outputs in float. */
#include "backends/host/losses.h"

void host_loss(enum loss loss, const float *x, int outputs,
	       const struct batch *batch, int i, struct score *score, float *dx)
{
	loss_of(loss, x, outputs, batch, i, score, dx);
}
