#define REAL_FLOAT
#include "backends/host/optimizers.c"
