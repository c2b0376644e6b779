/*
 * Numbers as text and back, with a decimal point whatever the locale says.
 */
#ifndef BENCH_SYSTEM_NUMBER_H
#define BENCH_SYSTEM_NUMBER_H

#define NUMBER_SIZE 40 /* bytes, enough for any number below */

/* Nine significant digits, or nothing if value is not finite. */
void number_print(char text[NUMBER_SIZE], double value);
/* So many decimals. Values too long for that are printed as above. */
void number_print_fixed(char text[NUMBER_SIZE], double value, int decimals);

/* The whole text has to be one decimal number in range: no space, no sign but
 * '-', no hexadecimal, no nan, no inf. Return -1 if it is not. */
int number_parse_int(const char *text, long *value);
int number_parse_real(const char *text, double *value);

#endif
