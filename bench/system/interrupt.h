/*
 * Ctrl-C, SIGTERM and a closed terminal: the first is noted and heeded between
 * steps, the second ends the process at once, and with it the children that it
 * measures with. SIGUSR2 is Ctrl-C for ranks: what started them passes it on,
 * and keeps SIGINT for itself.
 */
#ifndef BENCH_SYSTEM_INTERRUPT_H
#define BENCH_SYSTEM_INTERRUPT_H

/*
 * At the start, since it looks which of these signals whoever started us has
 * ignored: nohup SIGHUP, a shell SIGINT for what it runs in the background.
 * Those stay ignored, here and in what we start, and are held off from threads
 * that are started from now on.
 */
void interrupt_reset(void);

/*
 * To be called again after a device was opened or a kernel compiled: OpenCL
 * drivers put their own handlers in place. A patient process outlives further
 * signals: a child that its parent ends when it should, to which a terminal
 * and the parent may both send the first one; or one that ends soon after the
 * first and has something to put away.
 */
void interrupt_install(int patient);

/* 0, or the signal that came. */
int interrupt_signal(void);

/* As if the signal had come here; 0 changes nothing. */
void interrupt_adopt(int number);

/*
 * SIGALRM ends this process after that time, whatever a library does. Time in
 * which the main thread waits for a CPU does not count, if the kernel reports
 * it.
 */
void interrupt_after(int seconds);

#endif
