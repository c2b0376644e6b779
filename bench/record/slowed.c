#include "bench/record/slowed.h"

#include <math.h>
#include <stdio.h>

void slowdown_explain(const struct run *run, char *text, size_t size)
{
	const int both = run->straggler[0] && isfinite(run->inject_pct);
	int used = 0;

	text[0] = '\0';
	if (run->straggler[0])
		used = snprintf(text, size, "one core was delayed on purpose "
				"in each iteration: --straggler %s (rank:ms)",
				run->straggler);
	if (isfinite(run->inject_pct) && used >= 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, "%sINJECTED: every "
			 "core did %.3g %% more work on purpose in each "
			 "iteration: --inject", both ? "; " : "",
			 run->inject_pct);
}
