#include "bench/selftest.h"
int selftest_live(struct selftest *test, struct error *err)
{
	(void)test, (void)err;
	return 0;
}
