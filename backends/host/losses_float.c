#define REAL_FLOAT
#include "backends/host/losses.c"
