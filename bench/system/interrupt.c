#include "bench/system/interrupt.h"

#include <signal.h>
#include <stddef.h>

enum { SIGNALS = 4 };

static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2 };
static int ignored[SIGNALS]; /* by whoever started us, as nohup does */
static volatile sig_atomic_t received;

void interrupt_reset(void)
{
	struct sigaction inherited;
	sigset_t blocked;

	sigemptyset(&blocked);
	/* Ignored, it would let our children end without a status. */
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
