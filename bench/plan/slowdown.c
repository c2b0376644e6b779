#include "bench/plan/slowdown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/number.h"
#include "bench/system/text.h"
#include "models/random.h"

#define MOST_PCT 1000

static void add_mark(struct slowdown *slowdown, const char *mark,
		     const char *text)
{
	text_append(slowdown->suffix, sizeof(slowdown->suffix), "+%s=%.15s",
		    mark, text);
}

/* RANK:MS, of a core that the target has. */
static int plan_straggler(struct slowdown *slowdown,
			  const struct target *target, const char *text,
			  struct error *err)
{
	char rank[16];
	const char *colon = strchr(text, ':');
	const size_t length = colon ? (size_t)(colon - text) : 0;
	double ms;
	long core;

	snprintf(rank, sizeof(rank), "%.*s", (int)length, text);
	if (!length || length >= sizeof(rank) ||
	    number_parse_int(rank, &core) || core < 0 ||
	    number_parse_real(colon + 1, &ms) || !(ms > 0) || ms > 60000)
		return error_set(err, ERROR_USAGE,
				 "--straggler: '%.60s' is not RANK:MS, a rank "
				 "from 0 and a delay of up to 60000 ms", text);
	if (core >= target->cores && target->cores == 1)
		return error_set(err, ERROR_USAGE,
				 "--straggler: rank %ld does not exist: %s has "
				 "rank 0 only", core, target->name);
	if (core >= target->cores)
		return error_set(err, ERROR_USAGE,
				 "--straggler: rank %ld does not exist: %s has "
				 "ranks 0 to %d", core, target->name,
				 target->cores - 1);
	slowdown->straggler = (int)core;
	slowdown->straggler_s = ms * 1e-3;
	add_mark(slowdown, "straggler", text);
	return 0;
}

/* A number from 0 to MOST_PCT, with or without a percent sign. */
static int parse_share(char *text, double *pct)
{
	const size_t length = strlen(text);

	if (length && text[length - 1] == '%')
		text[length - 1] = '\0';
	return number_parse_real(text, pct) || !(*pct >= 0 && *pct <= MOST_PCT);
}

/* Two processes draw equal values only by chance. */
static double draw(double least, double most)
{
	struct mt19937 generator;
	const unsigned long long ns = (unsigned long long)(clock_now() * 1e9);

	mt19937_seed(&generator, ns ^ (unsigned long long)getpid() << 20);
	return least + (most - least) *
			       (double)mt19937_uniform(&generator, 0, 1);
}

/* PCT, or the range LEAST-MOST. */
static int plan_inject(struct slowdown *slowdown, const char *text,
		       struct error *err)
{
	char least_text[16], *most_text, name[32];
	double least, most;

	snprintf(least_text, sizeof(least_text), "%s", text);
	most_text = strchr(least_text, '-');
	if (most_text)
		*most_text++ = '\0';
	if (strlen(text) >= sizeof(least_text) ||
	    parse_share(least_text, &least) ||
	    (most_text && parse_share(most_text, &most)) ||
	    (most_text && most < least))
		return error_set(err, ERROR_USAGE,
				 "--inject: '%.60s' is neither a percentage "
				 "from 0 to %d, such as 5%%, nor a range, such "
				 "as 0-80%%", text, MOST_PCT);
	slowdown->inject_pct = most_text ? draw(least, most) : least;
	if (most_text)
		snprintf(name, sizeof(name), "%.5g-%.5g%%", least, most);
	else
		snprintf(name, sizeof(name), "%.9g%%", least);
	add_mark(slowdown, "inject", name);
	return 0;
}

int slowdown_plan(struct slowdown *slowdown, const struct target *target,
		  const struct options *options, struct error *err)
{
	*slowdown = (struct slowdown){ .inject_pct = NAN };
	if (options->straggler &&
	    plan_straggler(slowdown, target, options->straggler, err))
		return -1;
	if (options->inject)
		return plan_inject(slowdown, options->inject, err);
	return 0;
}

void slowdown_name(const struct slowdown *slowdown, const char *target,
		   char *name, size_t size)
{
	const size_t most = size - 1 - strlen(slowdown->suffix);

	snprintf(name, size, "%.*s%s", (int)most, target, slowdown->suffix);
}
