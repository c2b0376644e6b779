/* Whether the user's terminal shows more than ASCII. */
#ifndef BENCH_UTF8_H
#define BENCH_UTF8_H

#include <langinfo.h>
#include <string.h>

static inline int locale_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

#endif
