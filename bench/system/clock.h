/* The only reader of clocks. Values are in seconds. */
#ifndef BENCH_SYSTEM_CLOCK_H
#define BENCH_SYSTEM_CLOCK_H

#include <stddef.h>

double clock_now(void);		 /* monotonic, from an arbitrary start */
double clock_thread_cpu(void);	 /* CPU time of the calling thread */
double clock_process_cpu(void);	 /* CPU time of all threads */
double clock_process_age(void);	 /* since the start of the process */
double clock_wall(void);	 /* since 1970, as in times of files */

/* Sleeps for this time. */
void clock_sleep(double seconds);

/* Writes "2026-01-31T23:59:59Z". */
void clock_stamp(char *text, size_t size);

#endif
