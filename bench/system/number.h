/* Converts numbers to text and back, with a decimal point in any locale. */
#ifndef BENCH_SYSTEM_NUMBER_H
#define BENCH_SYSTEM_NUMBER_H

#define NUMBER_SIZE 40 /* bytes, enough for any number below */

/* Writes nine significant digits, or an empty text if value is not finite. */
void number_print(char text[NUMBER_SIZE], double value);
/* Writes this number of decimals. A value that is too long is written as by
 * number_print(). */
void number_print_fixed(char text[NUMBER_SIZE], double value, int decimals);

/* Parse a text that must be one decimal number in range: no space, no sign but
 * '-', no hexadecimal, no nan, no inf. Return -1 otherwise. */
int number_parse_int(const char *text, long *value);
int number_parse_real(const char *text, double *value);

#endif
