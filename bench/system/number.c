#include "bench/system/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc hands out one constant object for this, so it costs next to nothing;
 * where it cannot be had, the thread's own locale stays. */
static locale_t plain_locale_enter(locale_t *plain)
{
	*plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	return *plain ? uselocale(*plain) : (locale_t)0;
}

static void plain_locale_leave(locale_t plain, locale_t before)
{
	if (!plain)
		return;
	uselocale(before);
	freelocale(plain);
}

void number_print(char text[NUMBER_SIZE], double value)
{
	locale_t plain, before;

	text[0] = '\0';
	if (!isfinite(value))
		return;
	before = plain_locale_enter(&plain);
	snprintf(text, NUMBER_SIZE, "%.9g", value);
	plain_locale_leave(plain, before);
}

void number_print_fixed(char text[NUMBER_SIZE], double value, int decimals)
{
	locale_t plain, before;

	if (!isfinite(value) || fabs(value) >= 1e20) {
		number_print(text, value);
		return;
	}
	before = plain_locale_enter(&plain);
	snprintf(text, NUMBER_SIZE, "%.*f", decimals, value);
	plain_locale_leave(plain, before);
}

int number_parse_int(const char *text, long *value)
{
	char *end;

	if (!*text || text[strspn(text, "-0123456789")])
		return -1;
	errno = 0;
	*value = strtol(text, &end, 10);
	return *end || errno ? -1 : 0;
}

int number_parse_real(const char *text, double *value)
{
	locale_t plain, before;
	char *end;

	if (!*text || *text == '+' || text[strspn(text, "-+.0123456789eE")])
		return -1;
	before = plain_locale_enter(&plain);
	*value = strtod(text, &end);
	plain_locale_leave(plain, before);
	return *end || !isfinite(*value) ? -1 : 0;
}
