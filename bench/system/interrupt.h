/*
 * Ctrl-C, SIGTERM and a closed terminal. The first signal is noted and handled
 * between steps. The second ends the process at once, and its measuring
 * children with it. SIGUSR2 is Ctrl-C for ranks: their launcher passes it on,
 * but keeps SIGINT.
 */
#ifndef BENCH_SYSTEM_INTERRUPT_H
#define BENCH_SYSTEM_INTERRUPT_H

/*
 * Call it at the start: it notes which of these signals the parent ignores.
 * nohup ignores SIGHUP, a shell ignores SIGINT for background jobs. They stay
 * ignored here and in children, and are blocked in threads started later.
 */
void interrupt_reset(void);

/*
 * Installs the handlers. Call it again after a device was opened or a kernel
 * compiled, since OpenCL drivers install their own. A patient process survives
 * further signals. It is a child that its parent ends in time, since it may get
 * the first signal twice. Or it ends soon after the first signal and has to
 * clean up.
 */
void interrupt_install(int patient);

/* Returns the signal that arrived, or 0. */
int interrupt_signal(void);

/* Acts as if the signal had arrived here; 0 changes nothing. */
void interrupt_adopt(int number);

/*
 * Makes SIGALRM end this process after this time, whatever a library does. Time
 * in which the main thread waits for a CPU does not count if the kernel reports
 * it.
 */
void interrupt_after(int seconds);

#endif
