/* For tests: cmocka, the headers that cmocka.h needs first, and headers that
 * nearly every test uses. */
#ifndef TESTS_CMOCKA_H
#define TESTS_CMOCKA_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
