#include "bench/system/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LEAST_US 10000 /* a shorter wait for a CPU extends no limit */

enum { SIGNALS = 4 };

static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2 };
static int ignored[SIGNALS]; /* by the parent, as with nohup */
static volatile sig_atomic_t received;
static long counted_us; /* waits for a CPU that extend no limit any more */

void interrupt_reset(void)
{
	struct sigaction inherited;
	sigset_t blocked;

	sigemptyset(&blocked);
	/* If it is ignored, children end without a status. */
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < SIGNALS; i++) {
		ignored[i] = !sigaction(signals[i], NULL, &inherited) &&
			     inherited.sa_handler == SIG_IGN;
		if (ignored[i])
			sigaddset(&blocked, signals[i]);
	}
	/* While it compiles a driver has handlers of its own, which end it. */
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static void remember(int number)
{
	received = number == SIGUSR2 ? SIGINT : number;
}

void interrupt_install(int patient)
{
	/* Without patience the next signal has its usual effect. */
	struct sigaction action = { .sa_flags = SA_RESTART };

	if (!patient)
		action.sa_flags |= (int)SA_RESETHAND;
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < SIGNALS && (patient || !received); i++) {
		action.sa_handler = ignored[i] ? SIG_IGN : remember;
		sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	/* A write beyond the limit of file sizes fails with EFBIG instead. */
	signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal(void)
{
	return received;
}

void interrupt_adopt(int number)
{
	if (number)
		received = number;
}

/* Time for which the main thread has waited for a CPU; 0 if not known. */
static long waited_us(void)
{
	const int file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[64] = "", *after_run;

	if (file < 0)
		return 0;
	if (read(file, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(file);
	(void)strtoll(text, &after_run, 10);
	return (long)(strtoll(after_run, NULL, 10) / 1000);
}

static void set_alarm(long us)
{
	const struct itimerval timer = {
		.it_value = { us / 1000000, us % 1000000 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* The limit has passed: it is extended by what the process lacked. */
static void extend(int number)
{
	const int saved = errno;
	const long lacked_us = waited_us() - counted_us;

	if (lacked_us < LEAST_US)
		signal(number, SIG_DFL);
	counted_us += lacked_us;
	set_alarm(lacked_us < LEAST_US ? 1 : lacked_us);
	errno = saved;
}

void interrupt_after(int seconds)
{
	struct sigaction action = { .sa_handler = extend,
				    .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	counted_us = waited_us();
	set_alarm(seconds * 1000000L);
}
