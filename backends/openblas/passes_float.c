#define REAL_FLOAT
#include "backends/openblas/passes.c"
