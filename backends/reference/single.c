/* The reference in float, to show the effect of rounding alone in plain loops.
 * It is no target. */
#define REAL_FLOAT

#define conv_forward single_conv_forward
#define conv_backward single_conv_backward
#define bias_backward single_bias_backward
#define linear_forward single_linear_forward
#define linear_backward single_linear_backward
#define relu_forward single_relu_forward
#define relu_backward single_relu_backward
#define maxpool_forward single_maxpool_forward
#define maxpool_backward single_maxpool_backward
#define avgpool_forward single_avgpool_forward
#define avgpool_backward single_avgpool_backward
#define dropout_forward single_dropout_forward
#define dropout_backward single_dropout_backward
#define moments single_moments
#define norm_forward single_norm_forward
#define norm_backward single_norm_backward
#define loss_forward single_loss_forward
#define reference_backend single_backend

#include "backends/reference/layers.c"
#include "backends/reference/reference.c"
